//! Bins: the values of a feature, reduced to at most 255 classes and a class for missing values.

use apportion_games::{Rows, parallel};

/// The bin of a missing value.
pub(crate) const MISSING: u8 = u8::MAX;
/// The maximum number of bins of a feature, in addition to the bin of missing values.
pub(crate) const MAX_BINS: usize = MISSING as usize;

/// The bins of one feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FeatureBins {
    /// Ascending thresholds: the bin of x is the number of thresholds that are at most x.
    Ordered(Vec<f64>),
    /// Ascending codes of categories: the bin of x is the index of its code, or the number of codes for all
    /// other values.
    Categories(Vec<f64>),
}

impl FeatureBins {
    /// Chooses the bins of a feature from its values, with at most `max_bins` bins of about the same number
    /// of values.
    pub(crate) fn new(mut values: Vec<f64>, max_bins: usize, is_categorical: bool) -> Self {
        values.retain(|value| !value.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        // Zeros of both signs are equal for every comparison.
        values.iter_mut().for_each(|value| *value += 0.0);
        let mut distinct: Vec<(f64, usize)> = Vec::new();
        for value in values {
            match distinct.last_mut() {
                Some((last, count)) if *last == value => *count += 1,
                _ => distinct.push((value, 1)),
            }
        }
        if is_categorical {
            // The most frequent codes are kept; ties are resolved by the code.
            distinct.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.total_cmp(&other.0)));
            distinct.truncate(max_bins - 1);
            let mut codes: Vec<f64> = distinct.into_iter().map(|(code, _)| code).collect();
            codes.sort_unstable_by(f64::total_cmp);
            return Self::Categories(codes);
        }
        Self::Ordered(quantile_thresholds(&distinct, max_bins))
    }

    /// Returns the number of bins, without the bin of missing values.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Ordered(thresholds) => thresholds.len() + 1,
            Self::Categories(codes) => codes.len() + 1,
        }
    }

    /// Returns the bin of a value.
    pub(crate) fn bin(&self, value: f64) -> u8 {
        if value.is_nan() {
            return MISSING;
        }
        match self {
            Self::Ordered(thresholds) => thresholds.partition_point(|threshold| *threshold <= value) as u8,
            Self::Categories(codes) => {
                let at = codes.partition_point(|code| *code < value);
                (if codes.get(at) == Some(&value) { at } else { codes.len() }) as u8
            }
        }
    }
}

/// Returns thresholds between distinct values, so that bins contain about the same number of rows.
fn quantile_thresholds(distinct: &[(f64, usize)], max_bins: usize) -> Vec<f64> {
    let total: usize = distinct.iter().map(|(_, count)| count).sum();
    let mut thresholds = Vec::new();
    let (mut in_bin, mut left) = (0, total);
    for pair in distinct.windows(2) {
        in_bin += pair[0].1;
        let bins_left = max_bins - thresholds.len();
        let closes = distinct.len() <= max_bins || (in_bin * bins_left >= left && bins_left > 1);
        if closes {
            thresholds.push(between(pair[0].0, pair[1].0));
            left -= in_bin;
            in_bin = 0;
        }
    }
    thresholds
}

/// Returns a threshold t with `lower < t ≤ upper`: the midpoint if it is such a number.
fn between(lower: f64, upper: f64) -> f64 {
    let middle = lower + (upper - lower) * 0.5;
    if middle > lower && middle.is_finite() { middle } else { upper }
}

/// The bins of all features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bins {
    pub(crate) features: Vec<FeatureBins>,
}

impl Bins {
    /// Chooses the bins of all features from rows. Features beyond the end of `is_categorical` are numbers.
    pub(crate) fn new(rows: Rows<'_>, max_bins: usize, is_categorical: &[bool]) -> Self {
        let features = parallel::map(0..rows.columns(), |feature| {
            let values = rows.values().iter().skip(feature).step_by(rows.columns()).copied().collect();
            let is_categorical = is_categorical.get(feature).copied().unwrap_or(false);
            FeatureBins::new(values, max_bins.clamp(2, MAX_BINS), is_categorical)
        });
        Self { features }
    }

    /// Appends the bins of a row.
    pub(crate) fn append(&self, row: &[f64], bins: &mut Vec<u8>) {
        bins.extend(self.features.iter().zip(row).map(|(feature, &value)| feature.bin(value)));
    }

    /// Returns the bins of rows, row-major.
    pub(crate) fn bins(&self, rows: Rows<'_>) -> Vec<u8> {
        let mut bins = Vec::with_capacity(rows.values().len());
        rows.iter().for_each(|row| self.append(row, &mut bins));
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_distinct_values_have_a_bin_each() {
        let bins = FeatureBins::new(vec![3.0, -0.0, 0.0, f64::INFINITY, 3.0, f64::NAN, f64::MIN], 255, false);
        assert_eq!(bins.count(), 4);
        let found: Vec<u8> =
            [f64::MIN, 0.0, 3.0, f64::INFINITY, f64::NAN, f64::NEG_INFINITY].map(|x| bins.bin(x)).into();
        assert_eq!(found, [0, 1, 2, 3, MISSING, 0]);
    }

    #[test]
    fn many_values_are_in_bins_of_about_the_same_size() {
        let values: Vec<f64> = (0..10_000).map(|at| (f64::from(at) / 1000.0).exp()).collect();
        let bins = FeatureBins::new(values.clone(), 50, false);
        assert_eq!(bins.count(), 50);
        let mut counts = [0; 50];
        values.iter().for_each(|&value| counts[usize::from(bins.bin(value))] += 1);
        assert!(counts.iter().all(|count| (150..=250).contains(count)), "{counts:?}");
    }

    #[test]
    fn rare_categories_share_the_last_bin() {
        let bins = FeatureBins::new(vec![7.0, 7.0, 2.5, 2.5, 9.0], 3, true);
        assert_eq!([7.0, 2.5, 9.0, 1.0].map(|code| bins.bin(code)), [1, 0, 2, 2]);
    }
}
