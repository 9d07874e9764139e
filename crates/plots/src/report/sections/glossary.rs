//! Section: the glossary.

use crate::error::PlotError;
use crate::report::page::Page;

const WORDS: [(&str, &str); 10] = [
    ("prediction", "the model output for a row."),
    ("base value", "the average prediction over the background (path-dependent: the training data)."),
    (
        "value",
        "a feature's share of (prediction − base value): its average marginal contribution over coalitions \
         of the other features.",
    ),
    (
        "mean |value|",
        "the mean absolute value over rows. It measures how much a feature matters, not in which direction.",
    ),
    (
        "background",
        "the rows that provide the inputs of absent features. The values depend on the background.",
    ),
    (
        "additivity",
        "the base value and the values of a row sum to its prediction. Shapley values are additive; Banzhaf \
         values, for example, are not.",
    ),
    (
        "exact, estimate",
        "an exact value equals its definition up to rounding. An estimate uses a random sample of the \
         coalitions and has an error.",
    ),
    (
        "95% confidence interval (CI)",
        "an interval that contains the exact value in about 95 of 100 runs. It reflects the sampling of \
         coalitions only.",
    ),
    ("interaction", "the joint effect of two features beyond their separate effects."),
    (
        "sample",
        "the rows stored in the report if there are too many: drawn at random with a seed, plus the rows \
         with extreme values.",
    ),
];

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    page.html.terms(WORDS.iter().map(|&(word, says)| (word, says.to_owned())));
    page.html.paragraph(
        "Attributions describe the model, not the world: they do not predict the effect of changing an \
         input.",
    );
    Ok(())
}
