//! The region in which a test on a preprocessed column holds, as a set of values of the column of the table.

use super::grid::Grid;
use crate::ensemble::{Rule, at_most};

/// Disjoint intervals of grid positions in ascending order. Both ends are inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Intervals(Vec<(i64, i64)>);

impl Intervals {
    /// Creates disjoint intervals from a list: sorts the list, removes empty intervals, and merges
    /// overlapping and adjacent intervals.
    pub(super) fn new(mut intervals: Vec<(i64, i64)>) -> Self {
        intervals.retain(|&(first, last)| first <= last);
        intervals.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::with_capacity(intervals.len());
        for (first, last) in intervals {
            match joined.last_mut() {
                Some(before) if before.1.saturating_add(1) >= first => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        Self(joined)
    }

    /// Returns the intervals of all positions that are not in these intervals.
    fn complement(&self, grid: Grid) -> Self {
        let (first, last) = grid.ends();
        let starts = std::iter::once(first).chain(self.0.iter().map(|interval| interval.1 + 1));
        let ends = self.0.iter().map(|interval| interval.0 - 1).chain(std::iter::once(last));
        Self::new(starts.zip(ends).collect())
    }

    /// Returns the numbers, if each interval contains exactly one.
    fn points(&self, grid: Grid) -> Option<Vec<f64>> {
        let point = |&(first, last): &(i64, i64)| {
            let (first, last) = (grid.number(first), grid.number(last));
            // −0 and 0 are the same number.
            (first == last).then_some(first)
        };
        self.0.iter().map(point).collect()
    }
}

/// The values of a column, except missing values, for which a test holds.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super::super) enum Region {
    /// x < t
    Below(f64),
    /// x ≥ t
    From(f64),
    /// The values that the rule sends left.
    Inside(Rule),
    /// The values that the rule sends right.
    Outside(Rule),
}

impl Region {
    pub(super) fn all() -> Self {
        Self::Outside(Rule::exactly(Vec::new()))
    }

    pub(super) fn nothing() -> Self {
        Self::Inside(Rule::exactly(Vec::new()))
    }

    /// Returns whether the test has the same result for all values that are not missing.
    pub(in super::super::super) fn is_constant(&self) -> bool {
        *self == Self::all() || *self == Self::nothing()
    }

    /// Returns the region of intervals, or `None` if no rule of a split describes it.
    pub(super) fn from_intervals(intervals: &Intervals, grid: Grid) -> Option<Self> {
        let (first, last) = grid.ends();
        let between = |&(low, high): &(i64, i64)| Rule::Between {
            lowest: grid.number(low),
            highest: grid.number(high),
        };
        let complement = intervals.complement(grid);
        Some(match (&intervals.0[..], &complement.0[..]) {
            ([], _) => Self::nothing(),
            (_, []) => Self::all(),
            ([(low, high)], _) if *low == first => Self::Below(at_most(grid.number(*high))),
            ([(low, high)], _) if *high == last => Self::From(grid.number(*low)),
            (points, _) if points.len() > 1 && intervals.points(grid).is_some() => {
                Self::Inside(Rule::exactly(intervals.points(grid)?))
            }
            ([interval], _) => Self::Inside(between(interval)),
            (_, [interval]) => Self::Outside(between(interval)),
            _ => Self::Outside(Rule::exactly(complement.points(grid)?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::Random;
    use crate::ensemble::Width;

    fn holds(region: &Region, x: f64) -> bool {
        match region {
            Region::Below(threshold) => x < *threshold,
            Region::From(threshold) => x >= *threshold,
            Region::Inside(rule) => rule.goes_left(x, false),
            Region::Outside(rule) => !rule.goes_left(x, false),
        }
    }

    #[test]
    fn regions_hold_what_their_intervals_do() {
        let grid = Grid(Width::Single);
        let numbers = [f64::NEG_INFINITY, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, f64::INFINITY];
        let mut random = Random(5);
        let mut refused = 0;
        for _ in 0..2000 {
            let mut places: Vec<i64> =
                (0..2 * random.below(4)).map(|_| grid.place(numbers[random.below(8)])).collect();
            places.sort_unstable();
            if random.chance(40) {
                places = places.iter().flat_map(|&place| [place, place]).collect();
            }
            places.dedup_by(|next, before| next == before && random.chance(50));
            if places.len() % 2 == 1 {
                places.pop();
            }
            let pairs: Vec<(i64, i64)> = places.chunks(2).map(|pair| (pair[0], pair[1])).collect();
            if pairs.windows(2).any(|two| two[0].1 >= two[1].0) {
                continue;
            }
            let intervals = Intervals::new(pairs.clone());
            let Some(region) = Region::from_intervals(&intervals, grid) else {
                refused += 1;
                continue;
            };
            for number in numbers {
                for x in
                    [number, f64::from((number as f32).next_up()), f64::from((number as f32).next_down())]
                {
                    // −0 and 0 have different positions but are the same number, so zero is tested only if
                    // both or neither of them are in an interval.
                    let within =
                        |x: f64| pairs.iter().any(|&(low, high)| (low..=high).contains(&grid.place(x)));
                    if x != 0.0 || within(0.0) == within(-0.0) {
                        assert_eq!(holds(&region, x), within(x), "{region:?} {x}");
                    }
                }
            }
        }
        assert!(refused > 10, "some unions cannot be expressed as a rule");
    }
}
