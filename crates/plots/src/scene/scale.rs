//! Scales from numbers to coordinates.

use super::number::digits;

/// A scale that maps numbers from `low` to `high` to an interval of coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Whether the ends are logarithms to base ten.
    is_logarithmic: bool,
}

impl Scale {
    /// Creates a linear scale. If `low` and `high` are equal, or nearly so, the scale extends beyond `low` on
    /// both sides. If one of them is not finite, the scale is from 0 to 1.
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let (low, high) = match (low.is_finite() && high.is_finite(), high - low) {
            (false, _) => (0.0, 1.0),
            (true, span) if span > (low.abs().max(high.abs()) * 1e-12).max(1e-305) => (low, high),
            // The extension is wide enough for ticks to differ.
            (true, _) if low.abs() < 1e-290 => (low - 1.0, low + 1.0),
            (true, _) => (low - 0.5 * low.abs(), low + 0.5 * low.abs()),
        };
        Self { low, high, from, to, is_logarithmic: false }
    }

    /// Creates a logarithmic scale for positive numbers. Other numbers have no coordinate.
    pub fn logarithmic((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let (low, high) = match low > 0.0 && high.is_finite() && low <= high {
            true => (low.log10(), high.log10()),
            false => (0.0, 1.0),
        };
        // If all numbers are equal, extend by a factor of two on either side.
        let room = if high - low > 1e-9 { 0.0 } else { 2_f64.log10() };
        Self { low: low - room, high: high + room, from, to, is_logarithmic: true }
    }

    /// Extends the range by shares of its length at both ends.
    pub fn with_room(self, before: f64, after: f64) -> Self {
        let span = self.high - self.low;
        Self { low: self.low - before * span, high: self.high + after * span, ..self }
    }

    /// Returns the coordinate of a number.
    pub fn place(&self, number: f64) -> f64 {
        self.from + self.share(number) * (self.to - self.from)
    }

    /// Returns the relative position of a number in the range, from 0 to 1.
    pub fn share(&self, number: f64) -> f64 {
        let number = if self.is_logarithmic { number.log10() } else { number };
        (number - self.low) / (self.high - self.low)
    }

    fn ticks_of_logarithms(&self, most: usize) -> Vec<(f64, String)> {
        let numbers = round_numbers(self.low, self.high, most);
        if numbers.len() > 1 {
            return numbers.into_iter().map(|number| (number, digits(number, 3))).collect();
        }
        // In so short a range, a logarithmic scale is almost linear.
        let even = Self::new((10_f64.powf(self.low), 10_f64.powf(self.high)), (self.from, self.to));
        let is_within = |share: f64| (-1e-9..=1.0 + 1e-9).contains(&share);
        even.ticks(most).into_iter().filter(|&(at, _)| at > 0.0 && is_within(self.share(at))).collect()
    }

    pub(crate) fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }

    pub(crate) fn middle(&self) -> f64 {
        0.5 * (self.from + self.to)
    }

    pub(crate) fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns at most `most` round numbers within the range with their labels. On a linear scale, they are
    /// the multiples of one step, which is 1, 2 or 5 times a power of ten. On a logarithmic scale, they are
    /// 1, 2, 3 or 5 times powers of ten, or as on a linear scale if the range is short.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        if self.is_logarithmic {
            return self.ticks_of_logarithms(most.max(1));
        }
        let (low, high) = (self.low.min(self.high), self.low.max(self.high));
        let rough = (high - low) / most.max(1) as f64;
        if rough.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) || !rough.is_finite() {
            return Vec::new();
        }
        let power = rough.log10().floor();
        let exponent = power as i32;
        for (times, up) in [(1.0, 0), (2.0, 0), (5.0, 0), (1.0, 1), (2.0, 1), (5.0, 1)] {
            let step = times * 10_f64.powi(exponent + up);
            if !(step > 0.0 && step.is_finite()) {
                continue;
            }
            let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
            let count = last - first + 1.0;
            // More ticks would not fit, and integers above 2^53 are not exact.
            if count <= most as f64 && first.abs() < 9e15 && last.abs() < 9e15 {
                return (0..count.max(0.0) as usize)
                    .map(|k| {
                        let at = (first + k as f64) * step;
                        (at, tick(at, exponent + up, low.abs().max(high.abs())))
                    })
                    .collect();
            }
        }
        Vec::new()
    }
}

/// Returns the `f64` nearest to a power of ten, even if the inverse of this power would overflow.
fn power_of_ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::NAN)
}

/// Returns at most `most` round numbers in a range of logarithms: 1, 2 and 5 times the powers of ten or, if
/// these are too many, 1 and 3 times the powers of ten, all powers of ten, every second of them, and so on.
fn round_numbers(low: f64, high: f64, most: usize) -> Vec<f64> {
    let times = |times: &[f64], every: i32| -> Vec<f64> {
        let powers = (low.floor() as i32..=high.ceil() as i32).filter(|power| power.rem_euclid(every) == 0);
        let numbers = powers.flat_map(|power| times.iter().map(move |times| times * power_of_ten(power)));
        numbers.filter(|number| (low - 1e-9..=high + 1e-9).contains(&number.log10())).collect()
    };
    let of_each = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(|of| times(of, 1));
    let fewer = (2..).map(|every| times(&[1.0], every));
    of_each.into_iter().chain(fewer).find(|numbers| numbers.len() <= most).unwrap_or_default()
}

/// Formats the label of a tick, on an axis whose step is a multiple of 10^exponent and whose largest absolute
/// value is `largest`.
fn tick(at: f64, exponent: i32, largest: f64) -> String {
    if !(1e-4..1e7).contains(&largest) {
        let size = if at == 0.0 { 0 } else { at.abs().log10().floor() as i32 };
        return digits(at, (size - exponent + 1).clamp(1, 15) as usize);
    }
    let text = format!("{:.*}", (-exponent).max(0) as usize, at.abs());
    if at < 0.0 && text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        format!("−{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(low: f64, high: f64, most: usize) -> Vec<String> {
        Scale::new((low, high), (0.0, 100.0)).ticks(most).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 1.0, 6), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(ticks(-12.0, 31.0, 6), ["−10", "0", "10", "20", "30"]);
        assert_eq!(ticks(0.0, 3e9, 4), ["0", "1e9", "2e9", "3e9"]);
        assert_eq!(ticks(-2e-7, 2e-7, 5), ["−2e−7", "−1e−7", "0", "1e−7", "2e−7"]);
        assert_eq!(ticks(1000.0, 1000.4, 3), ["1000.0", "1000.2", "1000.4"]);
    }

    #[test]
    fn ticks_of_logarithms_are_round() {
        let ticks = |low, high| -> Vec<String> {
            Scale::logarithmic((low, high), (0.0, 100.0)).ticks(6).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(ticks(1.0, 100.0), ["1", "3", "10", "30", "100"]);
        assert_eq!(ticks(0.5, 10.0), ["0.5", "1", "2", "5", "10"]);
        assert_eq!(ticks(1e-8, 1e8), ["1e−6", "0.001", "1", "1000", "1000000"]);
        assert_eq!(ticks(1.0, 1e6), ["1", "100", "10000", "1000000"]);
        assert_eq!(ticks(64.0, 68.0), ["64", "65", "66", "67", "68"]);
    }

    #[test]
    fn every_range_has_a_scale_and_ticks_in_it() {
        let ends = [0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, 5e-324, 3.7, 1e15, 1e15 + 1.0, -123.456];
        for low in ends {
            for high in ends.into_iter().filter(|&high| high >= low) {
                let scale = Scale::new((low, high), (10.0, 410.0));
                for (at, text) in scale.ticks(6) {
                    let place = scale.place(at);
                    assert!((9.9..=410.1).contains(&place), "{low} {high}: {at} {text} at {place}");
                }
                let place = scale.place(0.5 * low + 0.5 * high);
                assert!((10.0..=410.0).contains(&place), "{low} {high}: {place}");
            }
        }
        for low in ends.into_iter().filter(|&low| low > 0.0) {
            for high in ends.into_iter().filter(|&high| high >= low) {
                let scale = Scale::logarithmic((low, high), (10.0, 410.0));
                let ticks = scale.ticks(6);
                assert!(
                    ticks.len() <= 6 && (low < 1e-290 || !ticks.is_empty()),
                    "{low:e} {high:e}: {ticks:?}"
                );
                for (at, text) in ticks {
                    let place = scale.place(at);
                    assert!((9.9..=410.1).contains(&place), "{low} {high}: {at} {text} at {place}");
                }
            }
        }
        assert!(Scale::new((f64::INFINITY, f64::NEG_INFINITY), (0.0, 1.0)).place(0.5) == 0.5);
    }
}
