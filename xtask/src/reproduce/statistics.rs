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
    /// Of at least one number.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub(crate) fn of(sample: &[f64]) -> Self {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self {
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            first: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            third: quantile(&sorted, 0.75),
        }
    }

    /// The four numbers with their names, in the order of the papers' tables.
    pub(crate) fn named(self) -> [(&'static str, f64); 4] {
        [
            ("mean", self.mean),
            ("1st quartile", self.first),
            ("median", self.median),
            ("3rd quartile", self.third),
        ]
    }
}

/// The quantile at `level` of an ascending sample, linear between its points (the default of numpy and R).
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

/// The slope of the least-squares line through the points.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (mean_x, mean_y) =
        (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let covariance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    covariance / points.iter().map(|p| (p.0 - mean_x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_five_numbers_are_three_of_them() {
        let summary = Summary::of(&[5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!(summary, Summary { mean: 3.0, first: 2.0, median: 3.0, third: 4.0 });
        assert_eq!(quantile(&[0.0, 1.0], 0.25), 0.25);
    }

    #[test]
    fn the_slope_of_a_line_is_its_slope() {
        assert!((slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) - 2.0).abs() < 1e-15);
    }
}
