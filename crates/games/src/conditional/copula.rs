//! Gaussian copula: features with arbitrary marginal distributions and the dependence of a normal
//! distribution.

use faer::Mat;
use statrs::function::erf::{erfc, erfc_inv};

use crate::cancellation::Cancellation;
use crate::coalition::CoalitionView;
use crate::conditional::counted::CountedRows;
use crate::conditional::distribution::{ConditionalDistribution, Sampling, check_data};
use crate::conditional::unit_normal::{UnitNormal, check_enough, correlation, standardize};
use crate::error::GameError;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// A Gaussian copula: each feature has its empirical distribution, and the normal scores are multivariate
/// normal.
///
/// ```text
/// z_j = Φ⁻¹(F_j(x_j)),   Z ~ N(0, R),   x_j = F_j⁻¹(Φ(z_j))
/// ```
///
/// (Aas, Jullum and Løland, 2021, section 3.2.) F_j is the empirical distribution function based on
/// mid-ranks: among N values, the value with mid-rank r has F_j = (r − ½)/N, with linear interpolation
/// between neighbouring values. F_j⁻¹ is linear between the sorted values at (i − ½)/N. R is the correlation
/// matrix of the normal scores of the data. M independent draws per coalition are shared by all explicands.
///
/// - An explicand's value outside the range of the data is clamped in rank space, to F_j = 1/(2N) or
///   1 − 1/(2N). The absent features are then drawn as if this value were the most extreme of N values. The
///   synthetic rows still contain the explicand's original value.
/// - Draws never leave the range of the data. Without weights, a draw lies strictly between two given
///   neighbouring distinct values with probability 1/N, so most draws from a column with few distinct values
///   equal one of them.
/// - Constant and collinear columns are treated as in [`GaussianDistribution`](crate::GaussianDistribution).
///
/// A coalition takes `O(n³ + M (n² + n log N))` time; storing N rows of data takes `O(n N)` numbers.
///
/// ```
/// use apportion_games::{ConditionalGame, Coalitions, CopulaDistribution, Game, Rows};
///
/// // The second feature is the exponential of the first: a nonlinear dependence.
/// let data: Vec<f64> = (0..50).flat_map(|i| [f64::from(i), (f64::from(i) / 5.0).exp()]).collect();
/// let distribution = CopulaDistribution::fit(Rows::new(&data, 2), 100, 7)?;
/// let model = |row: &[f64]| row[1].ln();
/// let game = ConditionalGame::new(&model, &[20.0, 1.0], &distribution)?;
/// let mut value = [0.0];
/// game.values(&Coalitions::from_masks(2, [0b01]), &mut value)?;
/// assert!((value[0] - 4.0).abs() < 1e-6);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CopulaDistribution {
    margins: Vec<Margin>,
    normal: UnitNormal,
}

impl CopulaDistribution {
    /// Fits the distribution to `rows`, with `draws` rows per coalition.
    ///
    /// # Errors
    ///
    /// [`GameError::MissingValue`] and [`GameError::InfiniteInput`] with row and column,
    /// [`GameError::TooFewRows`] for fewer than n + 1 rows, [`GameError::Parameter`] for zero draws. Constant
    /// and collinear columns are allowed, see above.
    pub fn fit(rows: Rows<'_>, draws: usize, seed: u64) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(&CountedRows::once(rows), draws, seed)
    }

    /// Fits the distribution to weighted rows: the weights affect the ranks and the correlations of the
    /// normal scores.
    ///
    /// Integer weights are multiplicities of rows. Other weights are proportions and are scaled to sum to the
    /// number of rows. Rows of weight 0 are ignored.
    ///
    /// # Errors
    ///
    /// Same as [`fit`](Self::fit); also [`GameError::BackgroundWeights`] unless there is one weight per row,
    /// all of them finite and non-negative, and at least one positive.
    pub fn fit_weighted(rows: Rows<'_>, weights: &[f64], draws: usize, seed: u64) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(&CountedRows::weighted(rows, weights)?, draws, seed)
    }

    fn counted(data: &CountedRows, draws: usize, seed: u64) -> Result<Self, GameError> {
        check_enough(data, "a Gaussian copula")?;
        let rows = data.rows();
        let margins: Vec<Margin> = (0..rows.columns()).map(|j| Margin::new(data, j)).collect();
        let mut scores = Mat::zeros(rows.len(), rows.columns());
        for column in 0..rows.columns() {
            Cancellation::check();
            for (score, row) in scores.col_as_slice_mut(column).iter_mut().zip(rows.iter()) {
                *score = margins[column].score(row[column]);
            }
            standardize(scores.col_as_slice_mut(column), data.counts());
        }
        Ok(Self { margins, normal: UnitNormal::new(correlation(&scores, data.counts()), draws, seed)? })
    }

    /// Makes the draws antithetic: the normal scores of the two draws of a pair are mirror images about their
    /// conditional mean, as in [`GaussianDistribution::antithetic`](crate::GaussianDistribution::antithetic).
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for an odd number of draws.
    pub fn antithetic(self) -> Result<Self, GameError> {
        Ok(Self { normal: self.normal.antithetic()?, ..self })
    }
}

impl ConditionalDistribution for CopulaDistribution {
    fn columns(&self) -> usize {
        self.normal.columns()
    }

    fn draws(&self) -> usize {
        self.normal.draws()
    }

    fn sampling(&self) -> Sampling {
        self.normal.sampling()
    }

    fn with_draws(&self, draws: usize) -> Option<Box<dyn ConditionalDistribution + '_>> {
        Some(Box::new(Self { normal: self.normal.with_draws(draws).ok()?, ..self.clone() }))
    }

    fn condition<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
        let unit = |j: usize| self.margins[j].score(explicand[j]);
        let value = |j: usize, score: f64| self.margins[j].value(score);
        Ok(Box::new(self.normal.condition(explicand, coalition, unit, value)))
    }
}

/// The empirical distribution of a single feature.
#[derive(Debug, Clone)]
struct Margin {
    /// The values in ascending order, including repeated ones.
    values: Vec<f64>,
    /// For each entry of `values`, the total count of the data up to and including this entry.
    ends: Vec<f64>,
}

impl Margin {
    fn new(data: &CountedRows, column: usize) -> Self {
        Cancellation::check();
        let mut sorted: Vec<(f64, f64)> =
            data.rows().iter().zip(data.counts()).map(|(row, &count)| (row[column], count)).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let up_to = |end: &mut f64, &(_, count): &(f64, f64)| {
            *end += count;
            Some(*end)
        };
        let ends = sorted.iter().scan(0.0, up_to).collect();
        Self { values: sorted.into_iter().map(|(value, _)| value).collect(), ends }
    }

    /// Returns the total count of the data before the value at `index`.
    fn before(&self, index: usize) -> f64 {
        if index == 0 { 0.0 } else { self.ends[index - 1] }
    }

    fn total(&self) -> f64 {
        self.before(self.values.len())
    }

    /// Returns half the count of the value at `index`, at most ½. Between two repeated values, F is linear
    /// from the middle of the last occurrence of one to the middle of the first occurrence of the next.
    fn half(&self, index: usize) -> f64 {
        ((self.ends[index] - self.before(index)) / 2.0).min(0.5)
    }

    /// Returns `F(x)`, strictly between 0 and 1.
    fn probability(&self, x: f64) -> f64 {
        let values = &self.values;
        let below = values.partition_point(|&value| value < x);
        let up_to = below + values[below..].partition_point(|&value| value <= x);
        // Twice the number of values below x, plus the number of values equal to x.
        let twice = if up_to > below {
            self.before(below) + self.before(up_to)
        } else if below == 0 {
            2.0 * self.half(0)
        } else if below == values.len() {
            2.0 * self.total() - 2.0 * self.half(below - 1)
        } else {
            let (left, right) = (values[below - 1], values[below]);
            // Halve first: the difference of very large numbers overflows.
            let share = (x / 2.0 - left / 2.0) / (right / 2.0 - left / 2.0);
            let (half, next) = (self.half(below - 1), self.half(below));
            2.0 * self.before(below) - 2.0 * half + 2.0 * (half + next) * share
        };
        twice / (2.0 * self.total())
    }

    /// Returns the normal score Φ⁻¹(F(x)).
    fn score(&self, x: f64) -> f64 {
        -std::f64::consts::SQRT_2 * erfc_inv(2.0 * self.probability(x))
    }

    /// Returns `F⁻¹(Φ(z))`.
    fn value(&self, score: f64) -> f64 {
        let probability = erfc(-score * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
        // Positions are measured from the middle of the first value, as if that value occurred once.
        let first = |index: usize| self.before(index) + self.half(index) - 0.5;
        let last = |index: usize| self.ends[index] - self.half(index) - 0.5;
        let end = self.values.len() - 1;
        let place = (probability * self.total() - 0.5).clamp(first(0), last(end).max(first(0)));
        let index = self.last_from(|index| first(index) <= place);
        let (left, right) = (self.values[index], self.values[(index + 1).min(end)]);
        // Interpolating between equal neighbours could change the last bit.
        if left == right || place <= last(index) {
            return left;
        }
        let share = (place - last(index)) / (first(index + 1) - last(index));
        (1.0 - share) * left + share * right
    }

    /// Returns the last index for which `holds` is `true`, by bisection. `holds` must be `true` for index 0,
    /// and `false` for every index after the first for which it is `false`.
    fn last_from(&self, holds: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.values.len());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if holds(middle) { low = middle } else { high = middle }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margin(values: &[f64]) -> Margin {
        Margin::new(&CountedRows::once(Rows::new(values, 1)), 0)
    }

    #[test]
    fn probabilities_are_those_of_mid_ranks_linear_between_and_clamped_outside() {
        let margin = margin(&[3.0, 1.0, 3.0, 7.0]);
        for (x, expected) in [
            (1.0, 0.5 / 4.0),
            (2.0, 1.0 / 4.0),
            (3.0, 2.0 / 4.0),
            (4.0, 2.75 / 4.0),
            (7.0, 3.5 / 4.0),
            (-9.0, 0.5 / 4.0),
            (99.0, 3.5 / 4.0),
        ] {
            assert_eq!(margin.probability(x), expected, "{x}");
        }
    }

    #[test]
    fn a_value_is_the_one_of_its_score() {
        let values: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.37).sin().exp()).collect();
        let margin = margin(&values);
        for x in [values[0], values[500], 0.9, 1.0, 1.7, 2.0] {
            let back = margin.value(margin.score(x));
            assert!((back - x).abs() < 1e-11, "{x}: {back}");
        }
    }

    #[test]
    fn a_weight_is_that_many_values() {
        let (values, weights) = ([3.0, 1.0, 7.0, 2.0], [2.0, 1.0, 4.0, 3.0]);
        let repeated: Vec<f64> =
            values.iter().zip(weights).flat_map(|(&value, weight)| vec![value; weight as usize]).collect();
        let counted = CountedRows::weighted(Rows::new(&values, 1), &weights).unwrap();
        let (weighted, repeated) = (Margin::new(&counted, 0), margin(&repeated));
        for x in (0..80).map(|x| f64::from(x) / 10.0) {
            assert!((weighted.probability(x) - repeated.probability(x)).abs() < 1e-15, "{x}");
        }
        for score in (-40..40).map(|score| f64::from(score) / 10.0) {
            assert!((weighted.value(score) - repeated.value(score)).abs() < 1e-13, "{score}");
        }
    }

    #[test]
    fn values_of_any_weights_are_those_of_their_scores() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 40)).collect();
        let weights: Vec<f64> = (0..40).map(|i| 0.05 + f64::from(i * i % 11)).collect();
        let margin = Margin::new(&CountedRows::weighted(Rows::new(&values, 1), &weights).unwrap(), 0);
        let mut last = 0.0;
        for x in (0..390).map(|x| f64::from(x) / 10.0) {
            let probability = margin.probability(x);
            assert!(probability > last, "{x}");
            last = probability;
            let back = margin.value(margin.score(x));
            assert!((back - x).abs() < 1e-7, "{x}: {back}");
        }
    }

    #[test]
    fn scores_beyond_the_data_give_its_ends() {
        let margin = margin(&[-2.0, 0.0, 5.0]);
        assert_eq!(margin.value(-40.0), -2.0);
        assert_eq!(margin.value(40.0), 5.0);
    }
}
