//! Threads of the engine.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use apportion::games::memory;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// A pool of threads of the engine. A forked process does not have the threads of its parent, and must create
/// its own pool.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Pool {
    pub(crate) threads: ThreadPool,
}

#[pymethods]
impl Pool {
    /// Creates a pool with this number of threads; 0 means one per core.
    #[new]
    fn new(py: Python<'_>, threads: usize) -> PyResult<Self> {
        memory::check_setting().map_err(|error| errors::usage(py, error))?;
        let built = py.detach(|| {
            ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|thread| format!("apportion-{thread}"))
                .build()
        });
        Ok(Self {
            threads: built.map_err(|error| {
                errors::usage(py, format!("cannot start threads ({error}); use fewer threads"))
            })?,
        })
    }

    /// Number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.threads.current_num_threads()
    }
}

impl Pool {
    /// Returns a separate pool if this thread is evaluating a function whose result the threads of a pool
    /// wait for, otherwise `None`. Without a separate pool, an explanation inside the function would wait for
    /// these threads forever.
    pub(crate) fn own(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        match ANSWERING.get() {
            0 => Ok(None),
            _ => Self::new(py, self.threads()).map(Some),
        }
    }
}

thread_local! {
    /// Number of nested function calls on this thread that threads of a pool wait for.
    static ANSWERING: Cell<usize> = const { Cell::new(0) };
}

/// Makes a call that threads of a pool wait for.
pub(crate) fn answering<R>(call: impl FnOnce() -> R) -> R {
    ANSWERING.set(ANSWERING.get() + 1);
    let answer = call();
    ANSWERING.set(ANSWERING.get() - 1);
    answer
}

/// Returns the result of `work`, or the message of its panic.
pub(crate) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(in_words)
}

#[expect(clippy::needless_pass_by_value, reason = "the payload of a panic is a box")]
fn in_words(left: Box<dyn Any + Send>) -> String {
    let text = left.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| left.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
