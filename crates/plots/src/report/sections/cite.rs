//! Section: citations of Apportion and of the papers about the methods used.

use crate::error::PlotError;
use crate::report::page::Page;

const APPORTION: &str = "The Apportion authors. Apportion: game-theoretic attribution. Software.";

/// Papers, each with the parts of value and method names that refer to it.
const PAPERS: [(&[&str], &str); 6] = [
    (
        &["tree"],
        "S. M. Lundberg, G. Erion, H. Chen et al. From local explanations to global understanding with \
         explainable AI for trees. Nature Machine Intelligence 2, 2020.",
    ),
    (
        &["leverage"],
        "C. Musco, R. T. Witter. Provably accurate Shapley value estimation via leverage score sampling. \
         ICLR, 2025.",
    ),
    (
        &["kernel-banzhaf"],
        "Y. Liu, R. T. Witter, F. Korn et al. Kernel Banzhaf: a fast and robust estimator for Banzhaf \
         values. 2024.",
    ),
    (
        &["l-shapley", "c-shapley"],
        "J. Chen, L. Song, M. J. Wainwright, M. I. Jordan. L-Shapley and C-Shapley: efficient model \
         interpretation for structured data. 2018.",
    ),
    (
        &["sgd", "stochastic-gradient"],
        "S. Grah, V. Thouvenot. A projected stochastic gradient algorithm for estimating Shapley value \
         applied in attribute importance. CD-MAKE, 2020.",
    ),
    (
        &["product", "two-step", "owen", "coalitional"],
        "K. Kotsiopoulos, A. Miroshnikov, K. Filom, A. R. Kannan. Approximation of group explainers with \
         coalition structure using Monte Carlo sampling on the product space of coalitions and features. \
         2023.",
    ),
];

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    let heading = &page.explained.heading;
    let names = [heading.method.to_lowercase(), heading.value.to_lowercase()];
    page.html.raw("<ul>").element("li", &[], APPORTION);
    for (words, paper) in PAPERS {
        if words.iter().any(|word| names.iter().any(|name| name.contains(word))) {
            page.html.element("li", &[], paper);
        }
    }
    page.html.raw("</ul>");
    Ok(())
}
