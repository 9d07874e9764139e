//! Errors of resumable runs.

/// Error returned for invalid settings or checkpoints of runs with a tolerance.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A setting of [`Until`](crate::Until) is out of range.
    #[error("invalid {what} {actual}: must be {expected}")]
    Until {
        /// The name of the setting.
        what: &'static str,
        /// The given value of the setting.
        actual: f64,
        /// A description of the valid values.
        expected: &'static str,
    },
    /// The given range of the game is smaller than the range of the observed values.
    #[error(
        "invalid range {actual}: values of the game already differ by {seen}; expected the largest value \
         minus the smallest"
    )]
    Range {
        /// The given range.
        actual: f64,
        /// The largest observed value minus the smallest.
        seen: f64,
    },
    /// The budget exceeds the number of evaluations that a run can store.
    #[error(
        "a run can store at most {max} coalitions of this game, got a budget of {actual} evaluations; lower \
         the budget"
    )]
    TooManyEvaluations {
        /// The requested number of evaluations.
        actual: usize,
        /// The maximum number of evaluations.
        max: usize,
    },
    /// The checkpoint belongs to a different run.
    #[error(
        "the checkpoint belongs to a run with a different {what}: {stored} in the checkpoint, but {expected} \
         in this run; resume with the original {what}, or restart"
    )]
    OtherCheckpoint {
        /// The property that differs.
        what: &'static str,
        /// The value of this property in the checkpoint.
        stored: String,
        /// The value of this property in the run to resume.
        expected: String,
    },
    /// The checkpoint is truncated or corrupt.
    #[error("the checkpoint is truncated or corrupt; restart the run")]
    SpoiledCheckpoint,
}
