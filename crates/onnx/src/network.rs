//! The implementation of [`Model`] for networks.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use apportion_games::{BoxError, GameError, Model, NearReference, Rows};

use crate::error::OnnxError;
use crate::near::{Chain, NearRow};
use crate::runtime::{Failure, Refusal, Runtime, Worker};
use crate::signature::{Element, Signature};

/// Number of cells in a batch if the file does not fix the number of rows. Larger batches make the prediction
/// of a single row more expensive, since it takes as long as a whole batch.
const BATCH_CELLS: usize = 1 << 12;
/// Maximum number of rows of a batch: larger batches hardly reduce the time per row.
const BATCH_ROWS: usize = 256;
/// Minimum duration of a call for which waking two threads pays off. Waking them takes about 50 µs if cores
/// are asleep.
const CALL: Duration = Duration::from_micros(500);
/// Maximum number of cells that are sent to a thread at once, except that at least one batch is sent.
const REQUEST_CELLS: usize = 1 << 18;
/// Maximum number of cells in a batch: 1 GiB of `f64`. A file that declares more is probably corrupt.
const MAX_CELLS: usize = 1 << 27;

/// Maximum difference between the predictions of the runtime and of change propagation for a reference row,
/// relative to the row's largest output. Rounding errors are far smaller.
const AGREEMENT: f64 = 1e-3;

/// A neural network read from an ONNX file, as a [`Model`].
///
/// The features are the elements of one row of the input, row-major. Examples are the 12 columns of an input
/// `[N, 12]`, the 784 pixels of images `[N, 1, 28, 28]`, and the 48 token ids of texts `[N, 48]` of integers.
/// The outputs are the elements of one row of the output, without applying a link function.
///
/// Values are rounded to `f32`, the network computes in `f32`, and outputs are converted to `f64`. The
/// prediction of a row is bitwise identical for any number of threads, regardless of the other rows in the
/// same call. Its last bits may differ between processors whose instructions round differently.
///
/// Each concurrent caller uses a separate thread of the runtime; the threads end when the network is dropped.
#[derive(Debug)]
pub struct Network {
    runtime: Arc<Runtime>,
    input: String,
    output: String,
    outputs: usize,
    features: usize,
    rows_per_call: usize,
    vocabulary_size: Option<usize>,
    /// The layers, if the network is sequential.
    chain: Option<Arc<Chain>>,
    /// Runtime threads that are currently not in use.
    idle: Mutex<Vec<Worker>>,
}

impl Network {
    /// Creates a network from a loaded file, and runs it on trial batches.
    pub(crate) fn new(
        model: rten::Model,
        signature: Signature,
        chain: Option<Chain>,
        vocabulary_size: Option<usize>,
    ) -> Result<Self, OnnxError> {
        let node = |name: &str| {
            model
                .find_node(name)
                .ok_or_else(|| OnnxError::Load { problem: format!("{name} is not part of the graph") })
        };
        let (input, output) = (node(&signature.input)?, node(&signature.output)?);
        let shape = batch_shape(signature.batch, &signature.row_shape)?;
        let features = signature.row_shape.iter().product();
        let runtime = Arc::new(Runtime { model, input, output, element: signature.element, shape });
        let mut network = Self {
            runtime,
            input: signature.input,
            output: signature.output,
            outputs: 0,
            features,
            rows_per_call: 0,
            vocabulary_size,
            chain: None,
            idle: Mutex::default(),
        };
        network.outputs = network.trial()?;
        network.rows_per_call = network.time_a_call()?;
        network.chain = chain.filter(|chain| chain.outputs() == network.outputs).map(Arc::new);
        Ok(network)
    }

    /// Runs a batch of zeros, and a batch with a different last row, which must not change the outputs of the
    /// first row. Returns the number of outputs.
    fn trial(&self) -> Result<usize, OnnxError> {
        let batch = self.runtime.batch();
        let worker = self.worker()?;
        let mut rows = vec![0.0; batch * self.features];
        let zeros = worker.evaluate(&rows).map_err(|failure| match self.error(failure, 0) {
            OnnxError::Run { problem, .. } => OnnxError::Trial { problem },
            error => error,
        })?;
        let outputs = zeros.len() / batch;
        if outputs == 0 {
            return Err(OnnxError::OutputShape {
                output: self.output.clone(),
                actual: vec![batch, 0],
                batch,
            });
        }
        if batch > 1 {
            rows[(batch - 1) * self.features..].fill(1.0);
            // It is not an error if the network rejects a row of ones.
            if let Ok(mixed) = worker.evaluate(&rows) {
                let first = &zeros[..outputs];
                let largest = first.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
                if first.iter().zip(&mixed).any(|(a, b)| (a - b).abs() > 1e-3 * largest) {
                    return Err(OnnxError::RowsMixed { output: self.output.clone() });
                }
            }
        }
        self.idle().push(worker);
        Ok(outputs)
    }

    /// Returns a number of rows for which a call takes from [`CALL`] to about twice as long, but not more
    /// rows than are sent at once. For this number, the cost of sending rows to a runtime thread and back is
    /// small in comparison.
    ///
    /// Times calls with increasingly many batches, because a single small batch takes less time than the
    /// communication.
    fn time_a_call(&self) -> Result<usize, OnnxError> {
        let worker = self.worker()?;
        let batch = self.runtime.batch();
        let mut rows = batch;
        loop {
            let zeros = vec![0.0; rows * self.features];
            let mut least = CALL;
            for _ in 0..3 {
                let start = Instant::now();
                worker.evaluate(&zeros).map_err(|failure| self.error(failure, 0))?;
                least = least.min(start.elapsed());
            }
            if least == CALL || 2 * rows > self.request_rows() {
                break;
            }
            rows *= 2;
        }
        self.idle().push(worker);
        Ok(rows)
    }

    /// Returns the number of rows that are sent to a thread at once. This is a number of whole batches, so
    /// that only the very last batch is padded.
    fn request_rows(&self) -> usize {
        let batch = self.runtime.batch();
        (REQUEST_CELLS / self.features / batch).max(1) * batch
    }

    /// Returns the number of features: the elements of one row of the input.
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Returns the number of outputs: the elements of one row of the output.
    pub fn output_count(&self) -> usize {
        self.outputs
    }

    /// Returns the shape of one row of the input, without the batch: `[12]`, `[1, 28, 28]`.
    pub fn row_shape(&self) -> &[usize] {
        &self.runtime.shape[1..]
    }

    /// Returns the name of the input.
    pub fn input_name(&self) -> &str {
        &self.input
    }

    /// Returns the name of the output.
    pub fn output_name(&self) -> &str {
        &self.output
    }

    /// Returns whether the input takes integers, such as token ids.
    pub fn takes_whole_numbers(&self) -> bool {
        self.runtime.element == Element::Whole
    }

    /// Returns the number of valid token ids, which are counted from 0: the number of rows of the embedding
    /// in which the integers of the input are looked up. Returns `None` if the network does not look up its
    /// input directly in an embedding.
    pub fn vocabulary_size(&self) -> Option<usize> {
        self.vocabulary_size
    }

    /// Predicts rows; the result is rows × outputs, row-major.
    ///
    /// Rows run in batches of one size. This is the size in the file if it is fixed, otherwise the largest
    /// power of two with at most 256 rows and 4096 cells (at least one row). The last batch is padded, so a
    /// single row takes as long as a batch.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] if the number of columns differs from the number of features;
    /// [`GameError::InfiniteInput`] if a value is infinite or too large for `f32`; [`OnnxError::Missing`] if
    /// it is NaN; [`OnnxError::NotWhole`] if the input takes integers and a value is not one;
    /// [`OnnxError::Run`] if the network fails; [`OnnxError::OutputShape`] if the shape of the output depends
    /// on the values; [`OnnxError::NotFinite`] if a prediction is infinite or NaN; [`OnnxError::Thread`] if
    /// the system cannot start a thread.
    pub fn predictions(&self, rows: Rows<'_>) -> Result<Vec<f64>, OnnxError> {
        let mut out = vec![0.0; rows.len() * self.outputs];
        self.write_predictions(rows, &mut out)?;
        Ok(out)
    }

    fn write_predictions(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), OnnxError> {
        if rows.columns() != self.features {
            let (given, wanted) = (rows.columns(), self.features);
            return Err(GameError::Width { what: "row 0".to_owned(), actual: given, expected: wanted }.into());
        }
        if let Some(index) = rows.values().iter().position(|&value| !self.is_legal(value)) {
            return Err(self.refuse(rows.values()[index], index));
        }
        let worker = self.worker()?;
        let request = self.request_rows();
        for (number, (cells, out)) in rows
            .values()
            .chunks(request * self.features)
            .zip(out.chunks_mut(request * self.outputs))
            .enumerate()
        {
            let first = number * request;
            let values = worker.evaluate(cells).map_err(|failure| self.error(failure, first))?;
            if values.len() != out.len() {
                let given = vec![values.len()];
                let batch = self.runtime.batch();
                return Err(OnnxError::OutputShape { output: self.output.clone(), actual: given, batch });
            }
            for (index, (out, value)) in out.iter_mut().zip(values).enumerate() {
                let value = f64::from(value);
                if !value.is_finite() {
                    let (row, output) = (first + index / self.outputs, index % self.outputs);
                    return Err(OnnxError::NotFinite { row, output, value });
                }
                *out = value;
            }
        }
        self.idle().push(worker);
        Ok(())
    }

    /// Returns whether a value is a valid input.
    fn is_legal(&self, value: f64) -> bool {
        match self.runtime.element {
            Element::Float => (value as f32).is_finite(),
            Element::Whole => f64::from(value as i32) == value,
        }
    }

    /// Returns the error for the invalid value at position `index` among the values of all rows.
    fn refuse(&self, value: f64, index: usize) -> OnnxError {
        let (row, column) = (index / self.features, index % self.features);
        if value.is_nan() {
            OnnxError::Missing { row, column }
        } else if self.runtime.element == Element::Whole {
            OnnxError::NotWhole { row, column, value }
        } else {
            GameError::InfiniteInput {
                what: format!("row {row}"),
                column,
                value,
                reason: crate::error::COMPUTES,
            }
            .into()
        }
    }

    /// Converts a failure of the runtime to an error. `first` is the index of the request's first row among
    /// the rows passed.
    fn error(&self, failure: Failure, first: usize) -> OnnxError {
        match failure.refusal {
            Refusal::Failed(problem) => OnnxError::Run { row: first + failure.row, problem },
            Refusal::Element(given) => OnnxError::ElementType {
                what: format!("output {}", self.output),
                actual: given,
                expected: "FLOAT, DOUBLE or FLOAT16",
            },
            Refusal::Shape(given) => {
                let batch = self.runtime.batch();
                OnnxError::OutputShape { output: self.output.clone(), actual: given, batch }
            }
        }
    }

    /// Returns a runtime thread for one caller: an idle thread, or a new one.
    fn worker(&self) -> Result<Worker, OnnxError> {
        let idle = self.idle().pop();
        idle.map_or_else(|| Worker::start(Arc::clone(&self.runtime)).map_err(OnnxError::Thread), Ok)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the shape of a batch. If the file does not fix the number of rows, it is a power of two, so that
/// the chunks of a game are whole batches.
fn batch_shape(batch: Option<usize>, row_shape: &[usize]) -> Result<Vec<usize>, OnnxError> {
    let cells = |first: usize| row_shape.iter().try_fold(first, |product, &size| product.checked_mul(size));
    let fitting = (BATCH_CELLS / cells(1).unwrap_or(usize::MAX)).clamp(1, BATCH_ROWS);
    let batch = batch.unwrap_or(1 << fitting.ilog2());
    if cells(batch).is_none_or(|cells| cells > MAX_CELLS) {
        return Err(OnnxError::Load {
            problem: format!(
                "a batch of {batch} rows of shape {row_shape:?} has more than {MAX_CELLS} elements"
            ),
        });
    }
    Ok([&[batch], row_shape].concat())
}

impl Model for Network {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn features(&self) -> Option<usize> {
        Some(self.features)
    }

    fn rows_per_call(&self) -> usize {
        self.rows_per_call
    }

    /// Returns a predictor for rows near `reference`, or `None` if the network is not sequential and
    /// convolutional.
    ///
    /// The network must be a sequence of the operators `Conv` (with one group, without dilation), `MaxPool`,
    /// `AveragePool`, `GlobalMaxPool`, `GlobalAveragePool` and `ReduceMean` over space, `BatchNormalization`,
    /// `Relu`, `LeakyRelu`, `Sigmoid`, `Tanh`, `Clip`, `Add`, `Sub`, `Mul` and `Div` with one constant or one
    /// for each channel, `Flatten`, `Reshape`, `Gemm`, `MatMul`, `Dropout` and `Identity`. Creating the
    /// predictor costs two predictions: both implementations must agree on the reference.
    fn near(&self, reference: &[f64]) -> Option<Box<dyn NearReference>> {
        if reference.len() != self.features || !reference.iter().all(|&value| self.is_legal(value)) {
            return None;
        }
        let row: Vec<f32> = reference.iter().map(|&value| value as f32).collect();
        let near = NearRow::new(Arc::clone(self.chain.as_ref()?), &row)?;
        let wanted = self.predictions(Rows::new(reference, self.features)).ok()?;
        let largest = wanted.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let agrees = |(got, wanted): (f32, f64)| (f64::from(got) - wanted).abs() <= AGREEMENT * largest;
        near.outputs().into_iter().zip(wanted).all(agrees).then(|| Box::new(near) as Box<dyn NearReference>)
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        self.write_predictions(rows, out).map_err(OnnxError::boxed)
    }
}
