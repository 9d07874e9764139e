//! Rows that come together.

use crate::error::PlotError;

/// The largest number that is drawn: sums and differences of such are numbers, too.
const LARGEST: f64 = 1e300;

/// Whether a number has a place in figures.
pub(crate) fn is_drawn(number: f64) -> bool {
    number.abs() <= LARGEST
}

/// Rows with their attributions. With p players, n features and k outputs:
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
    /// φ: rows × p × k; of interactions rows × p × p × k.
    pub values: Vec<f64>,
    /// A standard error for each value, NaN where it is not known; empty, or zeros, where all values are exact.
    pub std_errors: Vec<f64>,
    /// Degrees of freedom of the standard errors of each row; empty where there are many.
    pub degrees_of_freedom: Vec<f64>,
    /// Rows × n, codes in the place of words, NaN where one is missing; empty where inputs are not known. Infinite ones are written as
    /// such, and drawn beside the axis as missing ones are.
    pub inputs: Vec<f64>,
    /// Evaluations of the game for each row; empty where they are not known.
    pub evaluations: Vec<u64>,
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
    /// What the looks at the error found.
    pub looks: Vec<Look>,
    /// All of this in a sentence.
    pub says: String,
}

/// What was found when a run looked at its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Evaluations up to then.
    pub evaluations: u64,
    /// The bound of the error over the tolerance, where there is one.
    pub error: Option<f64>,
}

impl Batch {
    /// The numbers of one row of `numbers`, which are of all rows.
    pub(crate) fn of_row<'n>(&self, numbers: &'n [f64], row: usize) -> &'n [f64] {
        let width = numbers.len() / self.rows.len().max(1);
        &numbers[row * width..(row + 1) * width]
    }

    /// Refuses numbers that do not belong together, and those that no figure has a place for.
    pub(super) fn check(
        &self,
        (players, features, outputs): (usize, usize, usize),
        pairs: bool,
    ) -> Result<(), PlotError> {
        let rows = self.rows.len();
        let lines = if pairs { players } else { 1 };
        let values = rows * players * lines * outputs;
        let or_none = |given: usize, wanted: usize| if given == 0 { 0 } else { wanted };
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
            ("certificates", self.certificates.len(), or_none(self.certificates.len(), rows)),
            ("ids", self.ids.as_ref().map_or(rows, Vec::len), rows),
        ];
        for (what, given, wanted) in counts {
            if given != wanted {
                return Err(PlotError::Count { what, given, wanted, rows, players, outputs });
            }
        }
        for (what, numbers, may_be_missing) in [
            ("values", &self.values, false),
            ("values without players", &self.base, false),
            ("predictions", &self.predictions, false),
            ("standard errors", &self.std_errors, true),
        ] {
            let is_wrong = |&number: &f64| !(is_drawn(number) || may_be_missing && number.is_nan());
            if let Some(at) = numbers.iter().position(is_wrong) {
                let width = numbers.len() / rows.max(1);
                return Err(PlotError::NotFinite {
                    what,
                    row: self.rows[at / width.max(1)],
                    value: numbers[at],
                });
            }
        }
        Ok(())
    }

    /// The rows at these places alone.
    pub(super) fn only(&self, places: &[usize]) -> Self {
        let numbers = |numbers: &[f64]| -> Vec<f64> {
            if numbers.is_empty() {
                return Vec::new();
            }
            places.iter().flat_map(|&place| self.of_row(numbers, place)).copied().collect()
        };
        let each = |numbers: &[u64]| -> Vec<u64> {
            if numbers.is_empty() { Vec::new() } else { places.iter().map(|&place| numbers[place]).collect() }
        };
        Self {
            rows: each(&self.rows),
            ids: self.ids.as_ref().map(|ids| places.iter().map(|&place| ids[place].clone()).collect()),
            base: numbers(&self.base),
            predictions: numbers(&self.predictions),
            values: numbers(&self.values),
            std_errors: numbers(&self.std_errors),
            degrees_of_freedom: numbers(&self.degrees_of_freedom),
            inputs: numbers(&self.inputs),
            evaluations: each(&self.evaluations),
            certificates: match self.certificates.is_empty() {
                true => Vec::new(),
                false => places.iter().map(|&place| self.certificates[place].clone()).collect(),
            },
        }
    }

    /// Appends rows, which have what these have.
    pub(super) fn append(&mut self, other: Self) {
        let rows = self.rows.len();
        // What only a part of the rows has is kept for all, with a number that stands for nothing in the others.
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
        if self.certificates.is_empty() && !other.certificates.is_empty() {
            self.certificates.resize(rows, None);
        }
        let certified = !self.certificates.is_empty() || !other.certificates.is_empty();
        self.certificates.extend(other.certificates);
        if certified {
            self.certificates.resize(rows + added, None);
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
