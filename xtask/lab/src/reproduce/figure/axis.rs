//! Axes: their ranges and ticks, and the separate piece for zero of logarithmic axes.

use apportion_plots::Scale;

/// Position of the zero on an axis with a separate zero, as a fraction of its length.
const ZERO: f64 = 0.045;
/// Position of the gap after the zero on such an axis.
const GAP: f64 = 0.085;
/// Position at which the range of nonzero values starts on such an axis.
const REST: f64 = 0.11;

/// Maximum extension of the range on each side to include areas, relative to the range of the lines. The
/// lines thus keep at least half of the axis.
const WIDENING: f64 = 0.5;
/// Extension of the range on each side, relative to the range.
const MARGIN: f64 = 0.06;

/// One axis of a panel.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) label: String,
    /// Limit up to which values count as zero, for logarithmic axes. Zeros are placed on a separate piece of
    /// the axis.
    floor: Option<f64>,
    /// Ticks with their labels. If empty, ticks are chosen from the data.
    ticks: Vec<(f64, String)>,
    /// Values that the axis must cover even if nothing is drawn there.
    covered: Vec<f64>,
    /// Length in pixels of a blank axis.
    blank: Option<f64>,
}

impl Axis {
    pub(crate) fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), floor: None, ticks: Vec::new(), covered: Vec::new(), blank: None }
    }

    /// Creates an axis that is not drawn, `length` pixels long, for panels that are not plots. The value
    /// `from` is at the left or at the bottom, and may be larger than `to`.
    pub(crate) fn blank(length: f64, from: f64, to: f64) -> Self {
        Self { covered: vec![from, to], blank: Some(length), ..Self::linear("") }
    }

    pub(crate) fn log(label: &str, floor: f64) -> Self {
        Self { floor: Some(floor), ..Self::linear(label) }
    }

    pub(crate) fn with_ticks(mut self, ticks: Vec<(f64, String)>) -> Self {
        self.ticks = ticks;
        self
    }

    /// Makes the axis cover at least the range between two values.
    pub(crate) fn covering(mut self, low: f64, high: f64) -> Self {
        self.covered = vec![low, high];
        self
    }

    /// Returns the length of a blank axis in pixels.
    pub(super) fn blank_length(&self) -> Option<f64> {
        self.blank
    }

    /// Places the axis between two coordinates. Its range covers `values`, the specified ticks and the values
    /// that must be covered, plus a margin. The edges of `areas` extend the range by at most [`WIDENING`] on
    /// each side. Unless ticks were specified, there are at most `most` of them. A blank axis keeps its own
    /// range.
    pub(super) fn over(&self, values: &[f64], areas: &[f64], ends: (f64, f64), most: usize) -> Placed {
        if let (Some(_), &[from, to]) = (self.blank, self.covered.as_slice()) {
            let scale = Scale::new((from.min(to), from.max(to)), (0.0, 1.0));
            let ends = if from <= to { ends } else { (ends.1, ends.0) };
            return Placed { floor: None, scale, ends, has_zero: false, ticks: Vec::new() };
        }
        let ticks = self.ticks.iter().map(|tick| &tick.0);
        let shown: Vec<f64> = values.iter().chain(ticks).chain(&self.covered).copied().collect();
        let has_zero = shown.iter().any(|&value| is_zero(value, self.floor));
        let (low, high) = widened(self.range(&shown), self.range(areas));
        let scale = match self.floor {
            Some(_) => Scale::logarithmic((10_f64.powf(low), 10_f64.powf(high)), (0.0, 1.0)),
            None => Scale::new((low, high), (0.0, 1.0)),
        };
        let scale = scale.with_room(MARGIN, MARGIN);
        let mut ticks = if self.ticks.is_empty() { scale.ticks(most) } else { self.ticks.clone() };
        if has_zero && !ticks.iter().any(|tick| is_zero(tick.0, self.floor)) {
            ticks.push((0.0, "0".to_owned()));
        }
        let mut placed = Placed { floor: self.floor, scale, ends, has_zero, ticks: Vec::new() };
        ticks.sort_by(|one, other| one.0.total_cmp(&other.0));
        placed.ticks = ticks.into_iter().map(|(at, label)| (placed.place(at), label)).collect();
        placed
    }

    /// Returns the range of the values that are not zeros, as logarithms on a logarithmic axis.
    fn range(&self, values: &[f64]) -> (f64, f64) {
        values
            .iter()
            .filter(|&&value| !is_zero(value, self.floor))
            .map(|&value| if self.floor.is_some() { value.log10() } else { value })
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    }
}

/// Returns the range of the lines, extended to include the areas, but by at most [`WIDENING`] on each side.
/// There is no such limit if all lines are at a single level.
fn widened((low, high): (f64, f64), areas: (f64, f64)) -> (f64, f64) {
    let room = if low < high { WIDENING * (high - low) } else { f64::INFINITY };
    (low.min(areas.0).max(low - room), high.max(areas.1).min(high + room))
}

/// Returns whether a value counts as zero: whether it is at most the limit `floor`, if the axis has one.
fn is_zero(value: f64, floor: Option<f64>) -> bool {
    floor.is_some_and(|floor| value <= floor)
}

/// An axis whose range has been determined, which maps values to coordinates.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    floor: Option<f64>,
    /// Maps nonzero values to positions from 0 to 1 on their piece of the axis.
    scale: Scale,
    /// The coordinates of the lower and the upper end.
    ends: (f64, f64),
    /// Whether a separate piece of the axis is reserved for zero.
    has_zero: bool,
    /// Coordinate and label of each tick, by ascending value.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Placed {
    /// Returns the coordinate of a value. Values beyond an end are clamped to it.
    pub(super) fn place(&self, value: f64) -> f64 {
        let rest = if self.has_zero { REST } else { 0.0 };
        self.at(match is_zero(value, self.floor) {
            true if self.has_zero && value >= 0.0 => ZERO,
            true => 0.0,
            false => rest + (1.0 - rest) * self.scale.share(value).clamp(0.0, 1.0),
        })
    }

    /// Returns the coordinate of a position on the axis, given as a fraction of its length.
    fn at(&self, share: f64) -> f64 {
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }

    /// Returns whether a value lies beyond an end of the axis.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        match is_zero(value, self.floor) {
            true => !self.has_zero || value < 0.0,
            false => !(0.0..=1.0).contains(&self.scale.share(value)),
        }
    }

    /// Returns the coordinate of the gap, if the axis has one.
    pub(super) fn gap(&self) -> Option<f64> {
        self.has_zero.then(|| self.at(GAP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(axis: &Axis, values: &[f64], areas: &[f64]) -> Placed {
        axis.over(values, areas, (0.0, 1.0), 5)
    }

    fn labels(placed: &Placed) -> Vec<&str> {
        placed.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn zero_is_broken_off_and_has_a_tick_where_it_is() {
        let placed = over(&Axis::log("error", 1e-14), &[0.0, 1e-3, 1.0], &[]);
        assert_eq!(placed.place(0.0), placed.place(1e-14));
        let gap = placed.gap().unwrap();
        assert!(0.0 < placed.place(0.0) && placed.place(0.0) < gap && gap < placed.place(1e-13));
        assert_eq!(placed.ticks[0], (placed.place(0.0), "0".to_owned()));
        assert_eq!(labels(&placed), ["0", "0.001", "0.01", "0.1", "1"]);
        // Zeros do not affect the rest of the axis: all decades have the same length.
        assert!(placed.place(1e-3) < 0.2 && placed.place(1e-2) > 0.35);
        let whole = over(&Axis::log("error", 1e-14), &[1e-13, 1.0], &[]);
        assert!(whole.gap().is_none() && !labels(&whole).contains(&"0"));
        assert!(over(&Axis::linear("x"), &[0.0, 1.0], &[]).gap().is_none());
    }

    #[test]
    fn a_tick_that_is_given_at_zero_is_the_one_that_is_drawn() {
        let ticks = vec![(0.0, "none".to_owned()), (0.1, "0.1".to_owned()), (1.0, "1".to_owned())];
        let axis = Axis::log("noise", f64::MIN_POSITIVE).with_ticks(ticks);
        let placed = over(&axis, &[0.0, 0.1, 1.0], &[]);
        assert_eq!(labels(&placed), ["none", "0.1", "1"]);
        assert_eq!(placed.ticks[0].0, placed.place(0.0));
    }

    #[test]
    fn areas_leave_half_of_the_axis_to_the_lines() {
        for (axis, lines, wide, slight) in [
            (Axis::linear("x"), [1.0, 2.0], [-50.0, 90.0], [0.9, 2.1]),
            (Axis::log("x", 1e-30), [1.0, 100.0], [1e-9, 1e9], [0.9, 110.0]),
        ] {
            let placed = over(&axis, &lines, &wide);
            let share = placed.place(lines[1]) - placed.place(lines[0]);
            assert!((0.42..=0.5).contains(&share), "{share}");
            assert!(wide.iter().all(|&edge| placed.is_beyond(edge)));
            assert_eq!(wide.map(|edge| placed.place(edge)), [0.0, 1.0]);
            let placed = over(&axis, &lines, &slight);
            assert!(slight.iter().all(|&edge| !placed.is_beyond(edge)));
        }
    }

    #[test]
    fn an_interval_below_zero_goes_to_the_edge_of_a_logarithmic_axis() {
        let placed = over(&Axis::log("error", 1e-30), &[1.0, 10.0], &[-1.0, 20.0]);
        assert!(placed.is_beyond(-1.0) && placed.gap().is_none());
        assert_eq!(placed.place(-1.0), 0.0);
        let broken = over(&Axis::log("error", 1e-30), &[0.0, 1.0, 10.0], &[-1.0, 0.0]);
        assert!(broken.is_beyond(-1.0) && !broken.is_beyond(0.0));
        assert!(broken.place(-1.0) < broken.place(0.0));
    }

    #[test]
    fn an_axis_over_one_value_or_none_is_still_an_axis() {
        for axis in [Axis::linear("x"), Axis::log("x", 1e-30)] {
            for values in [&[][..], &[3.0], &[0.0]] {
                let placed = over(&axis, values, &[]);
                assert!((0.0..=1.0).contains(&placed.place(3.0)), "{values:?}");
            }
        }
    }

    #[test]
    fn a_blank_axis_has_its_own_range_in_either_direction() {
        let places = |from, to| {
            let placed = over(&Axis::blank(100.0, from, to), &[50.0], &[]);
            [0.0, 1.0, 4.0].map(|value| placed.place(value))
        };
        assert_eq!(places(0.0, 4.0), [0.0, 0.25, 1.0]);
        assert_eq!(places(4.0, 0.0), [1.0, 0.75, 0.0]);
    }
}
