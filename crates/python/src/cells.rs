//! Cells of columns in memory, which become numbers by the rules for those of files.

use apportion_rows::{CellError, Feature};
use numpy::PyArray1;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::ensemble::Ensemble;

/// A cell that is not missing.
#[derive(FromPyObject)]
pub(crate) enum Cell {
    Boolean(bool),
    Whole(i128),
    Number(f64),
    Text(String),
}

/// The numbers of distinct cells of a column, None for a missing one: codes where `ensemble` has categories for the feature. Raises IndexError with
/// the place of the first cell that cannot be used, and why: `category`, `inexact` or `number`.
#[pyfunction]
#[pyo3(signature = (cells, ensemble = None, feature = 0))]
pub(crate) fn numbers_of_cells<'py>(
    py: Python<'py>,
    cells: Vec<Option<Cell>>,
    ensemble: Option<&Ensemble>,
    feature: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let mut column = Feature::new("", ensemble.and_then(|ensemble| ensemble.words(feature)));
    let mut number = |cell: &Option<Cell>| match cell {
        None => Ok(f64::NAN),
        Some(Cell::Boolean(value)) => column.boolean(*value),
        Some(Cell::Whole(value)) => column.whole(*value),
        Some(Cell::Number(value)) => column.number(*value),
        Some(Cell::Text(text)) => column.text(text),
    };
    let mut numbers = Vec::with_capacity(cells.len());
    for (place, cell) in cells.iter().enumerate() {
        let found = number(cell).map_err(|error| PyIndexError::new_err((place, kind(&error))))?;
        numbers.push(found);
    }
    Ok(PyArray1::from_vec(py, numbers))
}

/// What is wrong with a cell, for the Python files.
fn kind(error: &CellError) -> &'static str {
    match error {
        CellError::UnknownCategory { .. } => "category",
        CellError::Inexact => "inexact",
        _ => "number",
    }
}
