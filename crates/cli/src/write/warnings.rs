//! Warnings about values that fall short of the request.

use apportion::Explanation;
use apportion::estimators::StopRule;

use crate::messages;

/// The warnings about all rows.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    rows: usize,
    undetermined: usize,
    /// For the first row whose values are undetermined: the number of evaluations, the rank, and the number
    /// of unknowns.
    first: Option<(usize, usize, usize)>,
    inaccurate: usize,
    /// The reason why the first run without the requested accuracy stopped.
    stopped_by: Option<StopRule>,
}

impl Warnings {
    /// Updates the warnings with the explanations of more rows.
    pub(crate) fn add(&mut self, explanations: &[Explanation]) {
        self.rows += explanations.len();
        for Explanation { evaluations, diagnostics, certificate, .. } in explanations {
            if diagnostics.rank < diagnostics.unknowns {
                self.undetermined += 1;
                let (rank, unknowns) =
                    (diagnostics.rank.unwrap_or_default(), diagnostics.unknowns.unwrap_or_default());
                self.first.get_or_insert((*evaluations, rank, unknowns));
            }
            if let Some(certificate) = certificate
                && certificate.stopped_by != StopRule::Tolerance
            {
                self.inaccurate += 1;
                self.stopped_by.get_or_insert(certificate.stopped_by);
            }
        }
    }

    /// Prints the warnings.
    pub(crate) fn print(&self) {
        let rows = self.rows;
        if let Some((evaluations, rank, unknowns)) = self.first {
            messages::warning(format_args!(
                "{} of {rows} rows: {evaluations} evaluations determine only {rank} of {unknowns} unknowns, \
                 so the values (minimum-norm solution) may be far off; increase --budget (5n or more)",
                self.undetermined
            ));
        }
        let what = match self.stopped_by {
            None => return,
            Some(StopRule::Draws) => {
                "because of the sampling error of the draws, and the budget does not allow enough draws; \
                 increase --budget, --draws or the tolerance"
            }
            Some(StopRule::MaxChecks) => {
                "within the maximum number of interim checks; increase the tolerance"
            }
            Some(StopRule::NoScale) => {
                "because a relative tolerance is undefined for values that are (nearly) zero or equal; use \
                 --relative-to nothing"
            }
            Some(_) => "within the budget; increase --budget or the tolerance",
        };
        messages::warning(format_args!(
            "{} of {rows} rows did not reach the tolerance {what}",
            self.inaccurate
        ));
    }
}
