//! Observing and controlling runs over many rows.

use std::ops::ControlFlow;

use apportion_estimators::{Checkpoint, Explanation, Progress};

/// An observer of the explanation of many rows. It receives the progress, can stop the run, and stores and
/// restores checkpoints.
///
/// The methods are called from the threads that explain the rows. Rows are numbered from 0 in the given
/// order.
pub trait RunObserver: Sync {
    /// Returns the explanation of a row that was finished in an earlier run; it is used unchanged.
    fn load_result(&self, row: usize) -> Option<Explanation> {
        let _ = row;
        None
    }

    /// Returns the checkpoint of a row that was interrupted in an earlier run.
    fn load_checkpoint(&self, row: usize) -> Option<Checkpoint> {
        let _ = row;
        None
    }

    /// Called before each row; [`ControlFlow::Break`] stops the whole run, as in
    /// [`on_progress`](Self::on_progress). Not called by the tree method, which explains thousands of rows
    /// per second.
    fn on_row_start(&self, row: usize) -> ControlFlow<()> {
        let _ = row;
        ControlFlow::Continue(())
    }

    /// Called after every chunk of evaluations of a row. [`ControlFlow::Break`] stops the whole run with the
    /// error [`GameError::Interrupted`](apportion_games::GameError::Interrupted). Not called by exact
    /// methods.
    fn on_progress(&self, row: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        let _ = (row, progress);
        ControlFlow::Continue(())
    }

    /// Called after each row.
    fn on_row_done(&self, row: usize, explanation: &Explanation) {
        let _ = (row, explanation);
    }
}

/// An observer that calls a closure after each row.
pub(crate) struct CountRows<F>(pub(crate) F);

impl<F: Fn() + Sync> RunObserver for CountRows<F> {
    fn on_row_done(&self, _: usize, _: &Explanation) {
        self.0();
    }
}
