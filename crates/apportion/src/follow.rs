//! Following runs, row by row.

use std::ops::ControlFlow;

use apportion_estimators::{Checkpoint, Explanation, Progress};

/// Follows the explanation of many rows: shows progress, stops it, stores it and brings back what was stored.
///
/// Its methods are called from whichever threads explain the rows; rows are counted from 0 in the order in which they were given.
pub trait Follow: Sync {
    /// The explanation of a row that was finished before, which is taken as it is.
    fn finished(&self, row: usize) -> Option<Explanation> {
        let _ = row;
        None
    }

    /// The stored run of a row that was begun before.
    fn begun(&self, row: usize) -> Option<Checkpoint> {
        let _ = row;
        None
    }

    /// Asked before every row. [`ControlFlow::Break`] stops everything, as for [`progress`](Self::progress). The tree oracle, which explains
    /// thousands of rows a second, does not ask.
    fn begin(&self, row: usize) -> ControlFlow<()> {
        let _ = row;
        ControlFlow::Continue(())
    }

    /// Called after every chunk of evaluations of a row. [`ControlFlow::Break`] stops everything, with an error that says so
    /// ([`GameError::Interrupted`](apportion_games::GameError::Interrupted)). Exact methods do not call it.
    fn progress(&self, row: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        let _ = (row, progress);
        ControlFlow::Continue(())
    }

    /// Called when a row is done.
    fn done(&self, row: usize, explanation: &Explanation) {
        let _ = (row, explanation);
    }
}

/// Calls the closure for every row that is done.
pub(crate) struct CountRows<F>(pub(crate) F);

impl<F: Fn() + Sync> Follow for CountRows<F> {
    fn done(&self, _: usize, _: &Explanation) {
        self.0();
    }
}
