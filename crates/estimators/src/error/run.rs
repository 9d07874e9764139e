//! Errors of resumable runs.

/// The error for invalid settings or checkpoints of runs with a tolerance.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A setting of [`Until`](crate::Until) is out of range.
    #[error("{what} {given} cannot be asked for; give {wanted}")]
    Until {
        /// The name of the setting.
        what: &'static str,
        /// The given number.
        given: f64,
        /// The valid values.
        wanted: &'static str,
    },
    /// The given range of the game is smaller than the range of the observed values.
    #[error(
        "a range of {given} was given, but values of the game already differ by {seen}; give the largest value less the least"
    )]
    Range {
        /// The given range.
        given: f64,
        /// The largest observed value minus the smallest.
        seen: f64,
    },
    /// The budget exceeds the number of evaluations that a run can remember.
    #[error(
        "a run remembers what it evaluates, at most {most} coalitions of this game; {given} evaluations were asked for"
    )]
    TooManyEvaluations {
        /// The requested number of evaluations.
        given: usize,
        /// The maximum number of evaluations.
        most: usize,
    },
    /// The checkpoint belongs to a different run.
    #[error(
        "the checkpoint is of another {what}: it has {stored}, this run has {wanted}; resume with what it was made of, or start anew"
    )]
    OtherCheckpoint {
        /// The property that differs.
        what: &'static str,
        /// Its value in the checkpoint.
        stored: String,
        /// Its value in the run to resume.
        wanted: String,
    },
    /// The checkpoint is truncated or corrupt.
    #[error("the checkpoint was cut off or changed since it was written; start anew")]
    SpoiledCheckpoint,
}
