//! Notes in reports on this paper, and lists of their datasets.

use super::{instance, printed};
use crate::reproduce::datasets::known_dataset;

/// Notes that appear in every report on datasets.
pub(super) const NOTES: [&str; 5] = [
    "model: XGBoost regressor, 100 trees of depth 4; baseline: column means; explicand: a random row, the \
     same for all estimators of a run; an entry that equals the baseline is replaced by the entry of another \
     random row, with at most 100 attempts (in a constant column it is kept, and the player is a null \
     player)",
    "truth: exact interventional Shapley values of the trees for that baseline; error: ‖φ̃ − φ‖² / ‖φ‖²",
    "Leverage SHAP is algorithm 1: every pair of coalitions is drawn independently (the number of coalitions \
     of each size is binomial), so that m is the expected number of evaluations. The figures and tables of \
     the paper use this algorithm; the authors' code has used deterministic counts only since November 2025 \
     (commit 590f983)",
    "names with an asterisk are variants added by this project, about which the paper makes no claims: \
     deterministic counts (systematic rounding: exactly m evaluations, the library's default); Leverage SHAP \
     (Unpaired) without replacement, while the paper's draws with replacement; Permutation SHAP with as many \
     passes as the budget allows (5 pairs at m = 10n), while the paper's has as many as the shap package (4)",
    "estimators with replacement (Kernel SHAP, Kernel SHAP Paired, Leverage SHAP w/o Bernoulli, Leverage \
     SHAP (Unpaired), Permutation SHAP) continue sampling at m ≥ 2^n, as in the paper; the others are \
     exact there",
];

/// Note in reports on the objective.
pub(super) const OBJECTIVE_NOTE: &str = "the figure shows the excess ‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1, computed as \
                                         ‖P(φ̃ − φ)‖² / (n ‖Aφ − b‖²) (Pythagoras and Lemma 3.3), which \
                                         avoids cancellation. The paper shows the ratio, which falls below 1 \
                                         by rounding. Runs whose game is additive up to rounding (‖Aφ − b‖² \
                                         = 0) are skipped";

/// Note in reports on noise.
pub(super) const NOISE_NOTE: &str = "in our runs, the noise of a coalition is the same for all estimators of \
                                     a run, so estimators that evaluate the same coalitions give the same \
                                     values, and v(∅) and v(N) get their noise only once; the authors draw \
                                     new noise for every evaluation. The noise is absolute, so its effect is \
                                     smaller if predictions are large (Diabetes: hundreds)";

pub(super) fn all_datasets() -> Vec<&'static str> {
    printed::DATASETS.to_vec()
}

pub(super) fn small_datasets() -> Vec<&'static str> {
    all_datasets().into_iter().filter(|name| known_dataset(name).players <= instance::SMALL).collect()
}
