//! Summary statistics of a sample.

/// Mean and quartiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) mean: f64,
    pub(crate) first: f64,
    pub(crate) median: f64,
    pub(crate) third: f64,
}

impl Summary {
    /// Summarizes a sample.
    ///
    /// # Panics
    ///
    /// If the sample is empty.
    pub(crate) fn from_sample(sample: &[f64]) -> Self {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self {
            mean: mean(&sorted),
            first: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            third: quantile(&sorted, 0.75),
        }
    }

    /// Returns mean and quartiles with their names, in the order of the papers' tables.
    pub(crate) fn named(self) -> [(&'static str, f64); 4] {
        [
            ("mean", self.mean),
            ("1st quartile", self.first),
            ("median", self.median),
            ("3rd quartile", self.third),
        ]
    }
}

/// Returns the mean, which is NaN for an empty slice.
pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Returns the quantile at `level` of a sorted sample, interpolating linearly (the default of numpy and R).
///
/// # Panics
///
/// If the sample is empty.
pub(crate) fn quantile(sorted: &[f64], level: f64) -> f64 {
    let at = level * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = at.ceil() as usize;
    sorted[below] + (at - at.floor()) * (sorted[above] - sorted[below])
}

/// Returns the slope of the least-squares line through the points.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (mean_x, mean_y) =
        (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let covariance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    covariance / points.iter().map(|p| (p.0 - mean_x).powi(2)).sum::<f64>()
}

/// A number with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measurement {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Measurement {
    /// Returns the mean of independent numbers and its standard error, which is NaN for a single number.
    pub(crate) fn mean(sample: &[f64]) -> Self {
        let count = sample.len() as f64;
        let value = sample.iter().sum::<f64>() / count;
        let squares: f64 = sample.iter().map(|x| (x - value).powi(2)).sum();
        Self { value, error: (squares / (count - 1.0) / count).sqrt() }
    }

    /// Returns the standard error, or `None` for a single number.
    pub(crate) fn known_error(self) -> Option<f64> {
        Some(self.error).filter(|error| error.is_finite())
    }

    /// Multiplies the value and the standard error by `factor`.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, error: self.error * factor.abs() }
    }
}

/// Returns the slope of the least-squares line through `(log x, log y)`, with its standard error computed
/// from the standard errors of the independent y.
pub(crate) fn log_log_slope(points: &[(f64, Measurement)]) -> Measurement {
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.value.ln())).collect();
    let mean = logarithms.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
    let spread: f64 = logarithms.iter().map(|point| (point.0 - mean).powi(2)).sum();
    let of_point = |(x, y): &(f64, Measurement)| ((x.ln() - mean) / spread * y.error / y.value).powi(2);
    Measurement { value: slope(&logarithms), error: points.iter().map(of_point).sum::<f64>().sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_of_a_mean_is_the_deviation_over_the_root_of_the_number() {
        let mean = Measurement::mean(&[1.0, 2.0, 3.0, 6.0]);
        assert!((mean.value - 3.0).abs() < 1e-15 && (mean.error - (14.0f64 / 12.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_power_law_has_its_exponent_as_slope_and_relative_errors_give_that_of_the_slope() {
        let point = |x: f64| (x, Measurement { value: 3.0 / x, error: 0.06 / x });
        let slope = log_log_slope(&[point(2.0), point(4.0), point(8.0)]);
        assert!((slope.value + 1.0).abs() < 1e-14);
        // Only the errors of the end points matter: the standard error is 0.02 √2 / (2 ln 2).
        assert!(
            (slope.error - 0.02 * 2f64.sqrt() / 8f64.sqrt().ln() / (4f64.ln() / 8f64.sqrt().ln())).abs()
                < 1e-14
        );
    }

    #[test]
    fn quartiles_of_five_numbers_are_three_of_them() {
        let summary = Summary::from_sample(&[5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!(summary, Summary { mean: 3.0, first: 2.0, median: 3.0, third: 4.0 });
        assert_eq!(quantile(&[0.0, 1.0], 0.25), 0.25);
    }

    #[test]
    fn the_slope_of_a_line_is_its_slope() {
        assert!((slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) - 2.0).abs() < 1e-15);
    }
}
