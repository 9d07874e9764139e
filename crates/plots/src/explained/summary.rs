//! Aggregates over all rows, kept or not.

use super::density::Density;
use super::is_drawn;

/// What is known of all rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// How many there are.
    pub rows: u64,
    /// Of the values of each player and output: players × outputs.
    pub values: Vec<Spread>,
    /// Of the predictions for each output.
    pub predictions: Vec<Spread>,
    /// Of the inputs of each feature; empty where inputs are not known.
    pub inputs: Vec<InputSummary>,
    /// Of |I_ij| of each pair, players × players × outputs, the mean; empty where there are no interactions.
    pub interactions: Vec<f64>,
    /// The largest |Σφ + base − prediction|.
    pub additivity_gap: f64,
    /// Evaluations of the game: least, greatest, and sum over the rows.
    pub evaluations: (u64, u64, u64),
    /// The mean half width of the 95 % interval of each value, players × outputs; NaN where nothing is known of the errors, zeros of exact
    /// values.
    pub half_widths: Vec<f64>,
    /// Rows with a certificate, by why their run stopped and what it rests on.
    pub certificates: Vec<(String, String, u64)>,
    /// The most that an error bound is of its tolerance, over rows and outputs with both.
    pub worst_bound: Option<f64>,
}

impl Summary {
    pub(crate) fn value(&self, player: usize, output: usize, outputs: usize) -> &Spread {
        &self.values[player * outputs + output]
    }
}

/// How numbers are spread: mean and standard deviation by Welford's recursion, which does not cancel.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The mean of their sizes.
    pub mean_size: f64,
    /// Of differences from the mean.
    squares: Squares,
    /// Of differences of sizes from their mean.
    squares_of_sizes: Squares,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// Their counts in bins.
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
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
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
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        self.density.add(number);
    }

    /// The standard deviation, with n − 1.
    pub fn deviation(&self) -> f64 {
        self.squares.root(self.count.saturating_sub(1).max(1) as f64)
    }

    /// The standard error of the mean of sizes, for rows like these.
    pub fn error_of_mean_size(&self) -> f64 {
        self.squares_of_sizes.root(self.count.saturating_sub(1).max(1) as f64 * self.count.max(1) as f64)
    }
}

/// A sum of products in units of the square of a power of two, so that those of numbers of any size are numbers.
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
            // Powers of two divide exactly.
            let unit = size.log2().floor().exp2();
            self.sum *= (self.unit / unit).powi(2);
            self.unit = unit;
        }
        self.sum += one / self.unit * (other / self.unit);
    }

    /// The root of the sum over a number.
    fn root(&self, over: f64) -> f64 {
        (self.sum / over).sqrt() * self.unit
    }
}

/// The inputs of a feature.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputSummary {
    /// Rows in which it is missing.
    pub missing: u64,
    /// Rows in which it is infinite, or larger than what is drawn.
    pub infinite: u64,
    /// All others, as numbers or codes.
    pub spread: Spread,
    /// How often each number comes, while there are few; none otherwise.
    pub counts: Option<Vec<(f64, u64)>>,
}

/// Different numbers of a feature that are counted one by one.
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
