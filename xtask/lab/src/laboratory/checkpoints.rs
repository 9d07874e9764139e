//! The runs that have ended, so that a command that was interrupted goes on with them when it is given again.
//!
//! They lie in a [`Store`] of their own beside the folders of results, until the results are written. Its name is of all that numbers and times
//! depend on, so what was made otherwise is not taken up. The build is part of it: a source with changes has no name of its own.

use std::path::{Path, PathBuf};
use std::sync::Once;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::interrupt;
use super::program::Answered;
use super::record::Record;
use crate::reproduce::report::in_runs;
use crate::reproduce::store::{Store, key};
use xtask::aside;

/// What tells a run from the others of the same command.
#[derive(Serialize)]
pub(crate) struct RunKey<'a> {
    pub(crate) dataset: &'a str,
    pub(crate) estimator: &'a str,
    pub(crate) budget: String,
    pub(crate) run: usize,
}

/// What came of a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) answered: Answered,
    pub(crate) seconds: f64,
}

/// The runs of one command that have ended.
pub(crate) struct Checkpoints {
    path: PathBuf,
    /// None while the same command is at work elsewhere.
    store: Option<Store>,
    /// How many there were at the beginning.
    earlier: usize,
    /// That they could not be written.
    told: Once,
}

impl Checkpoints {
    /// Opens those of the command that has this name, record and digest, in `out`; with `fresh` what an earlier one has left is forgotten.
    ///
    /// # Errors
    ///
    /// If they cannot be read or written.
    pub(crate) fn open(out: &Path, name: &str, record: &Record, digest: &str, fresh: bool) -> Result<Self> {
        let program = std::env::current_exe().and_then(std::fs::metadata).ok();
        let built = program.map(|file| (file.len(), file.modified().ok()));
        let all = key(&(digest, built, &record.made.machine))?;
        let path = out.join(format!(".{name}-{}.checkpoints", &all[..16]));
        let store = Store::open_if_free(&path, fresh)?;
        let earlier = store.as_ref().map_or(0, Store::len);
        match &store {
            None => aside!("the same command is at work elsewhere; an interrupt keeps nothing of this one"),
            Some(_) => interrupt::keep(&path),
        }
        if earlier > 0 {
            let runs = in_runs(earlier);
            aside!("goes on with {runs} that an interrupted command has left; --fresh forgets them");
        }
        Ok(Self { path, store, earlier, told: Once::new() })
    }

    /// How many runs an interrupted command has left.
    pub(crate) fn earlier(&self) -> usize {
        self.earlier
    }

    /// What came of a run, where it has ended.
    pub(crate) fn get(&self, run: &RunKey<'_>) -> Result<Option<Ended>> {
        let Some(store) = &self.store else { return Ok(None) };
        Ok(store.get(&key(run)?))
    }

    /// Keeps what came of a run. Where that fails it is told, once: the run goes on.
    pub(crate) fn put(&self, run: &RunKey<'_>, ended: &Ended) {
        let Some(store) = &self.store else { return };
        if let Err(error) = key(run).and_then(|key| store.put(key, run, ended)) {
            self.told.call_once(|| aside!("an interrupt would lose runs: {error:#}"));
        }
    }

    /// Removes them: what they were for is written.
    pub(crate) fn forget(self) {
        if self.store.is_some() {
            // Where it stays, the same command finds the same numbers.
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
