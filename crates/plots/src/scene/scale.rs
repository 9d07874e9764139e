//! From numbers to places.

use super::number::digits;

/// Numbers from `low` to `high` on a line from one place to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Where all numbers are the same, there is some room around them.
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let (low, high) = match (low.is_finite() && high.is_finite(), high - low) {
            (false, _) => (0.0, 1.0),
            (true, span) if span > (low.abs().max(high.abs()) * 1e-12).max(1e-300) => (low, high),
            // Room that is wide enough for ticks to differ.
            (true, _) if low.abs() < 1e-290 => (low - 1.0, low + 1.0),
            (true, _) => (low - 0.5 * low.abs(), low + 0.5 * low.abs()),
        };
        Self { low, high, from, to }
    }

    /// The same with a share of its length more on either side.
    pub fn with_room(self, before: f64, after: f64) -> Self {
        let span = self.high - self.low;
        Self { low: self.low - before * span, high: self.high + after * span, ..self }
    }

    /// Where a number is.
    pub fn place(&self, number: f64) -> f64 {
        self.from + (number - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Where it is in the range, from 0 to 1.
    pub fn share(&self, number: f64) -> f64 {
        (number - self.low) / (self.high - self.low)
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

    /// At most so many round numbers within the range, 1, 2 or 5 times a power of ten apart, as they are read.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
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
            // More would not fit; numbers beyond exact ones are no steps.
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

/// A tick whose step is `times` 10^exponent, on an axis with numbers of at most this size.
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
        assert!(Scale::new((f64::INFINITY, f64::NEG_INFINITY), (0.0, 1.0)).place(0.5) == 0.5);
    }
}
