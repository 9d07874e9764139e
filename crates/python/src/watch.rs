//! Follows the runs of many rows: counts them, and keeps what is done.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use apportion::{Explanation, Follow, Progress};

/// What is known of the runs so far.
#[derive(Default)]
pub(crate) struct Watch {
    rows: AtomicUsize,
    evaluations: AtomicUsize,
    done: Mutex<Vec<(usize, Explanation)>>,
}

impl Watch {
    /// Rows that are done, and evaluations of them and of the one that is in work.
    pub(crate) fn so_far(&self) -> (usize, usize) {
        (self.rows.load(Ordering::Relaxed), self.evaluations.load(Ordering::Relaxed))
    }

    /// The rows that are done, in their order.
    pub(crate) fn done(self) -> Vec<(usize, Explanation)> {
        let mut done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|&(row, _)| row);
        done
    }
}

impl Follow for Watch {
    fn progress(&self, _: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        self.evaluations.fetch_max(progress.evaluations, Ordering::Relaxed);
        ControlFlow::Continue(())
    }

    fn done(&self, row: usize, explanation: &Explanation) {
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.evaluations.store(0, Ordering::Relaxed);
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push((row, explanation.clone()));
    }
}
