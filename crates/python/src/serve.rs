//! Work of the engine: done by threads of the pool, while the calling thread answers the engine's calls of Python functions and listens for signals.
//!
//! So a function finds the thread that its caller set up, Ctrl-C is raised inside it, and only its calls hold the interpreter. Between calls
//! the thread checks for signals every twentieth of a second; Ctrl-C cancels the work.

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

/// How long the thread waits before it looks for signals.
const PAUSE: Duration = Duration::from_millis(50);

/// The thread that ends the interpreter.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// Ends the work of all other threads: their functions are not called any more.
#[pyfunction]
pub(crate) fn end() {
    let _ = ENDING.set(std::thread::current().id());
}

/// Whether another thread ends the interpreter.
fn ending() -> bool {
    ENDING.get().is_some_and(|&thread| thread != std::thread::current().id())
}

/// What a function is asked.
pub(crate) enum Question {
    /// Rows of features, row-major.
    Rows { values: Vec<f64>, columns: usize },
    /// Coalitions, row-major: whether each player is in it.
    Coalitions { members: Vec<bool>, players: usize },
}

/// A question on its way.
struct Request {
    question: Question,
    /// Numbers that are wanted.
    numbers: usize,
    answer: SyncSender<Result<Vec<f64>, BoxError>>,
}

enum Message {
    Asked(Request),
    Done,
}

/// The way to a function, from any thread.
#[derive(Clone)]
pub(crate) struct Line(Sender<Message>);

/// Nobody answers any more.
#[derive(Debug)]
struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Stopped {}

/// A function whose answer has another number of numbers.
#[derive(Debug)]
struct Miscounted {
    given: usize,
    wanted: usize,
}

impl std::fmt::Display for Miscounted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it returned {} numbers where {} are wanted", self.given, self.wanted)
    }
}

impl std::error::Error for Miscounted {}

impl Line {
    /// Asks the function, and waits for its answer: so many numbers.
    pub(crate) fn ask(&self, question: Question, numbers: usize) -> Result<Vec<f64>, BoxError> {
        let (answer, answered) = sync_channel(1);
        self.0.send(Message::Asked(Request { question, numbers, answer })).map_err(|_| Stopped)?;
        answered.recv().map_err(|_| Stopped)?
    }
}

/// What came of some work, and the exception that stopped it, if any.
pub(crate) struct Served<R> {
    /// `None` if the work was cancelled.
    pub(crate) result: Option<R>,
    pub(crate) stopped: Option<PyErr>,
}

impl<R> Served<R> {
    /// The result, or the exception that stopped the work. An exception that came after its end is raised, too, or the signal would be lost.
    pub(crate) fn whole(self, py: Python<'_>) -> PyResult<R> {
        match (self.result, self.stopped) {
            (_, Some(stopped)) => Err(stopped),
            (Some(result), None) => Ok(result),
            (None, None) => Err(errors::internal(py, "cancelled")),
        }
    }
}

/// Does `work` on the threads of the pool, and answers its questions with `function`. `tick` is called now and then; when it or a handler of a
/// signal raises, the work is cancelled and nothing is answered any more.
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
        let mut result = Err("a thread ended".to_owned());
        let place = &mut result;
        let stopped = threads.in_place_scope(|scope| {
            scope.spawn(move |_| {
                *place = caught(|| token.run(|| work(line)));
                // Whoever listens ends with this message at the latest.
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
    /// Does `work` on these threads, while other threads of Python run. Ctrl-C cancels it.
    pub(crate) fn run<R: Send>(&self, py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
        serve(py, self, None, &|_| Ok(()), |_| work())?.whole(py)
    }
}

/// Does `work` on a thread beside the pools, while other threads of Python run. Ctrl-C cancels it.
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
            (worker.join().unwrap_or_else(|_| Err("a thread ended".to_owned())), stopped)
        })
    });
    let result = result.map_err(|says| errors::internal(py, &says))?;
    Served { result: result.ok(), stopped }.whole(py)
}

/// As [`beside`], for work that does not check whether it was cancelled: Ctrl-C leaves it alone, and it ends by itself.
pub(crate) fn left_alone<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    beside(py, || uninterrupted(f64::INFINITY, work))
}

/// Answers questions until all is done; returns what stopped it before.
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
            Ok(Message::Asked(Request { question, numbers, answer })) => {
                let given = match function {
                    Some(function) if stopped.is_none() && !ending() => {
                        answering(|| Python::attach(|py| call(py, function, question, numbers)))
                    }
                    _ => Err(Stopped.into()),
                };
                // Whoever asked may have been stopped.
                let _ = answer.send(given);
            }
            Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => return stopped,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if stopped.is_none() && looked.elapsed() >= PAUSE {
            looked = Instant::now();
            let heard = match ending() {
                true => Err(PyRuntimeError::new_err("the interpreter ends")),
                false => Python::attach(|py| py.check_signals().and_then(|()| tick(py))),
            };
            if let Err(error) = heard {
                cancellation.cancel();
                stopped = Some(error);
            }
        }
    }
}

/// Calls the function, whose answer is a contiguous array of numbers.
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
