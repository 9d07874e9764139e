//! Aggregates over all rows, whether they are kept or not.

use apportion_results::{Moments, SummaryError};

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

/// Statistics of a list of numbers, from exact sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The count of the numbers.
    pub count: u64,
    /// The mean of the numbers; zero if there are none.
    pub mean: f64,
    /// The mean of the absolute values of the numbers; zero if there are none.
    pub mean_size: f64,
    deviation: f64,
    deviation_of_sizes: f64,
    /// The smallest number.
    pub min: f64,
    /// The largest number.
    pub max: f64,
    /// The histogram of the numbers.
    pub density: Density,
}

impl Default for Spread {
    fn default() -> Self {
        Self::new(&Moments::default(), Density::default())
    }
}

impl Spread {
    fn new(moments: &Moments, density: Density) -> Self {
        let or_zero = |statistic: f64| if moments.count() > 0 { statistic } else { 0.0 };
        Self {
            count: moments.count(),
            mean: or_zero(moments.mean()),
            mean_size: or_zero(moments.mean_absolute()),
            deviation: or_zero(moments.deviation()),
            deviation_of_sizes: or_zero(moments.deviation_of_absolute()),
            min: moments.min(),
            max: moments.max(),
            density,
        }
    }

    /// Returns the standard deviation, with the divisor n − 1.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// Returns the standard error of the mean of absolute values, assuming that the rows are a random sample.
    pub fn error_of_mean_size(&self) -> f64 {
        self.deviation_of_sizes / (self.count.max(1) as f64).sqrt()
    }
}

/// The statistics of the columns of a table, while rows are added.
#[derive(Debug)]
pub(super) struct Columns {
    moments: Vec<Moments>,
    densities: Vec<Density>,
}

impl Columns {
    pub(super) fn new(count: usize) -> Self {
        Self { moments: vec![Moments::default(); count], densities: vec![Density::default(); count] }
    }

    /// Adds rows, which must be finite: rows × columns.
    pub(super) fn add(&mut self, numbers: &[f64]) -> Result<(), SummaryError> {
        Moments::add_rows(&mut self.moments, numbers)?;
        for row in numbers.chunks_exact(self.densities.len().max(1)) {
            self.densities.iter_mut().zip(row).for_each(|(density, &number)| density.add(number));
        }
        Ok(())
    }

    /// Returns the statistics of each column.
    pub(super) fn spreads(self) -> Vec<Spread> {
        let columns = self.moments.iter().zip(self.densities);
        columns.map(|(moments, density)| Spread::new(moments, density)).collect()
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

/// The statistics of the inputs of a feature, while rows are added.
#[derive(Debug)]
pub(super) struct Inputs {
    missing: u64,
    infinite: u64,
    column: Columns,
    counts: Option<Vec<(f64, u64)>>,
}

impl Inputs {
    pub(super) fn new() -> Self {
        Self { missing: 0, infinite: 0, column: Columns::new(1), counts: Some(Vec::new()) }
    }

    pub(super) fn add(&mut self, inputs: impl Iterator<Item = f64>) -> Result<(), SummaryError> {
        let mut drawn = Vec::new();
        for input in inputs {
            match input {
                input if input.is_nan() => self.missing += 1,
                input if !is_drawn(input) => self.infinite += 1,
                input => drawn.push(input),
            }
        }
        self.column.add(&drawn)?;
        drawn.into_iter().for_each(|input| self.count(input));
        Ok(())
    }

    fn count(&mut self, input: f64) {
        let Some(counts) = &mut self.counts else { return };
        match counts.binary_search_by(|(number, _)| number.total_cmp(&input)) {
            Ok(at) => counts[at].1 += 1,
            Err(_) if counts.len() == FEW => self.counts = None,
            Err(at) => counts.insert(at, (input, 1)),
        }
    }

    pub(super) fn summary(self) -> InputSummary {
        let spread = self.column.spreads().into_iter().next().unwrap_or_default();
        InputSummary { missing: self.missing, infinite: self.infinite, spread, counts: self.counts }
    }
}
