//! Progress and results of the rows of a run.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use apportion::{Explanation, Progress, RunObserver};

/// A counter and collector of finished rows.
#[derive(Default)]
pub(crate) struct Watch {
    rows: AtomicUsize,
    evaluations: AtomicUsize,
    done: Mutex<Vec<(usize, Explanation)>>,
}

impl Watch {
    /// Returns the number of finished rows, and the largest number of evaluations of an unfinished row that
    /// was reported since the last row finished.
    pub(crate) fn so_far(&self) -> (usize, usize) {
        (self.rows.load(Ordering::Relaxed), self.evaluations.load(Ordering::Relaxed))
    }

    /// Returns the finished rows, sorted by row number.
    pub(crate) fn done(self) -> Vec<(usize, Explanation)> {
        let mut done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|&(row, _)| row);
        done
    }
}

impl RunObserver for Watch {
    fn on_progress(&self, _: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        self.evaluations.fetch_max(progress.evaluations, Ordering::Relaxed);
        ControlFlow::Continue(())
    }

    fn on_row_done(&self, row: usize, explanation: &Explanation) {
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.evaluations.store(0, Ordering::Relaxed);
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push((row, explanation.clone()));
    }
}
