//! The law of features whose dependence is that of a normal law, whatever their marginal laws.

use faer::Mat;
use statrs::function::erf::{erfc, erfc_inv};

use crate::coalition::CoalitionView;
use crate::conditional::law::{ConditionalLaw, Sampling};
use crate::conditional::unit_normal::{UnitNormal, check_rows, correlation, standardize};
use crate::error::GameError;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// Features under a Gaussian copula: each has its empirical law, and their normal scores are multivariate normal.
///
/// ```text
/// z_j = Φ⁻¹(F_j(x_j)),   Z ~ N(0, R),   x_j = F_j⁻¹(Φ(z_j))
/// ```
///
/// (Aas, Jullum and Løland, 2021, section 3.2.) F_j is the empirical distribution function by mid-ranks: among N values, the one of mid-rank
/// r has F_j = (r − ½)/N, and between neighbours it is linear; F_j⁻¹ is linear between the sorted values at (i − ½)/N. R are the
/// correlations of the normal scores of the data. M independent draws per coalition, shared by all explicands.
///
/// - An explicand's value outside the data is clamped in rank space, to F_j = 1/(2N) or 1 − 1/(2N): for what it says about absent features
///   it is as extreme as the most extreme of N values. Its rows still have the explicand's value.
/// - Draws never leave the range of the data. Where a column has few different values, a draw lies between two neighbours with
///   probability 1/N.
/// - Constant and collinear columns are treated as [`GaussianLaw`](crate::GaussianLaw) does.
///
/// A coalition takes `O(n³ + M (n² + n log N))` time; data of N rows take `O(n N)` numbers.
///
/// ```
/// use apportion_games::{ConditionalGame, Coalitions, CopulaLaw, Game, Rows};
///
/// // The second feature is the exponential of the first: dependent, but not linearly.
/// let data: Vec<f64> = (0..50).flat_map(|i| [f64::from(i), (f64::from(i) / 5.0).exp()]).collect();
/// let law = CopulaLaw::fit(Rows::new(&data, 2), 100, 7)?;
/// let model = |row: &[f64]| row[1].ln();
/// let game = ConditionalGame::new(&model, &[20.0, 1.0], &law)?;
/// let mut value = [0.0];
/// game.values(&Coalitions::from_masks(2, [0b01]), &mut value)?;
/// assert!((value[0] - 4.0).abs() < 1e-6);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CopulaLaw {
    margins: Vec<Margin>,
    normal: UnitNormal,
}

impl CopulaLaw {
    /// The law of `rows`, with `draws` rows per coalition.
    ///
    /// # Errors
    ///
    /// [`GameError::MissingValue`] and [`GameError::InfiniteInput`] with row and column, [`GameError::TooFewRows`] for fewer than n + 1
    /// rows, [`GameError::Parameter`] for no draws. Constant and collinear columns are legal, see above.
    pub fn fit(rows: Rows<'_>, draws: usize, seed: u64) -> Result<Self, GameError> {
        check_rows(rows, "a Gaussian copula")?;
        let margins: Vec<Margin> = (0..rows.columns()).map(|j| Margin::new(rows, j)).collect();
        let mut scores = Mat::from_fn(rows.len(), rows.columns(), |i, j| margins[j].score(rows.row(i)[j]));
        for column in 0..rows.columns() {
            standardize(scores.col_as_slice_mut(column));
        }
        Ok(Self { margins, normal: UnitNormal::new(correlation(&scores), draws, seed)? })
    }

    /// The same law with draws in pairs whose normal scores mirror each other at their conditional mean, as
    /// [`GaussianLaw::antithetic`](crate::GaussianLaw::antithetic).
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for an odd number of draws.
    pub fn antithetic(self) -> Result<Self, GameError> {
        Ok(Self { normal: self.normal.antithetic()?, ..self })
    }
}

impl ConditionalLaw for CopulaLaw {
    fn columns(&self) -> usize {
        self.normal.columns()
    }

    fn draws(&self) -> usize {
        self.normal.draws()
    }

    fn sampling(&self) -> Sampling {
        self.normal.sampling()
    }

    fn with_draws(&self, draws: usize) -> Option<Box<dyn ConditionalLaw + '_>> {
        Some(Box::new(Self { normal: self.normal.with_draws(draws).ok()?, ..self.clone() }))
    }

    fn given<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
        let unit = |j: usize| self.margins[j].score(explicand[j]);
        let value = |j: usize, score: f64| self.margins[j].value(score);
        Ok(Box::new(self.normal.given(explicand, coalition, unit, value)))
    }
}

/// The empirical law of one feature: its values in ascending order.
#[derive(Debug, Clone)]
struct Margin(Vec<f64>);

impl Margin {
    fn new(rows: Rows<'_>, column: usize) -> Self {
        let mut sorted: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self(sorted)
    }

    /// `F(x)`, from 1/(2N) to 1 − 1/(2N).
    fn probability(&self, x: f64) -> f64 {
        let Self(sorted) = self;
        let below = sorted.partition_point(|&value| value < x);
        let up_to = below + sorted[below..].partition_point(|&value| value <= x);
        // Twice the number of values below x, plus the number of those equal to x.
        let twice = if up_to > below {
            (below + up_to) as f64
        } else if below == 0 {
            1.0
        } else if below == sorted.len() {
            2.0 * below as f64 - 1.0
        } else {
            let (left, right) = (sorted[below - 1], sorted[below]);
            // Halves, because the difference of the largest numbers overflows.
            let share = (x / 2.0 - left / 2.0) / (right / 2.0 - left / 2.0);
            2.0 * below as f64 - 1.0 + 2.0 * share
        };
        twice / (2.0 * sorted.len() as f64)
    }

    /// The normal score Φ⁻¹(F(x)).
    fn score(&self, x: f64) -> f64 {
        -std::f64::consts::SQRT_2 * erfc_inv(2.0 * self.probability(x))
    }

    /// `F⁻¹(Φ(z))`.
    fn value(&self, score: f64) -> f64 {
        let Self(sorted) = self;
        let probability = erfc(-score * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
        let last = sorted.len() - 1;
        let place = (probability * sorted.len() as f64 - 0.5).clamp(0.0, last as f64);
        let (index, share) = (place as usize, place.fract());
        let (left, right) = (sorted[index], sorted[(index + 1).min(last)]);
        // Equal neighbours are their own mean to the last bit.
        if left == right { left } else { (1.0 - share) * left + share * right }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margin(values: &[f64]) -> Margin {
        Margin::new(Rows::new(values, 1), 0)
    }

    #[test]
    fn probabilities_are_those_of_mid_ranks_linear_between_and_clamped_outside() {
        let margin = margin(&[3.0, 1.0, 3.0, 7.0]);
        for (x, wanted) in [
            (1.0, 0.5 / 4.0),
            (2.0, 1.0 / 4.0),
            (3.0, 2.0 / 4.0),
            (4.0, 2.75 / 4.0),
            (7.0, 3.5 / 4.0),
            (-9.0, 0.5 / 4.0),
            (99.0, 3.5 / 4.0),
        ] {
            assert_eq!(margin.probability(x), wanted, "{x}");
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
    fn scores_beyond_the_data_give_its_ends() {
        let margin = margin(&[-2.0, 0.0, 5.0]);
        assert_eq!(margin.value(-40.0), -2.0);
        assert_eq!(margin.value(40.0), 5.0);
    }
}
