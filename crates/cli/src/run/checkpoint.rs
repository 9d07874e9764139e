//! Observes the explanation of rows: shows the progress, saves the checkpoint, and stops after an interrupt.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use apportion::{Checkpoint, Explanation, Progress, RunObserver};
use apportion_files::{CheckpointFile, Destination, FileError, Key};
use indicatif::ProgressBar;

use crate::interrupt;

/// The observer of all rows.
pub(crate) struct Runs<'a> {
    progress: &'a ProgressBar,
    file: CheckpointFile,
}

impl<'a> Runs<'a> {
    /// Returns the observer for runs of `key`, resumed from the checkpoint in `resume` if there is one.
    pub(crate) fn new(
        key: &Key,
        resume: Option<&Path>,
        destination: Option<&Destination>,
        every: Duration,
        progress: &'a ProgressBar,
    ) -> Result<Self> {
        if destination.is_some() {
            interrupt::keep_first()?;
        }
        let resume = resume.map(|path| ("--resume", path));
        Ok(Self { progress, file: CheckpointFile::open(key, resume, destination, every)? })
    }

    /// Returns the rows that earlier runs finished.
    pub(crate) fn finished_rows(&self) -> impl Iterator<Item = (usize, &Explanation)> {
        self.file.finished_rows()
    }

    /// Writes the checkpoint in its current state.
    pub(crate) fn keep(&self) -> Result<(), FileError> {
        self.file.write()
    }
}

impl RunObserver for Runs<'_> {
    fn load_result(&self, row: usize) -> Option<Explanation> {
        self.file.finished(row).cloned()
    }

    fn load_checkpoint(&self, row: usize) -> Option<Checkpoint> {
        self.file.begun(row)
    }

    fn on_row_start(&self, _: usize) -> ControlFlow<()> {
        if interrupt::was_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn on_progress(&self, row: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        let error =
            progress.error.map_or_else(String::new, |error| format!(", error {error:.2} × tolerance"));
        self.progress
            .set_message(format!("{} of {} evaluations{error}", progress.evaluations, progress.next_check));
        let is_interrupted = interrupt::was_interrupted();
        let kept = self.file.progress(row, progress, is_interrupted);
        if is_interrupted { ControlFlow::Break(()) } else { kept }
    }

    fn on_row_done(&self, row: usize, explanation: &Explanation) {
        self.progress.inc(1);
        self.file.done(row, explanation);
    }
}
