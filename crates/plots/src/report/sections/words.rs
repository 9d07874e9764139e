//! Section: the glossary.

use crate::error::PlotError;
use crate::report::page::Page;

const WORDS: [(&str, &str); 10] = [
    ("prediction", "what the model says of a row."),
    (
        "base",
        "what the model says where no feature is known: its mean over the background, or in the path-dependent game over the training data.",
    ),
    (
        "value",
        "the part of a row's prediction, less the base, that a feature is given: the mean of what it adds to groups of others.",
    ),
    (
        "mean size",
        "the mean over rows of a value without its sign. It tells how much a feature matters, not which way it pulls.",
    ),
    (
        "background",
        "the rows from which features that are taken to be unknown get their inputs. Another background has other values.",
    ),
    (
        "additivity",
        "the base and the values of a row sum to its prediction. Shapley values have it; Banzhaf values, for one, do not.",
    ),
    (
        "exact, estimate",
        "an exact value is that of its definition, up to rounding. An estimate rests on a part of the coalitions, drawn at random, and has an error.",
    ),
    (
        "95 % interval",
        "where the exact value is: such intervals hold it in about 95 of 100 runs. It speaks of drawing coalitions, and of nothing else.",
    ),
    ("interaction", "what two features do together beyond what each does by itself."),
    (
        "sample",
        "the rows that the page holds, where there are too many for all: chosen by a seed, with the extremes beside them.",
    ),
];

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    page.html.terms(WORDS.iter().map(|&(word, says)| (word, says.to_owned())));
    page.html.paragraph(
        "Values tell how a model comes to its predictions. They do not tell what would happen if an input were changed in the world.",
    );
    Ok(())
}
