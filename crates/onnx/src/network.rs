//! A network as a model.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use apportion_games::{BoxError, GameError, Model, NearReference, Rows};

use crate::error::OnnxError;
use crate::near::{Chain, NearRow};
use crate::runtime::{Failure, Refusal, Runtime, Worker};
use crate::signature::{Element, Signature};

/// Cells of a batch, where the file leaves its rows open. More make a single row dearer, as it costs a batch.
const BATCH_CELLS: usize = 1 << 12;
/// The most rows of a batch: more make a row hardly cheaper.
const BATCH_ROWS: usize = 256;
/// What a call should take at least for it to be worth waking two threads, which takes some 50 µs where cores
/// sleep.
const CALL: Duration = Duration::from_micros(500);
/// Cells that are handed to a thread at once.
const REQUEST_CELLS: usize = 1 << 18;
/// The most cells of a batch, one GiB of f64: a file that asks for more is more likely damaged.
const MOST_CELLS: usize = 1 << 27;

/// How far the two ways to predict a reference row may be apart, relative to its largest output. Rounding
/// leaves far less.
const AGREEMENT: f64 = 1e-3;

/// A neural network read from an ONNX file; a [`Model`] of games.
///
/// The features are the elements of one row of the input, row-major: for an input `[N, 12]` the 12 columns,
/// for images `[N, 1, 28, 28]` the 784 pixels, for texts `[N, 48]` of integers the 48 token ids. The outputs
/// are the elements of one row of the output, as the network gives them: no link function is applied.
///
/// Values are rounded to `f32`, the network computes in `f32`, outputs are widened to `f64`. A row's
/// prediction is the same bits whatever other rows are predicted with it and however many threads there are;
/// it may differ in the last bits between processors, whose instructions round differently.
///
/// Each thread that predicts at the same time as others takes a thread of the runtime; they end with the
/// network.
#[derive(Debug)]
pub struct Network {
    runtime: Arc<Runtime>,
    input: String,
    output: String,
    outputs: usize,
    features: usize,
    rows_per_call: usize,
    vocabulary_size: Option<usize>,
    /// The layers, where there is one after the other.
    chain: Option<Arc<Chain>>,
    /// Threads of the runtime that nobody uses now.
    idle: Mutex<Vec<Worker>>,
}

impl Network {
    /// Makes a network of a loaded file, and tries it.
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

    /// Runs a batch of zeros, and one with another last row, which must change nothing in the first. Returns
    /// the number of outputs.
    fn trial(&self) -> Result<usize, OnnxError> {
        let batch = self.runtime.batch();
        let worker = self.worker()?;
        let mut rows = vec![0.0; batch * self.features];
        let zeros = worker.ask(&rows).map_err(|failure| match self.error(failure, 0) {
            OnnxError::Run { problem, .. } => OnnxError::Trial { problem },
            error => error,
        })?;
        let outputs = zeros.len() / batch;
        if outputs == 0 {
            return Err(OnnxError::OutputShape { output: self.output.clone(), given: vec![batch, 0], batch });
        }
        if batch > 1 {
            rows[(batch - 1) * self.features..].fill(1.0);
            // A row of ones may be no legal input; that says nothing about the network.
            if let Ok(mixed) = worker.ask(&rows) {
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

    /// Rows that take [`CALL`] or somewhat more, so that handing them to a thread of the runtime and back
    /// costs little beside them.
    ///
    /// Calls of more and more batches are timed, as a single small batch takes less than the handing over.
    fn time_a_call(&self) -> Result<usize, OnnxError> {
        let worker = self.worker()?;
        let batch = self.runtime.batch();
        let mut rows = batch;
        loop {
            let zeros = vec![0.0; rows * self.features];
            let mut least = CALL;
            for _ in 0..3 {
                let start = Instant::now();
                worker.ask(&zeros).map_err(|failure| self.error(failure, 0))?;
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

    /// Rows that are handed to a thread at once: whole batches, so that only the last one of all is filled
    /// up.
    fn request_rows(&self) -> usize {
        let batch = self.runtime.batch();
        (REQUEST_CELLS / self.features / batch).max(1) * batch
    }

    /// Number of features: the elements of one row of the input.
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Number of outputs: the elements of one row of the output.
    pub fn output_count(&self) -> usize {
        self.outputs
    }

    /// The shape of one row of the input, without the batch: `[12]`, `[1, 28, 28]`.
    pub fn row_shape(&self) -> &[usize] {
        &self.runtime.shape[1..]
    }

    /// The input's name.
    pub fn input_name(&self) -> &str {
        &self.input
    }

    /// The output's name.
    pub fn output_name(&self) -> &str {
        &self.output
    }

    /// Whether the input is of integers, such as token ids.
    pub fn takes_whole_numbers(&self) -> bool {
        self.runtime.element == Element::Whole
    }

    /// Number of token ids that the input takes, from 0: the rows of the embedding that its integers are
    /// looked up in. None where the network does something else with its input first.
    pub fn vocabulary_size(&self) -> Option<usize> {
        self.vocabulary_size
    }

    /// The outputs of rows: rows × outputs, row-major.
    ///
    /// Rows run in batches of one size: the file's own, else 256 rows or 4096 cells, whichever is less. The
    /// last batch is filled up, so a single row costs as much as a batch.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] where rows have another number of columns than the network has features,
    /// [`GameError::InfiniteInput`] where a value is infinite or beyond `f32`, [`OnnxError::Missing`] where
    /// it is NaN, [`OnnxError::NotWhole`] where the input takes integers, [`OnnxError::Run`] where the
    /// network fails, [`OnnxError::NotFinite`] where a prediction is infinite or NaN.
    pub fn predictions(&self, rows: Rows<'_>) -> Result<Vec<f64>, OnnxError> {
        let mut out = vec![0.0; rows.len() * self.outputs];
        self.write_predictions(rows, &mut out)?;
        Ok(out)
    }

    fn write_predictions(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), OnnxError> {
        if rows.columns() != self.features {
            let (given, wanted) = (rows.columns(), self.features);
            return Err(GameError::Width { what: "row 0".to_owned(), given, wanted }.into());
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
            let values = worker.ask(cells).map_err(|failure| self.error(failure, first))?;
            if values.len() != out.len() {
                let given = vec![values.len()];
                let batch = self.runtime.batch();
                return Err(OnnxError::OutputShape { output: self.output.clone(), given, batch });
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

    /// Whether the input takes a value.
    fn is_legal(&self, value: f64) -> bool {
        match self.runtime.element {
            Element::Float => (value as f32).is_finite(),
            Element::Whole => f64::from(value as i32) == value,
        }
    }

    /// Why the input does not take the value at `index`.
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

    /// What a failure means on rows of which the first has this number.
    fn error(&self, failure: Failure, first: usize) -> OnnxError {
        match failure.refusal {
            Refusal::Failed(problem) => OnnxError::Run { row: first + failure.row, problem },
            Refusal::Element(given) => OnnxError::ElementType {
                what: format!("output {}", self.output),
                given,
                wanted: "FLOAT, DOUBLE or FLOAT16",
            },
            Refusal::Shape(given) => {
                let batch = self.runtime.batch();
                OnnxError::OutputShape { output: self.output.clone(), given, batch }
            }
        }
    }

    /// A thread of the runtime for one caller: an idle one, else a new one.
    fn worker(&self) -> Result<Worker, OnnxError> {
        let idle = self.idle().pop();
        idle.map_or_else(|| Worker::start(Arc::clone(&self.runtime)).map_err(OnnxError::Thread), Ok)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shape of a batch of rows. Where the file leaves it open, the batch is a power of two, so that the
/// chunks of a game are whole batches.
fn batch_shape(batch: Option<usize>, row_shape: &[usize]) -> Result<Vec<usize>, OnnxError> {
    let cells = |first: usize| row_shape.iter().try_fold(first, |product, &size| product.checked_mul(size));
    let fitting = (BATCH_CELLS / cells(1).unwrap_or(usize::MAX)).clamp(1, BATCH_ROWS);
    let batch = batch.unwrap_or(1 << fitting.ilog2());
    if cells(batch).is_none_or(|cells| cells > MOST_CELLS) {
        return Err(OnnxError::Load {
            problem: format!(
                "a batch of {batch} rows of shape {row_shape:?} has more than {MOST_CELLS} elements"
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

    /// A sequential convolutional network about this row; none for other networks.
    ///
    /// It takes the operators `Conv` (of one group, without dilation), `MaxPool`, `AveragePool`,
    /// `GlobalMaxPool`, `GlobalAveragePool` and `ReduceMean` over space, `BatchNormalization`, `Relu`,
    /// `LeakyRelu`, `Sigmoid`, `Tanh`, `Clip`, `Add`, `Sub`, `Mul` and `Div` with one constant or one for
    /// each channel, `Flatten`, `Reshape`, `Gemm`, `MatMul`, `Dropout` and `Identity`, one after the other.
    /// Costs two predictions, as it is made only if both ways agree on the reference.
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
