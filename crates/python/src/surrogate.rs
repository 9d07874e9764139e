//! Surrogates, learned by an explainer.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::usage;

/// A surrogate of a model, for the table method.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Surrogate {
    pub(crate) surrogate: Arc<apportion::surrogates::Surrogate>,
}

#[pymethods]
impl Surrogate {
    /// Reads a surrogate that `to_bytes` returned.
    #[new]
    fn new(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = apportion::surrogates::Surrogate::from_bytes(bytes);
        Ok(Self { surrogate: Arc::new(read.map_err(|error| usage(py, error))?) })
    }

    /// Returns the surrogate as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.surrogate.to_bytes())
    }
}
