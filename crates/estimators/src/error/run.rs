//! What can go wrong in a run that goes on.

/// Why a run until an accuracy was refused, or a checkpoint of one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An accuracy that cannot be asked for.
    #[error("{what} {given} cannot be asked for; give {wanted}")]
    Until {
        /// Which of its numbers.
        what: &'static str,
        /// The number given.
        given: f64,
        /// What is possible.
        wanted: &'static str,
    },
    /// A range that the game has left.
    #[error(
        "a range of {given} was given, but values of the game already differ by {seen}; give the largest value less the least"
    )]
    Range {
        /// The range given.
        given: f64,
        /// The largest value seen less the least.
        seen: f64,
    },
    /// More evaluations than a run can remember.
    #[error(
        "a run remembers what it evaluates, at most {most} coalitions of this game; {given} evaluations were asked for"
    )]
    TooManyEvaluations {
        /// Evaluations asked for.
        given: usize,
        /// The most.
        most: usize,
    },
    /// A checkpoint of something else.
    #[error(
        "the checkpoint is of another {what}: it has {stored}, this run has {wanted}; resume with what it was made of, or start anew"
    )]
    OtherCheckpoint {
        /// What differs.
        what: &'static str,
        /// In the checkpoint.
        stored: String,
        /// In the run that was to be resumed.
        wanted: String,
    },
    /// A checkpoint that was cut off or changed.
    #[error("the checkpoint was cut off or changed since it was written; start anew")]
    SpoiledCheckpoint,
}
