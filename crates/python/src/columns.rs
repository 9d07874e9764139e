//! Selection of the feature columns of a data frame.

use apportion_rows::{Header, RowOptions, choose};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{Class, raised};

/// Returns the index of the column of each feature. `spellings` contains, for each column, its name, followed
/// by other names under which the model's library may store it; `names` contains the names of the features,
/// if they are known. Errors refer to the table as `what`.
#[pyfunction]
#[pyo3(signature = (spellings, names, count, what))]
pub(crate) fn choose_columns(
    py: Python<'_>,
    spellings: Vec<Vec<Bound<'_, PyString>>>,
    names: Option<Vec<Bound<'_, PyString>>>,
    count: Option<usize>,
    what: &str,
) -> PyResult<Vec<usize>> {
    let texts = |names: Vec<Bound<'_, PyString>>| -> Vec<String> {
        names.iter().map(|name| name.to_string_lossy().into_owned()).collect()
    };
    let (spellings, names): (Vec<_>, _) = (spellings.into_iter().map(texts).collect(), names.map(texts));
    let wanted = RowOptions {
        names: names.as_deref(),
        named_by: "the model",
        count,
        // Tables in memory contain only the columns that the user passes as features.
        keeps_all: true,
        ..RowOptions::default()
    };
    match choose(Header::Spellings(&spellings), &wanted) {
        Ok(choice) => Ok(choice.features),
        Err(error) => Err(raised(py, Class::Data, format!("{what}: {error}"))),
    }
}
