//! The multivariate normal distribution.

use faer::Mat;

use crate::coalition::CoalitionView;
use crate::conditional::counted::CountedRows;
use crate::conditional::distribution::{
    ConditionalDistribution, Sampling, check_data, refuse_infinite, refuse_missing,
};
use crate::conditional::unit_normal::{
    DETERMINED, StandardizedColumns, UnitNormal, check_enough, cholesky, correlation, in_units,
};
use crate::error::GameError;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// Maximum asymmetry of a covariance matrix, relative to the product of the two standard deviations.
const ASYMMETRY: f64 = 1e-9;

/// The multivariate normal distribution X ~ N(μ, Σ). Absent features are drawn given the present ones.
///
/// ```text
/// X_S̄ | X_S = x_S  ~  N(μ_S̄ + Σ_S̄S Σ_SS⁻¹ (x_S − μ_S),  Σ_S̄S̄ − Σ_S̄S Σ_SS⁻¹ Σ_SS̄)
/// ```
///
/// (Aas, Jullum and Løland, 2021, section 3.1.) M independent draws per coalition are shared by all
/// explicands; a draw is determined by the seed, the coalition and its index.
///
/// For a model whose outputs are [affine](crate::Model::is_affine), the conditional mean is sufficient: no
/// rows are drawn, and the values are exact.
///
/// A coalition takes `O(n³)` for a Cholesky factorization and `O(M n²)` for its draws: with M = 500, 0.06 ms
/// at n = 10, 0.5 ms at n = 50 and 1.2 ms at n = 100 (measured with the example `conditional_timing` on one
/// core of an AMD EPYC of the Zen 5 class). Nothing is cached between coalitions.
///
/// # Degenerate covariances
///
/// Constant features and features that are linear combinations of others are allowed: their conditional
/// distribution is degenerate, and draws preserve the linear relation. A feature counts as determined by
/// others if these leave at most 10⁻¹⁰ of its variance unexplained. If the present values of an explicand
/// violate such a relation, they are replaced by the nearest point, in standard deviations, that satisfies it
/// (Σ_SS⁻¹ is the pseudo-inverse of correlations). In particular, a constant feature carries no information,
/// whatever the explicand's value. The synthetic rows still contain the explicand's own values.
///
/// ```
/// use apportion_games::{ConditionalGame, Coalitions, Game, GaussianDistribution, Rows};
///
/// let data = [1.0, 2.1, 2.0, 3.8, 3.0, 6.2, 4.0, 7.9, 5.0, 10.1];
/// let distribution = GaussianDistribution::fit(Rows::new(&data, 2), 200, 7)?;
/// let model = |row: &[f64]| row[0] * row[1];
/// let game = ConditionalGame::new(&model, &[4.0, 8.0], &distribution)?;
/// let mut value = [0.0];
/// game.values(&Coalitions::from_masks(2, [0b01]), &mut value)?;
/// assert!((value[0] - 4.0 * 8.0).abs() < 0.5, "the first feature nearly determines the second");
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GaussianDistribution {
    mean: Vec<f64>,
    /// The standard deviation of each feature.
    scale: Vec<f64>,
    normal: UnitNormal,
}

impl GaussianDistribution {
    /// Fits the normal distribution with the mean and covariance (divisor N − 1) of `rows`, with `draws` rows
    /// per coalition.
    ///
    /// # Errors
    ///
    /// [`GameError::MissingValue`] and [`GameError::InfiniteInput`] with row and column,
    /// [`GameError::TooFewRows`] for fewer than n + 1 rows, whose covariance is always degenerate,
    /// [`GameError::Parameter`] for zero draws, [`GameError::Covariance`] if the values are so large that a
    /// variance overflows. Constant and collinear columns are allowed, see above.
    pub fn fit(rows: Rows<'_>, draws: usize, seed: u64) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(&CountedRows::once(rows), draws, seed)
    }

    /// Fits the normal distribution with the weighted mean and covariance of `rows`.
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
        check_enough(data, "a normal distribution")?;
        let StandardizedColumns { mean, scale, units } = StandardizedColumns::new(data)?;
        let normal = UnitNormal::new(correlation(&units, data.counts()), draws, seed)?;
        Ok(Self { mean, scale, normal })
    }

    /// Creates the normal distribution with the given mean and n × n covariance, row-major, with `draws` rows
    /// per coalition.
    ///
    /// # Errors
    ///
    /// [`GameError::Covariance`], with the entry or the eigenvalue, if the matrix does not have n² entries,
    /// is not finite, not symmetric (to within 10⁻⁹ of the product of the standard deviations) or not
    /// positive semidefinite (a negative variance, a covariance above the product of the standard deviations,
    /// or an eigenvalue of the correlation matrix below −10⁻¹⁰);
    /// [`GameError::InfiniteInput`] or [`GameError::MissingValue`] if the mean has such a value;
    /// [`GameError::Parameter`] without features or draws.
    pub fn new(mean: &[f64], covariance: &[f64], draws: usize, seed: u64) -> Result<Self, GameError> {
        let n = mean.len();
        if n == 0 {
            return Err(GameError::Parameter {
                what: "a normal distribution requires at least one feature".to_owned(),
            });
        }
        refuse_infinite(mean, || "the mean".to_owned())?;
        refuse_missing(mean, || "the mean".to_owned())?;
        if covariance.len() != n * n {
            let problem = format!(
                "expected {} entries (n × n for the n = {n} entries of the mean), got {}",
                n * n,
                covariance.len()
            );
            return Err(GameError::Covariance { problem });
        }
        let refuse = |problem: String| {
            let expected = "expected a finite, symmetric, positive semidefinite matrix";
            Err(GameError::Covariance { problem: format!("{problem}; {expected}") })
        };
        let entry = |i: usize, j: usize| covariance[i * n + j];
        if let Some(at) = covariance.iter().position(|entry| !entry.is_finite()) {
            return refuse(format!("entry ({}, {}) is {}", at / n, at % n, covariance[at]));
        }
        if let Some(i) = (0..n).find(|&i| entry(i, i) < 0.0) {
            return refuse(format!("the variance at ({i}, {i}) is {}", entry(i, i)));
        }
        let scale: Vec<f64> = (0..n).map(|i| entry(i, i).sqrt()).collect();
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            if (entry(i, j) - entry(j, i)).abs() > ASYMMETRY * scale[i] * scale[j] {
                return refuse(format!(
                    "entry ({i}, {j}) is {}, but ({j}, {i}) is {}",
                    entry(i, j),
                    entry(j, i)
                ));
            }
            // Evaluate in this order so that no product overflows or underflows.
            if entry(i, j).abs() / scale[i].max(scale[j]) > (1.0 + ASYMMETRY) * scale[i].min(scale[j]) {
                return refuse(format!(
                    "entry ({i}, {j}) is {}, more than the product of the standard deviations {} and {}",
                    entry(i, j),
                    scale[i],
                    scale[j]
                ));
            }
        }
        let correlation = Mat::from_fn(n, n, |i, j| {
            let (i, j) = (i.max(j), i.min(j));
            match (i == j, scale[i] * scale[j] == 0.0) {
                (true, _) => 1.0,
                (false, true) => 0.0,
                (false, false) => entry(i, j) / scale[i] / scale[j],
            }
        });
        if let Some(least) = negative_eigenvalue(&correlation) {
            return refuse(format!("an eigenvalue of the correlation matrix is {least}"));
        }
        Ok(Self { mean: mean.to_vec(), scale, normal: UnitNormal::new(correlation, draws, seed)? })
    }

    /// Makes the draws antithetic: the two draws of a pair are mirror images about the conditional mean.
    ///
    /// This removes the sampling error for models that are linear in the absent features, and reduces it for
    /// nearly linear ones. The draws of a pair are not independent, so standard errors are computed from the
    /// means of pairs.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for an odd number of draws.
    pub fn antithetic(self) -> Result<Self, GameError> {
        Ok(Self { normal: self.normal.antithetic()?, ..self })
    }
}

/// Returns the smallest eigenvalue of a correlation matrix to six digits, or `None` if it is at least −10⁻¹⁰.
///
/// The search uses bisection: `C + s I` has a Cholesky factor if and only if `−s` is below the smallest
/// eigenvalue of `C`. All eigenvalues are at least `1 − n`.
fn negative_eigenvalue(correlation: &Mat<f64>) -> Option<f64> {
    let is_definite = |shift: f64| {
        let mut matrix = correlation.clone();
        (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += shift);
        cholesky(matrix).is_some()
    };
    if is_definite(DETERMINED) {
        return None;
    }
    let (mut low, mut high) = (DETERMINED, correlation.nrows() as f64);
    while high - low > 1e-7 * low {
        let middle = (low * high).sqrt();
        if is_definite(middle) { high = middle } else { low = middle }
    }
    Some(format!("-{high:.5e}").parse().unwrap_or(-high))
}

impl ConditionalDistribution for GaussianDistribution {
    fn columns(&self) -> usize {
        self.mean.len()
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

    fn mean(&self, explicand: &[f64], coalition: CoalitionView<'_>) -> Option<Vec<f64>> {
        let Self { mean, scale, normal } = self;
        let absent = normal.absent(coalition, |j| in_units(explicand[j], mean[j], scale[j]));
        let mut row = explicand.to_vec();
        for (&feature, unit) in absent.features.iter().zip(&absent.mean) {
            row[feature] = mean[feature] + scale[feature] * unit;
        }
        Some(row)
    }

    fn condition<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
        let unit = |j: usize| in_units(explicand[j], self.mean[j], self.scale[j]);
        let value = |j: usize, unit: f64| self.mean[j] + self.scale[j] * unit;
        Ok(Box::new(self.normal.condition(explicand, coalition, unit, value)))
    }
}
