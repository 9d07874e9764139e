//! The dependence of all pairs of features.

use crate::dependence::Dependence;
use crate::error::PartitionsError;

/// The dependence of every pair of n features: a symmetric n × n matrix with entries in [0, 1], stored as its
/// upper triangle.
#[derive(Debug, Clone, PartialEq)]
pub struct DependenceMatrix {
    features: usize,
    values: Vec<f64>,
    origin: Option<Origin>,
}

/// The measure with which a matrix was computed, and the smallest number of rows of any pair.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Origin {
    dependence: Dependence,
    /// The smallest number of complete rows of any pair of features: rows in which neither feature is
    /// missing.
    min_rows: usize,
}

impl DependenceMatrix {
    /// Creates a matrix from dependences computed elsewhere. `values` contains the upper triangle, row by
    /// row: pairs (0, 1), (0, 2), …, (1, 2), ….
    ///
    /// # Errors
    ///
    /// [`PartitionsError::Pairs`] if there are no features, or the number of values is not n(n − 1)/2;
    /// [`Dependence`](PartitionsError::Dependence) for a value outside [0, 1].
    pub fn from_values(features: usize, values: Vec<f64>) -> Result<Self, PartitionsError> {
        let wanted = features.checked_sub(1).and_then(|others| others.checked_mul(features));
        if wanted.map(|twice| twice / 2) != Some(values.len()) {
            return Err(PartitionsError::Pairs { actual: values.len(), features });
        }
        if let Some(at) = values.iter().position(|value| !(0.0..=1.0).contains(value)) {
            let (first, second) = pair_at(features, at);
            return Err(PartitionsError::Dependence { first, second, value: values[at] });
        }
        Ok(Self { features, values, origin: None })
    }

    /// Creates a matrix of values measured by `dependence`. `min_rows` is the smallest number of complete
    /// rows of any pair.
    pub(crate) fn measured(
        features: usize,
        values: Vec<f64>,
        dependence: Dependence,
        min_rows: usize,
    ) -> Self {
        Self { features, values, origin: Some(Origin { dependence, min_rows }) }
    }

    /// Returns the number of features n.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Returns the upper triangle row by row, n(n − 1)/2 numbers.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the dependence of two features. The dependence of a feature on itself is 1.
    ///
    /// # Panics
    ///
    /// Panics if a feature is out of range.
    pub fn get(&self, first: usize, second: usize) -> f64 {
        let (low, high) = (first.min(second), first.max(second));
        assert!(high < self.features, "invalid feature {high}: there are {} features", self.features);
        if low == high { 1.0 } else { self.values[low * (2 * self.features - low - 1) / 2 + high - low - 1] }
    }

    /// Returns the critical value of the dependence at significance level `level`: if all features are
    /// independent, the probability that any pair exceeds it is at most `level`. It is the quantile of the
    /// measure under independence at 1 − `level` / number of pairs (Bonferroni), for the smallest number of
    /// rows of any pair. It is 0 if there are no pairs.
    ///
    /// For Spearman's ρ, it is computed from Student's t distribution. For the other measures, it is
    /// estimated from draws, each of which takes as much time as a pair of features. There are 4000 draws for
    /// bins, 1000 to 20,000 draws of at most 2500 rows for nearest neighbours (more for fewer rows), and 500
    /// draws of at most 1000 rows for the maximal information coefficient. If at least 20 draws exceed the
    /// critical value, it is the quantile of the draws. Otherwise, it is the quantile of a Pearson type III
    /// distribution with the moments of the draws. These distributions assume that there are no ties.
    /// Discrete features in bins have smaller dependences under independence.
    ///
    /// # Errors
    ///
    /// [`PartitionsError::UnknownDistribution`] for a matrix created by [`from_values`](Self::from_values);
    /// [`Level`](PartitionsError::Level) unless 0 < `level` < 1.
    pub fn critical_value(&self, level: f64) -> Result<f64, PartitionsError> {
        if !(level > 0.0 && level < 1.0) {
            return Err(PartitionsError::Level { actual: level });
        }
        let Origin { dependence, min_rows } = self.origin.ok_or(PartitionsError::UnknownDistribution)?;
        if self.values.is_empty() {
            return Ok(0.0);
        }
        Ok(dependence.critical_value(min_rows, level / self.values.len() as f64))
    }
}

/// Returns the pair of features at index `at` of a stored matrix.
fn pair_at(features: usize, mut at: usize) -> (usize, usize) {
    let mut first = 0;
    while at >= features - first - 1 {
        at -= features - first - 1;
        first += 1;
    }
    (first, first + 1 + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_stored_row_by_row_above_the_diagonal() {
        for features in 2..6 {
            let pairs =
                (0..features).flat_map(|first| (first + 1..features).map(move |second| (first, second)));
            pairs.enumerate().for_each(|(at, pair)| assert_eq!(pair_at(features, at), pair));
        }
    }
}
