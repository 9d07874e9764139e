//! Summaries of values over rows.

use std::sync::{Mutex, PoisonError};

use apportion::results::{self, Batch, Moments, SummaryError, SummaryHeading};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{Class, raised};

/// The description of the values, as in the metadata of results.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Heading {
    value: String,
    interactions: bool,
    game: String,
    method: String,
    features: Vec<String>,
    outputs: Option<Vec<String>>,
    seed: u64,
    inputs: usize,
}

impl From<Heading> for SummaryHeading {
    fn from(heading: Heading) -> Self {
        let Heading { value, interactions, game, method, features, outputs, seed, inputs } = heading;
        Self { value, interactions, game, method, players: features, outputs, seed, inputs }
    }
}

/// The statistics of the values of many rows, and a sample of the rows.
///
/// The lock is only taken while the thread is detached from the interpreter, so that threads that wait for it
/// cannot block each other.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Summary {
    summary: Mutex<results::Summary>,
}

impl Summary {
    fn with<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut results::Summary) -> R + Send) -> R {
        py.detach(|| work(&mut self.summary.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Returns a statistic of each player and output, players × outputs.
    fn each<'py>(&self, py: Python<'py>, statistic: fn(&Moments) -> f64) -> Bound<'py, PyArray1<f64>> {
        let found = self.with(py, |summary| places(summary, |p, k| statistic(summary.moments(p, k))));
        PyArray1::from_vec(py, found)
    }
}

#[pymethods]
impl Summary {
    #[new]
    fn new() -> Self {
        Self { summary: Mutex::default() }
    }

    /// Adds rows, from row-major arrays.
    fn add(
        &self,
        py: Python<'_>,
        heading: Heading,
        predictions: PyReadonlyArray1<'_, f64>,
        base: PyReadonlyArray1<'_, f64>,
        values: PyReadonlyArray1<'_, f64>,
        inputs: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let heading = SummaryHeading::from(heading);
        let batch = Batch {
            rows: (0..(predictions.len()? / heading.output_count()) as u64).collect(),
            predictions: predictions.as_slice()?.to_vec(),
            base: base.as_slice()?.to_vec(),
            values: values.as_slice()?.to_vec(),
            inputs: inputs.as_slice()?.to_vec(),
            ..Batch::default()
        };
        self.with(py, |summary| summary.add(&heading, &batch)).map_err(|error| failed(py, &error))
    }

    /// Adds the rows of another summary.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        // Clone the other summary, so that only one lock is held at a time: it may be this summary.
        let other = other.with(py, |other| other.clone());
        self.with(py, |summary| summary.merge(&other)).map_err(|error| failed(py, &error))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.with(py, |summary| summary.to_bytes()))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, written: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let written = written.as_bytes();
        let read = py.detach(|| results::Summary::from_bytes(written));
        Ok(Self { summary: Mutex::new(read.map_err(|error| failed(py, &error))?) })
    }

    #[getter]
    fn rows(&self, py: Python<'_>) -> u64 {
        self.with(py, |summary| summary.rows())
    }

    /// The description of the values; None if nothing was added.
    #[getter]
    fn heading<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(heading) = self.with(py, |summary| summary.heading().cloned()) else { return Ok(None) };
        let entries = PyDict::new(py);
        entries.set_item("value", heading.value)?;
        entries.set_item("interactions", heading.interactions)?;
        entries.set_item("game", heading.game)?;
        entries.set_item("method", heading.method)?;
        entries.set_item("features", heading.players)?;
        entries.set_item("outputs", heading.outputs)?;
        entries.set_item("seed", heading.seed)?;
        entries.set_item("inputs", heading.inputs)?;
        Ok(Some(entries))
    }

    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, Moments::mean)
    }

    fn mean_absolute<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, Moments::mean_absolute)
    }

    fn deviation<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, Moments::deviation)
    }

    fn min<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, Moments::min)
    }

    fn max<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.each(py, Moments::max)
    }

    fn quantile<'py>(&self, py: Python<'py>, share: f64) -> Bound<'py, PyArray1<f64>> {
        let found = self.with(py, |summary| places(summary, |p, k| summary.quantile(share, p, k)));
        PyArray1::from_vec(py, found)
    }

    /// Returns the histogram of a player and an output: the smallest and the largest number of each cell, and
    /// its number of rows.
    #[expect(clippy::type_complexity, reason = "three arrays")]
    fn density<'py>(
        &self,
        py: Python<'py>,
        player: usize,
        output: usize,
    ) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>) {
        let bins: Vec<_> = self.with(py, |summary| summary.density(player, output).collect());
        let edges = |of: fn(&(f64, f64, u64)) -> f64| PyArray1::from_vec(py, bins.iter().map(of).collect());
        let counts = bins.iter().map(|bin| bin.2 as i64).collect();
        (edges(|bin| bin.0), edges(|bin| bin.1), PyArray1::from_vec(py, counts))
    }

    /// Returns the rows of the sample as row-major arrays: predictions, base values, values and inputs.
    fn sample<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<f64>>; 4] {
        let sample = self.with(py, |summary| summary.sample());
        [sample.predictions, sample.base, sample.values, sample.inputs]
            .map(|numbers| PyArray1::from_vec(py, numbers))
    }
}

/// Computes a number for each player and output, players × outputs.
fn places(summary: &results::Summary, number: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let Some(heading) = summary.heading() else { return Vec::new() };
    let outputs = heading.output_count();
    (0..heading.players.len() * outputs).map(|place| number(place / outputs, place % outputs)).collect()
}

fn failed(py: Python<'_>, error: &SummaryError) -> PyErr {
    raised(py, Class::Data, error.to_string())
}
