//! Notes in every report on this paper.

use super::runs;
use crate::reproduce::report::notes;
use crate::reproduce::session::Session;

/// Returns the notes in every report on this paper.
pub(super) fn notes(session: &Session) -> Vec<String> {
    notes![
        "all data are simulated: Gamma(3, |X1|) has shape 3 and scale |X1|, Normal(0, 3) variance 3; the \
         background D has 100 rows",
        "experiments 2a and 3a use ½(e − 1/e) in the exponent, where the paper prints ½(π − 1/π): each of \
         the other constants is the mean of the predictor that it is subtracted from, and ½(e − 1/e) is the \
         mean of X5",
        format!(
            "explicands: {} of the rows of D, twice as many as runs and at most all 100",
            runs::explicands(session)
        ),
        "two-step values are computed for the game minus v(∅), since otherwise the values of a group's \
         members would not sum to the value of the group; for the version as printed, see \
         group-explainers/two-step",
    ]
}
