//! Notes in the reports on simulated tasks.

use crate::reproduce::report::notes;

/// Returns the notes in the reports on simulated tasks.
pub(super) fn notes() -> Vec<String> {
    notes![
        "all data are simulated (section 5.1): independent standard normal features, new x* and r* \
         for each pair, in classification until their classes differ; every method is run once on each pair, \
         on the same pairs as all others",
        "SGD by the conventions of the authors' code: half the paper's gradient, coalitions drawn by L_l \
         with D = C√d, projection on Σφ = v(M) alone, start at v(M)/d, the mean of all iterates as the \
         answer",
        "evaluations: budgets of 2 + T(d − 1), what T orders take after v(∅) and v(M); classical Monte Carlo \
         takes two evaluations per player and sample, repeated coalitions counted as often as they are drawn",
        "methods with a star are not in the paper",
    ]
}
