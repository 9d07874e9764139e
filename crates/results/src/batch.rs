//! A batch of rows with their attributions.

use serde::Serialize;

use crate::error::ResultsError;
use crate::heading::Heading;

/// A batch of rows with their attributions, for p players, n features and k outputs.
///
/// ```
/// use apportion_results::{Batch, Heading};
///
/// let heading = Heading::for_features(["age", "income"]);
/// let batch = Batch {
///     rows: vec![0],
///     base: vec![1.0],
///     predictions: vec![3.5],
///     values: vec![2.0, 0.5],
///     ..Batch::default()
/// };
/// batch.check(&heading)?;
/// assert!(!batch.has_errors());
/// # Ok::<(), apportion_results::ResultsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// The index of each row in its file.
    pub rows: Vec<u64>,
    /// The ID of each row, if the file has IDs.
    pub ids: Option<Vec<String>>,
    /// v(∅), the base values: rows × k.
    pub base: Vec<f64>,
    /// v(N), the predictions: rows × k.
    pub predictions: Vec<f64>,
    /// φ, the attributions: rows × p × k. For interactions, the shape is rows × p × p × k. For interaction
    /// indices of coalitions, it is rows × coalitions × k.
    pub values: Vec<f64>,
    /// The players of each coalition, if there is one value per coalition instead of one per player.
    pub coalitions: Vec<Vec<usize>>,
    /// The standard error of each value, NaN if it is not known. Empty, or all zeros, if all values are
    /// exact.
    pub std_errors: Vec<f64>,
    /// For each row, the degrees of freedom of the standard errors; empty if all of them are infinite.
    pub degrees_of_freedom: Vec<f64>,
    /// The inputs, i.e. feature values, rows × n, with codes for categories and NaN for missing values; empty
    /// if inputs are not known. Infinite inputs are written to files, and figures draw them next to the axis,
    /// like missing values.
    pub inputs: Vec<f64>,
    /// Number of evaluations of the game for each row; empty if not known.
    pub evaluations: Vec<u64>,
    /// For each row, the number of draws if its game is sampled, otherwise `None`; empty if no game is
    /// sampled.
    pub draws: Vec<Option<u64>>,
    /// The certificate of each row; empty if no tolerance was set.
    pub certificates: Vec<Option<Certified>>,
}

/// The certificate of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Certified {
    /// The reason why sampling stopped.
    pub stopped_by: String,
    /// The kind of guarantee that the bounds have.
    pub guarantee: String,
    /// The probability with which the bounds hold.
    pub confidence: f64,
    /// An error bound for each output; empty if there are no bounds.
    pub error_bounds: Vec<f64>,
    /// The tolerance for each output.
    pub tolerances: Vec<f64>,
    /// The half-width of the (pointwise) interval around each value, players × outputs; empty if there are no
    /// intervals.
    pub half_widths: Vec<f64>,
    /// The results of the interim checks, in order.
    pub interim_checks: Vec<InterimCheck>,
    /// A sentence that summarizes the certificate.
    pub says: String,
}

/// The result of an interim check of the error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct InterimCheck {
    /// Number of evaluations so far.
    #[serde(rename = "budget")]
    pub evaluations: u64,
    /// The part of the total error probability that this check used up; NaN if not known.
    pub spent: f64,
    /// The error bound divided by the tolerance, if there is a bound.
    pub error: Option<f64>,
}

impl Batch {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns whether any value has a nonzero or unknown standard error.
    pub fn has_errors(&self) -> bool {
        self.std_errors.iter().any(|&error| error != 0.0)
    }

    /// Returns the part of `numbers` that belongs to a row. Every row has the same number of entries.
    pub fn of_row<'n>(&self, numbers: &'n [f64], row: usize) -> &'n [f64] {
        let width = numbers.len() / self.rows.len().max(1);
        &numbers[row * width..(row + 1) * width]
    }

    /// Checks that the lengths of all arrays match.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Count`] for an array whose length does not match the rows, players, features and
    /// outputs.
    pub fn check(&self, heading: &Heading) -> Result<(), ResultsError> {
        let (players, features, outputs) =
            (heading.players.len(), heading.features.len(), heading.outputs.len());
        let rows = self.rows.len();
        let lines = if heading.interactions.is_some() { players } else { 1 };
        let values = rows * players * lines * outputs;
        let or_none = |given: usize, expected: usize| if given == 0 { 0 } else { expected };
        let counts = [
            ("values", self.values.len(), values),
            ("base values", self.base.len(), rows * outputs),
            ("predictions", self.predictions.len(), rows * outputs),
            ("standard errors", self.std_errors.len(), or_none(self.std_errors.len(), values)),
            ("inputs", self.inputs.len(), or_none(self.inputs.len(), rows * features)),
            (
                "degrees of freedom",
                self.degrees_of_freedom.len(),
                or_none(self.degrees_of_freedom.len(), rows),
            ),
            ("evaluations", self.evaluations.len(), or_none(self.evaluations.len(), rows)),
            ("draws", self.draws.len(), or_none(self.draws.len(), rows)),
            ("certificates", self.certificates.len(), or_none(self.certificates.len(), rows)),
            ("ids", self.ids.as_ref().map_or(rows, Vec::len), rows),
        ];
        match counts.into_iter().find(|(_, actual, expected)| actual != expected) {
            Some((what, actual, expected)) => {
                Err(ResultsError::Count { what, actual, expected, rows, players, outputs })
            }
            None => Ok(()),
        }
    }

    /// Keeps only the output with index `output` of the `outputs` outputs.
    #[must_use]
    pub fn of_output(mut self, output: usize, outputs: usize) -> Self {
        let only = |numbers: &mut Vec<f64>| {
            *numbers = numbers.iter().skip(output).step_by(outputs).copied().collect();
        };
        for numbers in [&mut self.base, &mut self.predictions, &mut self.values, &mut self.std_errors] {
            only(numbers);
        }
        for certificate in self.certificates.iter_mut().flatten() {
            [&mut certificate.tolerances, &mut certificate.error_bounds, &mut certificate.half_widths]
                .into_iter()
                .for_each(only);
        }
        self
    }

    /// Returns the rows at these positions in the batch.
    #[must_use]
    pub fn only(&self, places: &[usize]) -> Self {
        let numbers = |numbers: &[f64]| -> Vec<f64> {
            if numbers.is_empty() {
                return Vec::new();
            }
            places.iter().flat_map(|&place| self.of_row(numbers, place)).copied().collect()
        };
        fn each<T: Clone>(entries: &[T], places: &[usize]) -> Vec<T> {
            match entries.is_empty() {
                true => Vec::new(),
                false => places.iter().map(|&place| entries[place].clone()).collect(),
            }
        }
        Self {
            rows: each(&self.rows, places),
            ids: self.ids.as_ref().map(|ids| each(ids, places)),
            base: numbers(&self.base),
            predictions: numbers(&self.predictions),
            values: numbers(&self.values),
            std_errors: numbers(&self.std_errors),
            degrees_of_freedom: numbers(&self.degrees_of_freedom),
            inputs: numbers(&self.inputs),
            evaluations: each(&self.evaluations, places),
            draws: each(&self.draws, places),
            certificates: each(&self.certificates, places),
            coalitions: self.coalitions.clone(),
        }
    }

    /// Appends rows with the same heading. If only some rows have standard errors, inputs, degrees of
    /// freedom, certificates or draws, these are filled in for the other rows: zero errors, missing inputs,
    /// infinite degrees of freedom, and `None` for certificates and draws.
    pub fn append(&mut self, other: Self) {
        let rows = self.rows.len();
        let fill = |own: &mut Vec<f64>, given: Vec<f64>, (width, nothing): (usize, f64), added: usize| {
            if own.is_empty() && !given.is_empty() {
                own.resize(rows * width, nothing);
            }
            let begun = !own.is_empty() || !given.is_empty();
            let missing = if given.is_empty() && begun { added * width } else { 0 };
            own.extend(given);
            own.extend(std::iter::repeat_n(nothing, missing));
        };
        let added = other.rows.len();
        let width = |numbers: &[f64], rows: usize| numbers.len().checked_div(rows).unwrap_or(0);
        let widths = |own: &[f64], given: &[f64]| width(own, rows).max(width(given, added));
        let (errors, inputs) =
            (widths(&self.std_errors, &other.std_errors), widths(&self.inputs, &other.inputs));
        // The values of rows without standard errors are exact.
        fill(&mut self.std_errors, other.std_errors, (errors, 0.0), added);
        fill(&mut self.inputs, other.inputs, (inputs, f64::NAN), added);
        fill(&mut self.degrees_of_freedom, other.degrees_of_freedom, (1, f64::INFINITY), added);
        if rows == 0 {
            self.ids = other.ids;
        } else if let Some(ids) = &mut self.ids {
            ids.extend(other.ids.unwrap_or_else(|| vec![String::new(); added]));
        }
        fill_with_none(&mut self.certificates, other.certificates, rows, added);
        fill_with_none(&mut self.draws, other.draws, rows, added);
        if rows == 0 {
            self.coalitions = other.coalitions;
        }
        if self.evaluations.len() == rows && (other.evaluations.len() == added) {
            self.evaluations.extend(other.evaluations);
        } else {
            self.evaluations.clear();
        }
        self.rows.extend(other.rows);
        self.base.extend(other.base);
        self.predictions.extend(other.predictions);
        self.values.extend(other.values);
    }
}

/// Appends the entries for `added` rows to the entries for `rows` rows. An empty list means `None` in every
/// row.
fn fill_with_none<T: Clone>(own: &mut Vec<Option<T>>, given: Vec<Option<T>>, rows: usize, added: usize) {
    if own.is_empty() && given.is_empty() {
        return;
    }
    own.resize(rows, None);
    own.extend(given);
    own.resize(rows + added, None);
}
