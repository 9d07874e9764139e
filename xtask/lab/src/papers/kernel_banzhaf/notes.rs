//! Notes in reports on this paper.

use crate::reproduce::report::notes;

/// Note on numbers that the paper does not print.
const NOT_PRINTED: &str = "the paper prints neither numbers for this figure nor the sample sizes and noise \
                           levels; these are taken from the Leverage SHAP experiments";

const TREES: &str = "model: XGBoost regressor, 100 trees of depth 4; explicand: a random row, different in \
                     every run, and the same for all estimators of a run";

pub(super) const ESTIMATORS: &str = "every estimator uses at most m evaluations of the game, including v(∅) \
                                     and v(N); repeated coalitions are evaluated once. MC divides them among \
                                     the players, with two for each contribution; MC (2m evaluations) counts \
                                     m contributions, as the paper's code does";

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
         which the paper does not specify the background: either with the column means as the only baseline, \
         or with 50 random rows other than the explicand, as for its networks (appendix B) and in the README \
         of its code. Claims are judged for both. Truths: the exact values of these games, which are \
         different games for the same explicand",
        "Kernel Banzhaf draws with replacement; the estimators of Shapley values draw without, and are exact \
         at m ≥ 2^n",
        NOT_PRINTED,
    ]
}
