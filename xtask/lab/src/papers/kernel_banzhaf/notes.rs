//! Notes in reports on this paper.

use crate::reproduce::report::notes;

/// Note on numbers that the paper does not print.
const NOT_PRINTED: &str = "the paper prints no numbers for this figure, and neither the sample sizes nor the \
     levels of noise: they are those of the Leverage SHAP experiments";

const TREES: &str = "model: XGBoost regressor, 100 trees of depth 4; explicand: a random row, another one in \
                     every run, the same for all estimators of a run";

pub(super) const ESTIMATORS: &str = "every estimator takes at most m evaluations of the game, v(∅) and v(N) \
                          among them; repeated coalitions are evaluated once. MC divides them among the \
                          players, two for each contribution; MC (2m evaluations) counts m contributions, as \
                          the paper's code does";

/// Returns the notes of a report on Banzhaf values of trees.
pub(super) fn notes() -> Vec<String> {
    notes![
        TREES,
        "game: path-dependent (a split on an absent feature is followed both ways, weighted by cover), as in \
         the paper's code and its appendix B; truth: its exact Banzhaf values",
        ESTIMATORS,
        "Kernel Banzhaf without pairs has an intercept, as in the paper's code; with pairs an intercept \
         makes no difference",
        NOT_PRINTED,
    ]
}

/// Returns the notes of a report on Banzhaf and Shapley values of trees.
pub(super) fn shapley_notes() -> Vec<String> {
    notes![
        TREES,
        "games: path-dependent for Kernel Banzhaf; interventional for the estimators of Shapley values, for \
         which the paper does not specify the background: with the column means as one baseline, and with 50 \
         random rows other than the explicand, as for its networks (appendix B) and in the README of its \
         code. Claims are judged for both. Truths: the exact values of these games, which are different \
         games of the same explicand",
        "Kernel Banzhaf draws with replacement; the estimators of Shapley values draw without, and are exact \
         at m ≥ 2^n",
        NOT_PRINTED,
    ]
}
