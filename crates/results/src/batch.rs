//! Rows with their attributions.

use serde::Serialize;

use crate::error::ResultsError;
use crate::heading::Heading;

/// Rows with their attributions. With p players, n features and k outputs:
///
/// ```
/// use apportion_results::{Batch, Heading};
///
/// let heading = Heading::of_features(["age", "income"]);
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
    /// The number of each row in its file.
    pub rows: Vec<u64>,
    /// What the file calls each, where it does.
    pub ids: Option<Vec<String>>,
    /// v(∅): rows × k.
    pub base: Vec<f64>,
    /// v(N): rows × k.
    pub predictions: Vec<f64>,
    /// φ: rows × p × k; of interactions rows × p × p × k, of coalitions rows × coalitions × k.
    pub values: Vec<f64>,
    /// The players of each coalition, where values belong to coalitions.
    pub coalitions: Vec<Vec<usize>>,
    /// A standard error for each value, NaN where it is not known; empty, or zeros, where all values are exact.
    pub std_errors: Vec<f64>,
    /// Degrees of freedom of the standard errors of each row; empty where there are many.
    pub degrees_of_freedom: Vec<f64>,
    /// Rows × n, codes in the place of words, NaN where one is missing; empty where inputs are not known. Infinite ones are written as
    /// such, and drawn beside the axis as missing ones are.
    pub inputs: Vec<f64>,
    /// Evaluations of the game for each row; empty where they are not known.
    pub evaluations: Vec<u64>,
    /// Draws of the game for each row, where the game itself was drawn; empty where it never was.
    pub draws: Vec<Option<u64>>,
    /// What is certified of each row; empty where no accuracy was asked for.
    pub certificates: Vec<Option<Certified>>,
}

/// What is certified of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Certified {
    /// Why the run stopped.
    pub stopped_by: String,
    /// What the bounds rest on.
    pub guarantee: String,
    /// With this probability the bounds hold.
    pub confidence: f64,
    /// A bound of the error for each output; empty where there is none.
    pub error_bounds: Vec<f64>,
    /// The error that was tolerated for each output.
    pub tolerances: Vec<f64>,
    /// Half the width of the interval around each value, players × outputs, each by itself; empty where there are none.
    pub half_widths: Vec<f64>,
    /// What the looks at the error found.
    pub looks: Vec<Look>,
    /// All of this in a sentence.
    pub says: String,
}

/// What was found when a run looked at its error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Look {
    /// Evaluations up to then.
    #[serde(rename = "budget")]
    pub evaluations: u64,
    /// The probability of being wrong that was spent on it; NaN where that is not known.
    pub spent: f64,
    /// The bound of the error over the tolerance, where there is one.
    pub error: Option<f64>,
}

impl Batch {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether any value has an error, or may have one.
    pub fn has_errors(&self) -> bool {
        self.std_errors.iter().any(|&error| error != 0.0)
    }

    /// The part of `numbers`, which hold equally many for each row, that belongs to one row.
    pub fn of_row<'n>(&self, numbers: &'n [f64], row: usize) -> &'n [f64] {
        let width = numbers.len() / self.rows.len().max(1);
        &numbers[row * width..(row + 1) * width]
    }

    /// Refuses numbers that do not belong together.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Count`] for arrays whose length does not follow from the rows, players, features and outputs.
    pub fn check(&self, heading: &Heading) -> Result<(), ResultsError> {
        let (players, features, outputs) =
            (heading.players.len(), heading.features.len(), heading.outputs.len());
        let rows = self.rows.len();
        let lines = if heading.interactions.is_some() { players } else { 1 };
        let values = rows * players * lines * outputs;
        let or_none = |given: usize, expected: usize| if given == 0 { 0 } else { expected };
        let counts = [
            ("values", self.values.len(), values),
            ("values without players", self.base.len(), rows * outputs),
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
        match counts.into_iter().find(|(_, given, expected)| given != expected) {
            Some((what, given, expected)) => {
                Err(ResultsError::Count { what, given, expected, rows, players, outputs })
            }
            None => Ok(()),
        }
    }

    /// The same with one of `outputs` outputs alone.
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

    /// The rows at these places alone.
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

    /// Appends rows under the same heading. What only a part of the rows has is kept for all, with what stands for nothing in the others:
    /// standard errors of zero, inputs that are missing, infinitely many degrees of freedom, no certificate.
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
        // Rows without errors are exact.
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

/// Appends entries of `added` rows to those of `rows` rows, where either may have none.
fn fill_with_none<T: Clone>(own: &mut Vec<Option<T>>, given: Vec<Option<T>>, rows: usize, added: usize) {
    if own.is_empty() && given.is_empty() {
        return;
    }
    own.resize(rows, None);
    own.extend(given);
    own.resize(rows + added, None);
}
