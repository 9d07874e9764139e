//! The runtime on dedicated threads, which process one batch at a time.
//!
//! The runtime computes in a thread pool, and may split sums differently depending on the number of threads.
//! Each [`Worker`] is a pool with exactly one thread, so that results do not depend on the number of threads.
//! Callers of [`Worker::evaluate`] sleep until the result arrives, so that `t` callers keep `t` cores busy.
//! If they called another rayon pool directly, a waiting rayon thread would steal other work, and one caller
//! would soon keep many cores busy.
//!
//! Rows run in batches of one size, and the last batch is padded. The matrix-product kernels for a single row
//! round differently from the kernels for many rows. With a fixed size, the prediction of a row is bitwise
//! identical regardless of the other rows of its batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rten::{NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::Tensor;
use rten_tensor::prelude::*;

use crate::signature::Element;

/// A loaded network, ready to run on batches of one size.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) model: rten::Model,
    pub(crate) input: NodeId,
    pub(crate) output: NodeId,
    pub(crate) element: Element,
    /// Shape of the input, with the batch first.
    pub(crate) shape: Vec<usize>,
}

/// The reason why the runtime returned no numbers.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The error of the runtime.
    Failed(String),
    /// The output has an unexpected element type.
    Element(String),
    /// The output has this shape instead of one row per input row.
    Shape(Vec<usize>),
}

/// A refusal, and the index in the request of the row that caused it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) row: usize,
    pub(crate) refusal: Refusal,
}

impl Runtime {
    /// Returns the number of rows of a batch.
    pub(crate) fn batch(&self) -> usize {
        self.shape[0]
    }

    fn features(&self) -> usize {
        self.shape[1..].iter().product()
    }

    /// Computes the outputs for any number of rows, batch by batch.
    fn rows(&self, rows: &[f64], options: &RunOptions) -> Result<Vec<f32>, Failure> {
        let (batch, features) = (self.batch(), self.features());
        let mut outputs = Vec::new();
        for (number, rows) in rows.chunks(batch * features).enumerate() {
            let count = rows.len() / features;
            let mut filled = rows.to_vec();
            for _ in count..batch {
                filled.extend_from_slice(&rows[rows.len() - features..]);
            }
            match self.one_batch(&filled, options) {
                Ok(values) => outputs.extend_from_slice(&values[..count * values.len() / batch]),
                Err(refusal) => return Err(self.blame(number * batch, rows, refusal, options)),
            }
        }
        Ok(outputs)
    }

    /// Returns the failure of the first row of a failed batch that also fails alone, or `refusal` if no row
    /// fails alone.
    fn blame(&self, first: usize, rows: &[f64], refusal: Refusal, options: &RunOptions) -> Failure {
        for (index, row) in rows.chunks(self.features()).enumerate() {
            if let Err(refusal) = self.one_batch(&row.repeat(self.batch()), options) {
                return Failure { row: first + index, refusal };
            }
        }
        Failure { row: first, refusal }
    }

    fn one_batch(&self, rows: &[f64], options: &RunOptions) -> Result<Vec<f32>, Refusal> {
        let input: ValueOrView<'_> = match self.element {
            Element::Float => self.tensor(rows, |value| value as f32).into(),
            Element::Whole => self.tensor(rows, |value| value as i32).into(),
        };
        let run = || self.model.run(vec![(self.input, input)], &[self.output], Some(options.clone()));
        let values = caught(run)
            .and_then(|values| values.map_err(|error| error.to_string()))
            .map_err(Refusal::Failed)?;
        match values.into_iter().next() {
            Some(Value::FloatTensor(values)) if values.shape().first() == Some(&self.batch()) => {
                Ok(values.to_vec())
            }
            Some(Value::FloatTensor(values)) => Err(Refusal::Shape(values.shape().to_vec())),
            Some(other) => Err(Refusal::Element(other.dtype().to_string())),
            None => Err(Refusal::Failed("the runtime returned no output".to_owned())),
        }
    }

    fn tensor<T>(&self, rows: &[f64], number: impl Fn(f64) -> T) -> Tensor<T> {
        Tensor::from_data(&self.shape, rows.iter().map(|&value| number(value)).collect::<Vec<T>>())
    }
}

/// Runs code that may panic on invalid graphs, and converts a panic to an error message.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run))
        .map_err(|_| "the runtime panicked because the graph is invalid".to_owned())
}

/// A thread of the runtime, which ends when the worker is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    requests: Sender<Vec<f64>>,
    answers: Receiver<Result<Vec<f32>, Failure>>,
}

impl Worker {
    /// Starts a thread that runs `runtime`.
    pub(crate) fn start(runtime: Arc<Runtime>) -> std::io::Result<Self> {
        let (requests, incoming) = channel::<Vec<f64>>();
        let (outgoing, answers) = channel();
        std::thread::Builder::new().name("onnx".to_owned()).spawn(move || {
            let pool = Arc::new(ThreadPool::with_num_threads(1));
            let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&pool)));
            // Run inside the pool: on a thread of its own pool, the runtime computes directly, without
            // communication for every batch.
            pool.run(move || {
                for rows in incoming {
                    if outgoing.send(runtime.rows(&rows, &options)).is_err() {
                        return;
                    }
                }
            });
        })?;
        Ok(Self { requests, answers })
    }

    /// Returns the outputs for rows of validated values; rows × outputs, row-major.
    pub(crate) fn evaluate(&self, rows: &[f64]) -> Result<Vec<f32>, Failure> {
        // The thread ends before the worker only if its start failed halfway.
        let ended = || Failure {
            row: 0,
            refusal: Refusal::Failed("the thread of the network has stopped".to_owned()),
        };
        self.requests.send(rows.to_vec()).map_err(|_| ended())?;
        self.answers.recv().map_err(|_| ended())?
    }
}
