//! Checkpoints of explanations of many rows.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use apportion::{ExplainError, Explanation, Progress, Rows, RunObserver};
use apportion_files::{CheckpointFile, Destination, Key, is_checkpoint};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{of_checkpoint, of_writing, usage};
use crate::watch::Watch;

/// Minimum time between two writes of the file.
const EVERY: Duration = Duration::from_secs(2);

/// The checkpoint of a run. While it exists, other runs with the same file raise an error.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Checkpoint {
    pub(crate) file: CheckpointFile,
}

#[pymethods]
impl Checkpoint {
    /// Raises an error for a path that cannot be written to, or that another run uses.
    #[staticmethod]
    fn check(py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let checked = py.detach(|| {
            let destination = Destination::file("checkpoint", &path, &[])?;
            CheckpointFile::check(&destination, Some(("checkpoint", &path))).map(drop)
        });
        checked.map_err(|error| of_checkpoint(py, &error))
    }

    /// Opens the file, resumes the run that it contains, if any, and writes the file. `key` contains the
    /// parts of a `Key` by name, and additional entries.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, key: &Bound<'_, PyDict>) -> PyResult<Self> {
        let key = key_of(py, key)?;
        let opened = py.detach(|| {
            let destination = Destination::file("checkpoint", &path, &[])?;
            let has_run = matches!(is_checkpoint(&path), Ok(Some(_)));
            CheckpointFile::open(&key, has_run.then_some(("checkpoint", &path)), Some(&destination), EVERY)
        });
        Ok(Self { file: opened.map_err(|error| of_checkpoint(py, &error))? })
    }

    /// Writes the current state and releases the file for other runs.
    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.file.finish()).map_err(|error| of_writing(py, &error))
    }
}

/// Reads the parts of a key from a dictionary.
fn key_of(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Key> {
    let mut key = Key::default();
    for (name, part) in given {
        let (name, part): (String, String) = (name.extract()?, part.extract()?);
        let known = match name.as_str() {
            "model" => &mut key.model,
            "rows" => &mut key.rows,
            "background" => &mut key.background,
            "value" => &mut key.value,
            "groups" => &mut key.groups,
            "graph" => &mut key.graph,
            "game" => &mut key.game,
            "output" => &mut key.output,
            "engine" => &mut key.engine,
            "distribution" => &mut key.distribution,
            "method" => &mut key.method,
            "budget" => &mut key.budget,
            "accuracy" => &mut key.accuracy,
            "seed" => &mut key.seed,
            _ => {
                key.more.push((name, part));
                continue;
            }
        };
        *known = part;
    }
    if key.model.is_empty() || key.rows.is_empty() {
        return Err(usage(py, "a checkpoint requires a model and rows"));
    }
    Ok(key)
}

/// An observer that reports rows to a watch and to a checkpoint. `rows` are the row numbers in the file;
/// `None` for 0, 1, ….
pub(crate) struct CheckpointedRows<'a> {
    pub(crate) watch: &'a Watch,
    pub(crate) file: &'a CheckpointFile,
    pub(crate) rows: Option<&'a [usize]>,
}

impl CheckpointedRows<'_> {
    fn number(&self, row: usize) -> usize {
        self.rows.map_or(row, |rows| rows[row])
    }
}

impl RunObserver for CheckpointedRows<'_> {
    fn load_result(&self, row: usize) -> Option<Explanation> {
        self.file.finished(self.number(row)).cloned()
    }

    fn load_checkpoint(&self, row: usize) -> Option<apportion::Checkpoint> {
        self.file.begun(self.number(row))
    }

    fn on_row_start(&self, row: usize) -> ControlFlow<()> {
        self.watch.on_row_start(row)
    }

    fn on_progress(&self, row: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        let watched = self.watch.on_progress(row, progress);
        let kept = self.file.progress(self.number(row), progress, watched.is_break());
        if watched.is_break() { watched } else { kept }
    }

    fn on_row_done(&self, row: usize, explanation: &Explanation) {
        self.watch.on_row_done(self.number(row), explanation);
        self.file.done(self.number(row), explanation);
    }
}

/// Explains rows with an exact method in blocks of `at_once` rows, skipping rows that the checkpoint
/// contains.
pub(crate) fn explain_in_blocks(
    explainer: &apportion::Explainer<'_>,
    rows: Rows<'_>,
    at_once: usize,
    (watch, file): (&Watch, &CheckpointFile),
) -> Result<(), ExplainError> {
    let mut rest = Vec::new();
    for row in 0..rows.len() {
        match file.finished(row) {
            Some(explanation) => watch.on_row_done(row, explanation),
            None => rest.push(row),
        }
    }
    for block in rest.chunks(at_once.max(1)) {
        if watch.on_row_start(block[0]).is_break() {
            return Ok(());
        }
        let values: Vec<f64> = block.iter().flat_map(|&row| rows.row(row)).copied().collect();
        let kept = CheckpointedRows { watch, file, rows: Some(block) };
        explainer.explain_rows_followed(Rows::new(&values, rows.columns()), &kept)?;
    }
    Ok(())
}
