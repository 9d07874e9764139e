//! Summaries of values over rows, computed in parts and merged.

mod by_exponent;
mod bytes;
mod exact_sum;
mod heading;
mod histogram;
mod moments;
mod rounding;
mod sample;

use crate::batch::Batch;
use crate::error::{ResultsError, SummaryError};
use histogram::Histogram;
use moments::check_count;
use sample::{MAX_ROWS, Sample};

pub use heading::SummaryHeading;
pub use moments::Moments;

/// A summary of the values of many rows: for each player and output the [`Moments`], quantiles and a
/// histogram; and a sample of up to a thousand different rows.
///
/// Sums are exact and histograms are counts; the sample contains the rows whose numbers have the smallest
/// digests. Therefore, the bytes of a summary do not depend on how rows were split into batches, or on the
/// order in which summaries were merged. The size of a summary does not grow with the number of rows: it is
/// some tens of kilobytes for each player.
///
/// ```
/// use apportion_results::{Batch, Summary, SummaryHeading};
///
/// let heading = SummaryHeading { players: vec!["age".into(), "income".into()], ..Default::default() };
/// let row = |base, prediction, values: &[f64]| Batch {
///     rows: vec![0],
///     base: vec![base],
///     predictions: vec![prediction],
///     values: values.to_vec(),
///     ..Batch::default()
/// };
/// let (mut first, mut second) = (Summary::new(), Summary::new());
/// first.add(&heading, &row(1.0, 3.5, &[2.0, 0.5]))?;
/// second.add(&heading, &row(1.0, 0.0, &[-1.5, 0.5]))?;
/// first.merge(&second)?;
/// assert_eq!(first.rows(), 2);
/// assert_eq!(first.moments(0, 0).mean_absolute(), 1.75);
/// assert_eq!(Summary::from_bytes(&first.to_bytes())?, first);
/// # Ok::<(), apportion_results::SummaryError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// `None` if nothing was added.
    heading: Option<SummaryHeading>,
    rows: u64,
    /// The moments and the histogram of each player and output: players × outputs.
    moments: Vec<Moments>,
    histograms: Vec<Histogram>,
    sample: Sample,
}

impl Summary {
    /// Creates an empty summary.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the heading; `None` if nothing was added.
    pub fn heading(&self) -> Option<&SummaryHeading> {
        self.heading.as_ref()
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds rows. For each row, `batch` contains the base values, the predictions, the values
    /// (players × outputs) and, if the heading has inputs, the inputs. Takes time linear in the number of
    /// values, except for sorting the values of each player.
    ///
    /// # Errors
    ///
    /// [`SummaryError::Results`] if the length of an array does not match the heading,
    /// [`SummaryError::NotFinite`] for a value that is NaN or infinite, [`SummaryError::Different`] if the
    /// heading differs from that of earlier rows, [`SummaryError::TooManyRows`]. In all of these cases,
    /// nothing is added.
    pub fn add(&mut self, heading: &SummaryHeading, batch: &Batch) -> Result<(), SummaryError> {
        let (players, outputs, rows) = (heading.players.len(), heading.output_count(), batch.len());
        let counts = [
            ("values", batch.values.len(), rows * players * outputs),
            ("base values", batch.base.len(), rows * outputs),
            ("predictions", batch.predictions.len(), rows * outputs),
            ("inputs", batch.inputs.len(), rows * heading.inputs),
        ];
        if let Some((what, actual, expected)) = counts.into_iter().find(|count| count.1 != count.2) {
            return Err(ResultsError::Count { what, actual, expected, rows, players, outputs }.into());
        }
        if !batch.values.iter().all(|value| value.is_finite()) {
            return Err(SummaryError::NotFinite);
        }
        if let Some(known) = &self.heading {
            known.check(heading)?;
        }
        let count = check_count(self.rows, rows as u64)?;
        self.prepare(heading);
        self.rows = count;
        Moments::add_rows(&mut self.moments, &batch.values)?;
        let cells = self.histograms.len();
        for (cell, histogram) in self.histograms.iter_mut().enumerate() {
            histogram.add(batch.values.iter().skip(cell).step_by(cells).copied());
        }
        self.add_to_sample(batch);
        Ok(())
    }

    /// Adds the rows of another summary.
    ///
    /// # Errors
    ///
    /// [`SummaryError::Different`] if the headings differ, [`SummaryError::TooManyRows`]. In both cases,
    /// nothing is added.
    pub fn merge(&mut self, other: &Self) -> Result<(), SummaryError> {
        let Some(heading) = &other.heading else { return Ok(()) };
        if let Some(known) = &self.heading {
            known.check(heading)?;
        }
        let count = check_count(self.rows, other.rows)?;
        self.prepare(heading);
        self.rows = count;
        self.moments.iter_mut().zip(&other.moments).try_for_each(|(own, other)| own.merge(other))?;
        self.histograms.iter_mut().zip(&other.histograms).for_each(|(own, other)| own.merge(other));
        self.sample.merge(&other.sample, MAX_ROWS);
        Ok(())
    }

    /// Returns the moments of the values of a player for an output.
    ///
    /// # Panics
    ///
    /// Panics if there is no such player or output.
    pub fn moments(&self, player: usize, output: usize) -> &Moments {
        &self.moments[self.place(player, output)]
    }

    /// Returns the histogram of the values of a player for an output, in increasing order: the smallest and
    /// the largest number of each cell, and the number of rows in it. Cells between 2^e and 2^(e + 1) have
    /// the width 2^e / 128; cells without rows are omitted.
    ///
    /// # Panics
    ///
    /// Panics if there is no such player or output.
    pub fn density(&self, player: usize, output: usize) -> impl Iterator<Item = (f64, f64, u64)> {
        self.histograms[self.place(player, output)].bins()
    }

    /// Returns a quantile of the values of a player for an output, with a relative error of at most 1/256;
    /// NaN if there are no rows. `share` is the share of rows that do not exceed the quantile, from 0 to 1.
    ///
    /// # Panics
    ///
    /// Panics if there is no such player or output.
    pub fn quantile(&self, share: f64, player: usize, output: usize) -> f64 {
        let moments = self.moments(player, output);
        let count = moments.count();
        if count == 0 {
            return f64::NAN;
        }
        let rank = ((share * count as f64).ceil() as u64).max(1);
        if rank >= count {
            return moments.max();
        }
        let mut rows_below = 0;
        let cell = self.density(player, output).find(|(_, _, rows)| {
            rows_below += rows;
            rows_below >= rank
        });
        let middle = match cell {
            // A cell that begins or ends at zero counts as zero.
            Some((low, high, _)) if low <= 0.0 && high >= 0.0 => 0.0,
            Some((low, high, _)) => low / 2.0 + high / 2.0,
            None => moments.max(),
        };
        middle.max(moments.min()).min(moments.max())
    }

    /// Returns the sample: up to 1000 different rows with their base values, predictions, values and inputs,
    /// selected by a digest of these numbers.
    pub fn sample(&self) -> Batch {
        let mut batch = Batch::default();
        let Some(heading) = &self.heading else { return batch };
        let outputs = heading.output_count();
        for row in self.sample.rows() {
            let (predictions, row) = row.split_at(outputs);
            let (base, row) = row.split_at(outputs);
            let (values, inputs) = row.split_at(outputs * heading.players.len());
            batch.rows.push(batch.rows.len() as u64);
            batch.predictions.extend(predictions);
            batch.base.extend(base);
            batch.values.extend(values);
            batch.inputs.extend(inputs);
        }
        batch
    }

    /// Sets the heading and creates empty moments and histograms, unless the summary already has a heading.
    fn prepare(&mut self, heading: &SummaryHeading) {
        if self.heading.is_none() {
            let cells = heading.players.len() * heading.output_count();
            self.moments = vec![Moments::default(); cells];
            self.histograms = vec![Histogram::default(); cells];
            self.heading = Some(heading.clone());
        }
    }

    fn add_to_sample(&mut self, batch: &Batch) {
        let arrays = [&batch.predictions, &batch.base, &batch.values, &batch.inputs];
        let rows = (0..batch.len())
            .flat_map(|row| arrays.into_iter().flat_map(move |numbers| batch.of_row(numbers, row)));
        // Adding zero makes negative zeros positive.
        let rows: Vec<f64> = rows.map(|number| number + 0.0).collect();
        let width = rows.len() / batch.len().max(1);
        self.sample.add(&rows, width.max(1), MAX_ROWS);
    }

    /// Returns the index of a player and an output.
    fn place(&self, player: usize, output: usize) -> usize {
        let outputs = self.heading.as_ref().map_or(0, SummaryHeading::output_count);
        assert!(output < outputs, "output {output} is out of range 0..{outputs}");
        player * outputs + output
    }
}
