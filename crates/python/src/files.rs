//! Files that are written completely or not at all.

use std::path::PathBuf;

use apportion_files::{Destination, FileError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::of_writing;

/// Writes a file completely or not at all. Links are followed, and the mode and the owner of a replaced file
/// are preserved.
///
/// Returns None after writing. For a descriptor, a pipe or a device, writes nothing, and returns the mode in
/// which the caller must open the path in Python: writing may wait for a reader, and only Python's own
/// functions can be interrupted.
#[pyfunction]
pub(crate) fn write_file(
    py: Python<'_>,
    path: PathBuf,
    content: &Bound<'_, PyBytes>,
) -> PyResult<Option<&'static str>> {
    let content = content.as_bytes();
    let written = py.detach(|| -> Result<_, FileError> {
        let destination = Destination::file("", &path, &[])?;
        if let Destination::Special(path) = &destination {
            return Ok(Some(if Destination::is_descriptor(path) { "ab" } else { "wb" }));
        }
        destination.write(|out| -> Result<(), FileError> { Ok(out.write_all(content)?) })?;
        Ok(None)
    });
    written.map_err(|error| of_writing(py, &error))
}
