//! Runs work of the engine on threads of the pool. Meanwhile, the calling thread evaluates Python functions
//! for the engine and checks for signals.
//!
//! A function thus runs on the thread that its caller set up, and Ctrl-C is raised inside the function. The
//! calling thread is only attached to the interpreter while the function runs or signals are checked. Between
//! calls, the thread checks for signals every twentieth of a second, and Ctrl-C cancels the work.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use apportion::Cancellation;
use apportion::games::BoxError;
use apportion::games::cancellation::uninterrupted;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors;
use crate::pool::{Pool, answering, caught};

/// Interval between checks for signals.
const PAUSE: Duration = Duration::from_millis(50);

/// The thread that shuts down the interpreter.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// Stops the work of all other threads: their functions are no longer called.
#[pyfunction]
pub(crate) fn end() {
    let _ = ENDING.set(std::thread::current().id());
}

/// Returns whether another thread shuts down the interpreter.
fn ending() -> bool {
    ENDING.get().is_some_and(|&thread| thread != std::thread::current().id())
}

/// The argument of a function call.
pub(crate) enum Question {
    /// Rows of features, row-major.
    Rows { values: Vec<f64>, columns: usize },
    /// Coalitions, row-major: whether each player is a member.
    Coalitions { members: Vec<bool>, players: usize },
}

/// A function call that another thread waits for.
struct Request {
    question: Question,
    /// Expected count of numbers in the result.
    numbers: usize,
    answer: SyncSender<Result<Vec<f64>, BoxError>>,
}

enum Message {
    Request(Request),
    Done,
}

/// A handle for calling the function from any thread.
#[derive(Clone)]
pub(crate) struct Line(Sender<Message>);

/// The error for a call after the work was stopped, when the function is no longer called.
#[derive(Debug)]
struct ServerStopped;

impl std::fmt::Display for ServerStopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for ServerStopped {}

/// The error for a function that returned an unexpected number of results.
#[derive(Debug)]
struct Miscounted {
    given: usize,
    wanted: usize,
}

impl std::fmt::Display for Miscounted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the function returned {} numbers, expected {}", self.given, self.wanted)
    }
}

impl std::error::Error for Miscounted {}

impl Line {
    /// Calls the function and waits for its result, which must contain `numbers` numbers.
    pub(crate) fn request(&self, question: Question, numbers: usize) -> Result<Vec<f64>, BoxError> {
        let (answer, answered) = sync_channel(1);
        self.0.send(Message::Request(Request { question, numbers, answer })).map_err(|_| ServerStopped)?;
        answered.recv().map_err(|_| ServerStopped)?
    }
}

/// The result of some work, and the exception that stopped it, if there is one.
pub(crate) struct Served<R> {
    /// `None` if the work was cancelled.
    pub(crate) result: Option<R>,
    pub(crate) stopped: Option<PyErr>,
}

impl<R> Served<R> {
    /// Returns the result.
    ///
    /// # Errors
    ///
    /// The exception that stopped the work. An exception after the end of the work is raised, too; otherwise
    /// the signal would be lost.
    pub(crate) fn whole(self, py: Python<'_>) -> PyResult<R> {
        match (self.result, self.stopped) {
            (_, Some(stopped)) => Err(stopped),
            (Some(result), None) => Ok(result),
            (None, None) => Err(errors::internal(py, "cancelled")),
        }
    }
}

/// Runs `work` on the threads of the pool, and evaluates `function` for it. `tick` is called at intervals; if
/// it or a signal handler raises an exception, the work is cancelled and the function is no longer called.
pub(crate) fn serve<R: Send>(
    py: Python<'_>,
    pool: &Pool,
    function: Option<&Py<PyAny>>,
    tick: &(dyn Fn(Python<'_>) -> PyResult<()> + Sync),
    work: impl FnOnce(Line) -> R + Send,
) -> PyResult<Served<R>> {
    let own = pool.own(py)?;
    let threads = own.as_ref().map_or(&pool.threads, |own| &own.threads);
    let (result, stopped) = py.detach(|| {
        let (sender, messages) = channel();
        let line = Line(sender.clone());
        let cancellation = Cancellation::new();
        let token = &cancellation;
        let mut result = Err("a thread ended unexpectedly".to_owned());
        let place = &mut result;
        let stopped = threads.in_place_scope(|scope| {
            scope.spawn(move |_| {
                *place = caught(|| token.run(|| work(line)));
                // Stop `answer_all`, unless it has returned already.
                let _ = sender.send(Message::Done);
            });
            answer_all(&messages, function, token, tick)
        });
        (result, stopped)
    });
    let result = result.map_err(|says| errors::internal(py, &says))?;
    Ok(Served { result: result.ok(), stopped })
}

impl Pool {
    /// Runs `work` on the threads of the pool, while other Python threads run. Ctrl-C cancels it.
    pub(crate) fn run<R: Send>(&self, py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
        serve(py, self, None, &|_| Ok(()), |_| work())?.whole(py)
    }
}

/// Runs `work` on a separate thread, while other Python threads run. Ctrl-C cancels it.
pub(crate) fn beside<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let (result, stopped) = py.detach(|| {
        let (sender, messages) = channel();
        let cancellation = Cancellation::new();
        let token = &cancellation;
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let result = caught(|| token.run(work));
                let _ = sender.send(Message::Done);
                result
            });
            let stopped = answer_all(&messages, None, token, &|_| Ok(()));
            (worker.join().unwrap_or_else(|_| Err("a thread ended unexpectedly".to_owned())), stopped)
        })
    });
    let result = result.map_err(|says| errors::internal(py, &says))?;
    Served { result: result.ok(), stopped }.whole(py)
}

/// Same as [`beside`], for work that does not check for cancellation: after Ctrl-C, the work continues to its
/// end in the background.
pub(crate) fn left_alone<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    beside(py, || uninterrupted(f64::INFINITY, work))
}

/// Evaluates the function until the work is done; returns the exception that stopped it early, if there is
/// one.
fn answer_all(
    messages: &Receiver<Message>,
    function: Option<&Py<PyAny>>,
    cancellation: &Cancellation,
    tick: &(dyn Fn(Python<'_>) -> PyResult<()> + Sync),
) -> Option<PyErr> {
    let mut stopped = None;
    let mut looked = Instant::now();
    loop {
        match messages.recv_timeout(PAUSE) {
            Ok(Message::Request(Request { question, numbers, answer })) => {
                let given = match function {
                    Some(function) if stopped.is_none() && !ending() => {
                        answering(|| Python::attach(|py| call(py, function, question, numbers)))
                    }
                    _ => Err(ServerStopped.into()),
                };
                // The receiver is gone if its thread was stopped.
                let _ = answer.send(given);
            }
            Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => return stopped,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if stopped.is_none() && looked.elapsed() >= PAUSE {
            looked = Instant::now();
            let heard = match ending() {
                true => Err(PyRuntimeError::new_err("the interpreter is shutting down")),
                false => Python::attach(|py| py.check_signals().and_then(|()| tick(py))),
            };
            if let Err(error) = heard {
                cancellation.cancel();
                stopped = Some(error);
            }
        }
    }
}

/// Calls the function, which returns a contiguous array of numbers.
fn call(
    py: Python<'_>,
    function: &Py<PyAny>,
    question: Question,
    wanted: usize,
) -> Result<Vec<f64>, BoxError> {
    let argument = match question {
        Question::Rows { values, columns } => {
            let rows = values.len() / columns.max(1);
            PyArray1::from_vec(py, values).reshape([rows, columns])?.into_any()
        }
        Question::Coalitions { members, players } => {
            let rows = members.len() / players.max(1);
            PyArray1::from_vec(py, members).reshape([rows, players])?.into_any()
        }
    };
    let answer = function.bind(py).call1((argument,))?;
    let numbers: PyReadonlyArray1<'_, f64> = answer.extract()?;
    let numbers = numbers.as_slice()?.to_vec();
    if numbers.len() != wanted {
        return Err(Miscounted { given: numbers.len(), wanted }.into());
    }
    Ok(numbers)
}
