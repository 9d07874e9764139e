//! Axes: mapping from data to the unit interval, and tick placement.

/// Position of the zero on an axis with a separate zero, as a fraction of its length.
const ZERO: f64 = 0.045;
/// Position of the gap after the zero on such an axis.
const GAP: f64 = 0.085;
/// Position at which the range of nonzero values starts on such an axis.
const REST: f64 = 0.11;

/// Maximum extension of the range on each side to include areas, relative to the range of the lines. The
/// lines thus keep at least half of the axis.
const WIDENING: f64 = 0.5;

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    /// Logarithmic; values at or below `floor` count as zero.
    Log,
}

/// One axis of a panel.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) label: String,
    scale: Scale,
    /// On a logarithmic axis, values at or below this are numerical zeros, which are placed on a separate
    /// piece of the axis.
    floor: f64,
    /// Ticks with their labels, in which text after `^` is raised. If empty, ticks are chosen from the data.
    ticks: Vec<(f64, String)>,
    /// Values that the axis must cover even if nothing is drawn there.
    covered: Vec<f64>,
    /// Length in points of a blank axis.
    blank: Option<f64>,
}

impl Axis {
    pub(crate) fn linear(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            scale: Scale::Linear,
            floor: f64::NEG_INFINITY,
            ticks: Vec::new(),
            covered: Vec::new(),
            blank: None,
        }
    }

    /// Creates an axis that is not drawn, `length` points long, for panels that are not plots. The first
    /// value is at the left or the bottom, and may be the larger one.
    pub(crate) fn blank(length: f64, from: f64, to: f64) -> Self {
        Self { covered: vec![from, to], blank: Some(length), ..Self::linear("") }
    }

    pub(crate) fn log(label: &str, floor: f64) -> Self {
        Self { scale: Scale::Log, floor, ..Self::linear(label) }
    }

    pub(crate) fn with_ticks(mut self, ticks: Vec<(f64, String)>) -> Self {
        self.ticks = ticks;
        self
    }

    /// Extends the axis to cover at least the range between two values.
    pub(crate) fn covering(mut self, low: f64, high: f64) -> Self {
        self.covered = vec![low, high];
        self
    }

    /// Returns the number of characters of the longest explicit tick label, or 0 if ticks are chosen from the
    /// data.
    pub(super) fn longest_tick(&self) -> usize {
        self.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0)
    }

    /// Returns the length of a blank axis in points.
    pub(super) fn blank_length(&self) -> Option<f64> {
        self.blank
    }

    /// Determines the range of the axis: the range of `values` plus a margin. The edges of `areas` extend it
    /// only as far as the lines are not flattened too much. A blank axis keeps its own range.
    pub(super) fn over(&self, values: &[f64], areas: &[f64]) -> Placed {
        if let (Some(_), &[low, high]) = (self.blank, self.covered.as_slice()) {
            return Placed { axis: self.clone(), low, high, ticks: Vec::new(), has_zero: false };
        }
        let ticks = self.ticks.iter().map(|tick| &tick.0);
        let shown: Vec<f64> = values.iter().chain(ticks).chain(&self.covered).copied().collect();
        let has_zero = shown.iter().any(|&value| self.is_zero(value));
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values
                .filter(|&value| !self.is_zero(value))
                .map(|value| self.transform(value))
                .filter(|value| value.is_finite())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                })
        };
        let (low, high) = range(&mut shown.iter().copied());
        let (low, high) = self.widened((low, high), range(&mut areas.iter().copied()));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        // The range must have a positive length even if all values are equal.
        let least = match self.scale {
            Scale::Linear => 1e-12 * low.abs().max(high.abs()).max(1e-300),
            Scale::Log => 0.1,
        };
        let margin = (0.06 * (high - low)).max(least);
        let (low, high) = (low - margin, high + margin);
        let ticks = if self.ticks.is_empty() {
            self.nice_ticks(low, high)
        } else {
            self.ticks.iter().map(|(at, label)| (*at, label.clone())).collect()
        };
        let mut placed = Placed { axis: self.clone(), low, high, ticks: Vec::new(), has_zero };
        let says_zero = ticks.iter().any(|(at, _)| self.is_zero(*at));
        if has_zero && !says_zero {
            placed.ticks.push((ZERO, "0".to_owned()));
        }
        let ticks: Vec<_> = ticks.into_iter().map(|(at, label)| (placed.place(at), label)).collect();
        placed.ticks.extend(ticks);
        placed
    }

    /// Returns the range of the lines, extended to include the areas as far as this does not flatten the
    /// lines. Lines at a single level cannot be flattened.
    fn widened(&self, (low, high): (f64, f64), areas: (f64, f64)) -> (f64, f64) {
        let room = if low < high { WIDENING * (high - low) } else { f64::INFINITY };
        (low.min(areas.0).max(low - room), high.max(areas.1).min(high + room))
    }

    /// Returns whether a value is at or below the numerical zero of a logarithmic axis.
    fn is_zero(&self, value: f64) -> bool {
        self.scale == Scale::Log && value <= self.floor
    }

    fn transform(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }

    /// Returns at most seven ticks between `low` and `high`, which are transformed values; the ticks are not
    /// transformed.
    fn nice_ticks(&self, low: f64, high: f64) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Log if high.floor() - low.ceil() < 1.0 => [1.0, 2.0, 5.0]
                .into_iter()
                .flat_map(|digit: f64| {
                    (low.floor() as i32..=high.floor() as i32).map(move |k| digit.log10() + f64::from(k))
                })
                .filter(|at| (low..=high).contains(at))
                .map(|at| {
                    let at: f64 = format!("{:.1e}", 10f64.powf(at)).parse().unwrap_or_default();
                    (at, at.to_string())
                })
                .collect(),
            Scale::Log => {
                let (first, last) = (low.ceil() as i64, high.floor() as i64);
                let step =
                    [1, 2, 3, 4, 5, 10, 20].into_iter().find(|step| (last - first) / step < 6).unwrap_or(50);
                (first..=last)
                    .filter(|exponent| exponent.rem_euclid(step) == 0)
                    .map(|exponent| (10f64.powi(exponent as i32), power_of_ten(exponent)))
                    .collect()
            }
            Scale::Linear => {
                let raw = (high - low) / 5.0;
                let power = 10f64.powf(raw.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0]
                    .into_iter()
                    .map(|multiple| multiple * power)
                    .find(|&step| step >= raw)
                    .unwrap_or(raw);
                let decimals = (-step.log10().floor()).max(0.0) as usize;
                ((low / step).ceil() as i64..=(high / step).floor() as i64)
                    .map(|multiple| {
                        let at = multiple as f64 * step;
                        (at, format!("{at:.decimals$}").replace('-', "−"))
                    })
                    .collect()
            }
        }
    }
}

/// An axis whose range has been determined, which maps values to positions.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    axis: Axis,
    /// Range of the transformed values, excluding zero.
    low: f64,
    high: f64,
    /// Position and label of each tick.
    ticks: Vec<(f64, String)>,
    /// Whether a separate piece of the axis is reserved for zero.
    has_zero: bool,
}

impl Placed {
    /// Returns the position of a value: 0 at the lower end, 1 at the upper end. Values beyond an end are
    /// clamped to it.
    pub(super) fn place(&self, value: f64) -> f64 {
        let rest = if self.has_zero { REST } else { 0.0 };
        if self.axis.is_zero(value) {
            return if self.has_zero && value >= 0.0 { ZERO } else { 0.0 };
        }
        let share = (self.axis.transform(value) - self.low) / (self.high - self.low);
        rest + (1.0 - rest) * share.clamp(0.0, 1.0)
    }

    /// Returns whether a value lies beyond an end of the axis.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        if self.axis.is_zero(value) {
            return !self.has_zero || value < 0.0;
        }
        !(self.low..=self.high).contains(&self.axis.transform(value))
    }

    /// Returns the position of the gap, if the axis has one.
    pub(super) fn gap(&self) -> Option<f64> {
        self.has_zero.then_some(GAP)
    }

    /// Returns positions and labels of the ticks.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.iter().map(|(at, label)| (*at, label.as_str()))
    }

    /// Returns the range in data coordinates.
    pub(super) fn range(&self) -> (f64, f64) {
        match self.axis.scale {
            Scale::Linear => (self.low, self.high),
            Scale::Log => (10f64.powf(self.low), 10f64.powf(self.high)),
        }
    }
}

/// Formats a power of ten: `1`, `10`, `10^−3`.
fn power_of_ten(exponent: i64) -> String {
    match exponent {
        0 => "1".to_owned(),
        1 => "10".to_owned(),
        _ => format!("10^{exponent}").replace('-', "−"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        let placed = Axis::log("error", 1e-20).over(&[2e-5, 0.3], &[]);
        let labels: Vec<&str> = placed.ticks().map(|tick| tick.1).collect();
        assert_eq!(labels, ["10^−4", "10^−3", "10^−2", "10^−1"]);
    }

    #[test]
    fn zero_is_broken_off_and_has_a_tick_where_it_is() {
        let placed = Axis::log("error", 1e-14).over(&[0.0, 1e-3, 1.0], &[]);
        assert_eq!(placed.place(0.0), placed.place(1e-14));
        let gap = placed.gap().unwrap();
        assert!(0.0 < placed.place(0.0) && placed.place(0.0) < gap && gap < placed.place(1e-13));
        assert_eq!(placed.ticks().next(), Some((placed.place(0.0), "0")));
        // Zeros do not affect the rest of the axis: all decades have the same length.
        assert!(placed.place(1e-3) < 0.2 && placed.place(1e-2) > 0.35);
        let whole = Axis::log("error", 1e-14).over(&[1e-13, 1.0], &[]);
        assert!(whole.gap().is_none() && whole.ticks().all(|(_, label)| label != "0"));
        assert!(Axis::linear("x").over(&[0.0, 1.0], &[]).gap().is_none());
    }

    #[test]
    fn a_tick_that_is_given_at_zero_is_the_one_that_is_drawn() {
        let ticks = vec![(0.0, "none".to_owned()), (0.1, "0.1".to_owned()), (1.0, "1".to_owned())];
        let placed = Axis::log("noise", f64::MIN_POSITIVE).with_ticks(ticks).over(&[0.0, 0.1, 1.0], &[]);
        let labels: Vec<&str> = placed.ticks().map(|tick| tick.1).collect();
        assert_eq!(labels, ["none", "0.1", "1"]);
        assert_eq!(placed.ticks().next().unwrap().0, placed.place(0.0));
    }

    #[test]
    fn areas_leave_half_of_the_axis_to_the_lines() {
        for (axis, lines, wide, slight) in [
            (Axis::linear("x"), [1.0, 2.0], [-50.0, 90.0], [0.9, 2.1]),
            (Axis::log("x", 1e-30), [1.0, 100.0], [1e-9, 1e9], [0.9, 110.0]),
        ] {
            let placed = axis.over(&lines, &wide);
            let share = placed.place(lines[1]) - placed.place(lines[0]);
            assert!((0.42..=0.5).contains(&share), "{share}");
            assert!(wide.iter().all(|&edge| placed.is_beyond(edge)));
            assert_eq!(wide.map(|edge| placed.place(edge)), [0.0, 1.0]);
            let placed = axis.over(&lines, &slight);
            assert!(slight.iter().all(|&edge| !placed.is_beyond(edge)));
        }
    }

    #[test]
    fn an_interval_below_zero_goes_to_the_edge_of_a_logarithmic_axis() {
        let placed = Axis::log("error", 1e-30).over(&[1.0, 10.0], &[-1.0, 20.0]);
        assert!(placed.is_beyond(-1.0) && placed.gap().is_none());
        assert_eq!(placed.place(-1.0), 0.0);
        let broken = Axis::log("error", 1e-30).over(&[0.0, 1.0, 10.0], &[-1.0, 0.0]);
        assert!(broken.is_beyond(-1.0) && !broken.is_beyond(0.0));
        assert!(broken.place(-1.0) < broken.place(0.0));
    }

    #[test]
    fn an_axis_over_one_value_or_none_is_still_an_axis() {
        for values in [&[][..], &[3.0]] {
            let placed = Axis::linear("x").over(values, &[]);
            assert!(placed.place(3.0).is_finite());
        }
    }
}
