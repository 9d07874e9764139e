//! Collection of rows in batches. Aggregates are exact over all rows, and a limited number of rows is kept.

use std::collections::BTreeSet;

use apportion_results::{Batch, Form, Heading, IntervalFactors};

use super::sample::{Ends, priority};
use super::summary::{Columns, Inputs, Summary};
use super::{Explained, is_drawn};
use crate::error::PlotError;

/// A builder that collects rows into an [`Explained`].
///
/// In addition to the current batch, at most about twice the kept rows are in memory, regardless of the
/// number of rows. The kept rows depend on the seed and on the order of the rows, but not on their division
/// into batches. They are the first row, a random sample, the first rows with the minimum and the maximum of
/// every value, prediction and input, and rows marked by [`keeping`](Self::keeping).
///
/// ```
/// use apportion_plots::{Batch, Gathering, Heading};
///
/// let mut gathering = Gathering::new(Heading::for_features(["age", "income"]))?.max_rows(2);
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
/// assert!(explained.batch().rows.contains(&99), "the extremes are kept");
/// # Ok::<(), apportion_plots::PlotError>(())
/// ```
#[derive(Debug)]
pub struct Gathering {
    heading: Heading,
    max_rows: usize,
    seed: u64,
    wanted: BTreeSet<u64>,
    kept: Batch,
    /// Number of rows that remained when rows were last discarded.
    left: usize,
    /// The positions of the kept rows among all rows.
    places: Vec<u64>,
    /// The aggregates, except for those in the following fields.
    summary: Summary,
    values: Columns,
    predictions: Columns,
    /// The statistics of the inputs of each feature; empty if inputs are not known.
    inputs: Vec<Inputs>,
    /// The rows with the extremes of values, predictions and inputs.
    ends: Vec<Ends>,
    /// Factors that convert the standard errors of rows to the half-widths of intervals.
    factors: IntervalFactors,
}

impl Gathering {
    /// Creates a collection of rows with this heading.
    ///
    /// # Errors
    ///
    /// [`PlotError::Results`] if the names do not match the players, features and outputs, or if a text or an
    /// image does not match the players.
    pub fn new(heading: Heading) -> Result<Self, PlotError> {
        let (players, features, outputs) =
            (heading.players.len(), heading.features.len(), heading.outputs.len());
        heading.check()?;
        let summary = Summary {
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
            factors: IntervalFactors::default(),
            max_rows: usize::MAX,
            seed: 0,
            wanted: BTreeSet::new(),
            kept: Batch::default(),
            left: 0,
            places: Vec::new(),
            summary,
            values: Columns::new(players * outputs),
            predictions: Columns::new(outputs),
            inputs: Vec::new(),
        })
    }

    /// Returns the default number of rows to keep for a heading: as many as contain four million numbers in
    /// total, but at least 200 and at most 50,000.
    pub fn usual_rows(heading: &Heading) -> usize {
        let of_row = 2 * heading.players.len() * heading.outputs.len() + heading.features.len();
        (4_000_000 / of_row.max(1)).clamp(200, 50_000)
    }

    /// Sets the maximum number of rows in the random sample. The extremes are kept in addition [default: all
    /// rows].
    #[must_use]
    pub fn max_rows(mut self, max_rows: usize) -> Self {
        self.max_rows = max_rows;
        self
    }

    /// Sets the seed of the sample [default: 0].
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Always keeps the row with this index.
    #[must_use]
    pub fn keeping(mut self, row: u64) -> Self {
        self.wanted.insert(row);
        self
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// [`PlotError::Results`] if the numbers do not match the heading, [`PlotError::NotFinite`] if a number
    /// is too large for figures, infinite or NaN, [`PlotError::Summary`] for more than 2^63 rows.
    pub fn add(&mut self, mut batch: Batch) -> Result<(), PlotError> {
        batch.check(&self.heading)?;
        check_sizes(&batch)?;
        if batch.std_errors.iter().all(|&error| error == 0.0) {
            batch.std_errors.clear();
        }
        if let Some(form) = self.heading.interactions {
            self.take_interactions(form, &mut batch);
        }
        self.values.add(&batch.values)?;
        self.predictions.add(&batch.predictions)?;
        if !batch.inputs.is_empty() {
            let features = self.heading.features.len();
            self.inputs.resize_with(features, Inputs::new);
            for (feature, inputs) in self.inputs.iter_mut().enumerate() {
                inputs.add(batch.inputs.iter().copied().skip(feature).step_by(features))?;
            }
        }
        let first = self.summary.rows;
        for row in 0..batch.rows.len() {
            self.add_up(&batch, row, first + row as u64);
        }
        self.places.extend((0..batch.rows.len() as u64).map(|row| first + row));
        self.kept.append(batch);
        if self.kept.rows.len() > self.max_rows.max(self.left).saturating_mul(2) {
            self.leave_out();
        }
        Ok(())
    }

    /// Sets the categories of a feature, in the order of their codes, if they are only known once all rows
    /// have been read.
    ///
    /// # Panics
    ///
    /// Panics if the feature is out of range.
    pub fn name_words(&mut self, feature: usize, words: Vec<String>) {
        self.heading.categories[feature] = words;
    }

    /// Finishes the collection and returns it.
    pub fn end(mut self) -> Explained {
        self.leave_out();
        if self.summary.rows == 0 || self.summary.evaluations.0 == u64::MAX {
            self.summary.evaluations = (0, 0, 0);
        }
        self.summary.values = self.values.spreads();
        self.summary.predictions = self.predictions.spreads();
        self.summary.inputs = self.inputs.into_iter().map(Inputs::summary).collect();
        let rows = self.summary.rows.max(1) as f64;
        self.summary.half_widths.iter_mut().for_each(|sum| *sum /= rows);
        self.summary.interactions.iter_mut().for_each(|sum| *sum /= rows);
        let (kept, mut factors) = (self.kept, IntervalFactors::default());
        let degrees = |row: usize| kept.degrees_of_freedom.get(row).copied().unwrap_or(f64::INFINITY);
        Explained {
            heading: self.heading,
            factors: (0..kept.rows.len()).map(|row| factors.next(degrees(row))).collect(),
            kept,
            summary: self.summary,
            seed: self.seed,
        }
    }

    /// Replaces the interactions in `batch` with values: the diagonal entries of each matrix or, for
    /// [`Form::Remainder`], its row sums. Adds the absolute interactions to the summary.
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
        let (of_values, others) = self.ends.split_at_mut(values.len());
        let (of_predictions, of_inputs) = others.split_at_mut(outputs);
        of_values.iter_mut().zip(values).for_each(|(ends, &value)| ends.add(value, place));
        of_predictions.iter_mut().zip(predictions).for_each(|(ends, &number)| ends.add(number, place));
        if !batch.inputs.is_empty() {
            for (ends, &input) in of_inputs.iter_mut().zip(batch.of_row(&batch.inputs, row)) {
                if is_drawn(input) {
                    ends.add(input, place);
                }
            }
        }
        for (output, prediction) in predictions.iter().enumerate() {
            let sum: f64 = values.iter().skip(output).step_by(outputs).sum();
            let gap = (sum + batch.base[row * outputs + output] - prediction).abs();
            summary.additivity_gap = summary.additivity_gap.max(gap);
        }
        if !batch.std_errors.is_empty() {
            let degrees = batch.degrees_of_freedom.get(row).copied().unwrap_or(f64::INFINITY);
            let factor = self.factors.next(degrees);
            let errors = batch.of_row(&batch.std_errors, row);
            summary.half_widths.iter_mut().zip(errors).for_each(|(sum, error)| *sum += factor * error);
        }
        if let Some(&evaluations) = batch.evaluations.get(row) {
            let (min, max, sum) = summary.evaluations;
            summary.evaluations =
                (min.min(evaluations), max.max(evaluations), sum.saturating_add(evaluations));
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

    /// Discards rows if there are more than should be kept.
    fn leave_out(&mut self) {
        if self.kept.rows.len() <= self.max_rows {
            return;
        }
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by_key(|&at| priority(self.seed, self.places[at]));
        let extremes: BTreeSet<u64> = self.ends.iter().flat_map(Ends::places).collect();
        let mut is_kept = vec![false; order.len()];
        order[..self.max_rows].iter().for_each(|&at| is_kept[at] = true);
        for (at, place) in self.places.iter().enumerate() {
            // Figures of one row show the first row by default.
            is_kept[at] |=
                *place == 0 || extremes.contains(place) || self.wanted.contains(&self.kept.rows[at]);
        }
        let places: Vec<usize> = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
        self.kept = self.kept.only(&places);
        self.left = places.len();
        self.places = places.iter().map(|&at| self.places[at]).collect();
    }
}

/// Checks that all numbers except the inputs can be drawn.
fn check_sizes(batch: &Batch) -> Result<(), PlotError> {
    for (what, numbers, may_be_missing) in [
        ("values", &batch.values, false),
        ("base values", &batch.base, false),
        ("predictions", &batch.predictions, false),
        ("standard errors", &batch.std_errors, true),
    ] {
        let is_wrong = |&number: &f64| !(is_drawn(number) || may_be_missing && number.is_nan());
        if let Some(at) = numbers.iter().position(is_wrong) {
            let width = numbers.len() / batch.len().max(1);
            return Err(PlotError::NotFinite {
                what,
                row: batch.rows[at / width.max(1)],
                value: numbers[at],
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use apportion_results::{CONFIDENCE, interval_factor};
    use proptest::prelude::*;

    use super::*;
    use crate::{Certified, Explained, ResultsError};

    const PLAYERS: usize = 3;
    const OUTPUTS: usize = 2;

    /// Returns a pseudorandom number, which depends only on the row and the position.
    fn number(row: u64, place: u64) -> f64 {
        (priority(row, place) >> 11) as f64 / (1_u64 << 53) as f64 * 20.0 - 10.0
    }

    fn rows(range: std::ops::Range<u64>) -> Batch {
        let each = |count: u64, from: u64| -> Vec<f64> {
            range.clone().flat_map(|row| (from..from + count).map(move |place| number(row, place))).collect()
        };
        Batch {
            rows: range.clone().map(|row| 7 * row).collect(),
            ids: Some(range.clone().map(|row| format!("row {row}")).collect()),
            base: each(2, 100),
            predictions: each(2, 200),
            values: each(6, 0),
            std_errors: each(6, 300).into_iter().map(f64::abs).collect(),
            degrees_of_freedom: range.clone().map(|row| (row + 2) as f64).collect(),
            inputs: each(3, 400)
                .into_iter()
                .map(|input| if input > 8.0 { f64::NAN } else { input })
                .collect(),
            evaluations: range.clone().map(|row| 10 + row % 5).collect(),
            draws: Vec::new(),
            coalitions: Vec::new(),
            certificates: range
                .map(|row| {
                    (row % 3 == 0).then(|| Certified {
                        stopped_by: "tolerance".to_owned(),
                        guarantee: "asymptotic".to_owned(),
                        confidence: 0.95,
                        error_bounds: vec![row as f64, 1.0],
                        tolerances: vec![2.0, 4.0],
                        half_widths: Vec::new(),
                        interim_checks: Vec::new(),
                        says: String::new(),
                    })
                })
                .collect(),
        }
    }

    fn heading() -> Heading {
        Heading { outputs: vec!["x".to_owned(), "y".to_owned()], ..Heading::for_features(["a", "b", "c"]) }
    }

    /// Collects `count` rows in batches that end at these positions.
    fn gathered(count: u64, ends: &[u64], max_rows: usize, seed: u64) -> Explained {
        let mut gathering = Gathering::new(heading()).unwrap().max_rows(max_rows).seed(seed).keeping(7 * 3);
        let mut from = 0;
        for end in ends.iter().copied().chain([count]) {
            gathering.add(rows(from..end)).unwrap();
            from = end;
        }
        gathering.end()
    }

    #[test]
    fn aggregates_are_those_of_their_definitions_over_all_rows() {
        let count = 500;
        let explained = gathered(count, &[], 20, 0);
        let (all, summary) = (rows(0..count), explained.summary());
        assert_eq!((summary.rows, explained.is_sample()), (count, true));
        for at in 0..PLAYERS * OUTPUTS {
            let values: Vec<f64> = all.values.iter().skip(at).step_by(PLAYERS * OUTPUTS).copied().collect();
            let mean =
                |of: &dyn Fn(f64) -> f64| values.iter().map(|&value| of(value)).sum::<f64>() / count as f64;
            let spread = &summary.values[at];
            let close =
                |found: f64, expected: f64| assert!((found - expected).abs() < 1e-10, "{found} {expected}");
            close(spread.mean, mean(&|value| value));
            close(spread.mean_size, mean(&f64::abs));
            let variance = |of: &dyn Fn(f64) -> f64| {
                values.iter().map(|&value| (of(value) - mean(of)).powi(2)).sum::<f64>() / (count - 1) as f64
            };
            close(spread.deviation(), variance(&|value| value).sqrt());
            close(spread.error_of_mean_size(), (variance(&f64::abs) / count as f64).sqrt());
            assert_eq!(spread.min, values.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(spread.max, values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            assert_eq!(spread.density.total(), count);
            let half = |row: usize| {
                interval_factor((row + 2) as f64, CONFIDENCE) * all.std_errors[row * PLAYERS * OUTPUTS + at]
            };
            close(summary.half_widths[at], (0..count as usize).map(half).sum::<f64>() / count as f64);
        }
        let gap = |row: usize, output: usize| {
            let sum: f64 =
                (0..PLAYERS).map(|player| all.values[(row * PLAYERS + player) * OUTPUTS + output]).sum();
            (sum + all.base[row * OUTPUTS + output] - all.predictions[row * OUTPUTS + output]).abs()
        };
        let widest = (0..count as usize).flat_map(|row| [gap(row, 0), gap(row, 1)]).fold(0.0, f64::max);
        assert!((summary.additivity_gap - widest).abs() < 1e-12);
        assert_eq!(summary.evaluations, (10, 14, 12 * count));
        assert_eq!(summary.certificates, [("tolerance".to_owned(), "asymptotic".to_owned(), 167)]);
        assert_eq!(summary.worst_bound, Some(498.0 / 2.0));
        for feature in 0..PLAYERS {
            let inputs = all.inputs.iter().skip(feature).step_by(PLAYERS);
            assert_eq!(summary.inputs[feature].missing, inputs.filter(|input| input.is_nan()).count() as u64);
            assert_eq!(
                summary.inputs[feature].counts, None,
                "too many different ones to be counted one by one"
            );
        }
    }

    #[test]
    fn extremes_and_wanted_rows_are_kept_with_all_that_is_theirs() {
        let explained = gathered(2000, &[100, 1000], 50, 3);
        let kept = explained.batch();
        assert!(kept.rows.len() >= 50 && kept.rows.len() <= 50 + 2 * (6 + 2 + 3) + 2, "{}", kept.rows.len());
        assert!(kept.rows.contains(&21));
        for at in 0..6 {
            let spread = &explained.summary().values[at];
            let values: Vec<f64> = kept.values.iter().skip(at).step_by(6).copied().collect();
            assert!(values.contains(&spread.min) && values.contains(&spread.max));
        }
        for (place, &row) in kept.rows.iter().enumerate() {
            let alone = rows(row / 7..row / 7 + 1);
            assert_eq!(kept.ids.as_ref().unwrap()[place], alone.ids.unwrap()[0]);
            assert_eq!(kept.of_row(&kept.values, place), alone.values);
            assert_eq!(kept.of_row(&kept.std_errors, place), alone.std_errors);
            assert_eq!(kept.of_row(&kept.base, place), alone.base);
            assert_eq!(kept.evaluations[place], alone.evaluations[0]);
            assert_eq!(kept.certificates[place], alone.certificates[0]);
        }
        let others = gathered(2000, &[], 50, 4);
        assert_ne!(kept.rows, others.batch().rows, "another seed, another sample");
    }

    #[test]
    fn the_first_row_is_kept_whatever_the_seed() {
        for seed in 0..20 {
            assert_eq!(gathered(2000, &[300], 50, seed).batch().rows[0], 0, "seed {seed}");
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_does_not_depend_on_batches(
            count in 1_u64..400,
            mut ends in prop::collection::vec(0_u64..400, 0..6),
            most in 1_usize..100,
            seed in 0_u64..5,
        ) {
            ends.iter_mut().for_each(|end| *end = (*end).min(count));
            ends.sort_unstable();
            let (one, other) = (gathered(count, &ends, most, seed), gathered(count, &[], most, seed));
            // A batch without rows has no IDs.
            let ids = |explained: &Explained| explained.batch().ids.clone().unwrap_or_default();
            prop_assert_eq!(&one.batch().rows, &other.batch().rows);
            prop_assert_eq!(&one.batch().values, &other.batch().values);
            prop_assert_eq!(ids(&one).len(), one.batch().rows.len());
            prop_assert_eq!(one.summary().clone().values, other.summary().clone().values);
        }
    }

    #[test]
    fn rows_without_errors_among_others_are_exact() {
        let without = |range| Batch { std_errors: Vec::new(), ..rows(range) };
        for order in [[true, false], [false, true]] {
            let mut gathering = Gathering::new(heading()).unwrap();
            for (has_errors, range) in order.into_iter().zip([0..2, 2..4]) {
                gathering.add(if has_errors { rows(range) } else { without(range) }).unwrap();
            }
            let explained = gathering.end();
            for row in 0..4 {
                let half = explained.half_width(row, 0, 0);
                assert_eq!(half > 0.0, order[row / 2], "row {row} of {order:?}: {half}");
            }
        }
    }

    #[test]
    fn errors_that_are_all_zero_are_of_exact_values() {
        let zeros = |range| {
            let rows = rows(range);
            Batch { std_errors: vec![0.0; rows.std_errors.len()], ..rows }
        };
        let gathered = |batches: [Batch; 2]| {
            let mut gathering = Gathering::new(heading()).unwrap();
            batches.into_iter().for_each(|batch| gathering.add(batch).unwrap());
            gathering.end()
        };
        assert!(!gathered([zeros(0..2), zeros(2..4)]).are_estimates());
        let mixed = gathered([zeros(0..2), rows(2..4)]);
        assert!(mixed.are_estimates() && mixed.half_width(0, 0, 0) == 0.0 && mixed.half_width(2, 0, 0) > 0.0);
    }

    #[test]
    fn interactions_become_values_and_mean_sizes() {
        for (form, expected) in [(Form::Index, [1.0, 4.0]), (Form::Remainder, [-1.0, 2.0])] {
            let heading = Heading { interactions: Some(form), ..Heading::for_features(["a", "b"]) };
            let mut gathering = Gathering::new(heading).unwrap();
            gathering
                .add(Batch {
                    rows: vec![0],
                    base: vec![0.0],
                    predictions: vec![1.0],
                    values: vec![1.0, -2.0, -2.0, 4.0],
                    ..Batch::default()
                })
                .unwrap();
            let explained = gathering.end();
            assert_eq!(explained.batch().values, expected, "{form:?}");
            assert_eq!(explained.summary().interactions, [1.0, 2.0, 2.0, 4.0]);
        }
    }

    #[test]
    fn numbers_that_do_not_belong_together_are_refused() {
        let add = |change: &dyn Fn(&mut Batch)| {
            let mut batch = rows(0..4);
            change(&mut batch);
            Gathering::new(heading()).unwrap().add(batch)
        };
        assert_eq!(add(&|_| {}), Ok(()));
        let count = |what: &str, found: Result<(), PlotError>| {
            assert!(
                matches!(
                    &found,
                    Err(PlotError::Results(ResultsError::Count { what: found, .. })) if *found == what
                ),
                "{found:?}"
            );
        };
        count("values", add(&|batch| batch.values.truncate(5)));
        count("predictions", add(&|batch| batch.predictions.clear()));
        count("inputs", add(&|batch| batch.inputs.truncate(5)));
        count("ids", add(&|batch| batch.ids = Some(Vec::new())));
        count("certificates", add(&|batch| batch.certificates.truncate(1)));
        for wrong in [f64::NAN, f64::INFINITY, 2e300] {
            let found = add(&|batch| batch.values[7] = wrong);
            assert!(matches!(found, Err(PlotError::NotFinite { what: "values", row: 7, .. })), "{found:?}");
        }
        assert_eq!(add(&|batch| batch.inputs[1] = f64::NAN), Ok(()));
        assert_eq!(add(&|batch| batch.inputs[1] = f64::INFINITY), Ok(()));
        assert!(Gathering::new(Heading { outputs: Vec::new(), ..heading() }).is_err());
        assert!(Gathering::new(Heading { members: vec![vec![9]; 3], ..heading() }).is_err());
        assert!(Gathering::new(Heading { categories: Vec::new(), ..heading() }).is_err());
    }
}
