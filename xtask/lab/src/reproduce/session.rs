//! The input of an artefact.

use apportion::games::parallel;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cli::{Preset, Reproduce};
use super::datasets::{Dataset, Library, known_dataset};
use super::ingredients::{Cell, Ingredients};
use super::store::{Store, key};
use xtask::aside;

/// Runs, seed, datasets and checkpoints of one paper in one invocation.
pub(crate) struct Session {
    pub(crate) preset: Preset,
    /// Number of runs per setting.
    pub(crate) runs: usize,
    /// Whether the number of runs was given explicitly, rather than by the preset.
    pub(crate) runs_are_asked: bool,
    pub(crate) seed: u64,
    pub(crate) library: Library,
    store: Store,
    said: Mutex<BTreeSet<String>>,
    left: Mutex<Vec<(String, Vec<u8>)>>,
}

impl Session {
    /// Creates a session for the named paper, with `runs` runs unless the arguments specify a number.
    pub(crate) fn new(
        arguments: &Reproduce,
        paper: &str,
        runs: usize,
        workspace: &Path,
        out: &Path,
    ) -> Result<Self> {
        Ok(Self {
            preset: arguments.preset,
            runs: arguments.runs.map_or(runs, usize::from),
            runs_are_asked: arguments.runs.is_some(),
            seed: arguments.seed,
            library: if arguments.is_gate() {
                Library::embedded()
            } else {
                Library::new(arguments.data.as_deref(), workspace)?
            },
            store: Store::open(&out.join("checkpoints").join(format!("{paper}.jsonl")), arguments.fresh)?,
            said: Mutex::default(),
            left: Mutex::default(),
        })
    }

    /// Adds a file to the output of the current artefact, next to its data, figure and report.
    pub(crate) fn leave(&self, name: impl Into<String>, bytes: Vec<u8>) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).push((name.into(), bytes));
    }

    /// Returns the files added since the last call.
    pub(super) fn take_left(&self) -> Vec<(String, Vec<u8>)> {
        std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the named datasets, in order.
    pub(crate) fn datasets(&self, names: &[&str]) -> Result<Vec<Arc<Dataset>>> {
        names.iter().map(|name| self.library.get(known_dataset(name))).collect()
    }

    /// Returns the results of `cells`, in order. Missing results are computed in parallel, and each is stored
    /// as soon as it is finished.
    ///
    /// The checkpoint key of a result consists of the key of its cell and the ingredients. Cells with equal
    /// keys are computed once.
    pub(crate) fn results<K, W, R>(
        &self,
        cells: &[Cell<K, W>],
        compute: impl Fn(&Cell<K, W>) -> Result<R> + Sync,
    ) -> Result<Vec<R>>
    where
        K: Serialize + Sync,
        W: Sync,
        R: Serialize + DeserializeOwned + Send,
    {
        let keys = cells.iter().map(|cell| key(&Keyed::new(cell))).collect::<Result<Vec<String>>>()?;
        let mut seen = BTreeSet::new();
        let missing: Vec<(&Cell<K, W>, &String)> = cells
            .iter()
            .zip(&keys)
            .filter(|(_, key)| !self.store.contains(key) && seen.insert(key.as_str()))
            .collect();
        let progress = progress(missing.len());
        parallel::try_map(&missing, |&(cell, key)| {
            let result = compute(cell)?;
            self.store.put(key.clone(), &Keyed::new(cell), &result)?;
            progress.inc(1);
            anyhow::Ok(())
        })?;
        progress.finish_and_clear();
        keys.iter()
            .zip(cells)
            .map(|(key, cell)| match self.store.get(key) {
                Some(result) => Ok(result),
                // The stored result has a different format: it was edited by hand or written by another
                // version.
                None => compute(cell),
            })
            .collect()
    }

    /// Prints a line to standard error, unless the same line was printed before.
    pub(crate) fn say_once(&self, line: &str) {
        if self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned()) {
            aside!("{line}");
        }
    }
}

/// The part of a stored line that identifies its cell.
#[derive(Serialize)]
struct Keyed<'a, K> {
    made_of: &'a Ingredients,
    cell: &'a K,
}

impl<'a, K> Keyed<'a, K> {
    fn new<W>(cell: &'a Cell<K, W>) -> Self {
        Self { made_of: &cell.made_of, cell: &cell.key }
    }
}

/// Creates a progress bar for `cells` cells on standard error; it is hidden unless standard error is a
/// terminal.
pub(crate) fn progress(cells: usize) -> ProgressBar {
    if cells == 0 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(cells as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} cells, {eta} left") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
impl Session {
    /// Creates a session with one run of the quick preset on the embedded datasets, with checkpoints below
    /// `out`.
    pub(crate) fn for_tests(out: &Path) -> Self {
        let arguments = Reproduce {
            what: Vec::new(),
            list: false,
            check: false,
            record: false,
            keep: false,
            preset: Preset::Quick,
            runs: Some(1),
            seed: 0,
            threads: None,
            data: Some(out.to_owned()),
            out: None,
            fresh: false,
            own: Default::default(),
        };
        Self::new(&arguments, "tested", 1, out, out).unwrap()
    }

    /// Returns the number of finished cells in the checkpoints below `out`.
    pub(crate) fn finished(out: &Path) -> usize {
        let path = out.join("checkpoints/tested.jsonl");
        std::fs::read_to_string(path).unwrap().lines().count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ingredients::Digest;
    use super::*;

    #[test]
    fn a_cell_is_found_if_all_that_made_it_is_the_same_and_computed_if_anything_is_not() {
        let digest = |number: f64| Digest::from_numbers([number]);
        let cell = |budget: usize, kind, protocol, games, method, truth: Option<f64>, seed| {
            let made_of = Ingredients::new(kind, protocol, seed, &digest(games), &digest(method));
            let made_of = match truth {
                Some(truth) => made_of.against(&digest(truth)),
                None => made_of,
            };
            Cell { key: budget, made_of, with: () }
        };
        let cells = [
            cell(5, "a", 1, 1.0, 2.0, None, 3),
            cell(6, "a", 1, 1.0, 2.0, None, 3),
            cell(5, "b", 1, 1.0, 2.0, None, 3),
            cell(5, "a", 2, 1.0, 2.0, None, 3),
            cell(5, "a", 1, 1.5, 2.0, None, 3),
            cell(5, "a", 1, 1.0, 2.5, None, 3),
            cell(5, "a", 1, 1.0, 2.0, Some(1.0), 3),
            cell(5, "a", 1, 1.0, 2.0, Some(1.5), 3),
            cell(5, "a", 1, 1.0, 2.0, None, 4),
        ];
        let out = tempfile::tempdir().unwrap();
        let result = |cell, computed: usize| {
            Session::for_tests(out.path()).results(std::slice::from_ref(cell), |_| Ok(computed)).unwrap()
        };
        // The result of each cell is its index in this list.
        for (place, cell) in cells.iter().enumerate() {
            assert_eq!(result(cell, place), [place]);
        }
        for (place, cell) in cells.iter().enumerate() {
            assert_eq!(result(cell, 99), [place]);
        }
    }
}
