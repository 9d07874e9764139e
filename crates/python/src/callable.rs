//! Python functions inside objects of the engine, visible to the garbage collector.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::errors::usage;

/// A Python function that the garbage collector can drop.
///
/// A model may refer to its own explainer, and a closure to the game that calls it. Such a cycle is only
/// collected if its objects report their references and can drop them.
pub(crate) struct Callable(Mutex<Option<Py<PyAny>>>);

impl Callable {
    pub(crate) fn new(function: Py<PyAny>) -> Self {
        Self(Mutex::new(Some(function)))
    }

    /// Returns a new reference to the function, which keeps it alive while it is called.
    ///
    /// # Errors
    ///
    /// `UsageError` if the garbage collector has dropped the function, as in a finalizer of the same cycle.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let function = self.lock().as_ref().map(|function| function.clone_ref(py));
        function.ok_or_else(|| {
            usage(
                py,
                "the function is not available: its explainer or game was garbage-collected; \
                 create a new one",
            )
        })
    }

    /// Reports the function to the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // While another thread holds the lock, the function is in use and is not collected. Waiting for the
        // lock is not allowed here.
        match self.0.try_lock() {
            Ok(function) => visit.call(&*function),
            Err(_) => Ok(()),
        }
    }

    /// Drops the reference.
    pub(crate) fn clear(&self) {
        // Drop the reference after unlocking, because dropping may run any Python code.
        let function = self.lock().take();
        drop(function);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
