//! Notes in the reports on simulated tasks.

use crate::reproduce::report::notes;

/// Returns the notes in the reports on simulated tasks.
pub(super) fn notes() -> Vec<String> {
    notes![
        "all data are simulated (section 5.1): independent standard normal features, new x* and r* for each \
         pair, redrawn in classification until their classes differ; every method is run once on each pair, \
         with the same pairs for all methods",
        "SGD follows the conventions of the authors' code: half the paper's gradient, coalitions drawn by \
         L_l with D = C√d, projection on Σφ = v(M) only, start at v(M)/d, and the mean of all iterates as \
         the result",
        "evaluations: budgets of 2 + T(d − 1), the cost of T permutations plus v(∅) and v(M); classical \
         Monte Carlo uses two evaluations per player and sample, and repeated coalitions count each time \
         that they are drawn",
        "methods with a star are not in the paper",
    ]
}
