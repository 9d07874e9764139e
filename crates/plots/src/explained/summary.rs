//! Aggregates over all rows, whether they are kept or not.

use super::density::Density;
use super::is_drawn;

/// Aggregates over all rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Number of rows.
    pub rows: u64,
    /// Statistics of the values of each player and output: players × outputs.
    pub values: Vec<Spread>,
    /// Statistics of the predictions for each output.
    pub predictions: Vec<Spread>,
    /// Statistics of the inputs of each feature; empty if inputs are not known.
    pub inputs: Vec<InputSummary>,
    /// Mean |I_ij| of each pair, players × players × outputs; empty if there are no interactions.
    pub interactions: Vec<f64>,
    /// The largest |Σφ + base − prediction|.
    pub additivity_gap: f64,
    /// Evaluations of the game: minimum, maximum, and sum over the rows.
    pub evaluations: (u64, u64, u64),
    /// The mean half-width of the 95% interval of each value, players × outputs; NaN if the errors are
    /// unknown, zero for exact values.
    pub half_widths: Vec<f64>,
    /// For each stopping reason and guarantee, the number of rows with such a certificate.
    pub certificates: Vec<(String, String, u64)>,
    /// The largest ratio of an error bound to its tolerance, over rows and outputs with both.
    pub worst_bound: Option<f64>,
}

impl Summary {
    pub(crate) fn value(&self, player: usize, output: usize, outputs: usize) -> &Spread {
        &self.values[player * outputs + output]
    }
}

/// Statistics of a list of numbers: mean and standard deviation by Welford's algorithm, which avoids
/// cancellation.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// How many numbers have been added.
    pub count: u64,
    /// The mean of the numbers.
    pub mean: f64,
    /// The mean of the absolute values of the numbers.
    pub mean_size: f64,
    /// Sum of squared differences from the mean.
    squares: Squares,
    /// Sum of squared differences of absolute values from their mean.
    squares_of_sizes: Squares,
    /// The smallest number.
    pub min: f64,
    /// The largest number.
    pub max: f64,
    /// The histogram of the numbers.
    pub density: Density,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            count: 0,
            mean: 0.0,
            mean_size: 0.0,
            squares: Squares::default(),
            squares_of_sizes: Squares::default(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            density: Density::default(),
        }
    }
}

impl Spread {
    /// Adds a number, which must be finite.
    pub(super) fn add(&mut self, number: f64) {
        self.count += 1;
        let count = self.count as f64;
        let difference = number - self.mean;
        self.mean += difference / count;
        self.squares.add(difference, number - self.mean);
        let difference = number.abs() - self.mean_size;
        self.mean_size += difference / count;
        self.squares_of_sizes.add(difference, number.abs() - self.mean_size);
        self.min = self.min.min(number);
        self.max = self.max.max(number);
        self.density.add(number);
    }

    /// Returns the standard deviation, with the divisor n − 1.
    pub fn deviation(&self) -> f64 {
        self.squares.root(self.count.saturating_sub(1).max(1) as f64)
    }

    /// Returns the standard error of the mean of absolute values, if the rows are a random sample.
    pub fn error_of_mean_size(&self) -> f64 {
        self.squares_of_sizes.root(self.count.saturating_sub(1).max(1) as f64 * self.count.max(1) as f64)
    }
}

/// A sum of products in units of the square of a power of two, so that it cannot overflow or underflow.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Squares {
    sum: f64,
    unit: f64,
}

impl Default for Squares {
    fn default() -> Self {
        Self { sum: 0.0, unit: f64::MIN_POSITIVE }
    }
}

impl Squares {
    fn add(&mut self, one: f64, other: f64) {
        let size = one.abs().max(other.abs());
        if size > self.unit {
            // Division by powers of two is exact.
            let unit = size.log2().floor().exp2();
            self.sum *= (self.unit / unit).powi(2);
            self.unit = unit;
        }
        self.sum += one / self.unit * (other / self.unit);
    }

    /// Returns the square root of the sum divided by `over`.
    fn root(&self, over: f64) -> f64 {
        (self.sum / over).sqrt() * self.unit
    }
}

/// Statistics of the inputs of a feature.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputSummary {
    /// Number of rows in which the input is missing.
    pub missing: u64,
    /// Number of rows in which the input is infinite, or too large to draw.
    pub infinite: u64,
    /// Statistics of all other inputs, which are numbers or codes.
    pub spread: Spread,
    /// The count of each distinct number, or `None` if there are too many of them.
    pub counts: Option<Vec<(f64, u64)>>,
}

/// Maximum number of distinct numbers of a feature that are counted separately.
const FEW: usize = 32;

impl InputSummary {
    pub(super) fn new() -> Self {
        Self { counts: Some(Vec::new()), ..Self::default() }
    }

    pub(super) fn add(&mut self, input: f64) {
        if input.is_nan() {
            self.missing += 1;
            return;
        }
        if !is_drawn(input) {
            self.infinite += 1;
            return;
        }
        self.spread.add(input);
        let Some(counts) = &mut self.counts else { return };
        match counts.binary_search_by(|(number, _)| number.total_cmp(&input)) {
            Ok(at) => counts[at].1 += 1,
            Err(_) if counts.len() == FEW => self.counts = None,
            Err(at) => counts.insert(at, (input, 1)),
        }
    }
}
