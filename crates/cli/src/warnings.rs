//! Warnings about values that fall short of the request.

use apportion::Explanation;
use apportion::estimators::StopRule;

use crate::messages;

/// The warnings over all rows.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    rows: usize,
    undetermined: usize,
    /// The evaluations, rank and unknowns of the first row whose values were undetermined.
    first: Option<(usize, usize, usize)>,
    inaccurate: usize,
    /// The reason why the first run without the requested accuracy stopped.
    stopped_by: Option<StopRule>,
}

impl Warnings {
    /// Adds rows.
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
    pub(crate) fn say(&self) {
        let rows = self.rows;
        if let Some((evaluations, rank, unknowns)) = self.first {
            messages::warning(format_args!(
                "{} of {rows} rows: {evaluations} evaluations determine {rank} of {unknowns} unknowns; the values are those of least \
                 norm and may be far off: give a larger --budget (5n or more)",
                self.undetermined
            ));
        }
        let what = match self.stopped_by {
            None => return,
            Some(StopRule::Draws) => {
                "the draws of the game leave a larger error, and the budget does not pay as many as it takes: give a larger --budget, more \
                 --draws, or a larger tolerance"
            }
            Some(StopRule::Looks) => "the looks were used up: give a larger tolerance",
            Some(StopRule::NoScale) => "there is nothing for a share to be of: give an absolute tolerance",
            Some(_) => "the budget was used up: give a larger --budget, or a larger tolerance",
        };
        messages::warning(format_args!(
            "{} of {rows} rows: the error is not known to be within the tolerance; {what}",
            self.inaccurate
        ));
    }
}
