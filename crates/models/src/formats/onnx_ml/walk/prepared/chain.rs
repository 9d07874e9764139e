//! Monotone functions of a number, composed of a sequence of steps.

use super::grid::Grid;
use super::pieces::Pieces;
use super::region::{Intervals, Region};
use super::split::{Split, no_rule};
use super::step::Step;
use crate::ensemble::{Rule, at_most};
use crate::formats::onnx_ml::decision::{Decision, Mode};
use crate::formats::onnx_ml::graph::Element;
use crate::formats::onnx_ml::walk::stop::Stop;

/// Maximum number of steps. Finding a threshold takes about a hundred evaluations of all steps.
const MAX_STEPS: usize = 64;

/// A column of the table to which some steps have been applied.
#[derive(Debug, Clone)]
pub(in super::super::super) struct Chain {
    feature: u32,
    steps: Vec<Step>,
    pub(super) element: Element,
}

impl Chain {
    /// Creates a column of the table without steps.
    pub(in super::super) fn new(feature: u32, element: Element) -> Self {
        Self { feature, steps: Vec::new(), element }
    }

    pub(super) fn after(&self, step: Step, element: Element) -> Result<Self, Stop> {
        if self.steps.len() == MAX_STEPS {
            return Err(Stop::because(format!("a column is preprocessed in more than {MAX_STEPS} steps")));
        }
        let mut steps = Vec::with_capacity(self.steps.len() + 1);
        steps.extend_from_slice(&self.steps);
        steps.push(step);
        Ok(Self { steps, element, ..*self })
    }

    pub(super) fn with_element(&self, element: Element) -> Self {
        Self { element, ..self.clone() }
    }

    /// Returns the column of the table.
    pub(in super::super) fn feature(&self) -> u32 {
        self.feature
    }

    pub(in super::super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the value of this function for a number in the table, or for NaN.
    pub(in super::super) fn value(&self, x: f64) -> f64 {
        self.steps.iter().fold(x, |x, step| step.value(x))
    }

    fn is_decreasing(&self) -> bool {
        self.steps.iter().filter(|step| step.is_decreasing()).count() % 2 == 1
    }

    /// Returns whether a step turns the number `x` into NaN.
    fn loses(&self, x: f64) -> bool {
        let value =
            self.steps.iter().try_fold(x, |x, step| Some(step.value(x)).filter(|value| !value.is_nan()));
        value.is_none()
    }

    /// Returns the range of grid positions whose values are numbers, or `None` if it cannot be determined.
    /// For inputs near the largest number, values may be NaN, e.g. as ∞ · 0.
    fn valid(&self, grid: Grid) -> Option<(i64, i64)> {
        let is_nan = |x: f64| self.value(x).is_nan();
        let ((first, last), zero) = (grid.ends(), grid.place(0.0));
        if !self.loses(f64::NEG_INFINITY) && !self.loses(f64::INFINITY) {
            return Some((first, last));
        }
        // A step that imputes missing values would also replace these NaN values.
        let is_filled = self.steps.iter().any(|step| matches!(step, Step::Fill(_)));
        let is_valid = !is_filled && !is_nan(0.0);
        is_valid.then(|| (grid.first((first, zero), |x| !is_nan(x)), grid.first((zero, last), is_nan) - 1))
    }

    /// Returns the positions in the range `valid` whose values meet a condition. If a value meets the
    /// condition, all larger values must meet it too.
    fn where_large(&self, valid: (i64, i64), grid: Grid, large: impl Fn(f64) -> bool) -> (i64, i64) {
        if self.is_decreasing() {
            (valid.0, grid.first(valid, |x| !large(self.value(x))) - 1)
        } else {
            (grid.first(valid, |x| large(self.value(x))), valid.1)
        }
    }

    fn where_equal(&self, valid: (i64, i64), grid: Grid, number: f64) -> (i64, i64) {
        let from = self.where_large(valid, grid, |value| value >= number);
        let above = self.where_large(valid, grid, |value| value > number);
        if self.is_decreasing() { (above.1 + 1, from.1) } else { (from.0, above.0 - 1) }
    }

    /// Returns the intervals of numbers in the table for which a test holds.
    fn intervals(&self, decision: &Decision, grid: Grid) -> Option<Intervals> {
        let valid = self.valid(grid)?;
        let number = decision.number;
        let rest = |(low, high): (i64, i64)| [(valid.0, low - 1), (high + 1, valid.1)];
        let from = |number: f64| self.where_large(valid, grid, |value| value >= number);
        let above = |number: f64| self.where_large(valid, grid, |value| value > number);
        let equal = |number: f64| self.where_equal(valid, grid, number);
        let mut intervals = match decision.mode {
            Mode::AtLeast => vec![from(number)],
            Mode::More => vec![above(number)],
            Mode::Less => rest(from(number)).to_vec(),
            Mode::AtMost => rest(above(number)).to_vec(),
            Mode::Equal => vec![equal(number)],
            Mode::Unequal => match equal(number) {
                (low, high) if low > high => vec![valid],
                equal => rest(equal).to_vec(),
            },
            Mode::Member => {
                let mut members = decision.members.clone();
                members.sort_unstable_by(f64::total_cmp);
                members.dedup();
                members.into_iter().map(equal).collect()
            }
            Mode::Leaf => Vec::new(),
        };
        if decision.missing_true {
            let (first, last) = grid.ends();
            intervals.extend([(first, valid.0 - 1), (valid.1 + 1, last)]);
        }
        Some(Intervals::new(intervals))
    }

    pub(super) fn split(&self, decision: &Decision, grid: Grid) -> Result<Split, Stop> {
        let region = match self.steps.is_empty() {
            true => as_it_comes(decision),
            false => {
                let not_a_number = || Stop::because("its output is NaN for some numbers of the table");
                let intervals = self.intervals(decision, grid).ok_or_else(not_a_number)?;
                Region::from_intervals(&intervals, grid).ok_or_else(no_rule)?
            }
        };
        let missing_holds = decision.holds(self.value(f64::NAN));
        Ok(Split { feature: self.feature, region, missing_holds })
    }

    /// Returns the value of this function if it is the same for all finite numbers, as for a product with 0.
    pub(in super::super) fn as_constant(&self, grid: Grid) -> Option<f64> {
        // Larger numbers are infinite as `f32`.
        let (first, last) = match self.steps.first() {
            Some(Step::Single) => (grid.place(f32::MIN.into()), grid.place(f32::MAX.into())),
            _ => (grid.ends().0 + 1, grid.ends().1 - 1),
        };
        let [lowest, highest] = [first, last].map(|place| self.value(grid.number(place)));
        (lowest == highest).then_some(lowest)
    }

    /// Returns a function of this column with a separate value for each of the given numbers, one value for
    /// all other numbers, and one value for NaN.
    pub(in super::super) fn encoded(
        &self,
        values: &[(f64, f64)],
        others: f64,
        missing: f64,
        element: Element,
        grid: Grid,
    ) -> Result<Pieces, Stop> {
        let valid = self.valid(grid).ok_or_else(no_rule)?;
        let mut parts: Vec<(i64, i64, f64)> = values
            .iter()
            .map(|&(number, value)| {
                let (low, high) = self.where_equal(valid, grid, number);
                (low, high, value)
            })
            .filter(|&(low, high, _)| low <= high)
            .collect();
        // The first value of duplicate numbers is used.
        parts.sort_by_key(|part| part.0);
        parts.dedup_by_key(|part| part.0);
        let of_number =
            |number: f64| values.iter().find(|value| value.0 == number).map_or(others, |value| value.1);
        self.pieces(parts, others, (of_number, missing), element, grid)
    }

    /// Returns a function of this column that is `yes` for values that meet a condition, and `no` for all
    /// other values. If a value meets the condition, all larger values must meet it too.
    pub(in super::super) fn above(
        &self,
        large: impl Fn(f64) -> bool,
        [no, yes]: [f64; 2],
        missing: f64,
        element: Element,
        grid: Grid,
    ) -> Result<Pieces, Stop> {
        let valid = self.valid(grid).ok_or_else(no_rule)?;
        let (low, high) = self.where_large(valid, grid, &large);
        let parts = if low <= high { vec![(low, high, yes)] } else { Vec::new() };
        let of_number = |number: f64| if large(number) { yes } else { no };
        self.pieces(parts, no, (of_number, missing), element, grid)
    }

    /// Builds the pieces of a piecewise constant function of this column from its intervals, its value
    /// `others` outside them, the function itself, and its value for NaN.
    fn pieces(
        &self,
        parts: Vec<(i64, i64, f64)>,
        others: f64,
        (of_number, missing): (impl Fn(f64) -> f64, f64),
        element: Element,
        grid: Grid,
    ) -> Result<Pieces, Stop> {
        if self.valid(grid) != Some(grid.ends()) {
            return Err(Stop::because("its input is NaN for some numbers of the table"));
        }
        let filled = self.value(f64::NAN);
        let missing = if filled.is_nan() { missing } else { of_number(filled) };
        Ok(Pieces::new(self.feature, parts, others, missing, element, grid))
    }
}

/// Returns the region of a test on an unchanged column of the table.
fn as_it_comes(decision: &Decision) -> Region {
    let number = decision.number;
    match decision.mode {
        // No number is greater than infinity.
        Mode::AtMost if number == f64::INFINITY => Region::Inside(Rule::ANY_NUMBER),
        Mode::More if number == f64::INFINITY => Region::Outside(Rule::ANY_NUMBER),
        Mode::AtMost => Region::Below(at_most(number)),
        Mode::Less => Region::Below(number),
        Mode::AtLeast => Region::From(number),
        Mode::More => Region::From(at_most(number)),
        Mode::Equal => Region::Inside(Rule::exactly(vec![number])),
        Mode::Unequal => Region::Outside(Rule::exactly(vec![number])),
        Mode::Member => Region::Inside(Rule::exactly(decision.members.clone())),
        Mode::Leaf => Region::nothing(),
    }
}
