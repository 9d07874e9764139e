//! Rows come in, batch by batch: aggregates are exact over all of them, and as many as wanted are kept.

use std::collections::BTreeSet;

use super::batch::Batch;
use super::heading::{Form, Heading};
use super::sample::{Ends, priority};
use super::summary::{InputSummary, Spread, Summary};
use super::{Explained, factor};
use crate::error::PlotError;

/// Rows on their way into an [`Explained`].
///
/// Memory holds at most twice the rows that are kept, however many come. Which are kept depends on the seed and on the order of the rows,
/// and not on how they are cut into batches: those of a random sample, the first with the least and the greatest of every value, prediction
/// and input, and those that were asked for.
///
/// ```
/// use apportion_plots::{Batch, Gathering, Heading};
///
/// let mut gathering = Gathering::new(Heading::of_features(["age", "income"]))?.most_rows(2);
/// for row in 0..100 {
///     gathering.add(Batch {
///         rows: vec![row],
///         base: vec![1.0],
///         predictions: vec![1.0 + row as f64],
///         values: vec![row as f64, 0.0],
///         ..Batch::default()
///     })?;
/// }
/// let explained = gathering.end();
/// assert_eq!(explained.summary().rows, 100);
/// assert_eq!(explained.summary().values[0].mean_size, 49.5);
/// assert!(explained.kept().rows.contains(&99), "the extremes are kept");
/// # Ok::<(), apportion_plots::PlotError>(())
/// ```
#[derive(Debug)]
pub struct Gathering {
    heading: Heading,
    most_rows: usize,
    seed: u64,
    wanted: BTreeSet<u64>,
    kept: Batch,
    /// How many were kept when rows were last left out.
    left: usize,
    /// The place at which each row that is kept came.
    places: Vec<u64>,
    summary: Summary,
    /// Of values, predictions and inputs.
    ends: Vec<Ends>,
}

impl Gathering {
    /// Of rows under this heading.
    ///
    /// # Errors
    ///
    /// [`PlotError::Names`] where names are not one for each thing that has one.
    pub fn new(heading: Heading) -> Result<Self, PlotError> {
        let (players, features, outputs) =
            (heading.players.len(), heading.features.len(), heading.outputs.len());
        let named = |what, count, names| match count == names {
            true => Ok(()),
            false => Err(PlotError::Names { what, count, names }),
        };
        named("players", heading.members.len(), players)?;
        named("features", heading.categories.len(), features)?;
        named("outputs", outputs.max(1), outputs)?;
        let known = |&feature: &usize| feature < features;
        if let Some(features) = heading.members.iter().find(|features| !features.iter().all(known)) {
            let count = features.iter().max().map_or(0, |most| most + 1);
            return Err(PlotError::Names {
                what: "features of players",
                count,
                names: heading.features.len(),
            });
        }
        let summary = Summary {
            values: vec![Spread::default(); players * outputs],
            predictions: vec![Spread::default(); outputs],
            half_widths: vec![0.0; players * outputs],
            interactions: vec![
                0.0;
                if heading.interactions.is_some() { players * players * outputs } else { 0 }
            ],
            evaluations: (u64::MAX, 0, 0),
            ..Summary::default()
        };
        Ok(Self {
            ends: vec![Ends::NONE; players * outputs + outputs + features],
            heading,
            most_rows: usize::MAX,
            seed: 0,
            wanted: BTreeSet::new(),
            kept: Batch::default(),
            left: 0,
            places: Vec::new(),
            summary,
        })
    }

    /// Keeps about so many rows, chosen at random by the seed, and the extremes beside them [default: all].
    #[must_use]
    pub fn most_rows(mut self, most_rows: usize) -> Self {
        self.most_rows = most_rows;
        self
    }

    /// The seed of the sample [default: 0].
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Keeps the row with this number in any case.
    #[must_use]
    pub fn keeping(mut self, row: u64) -> Self {
        self.wanted.insert(row);
        self
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// [`PlotError::Count`] and [`PlotError::NotFinite`] for numbers that do not belong together, or that no figure has a place for.
    pub fn add(&mut self, mut batch: Batch) -> Result<(), PlotError> {
        let (players, features, outputs) =
            (self.heading.players.len(), self.heading.features.len(), self.heading.outputs.len());
        batch.check((players, features, outputs), self.heading.interactions.is_some())?;
        if let Some(form) = self.heading.interactions {
            self.take_interactions(form, &mut batch);
        }
        let first = self.summary.rows;
        for row in 0..batch.rows.len() {
            self.add_up(&batch, row, first + row as u64);
        }
        self.places.extend((0..batch.rows.len() as u64).map(|row| first + row));
        self.kept.append(batch);
        if self.kept.rows.len() > self.most_rows.max(self.left).saturating_mul(2) {
            self.leave_out();
        }
        Ok(())
    }

    /// Says which words the codes of a feature stand for, where that is known when rows have come alone.
    ///
    /// # Panics
    ///
    /// If there is no such feature.
    pub fn name_words(&mut self, feature: usize, words: Vec<String>) {
        self.heading.categories[feature] = words;
    }

    /// All rows were added.
    pub fn end(mut self) -> Explained {
        self.leave_out();
        if self.summary.rows == 0 || self.summary.evaluations.0 == u64::MAX {
            self.summary.evaluations = (0, 0, 0);
        }
        let rows = self.summary.rows.max(1) as f64;
        self.summary.half_widths.iter_mut().for_each(|sum| *sum /= rows);
        self.summary.interactions.iter_mut().for_each(|sum| *sum /= rows);
        Explained { heading: self.heading, kept: self.kept, summary: self.summary, seed: self.seed }
    }

    /// Makes values of interactions: those on the diagonal, or the sums of the lines. Their sizes are added up.
    fn take_interactions(&mut self, form: Form, batch: &mut Batch) {
        let (players, outputs) = (self.heading.players.len(), self.heading.outputs.len());
        let mut values = vec![0.0; batch.rows.len() * players * outputs];
        for row in 0..batch.rows.len() {
            for i in 0..players {
                for j in 0..players {
                    for output in 0..outputs {
                        let of_pair = (i * players + j) * outputs + output;
                        let found = batch.values[row * players * players * outputs + of_pair];
                        self.summary.interactions[of_pair] += found.abs();
                        if form == Form::Remainder || i == j {
                            values[(row * players + i) * outputs + output] += found;
                        }
                    }
                }
            }
        }
        batch.values = values;
        batch.std_errors.clear();
    }

    fn add_up(&mut self, batch: &Batch, row: usize, place: u64) {
        let outputs = self.heading.outputs.len();
        let summary = &mut self.summary;
        summary.rows += 1;
        let (values, predictions) = (batch.of_row(&batch.values, row), batch.of_row(&batch.predictions, row));
        let mut ends = self.ends.iter_mut();
        for (spread, &value) in summary.values.iter_mut().zip(values) {
            spread.add(value);
            ends.next().expect("an end for each value").add(value, place);
        }
        for (spread, &prediction) in summary.predictions.iter_mut().zip(predictions) {
            spread.add(prediction);
            ends.next().expect("an end for each prediction").add(prediction, place);
        }
        if !batch.inputs.is_empty() {
            if summary.inputs.is_empty() {
                summary.inputs = vec![InputSummary::new(); self.heading.features.len()];
            }
            for (of, &input) in summary.inputs.iter_mut().zip(batch.of_row(&batch.inputs, row)) {
                of.add(input);
                ends.next().expect("an end for each input").add(input, place);
            }
        }
        for (output, prediction) in predictions.iter().enumerate() {
            let sum: f64 = values.iter().skip(output).step_by(outputs).sum();
            let gap = (sum + batch.base[row * outputs + output] - prediction).abs();
            summary.additivity_gap = summary.additivity_gap.max(gap);
        }
        if !batch.std_errors.is_empty() {
            let factor = factor(batch.degrees_of_freedom.get(row).copied().unwrap_or(f64::INFINITY));
            let errors = batch.of_row(&batch.std_errors, row);
            summary.half_widths.iter_mut().zip(errors).for_each(|(sum, error)| *sum += factor * error);
        }
        if let Some(&evaluations) = batch.evaluations.get(row) {
            let (least, greatest, sum) = summary.evaluations;
            summary.evaluations =
                (least.min(evaluations), greatest.max(evaluations), sum.saturating_add(evaluations));
        }
        if let Some(certified) = batch.certificates.get(row).and_then(Option::as_ref) {
            let known = summary
                .certificates
                .iter_mut()
                .find(|(by, on, _)| *by == certified.stopped_by && *on == certified.guarantee);
            match known {
                Some((.., count)) => *count += 1,
                None => {
                    summary.certificates.push((certified.stopped_by.clone(), certified.guarantee.clone(), 1))
                }
            }
            for (bound, tolerance) in certified.error_bounds.iter().zip(&certified.tolerances) {
                let share = bound / tolerance;
                if share.is_finite() {
                    summary.worst_bound = Some(summary.worst_bound.map_or(share, |worst| worst.max(share)));
                }
            }
        }
    }

    /// Leaves out rows beyond those that are kept.
    fn leave_out(&mut self) {
        if self.kept.rows.len() <= self.most_rows {
            return;
        }
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by_key(|&at| priority(self.seed, self.places[at]));
        let extremes: BTreeSet<u64> = self.ends.iter().flat_map(Ends::places).collect();
        let mut is_kept = vec![false; order.len()];
        order[..self.most_rows].iter().for_each(|&at| is_kept[at] = true);
        for (at, place) in self.places.iter().enumerate() {
            is_kept[at] |= extremes.contains(place) || self.wanted.contains(&self.kept.rows[at]);
        }
        let places: Vec<usize> = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
        self.kept = self.kept.only(&places);
        self.left = places.len();
        self.places = places.iter().map(|&at| self.places[at]).collect();
    }
}
