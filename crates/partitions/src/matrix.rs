//! The dependence of all pairs of features.

use crate::dependence::Dependence;
use crate::error::PartitionsError;

/// The dependence of every pair of n features: a symmetric n × n matrix of numbers in [0, 1], its upper triangle stored.
#[derive(Debug, Clone, PartialEq)]
pub struct DependenceMatrix {
    features: usize,
    values: Vec<f64>,
    origin: Option<Origin>,
}

/// What a matrix was measured by.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Origin {
    dependence: Dependence,
    /// Rows of the pair of features that has the fewest.
    least_rows: usize,
}

impl DependenceMatrix {
    /// A matrix measured elsewhere, by its upper triangle row by row: pairs (0, 1), (0, 2), …, (1, 2), ….
    ///
    /// # Errors
    ///
    /// [`PartitionsError::Pairs`] for no feature or another number of values than n(n − 1)/2;
    /// [`Dependence`](PartitionsError::Dependence) for a value outside [0, 1].
    pub fn from_values(features: usize, values: Vec<f64>) -> Result<Self, PartitionsError> {
        let wanted = features.checked_sub(1).and_then(|others| others.checked_mul(features));
        if wanted.map(|twice| twice / 2) != Some(values.len()) {
            return Err(PartitionsError::Pairs { given: values.len(), features });
        }
        if let Some(at) = values.iter().position(|value| !(0.0..=1.0).contains(value)) {
            let (first, second) = pair_at(features, at);
            return Err(PartitionsError::Dependence { first, second, value: values[at] });
        }
        Ok(Self { features, values, origin: None })
    }

    /// What `dependence` measured, the fewest rows of a pair being `least_rows`.
    pub(crate) fn measured(
        features: usize,
        values: Vec<f64>,
        dependence: Dependence,
        least_rows: usize,
    ) -> Self {
        Self { features, values, origin: Some(Origin { dependence, least_rows }) }
    }

    /// Number of features n.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The upper triangle row by row, n(n − 1)/2 numbers.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The dependence of two features; 1 of a feature with itself.
    ///
    /// # Panics
    ///
    /// If there is no such feature.
    pub fn get(&self, first: usize, second: usize) -> f64 {
        let (low, high) = (first.min(second), first.max(second));
        assert!(high < self.features, "there is no feature {high} among {}", self.features);
        if low == high { 1.0 } else { self.values[low * (2 * self.features - low - 1) / 2 + high - low - 1] }
    }

    /// The dependence that, were all features independent, any pair would exceed with probability `level` at most: the quantile of the
    /// measure under independence at 1 − `level` / number of pairs (Bonferroni), for the fewest rows of any pair. 0 where there is no pair.
    ///
    /// Spearman's ρ by Student's t; mutual information by drawn estimates, 4000 in bins, 1000 to 20 000 by nearest neighbours (more where rows
    /// are fewer), each of which costs as much as a pair, by neighbours one of 2500 rows at most: the quantile of the draws where 20 lie beyond it, that of a law of Pearson's type
    /// III with their moments otherwise. Laws are those of features without ties; discrete features in bins show less.
    ///
    /// # Errors
    ///
    /// [`PartitionsError::UnknownLaw`] for a matrix [from elsewhere](Self::from_values); [`Level`](PartitionsError::Level) unless
    /// 0 < `level` < 1.
    pub fn critical_value(&self, level: f64) -> Result<f64, PartitionsError> {
        if !(level > 0.0 && level < 1.0) {
            return Err(PartitionsError::Level { given: level });
        }
        let Origin { dependence, least_rows } = self.origin.ok_or(PartitionsError::UnknownLaw)?;
        if self.values.is_empty() {
            return Ok(0.0);
        }
        Ok(dependence.critical_value(least_rows, level / self.values.len() as f64))
    }
}

/// The pair of features whose number a matrix stores at `at`.
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
