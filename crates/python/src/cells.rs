//! Conversion of cells in memory to numbers, by the same rules as for cells of files.

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

/// Returns the cells of a column as numbers, or as codes if `ensemble` has categories for the feature; NaN
/// for None.
///
/// Raises IndexError with the position of the first invalid cell, and with the kind of problem: `category`,
/// `inexact` or `number`.
#[pyfunction]
#[pyo3(signature = (cells, ensemble = None, feature = 0))]
pub(crate) fn numbers_of_cells<'py>(
    py: Python<'py>,
    cells: Vec<Option<Cell>>,
    ensemble: Option<&Ensemble>,
    feature: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let mut column = Feature::new("", ensemble.and_then(|ensemble| ensemble.categories_of(feature)));
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

/// Returns the name of an error for the Python layer.
fn kind(error: &CellError) -> &'static str {
    match error {
        CellError::UnknownCategory { .. } => "category",
        CellError::Inexact => "inexact",
        _ => "number",
    }
}
