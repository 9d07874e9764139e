//! Finished runs, from which an interrupted command resumes when it is repeated.
//!
//! Until the results are written, finished runs are kept in a separate [`Store`] next to the result
//! directories. The name of the store depends on everything that affects numbers and times, so that results
//! from other settings are not reused. This includes the build, because a source with uncommitted changes has
//! no other identifier.

use std::path::{Path, PathBuf};
use std::sync::Once;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::interrupt;
use super::program::ProgramResult;
use super::record::Record;
use crate::reproduce::report::in_runs;
use crate::reproduce::store::{Store, key};
use xtask::aside;

/// The key that identifies a run among all runs of the same command.
#[derive(Serialize)]
pub(crate) struct RunKey<'a> {
    pub(crate) dataset: &'a str,
    pub(crate) estimator: &'a str,
    pub(crate) budget: String,
    pub(crate) run: usize,
}

/// Result of a finished run, as stored.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunResult {
    pub(crate) answered: ProgramResult,
    pub(crate) seconds: f64,
}

/// Finished runs of one command.
pub(crate) struct Checkpoints {
    path: PathBuf,
    /// The file of finished runs; `None` while another process is running the same command.
    store: Option<Store>,
    /// Number of finished runs that an interrupted command left.
    earlier: usize,
    /// Ensures that write errors are reported only once.
    told: Once,
}

impl Checkpoints {
    /// Opens the checkpoints of the command with this name, record and digest, in `out`; `fresh` discards the
    /// checkpoints of an earlier command.
    ///
    /// # Errors
    ///
    /// If the checkpoints cannot be read or written.
    pub(crate) fn open(out: &Path, name: &str, record: &Record, digest: &str, fresh: bool) -> Result<Self> {
        let program = std::env::current_exe().and_then(std::fs::metadata).ok();
        let built = program.map(|file| (file.len(), file.modified().ok()));
        let all = key(&(digest, built, &record.made.machine))?;
        let path = out.join(format!(".{name}-{}.checkpoints", &all[..16]));
        let store = Store::open_if_free(&path, fresh)?;
        let earlier = store.as_ref().map_or(0, Store::len);
        match &store {
            None => aside!(
                "the same command is already running; if this one is interrupted, its finished runs are lost"
            ),
            Some(_) => interrupt::keep(&path),
        }
        if earlier > 0 {
            let runs = in_runs(earlier);
            aside!("resuming with {runs} left by an interrupted command; --fresh discards them");
        }
        Ok(Self { path, store, earlier, told: Once::new() })
    }

    /// Returns the number of runs left by an interrupted command.
    pub(crate) fn earlier(&self) -> usize {
        self.earlier
    }

    /// Returns the result of a run, if it has finished.
    pub(crate) fn get(&self, run: &RunKey<'_>) -> Result<Option<RunResult>> {
        let Some(store) = &self.store else { return Ok(None) };
        Ok(store.get(&key(run)?))
    }

    /// Stores the result of a run. A failure is reported once, and the run continues.
    pub(crate) fn put(&self, run: &RunKey<'_>, ended: &RunResult) {
        let Some(store) = &self.store else { return };
        if let Err(error) = key(run).and_then(|key| store.put(key, run, ended)) {
            self.told.call_once(|| {
                aside!("cannot store finished runs, which will be lost on an interrupt: {error:#}")
            });
        }
    }

    /// Removes the checkpoints after the results have been written.
    pub(crate) fn forget(self) {
        if self.store.is_some() {
            // If the file cannot be removed, the next identical command reuses its numbers, which are valid.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        if self.store.is_some() {
            interrupt::finish_keeping(&self.path);
        }
    }
}
