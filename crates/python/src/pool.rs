//! Threads of the engine.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use apportion::games::memory;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// Threads that explain. A process that was forked has none of those of its parent, and must make its own.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Pool {
    pub(crate) threads: ThreadPool,
}

#[pymethods]
impl Pool {
    /// So many threads; 0 for as many as there are cores.
    #[new]
    fn new(py: Python<'_>, threads: usize) -> PyResult<Self> {
        memory::check_setting().map_err(|error| errors::usage(py, error))?;
        let built = py.detach(|| {
            ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|thread| format!("apportion-{thread}"))
                .build()
        });
        Ok(Self { threads: built.map_err(|error| errors::usage(py, format!("no threads: {error}")))? })
    }

    /// How many there are.
    #[getter]
    fn threads(&self) -> usize {
        self.threads.current_num_threads()
    }
}

impl Pool {
    /// Threads of its own for work that a function asks for while these wait for its answer; none where they do not.
    pub(crate) fn own(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        match ANSWERING.get() {
            0 => Ok(None),
            _ => Self::new(py, self.threads()).map(Some),
        }
    }
}

thread_local! {
    /// How many functions this thread is in, each of which some threads wait for.
    static ANSWERING: Cell<usize> = const { Cell::new(0) };
}

/// Calls a function that threads of a pool wait for.
pub(crate) fn answering<R>(call: impl FnOnce() -> R) -> R {
    ANSWERING.set(ANSWERING.get() + 1);
    let answer = call();
    ANSWERING.set(ANSWERING.get() - 1);
    answer
}

/// What `work` gives, or the word that its panic left.
pub(crate) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(in_words)
}

#[expect(clippy::needless_pass_by_value, reason = "what a panic leaves is a box")]
fn in_words(left: Box<dyn Any + Send>) -> String {
    let text = left.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| left.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
