//! Functions of a number that are constant on intervals.

use std::rc::Rc;

use super::grid::Grid;
use super::region::{Intervals, Region};
use super::split::{Split, no_rule};
use crate::formats::onnx_ml::decision::Decision;
use crate::formats::onnx_ml::graph::Element;
use crate::formats::onnx_ml::walk::stop::Stop;

/// A value for each of several intervals of a column of the table.
#[derive(Debug, Clone)]
pub(in super::super::super) struct Pieces {
    feature: u32,
    /// For each interval, its first and last grid position, and the value. The intervals cover −∞ to ∞
    /// without gaps.
    parts: Rc<[(i64, i64, f64)]>,
    /// The value of this function for a missing value; NaN if the graph does not define it.
    missing: f64,
    pub(super) element: Element,
}

impl Pieces {
    /// Creates a function with a value for each of the `parts`, which are in ascending order, and `others`
    /// between them.
    pub(in super::super) fn new(
        feature: u32,
        parts: Vec<(i64, i64, f64)>,
        others: f64,
        missing: f64,
        element: Element,
        grid: Grid,
    ) -> Self {
        let (mut next, last) = grid.ends();
        let mut all = Vec::with_capacity(2 * parts.len() + 1);
        for (low, high, value) in parts {
            if next < low {
                all.push((next, low - 1, others));
            }
            all.push((low, high, value));
            next = high + 1;
        }
        if next <= last {
            all.push((next, last, others));
        }
        Self { feature, parts: all.into(), missing, element }
    }

    /// Applies a function to the values of several columns. The result is missing if one of the values is
    /// missing. Returns `None` if the columns are not functions of the same column of the table.
    pub(in super::super) fn combined(
        columns: &[Self],
        of: impl Fn(&[f64]) -> f64,
        element: Element,
        grid: Grid,
    ) -> Option<Self> {
        let feature = columns.first()?.feature;
        if columns.iter().any(|column| column.feature != feature) {
            return None;
        }
        let mut starts: Vec<i64> =
            columns.iter().flat_map(|column| column.parts.iter().map(|part| part.0)).collect();
        starts.sort_unstable();
        starts.dedup();
        let value =
            |column: &Self, place: i64| column.parts[column.parts.partition_point(|part| part.1 < place)].2;
        let ends = starts.iter().skip(1).map(|start| start - 1).chain(std::iter::once(grid.ends().1));
        let part = |(&start, end): (&i64, i64)| {
            let values: Vec<f64> = columns.iter().map(|column| value(column, start)).collect();
            (start, end, of(&values))
        };
        let parts = starts.iter().zip(ends).map(part).collect();
        let missing: Vec<f64> = columns.iter().map(|column| column.missing).collect();
        let missing = if missing.iter().any(|value| value.is_nan()) { f64::NAN } else { of(&missing) };
        Some(Self { feature, parts, missing, element })
    }

    pub(super) fn map(&self, of: impl Fn(f64) -> f64, element: Element) -> Self {
        let parts = self.parts.iter().map(|&(low, high, value)| (low, high, of(value))).collect();
        Self { parts, missing: of(self.missing), element, ..*self }
    }

    /// Returns the column of the table.
    pub(in super::super) fn feature(&self) -> u32 {
        self.feature
    }

    /// Returns the value of this function for a missing value.
    pub(in super::super) fn missing(&self) -> f64 {
        self.missing
    }

    /// Returns the exclusive end of each interval, and its value.
    pub(in super::super) fn ends(&self, grid: Grid) -> impl Iterator<Item = (f64, f64)> {
        self.parts.iter().map(move |&(_, high, value)| (grid.number(high).next_up(), value))
    }

    pub(super) fn split(&self, decision: &Decision, grid: Grid) -> Result<Split, Stop> {
        let holds = self.parts.iter().filter(|part| decision.holds(part.2)).map(|part| (part.0, part.1));
        let region = Region::from_intervals(&Intervals::new(holds.collect()), grid).ok_or_else(no_rule)?;
        Ok(Split { feature: self.feature, region, missing_holds: decision.holds(self.missing) })
    }

    /// Returns the number of intervals.
    pub(in super::super) fn len(&self) -> usize {
        self.parts.len()
    }
}
