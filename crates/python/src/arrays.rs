//! NumPy arrays as rows of the engine, without a copy.

use apportion::Rows;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::{Class, raised};

/// Returns the rows of an array, which must be C-contiguous and aligned, as the Python layer ensures.
pub(crate) fn rows<'a>(array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<Rows<'a>> {
    let columns = array.shape()[1];
    let refuse = |says: String| raised(array.py(), Class::Data, says);
    let values = array
        .as_slice()
        .map_err(|_| refuse("rows must be a C-contiguous array of 64-bit floats".to_owned()))?;
    Rows::try_new(values, columns).map_err(|error| refuse(error.to_string()))
}
