//! Axes: from data to the unit interval, and where the ticks are.

/// How numbers are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    /// Logarithmic; values at or below `floor` are drawn at the floor.
    Log,
}

/// One axis of a panel.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) label: String,
    scale: Scale,
    /// The least value drawn on a logarithmic axis: numerical zeros are drawn here.
    floor: f64,
    /// Ticks with their labels, in which what follows `^` is raised; chosen from the data where there are none.
    ticks: Vec<(f64, String)>,
    /// Values that lie on the axis even where nothing is drawn.
    covered: Vec<f64>,
    /// Of a blank axis: its length in points.
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

    /// An axis that is not drawn, `length` points long, from one value to the other: of panels that are no plots. The first value lies on
    /// the left or below; it may be the larger one.
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

    /// The axis reaches at least from one value to the other.
    pub(crate) fn covering(mut self, low: f64, high: f64) -> Self {
        self.covered = vec![low, high];
        self
    }

    /// Characters of the longest tick label that was given; 0 where ticks are chosen from the data.
    pub(super) fn longest_tick(&self) -> usize {
        self.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0)
    }

    /// The length in points of a blank axis.
    pub(super) fn blank_length(&self) -> Option<f64> {
        self.blank
    }

    /// The axis over the range of `values`, a little wider; a blank one over what it was made for.
    pub(super) fn over(&self, values: &[f64]) -> Placed {
        if let (Some(_), &[low, high]) = (self.blank, self.covered.as_slice()) {
            return Placed { axis: self.clone(), low, high, ticks: Vec::new() };
        }
        let ticks = self.ticks.iter().map(|tick| &tick.0);
        let transformed = values.iter().chain(ticks).chain(&self.covered).map(|&value| self.transform(value));
        let (low, high) = transformed
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        // A single value, too, is given a range.
        let least = match self.scale {
            Scale::Linear => 1e-12 * low.abs().max(high.abs()).max(1e-300),
            Scale::Log => 0.1,
        };
        let margin = (0.06 * (high - low)).max(least);
        let (low, high) = (low - margin, high + margin);
        let ticks = if self.ticks.is_empty() {
            self.nice_ticks(low, high)
        } else {
            self.ticks.iter().map(|(at, label)| (self.transform(*at), label.clone())).collect()
        };
        Placed { axis: self.clone(), low, high, ticks }
    }

    fn transform(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(self.floor).log10(),
        }
    }

    /// At most seven ticks between `low` and `high`, which are transformed values.
    fn nice_ticks(&self, low: f64, high: f64) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Log if high.floor() - low.ceil() < 1.0 => [1.0, 2.0, 5.0]
                .into_iter()
                .flat_map(|digit: f64| {
                    (low.floor() as i32..=high.floor() as i32).map(move |k| digit.log10() + f64::from(k))
                })
                .filter(|at| (low..=high).contains(at))
                .map(|at| {
                    (at, format!("{:.1e}", 10f64.powf(at)).parse::<f64>().unwrap_or_default().to_string())
                })
                .collect(),
            Scale::Log => {
                let (first, last) = (low.ceil() as i64, high.floor() as i64);
                let step =
                    [1, 2, 3, 4, 5, 10, 20].into_iter().find(|step| (last - first) / step < 6).unwrap_or(50);
                (first..=last)
                    .filter(|exponent| exponent.rem_euclid(step) == 0)
                    .map(|exponent| (exponent as f64, power_of_ten(exponent)))
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

/// An axis with its range, ready to place values.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    axis: Axis,
    low: f64,
    high: f64,
    /// Transformed place and label.
    ticks: Vec<(f64, String)>,
}

impl Placed {
    /// Where a value lies: 0 at the lower end, 1 at the upper.
    pub(super) fn place(&self, value: f64) -> f64 {
        ((self.axis.transform(value) - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Places and labels of the ticks.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.iter().map(|(at, label)| ((at - self.low) / (self.high - self.low), label.as_str()))
    }

    /// The range in data coordinates.
    pub(super) fn range(&self) -> (f64, f64) {
        match self.axis.scale {
            Scale::Linear => (self.low, self.high),
            Scale::Log => (10f64.powf(self.low), 10f64.powf(self.high)),
        }
    }
}

/// `10^−3`, and as it is where that is short.
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
        let placed = Axis::log("error", 1e-20).over(&[2e-5, 0.3]);
        let labels: Vec<&str> = placed.ticks().map(|tick| tick.1).collect();
        assert_eq!(labels, ["10^−4", "10^−3", "10^−2", "10^−1"]);
    }

    #[test]
    fn values_at_and_below_the_floor_are_drawn_at_the_floor() {
        let placed = Axis::log("error", 1e-14).over(&[0.0, 1.0]);
        assert_eq!(placed.place(0.0), placed.place(1e-14));
        assert!(placed.place(0.0) > 0.0 && placed.place(1.0) < 1.0);
    }

    #[test]
    fn an_axis_over_one_value_or_none_is_still_an_axis() {
        for values in [&[][..], &[3.0]] {
            let placed = Axis::linear("x").over(values);
            assert!(placed.place(3.0).is_finite());
        }
    }
}
