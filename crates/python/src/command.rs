//! The command `apportion`, which the Python package contains.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command and returns its exit status. The first argument is the name of the program.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| apportion_cli::run(arguments))
}
