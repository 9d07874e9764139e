//! Liu, Witter, Korn, Alrashed, Paparas and Freire, *Kernel Banzhaf: A Fast and Robust Estimator for Banzhaf
//! Values*, 2024.
//!
//! | file | contents |
//! |---|---|
//! | [`contender`] | the compared estimators |
//! | [`instance`] | one run on a dataset: explicand, games, exact values |
//! | [`experiment`] | the datasets, and the errors of estimates |
//! | [`linear`] | the regression over all coalitions |
//! | [`trees_on_rows`] | the marginal game of trees with background rows |
//! | [`printed_k`] | K of figure 5 as printed in the text |
//! | [`scatter`] | figure 1 |
//! | [`sample_size`] | figures 2, 9 |
//! | [`noise`] | figures 3, 4 |
//! | [`condition`] | figure 5 |
//! | [`networks`] | figure 6 |
//! | [`objective`] | figure 7 |
//! | [`time`] | figure 8 |
//! | [`replacement`] | figure 10 |
//! | [`notes`] | notes on methods in the reports |

mod condition;
mod contender;
mod experiment;
mod instance;
mod linear;
#[cfg(feature = "onnx")]
mod networks;
#[cfg(not(feature = "onnx"))]
#[path = "networks_left_out.rs"]
mod networks;
mod noise;
mod notes;
mod objective;
mod printed_k;
mod replacement;
mod sample_size;
mod scatter;
mod time;
mod trees_on_rows;

use crate::reproduce::catalogue::{Contest, Paper, artefact};

/// The paper and its artefacts.
pub(crate) const PAPER: Paper = Paper {
    name: "kernel-banzhaf",
    citation: "Liu, Witter, Korn, Alrashed, Paparas and Freire, Kernel Banzhaf: A Fast and Robust Estimator \
        for Banzhaf Values, 2024",
    bibtex: r#"@misc{liu2024kernel,
  title         = {{Kernel Banzhaf}: A Fast and Robust Estimator for {Banzhaf} Values},
  author        = {Liu, Yurong and Witter, R. Teal and Korn, Flip and Alrashed, Tarfah and Paparas, Dimitris
                   and Freire, Juliana},
  year          = {2024},
  eprint        = {2410.08336},
  archiveprefix = {arXiv}
}"#,
    runs: 50,
    quick_runs: 25,
    artefacts: &[
        artefact("fig1", "estimated against exact Banzhaf values, m = 20n", scatter::fig1),
        artefact("fig2", "error against sample size, median and quartiles", sample_size::fig2).comparing(
            Contest {
                value: "banzhaf",
                estimators: "kernel-banzhaf,kernel-banzhaf-unpaired,monte-carlo,msr",
                budgets: "5n,10n,20n,40n,80n,160n",
            },
        ),
        artefact("fig3", "error against noise on v, median and quartiles", noise::fig3),
        artefact(
            "fig4",
            "normalized error against noise in proportion to v, Banzhaf and Shapley regressions",
            noise::fig4,
        ),
        artefact("fig5", "condition number of the sampled regression against sample size", condition::fig5),
        artefact(
            "fig6",
            "error against sample size, neural networks (needs the feature onnx)",
            networks::fig6,
        ),
        artefact("fig7", "relative objective error against sample size and noise, n ≤ 20", objective::fig7),
        artefact("fig8", "CPU time against sample size, one thread", time::fig8),
        artefact(
            "fig9",
            "normalized error against sample size, Banzhaf and Shapley regressions",
            sample_size::fig9,
        ),
        artefact(
            "fig10",
            "error with and without replacement against sample size, up to 2^n",
            replacement::fig10,
        ),
    ],
};
