//! The empirical distribution with a fixed bandwidth.

use faer::Mat;

use super::weighted_rows::WeightedRows;
use crate::cancellation::Cancellation;
use crate::coalition::CoalitionView;
use crate::conditional::counted::CountedRows;
use crate::conditional::distribution::{ConditionalDistribution, Sampling, check_data};
use crate::conditional::rows_of_data::RowsOfData;
use crate::conditional::unit_normal::{
    StandardizedColumns, check_enough, correlation, factor, in_units, solve, substitute,
};
use crate::error::GameError;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// The empirical conditional distribution: rows of the data, weighted by a Gaussian kernel of their distance
/// from the explicand in the present features.
///
/// ```text
/// D_S(x, r)² = (x_S − r_S)ᵀ Σ_SS⁻¹ (x_S − r_S) / |S|
/// w_S(x, r)  = exp(−D_S(x, r)² / (2 σ²))
/// v(S)       = Σ_r w_S(x, r) f(x_S, r_S̄) / Σ_r w_S(x, r)
/// ```
///
/// (Aas, Jullum and Løland, 2021, section 3.3.) Σ_SS is the covariance of the present features, so D_S is a
/// Mahalanobis distance scaled by their number. Rows are added by ascending distance until they have a share
/// η of the total weight; rows at the same distance as the last of them are included. Therefore the values do
/// not depend on the order of the data, not even in the last bit.
///
/// - *Bandwidth* σ, dimensionless; defaults to 0.1, as in the paper, see
///   [`with_bandwidth`](Self::with_bandwidth). A small bandwidth uses a few near rows (small bias, large
///   variance); a large one includes rows that do not resemble the explicand: as σ grows, the game approaches
///   the marginal game. The bandwidth can be [chosen by AICc](Self::with_bandwidths_by_aicc).
/// - *Share* η: defaults to 0.95, see [`with_share`](Self::with_share). With 1, all rows are used.
/// - *Rows* per coalition: all rows that the share requires, unless their number is
///   [limited](Self::with_max_rows). If the limit cuts through rows at the same distance, some of these rows
///   represent all of them: they are chosen at even steps of cumulative weight, in the order of their values.
/// - v(∅) is the mean over all rows, regardless of the share and the limit.
///
/// Weights are relative to the weight of the nearest row, so an explicand far from all rows is explained by
/// the nearest ones. Constant and collinear columns are allowed: a constant feature carries no information,
/// and Σ_SS⁻¹ is a pseudo-inverse, as in [`GaussianDistribution`](crate::GaussianDistribution).
///
/// A coalition takes `O(n³ + N |S|² + N log N)` time.
///
/// ```
/// use apportion_games::{Coalitions, ConditionalGame, EmpiricalDistribution, Game, Rows};
///
/// // The second feature is the square of the first.
/// let data: Vec<f64> = (-50..=50).flat_map(|i| [f64::from(i) / 10.0, f64::from(i * i) / 100.0]).collect();
/// let distribution = EmpiricalDistribution::fit(Rows::new(&data, 2))?;
/// let model = |row: &[f64]| row[1];
/// let game = ConditionalGame::new(&model, &[-3.0, 9.0], &distribution)?;
/// let mut value = [0.0];
/// game.values(&Coalitions::from_masks(2, [0b01]), &mut value)?;
/// assert!((value[0] - 9.0).abs() < 0.2);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
///
/// # As in shapr
///
/// [`as_in_shapr`](Self::as_in_shapr) reproduces the values of the R package shapr (`approach = "empirical"`,
/// 1.0.9), which deviates from the paper: it divides by |S|² instead of |S| in D_S², and it breaks ties at
/// the share η by row index, so its values depend on the order of the data.
#[derive(Debug, Clone)]
pub struct EmpiricalDistribution {
    pub(super) data: CountedRows,
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// The standardized rows, row-major.
    units: Vec<f64>,
    correlation: Mat<f64>,
    variant: Variant,
    pub(super) bandwidth: f64,
    share: f64,
    max_rows: usize,
}

/// How the rows of the data are weighted and selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    /// Weights and selection as in Aas, Jullum and Løland (2021).
    Paper,
    /// Weights and selection as in the R package shapr.
    Shapr,
}

impl Variant {
    /// Returns the divisor of squared Mahalanobis distances in the given number of features.
    fn divisor(self, features: usize) -> f64 {
        match self {
            Self::Paper => features as f64,
            Self::Shapr => (features * features) as f64,
        }
    }
}

impl EmpiricalDistribution {
    /// Fits the distribution to `rows`, with bandwidth 0.1, share 0.95 and no limit on rows.
    ///
    /// # Errors
    ///
    /// [`GameError::MissingValue`] and [`GameError::InfiniteInput`] with row and column,
    /// [`GameError::TooFewRows`] for fewer than n + 1 rows, which would all have the same distance from each
    /// other, [`GameError::Covariance`] if the values are so large that a variance overflows.
    pub fn fit(rows: Rows<'_>) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(CountedRows::once(rows).sorted(), Variant::Paper)
    }

    /// Fits the distribution to weighted rows: the kernel weight of a row is multiplied by its weight.
    ///
    /// Integer weights are multiplicities of rows. Other weights are proportions and are scaled to sum to the
    /// number of rows. Rows of weight 0 are ignored. A limit on the number of rows applies to rows regardless
    /// of their weights.
    ///
    /// # Errors
    ///
    /// Same as [`fit`](Self::fit); also [`GameError::BackgroundWeights`] unless there is one weight per row,
    /// all of them finite and non-negative, and at least one positive.
    pub fn fit_weighted(rows: Rows<'_>, weights: &[f64]) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(CountedRows::weighted(rows, weights)?.sorted(), Variant::Paper)
    }

    /// Fits the distribution to `rows`, weighted and selected as in the R package shapr, see
    /// [above](Self#as-in-shapr).
    ///
    /// # Errors
    ///
    /// Same as [`fit`](Self::fit).
    pub fn as_in_shapr(rows: Rows<'_>) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(CountedRows::once(rows), Variant::Shapr)
    }

    fn counted(data: CountedRows, variant: Variant) -> Result<Self, GameError> {
        check_enough(&data, "an empirical distribution")?;
        let StandardizedColumns { mean, scale, units } = StandardizedColumns::new(&data)?;
        let (rows, columns) = (units.nrows(), units.ncols());
        Ok(Self {
            units: (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|at| units[at]).collect(),
            correlation: correlation(&units, data.counts()),
            data,
            mean,
            scale,
            variant,
            bandwidth: 0.1,
            share: 0.95,
            max_rows: rows,
        })
    }

    /// Sets the bandwidth σ.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] unless it is finite and positive.
    pub fn with_bandwidth(mut self, bandwidth: f64) -> Result<Self, GameError> {
        if !(bandwidth.is_finite() && bandwidth > 0.0) {
            return Err(GameError::Parameter {
                what: format!("invalid bandwidth {bandwidth}: must be positive and finite"),
            });
        }
        self.bandwidth = bandwidth;
        Ok(self)
    }

    /// Sets the minimum share η of the total weight that the rows of a coalition must have.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] unless it is positive and at most 1.
    pub fn with_share(mut self, share: f64) -> Result<Self, GameError> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(GameError::Parameter {
                what: format!("invalid share {share} of the total weight: must be above 0 and at most 1"),
            });
        }
        self.share = share;
        Ok(self)
    }

    /// Limits the number of rows for every coalition except the empty one. A limit above the number of rows
    /// in the data has no effect.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for 0.
    pub fn with_max_rows(mut self, rows: usize) -> Result<Self, GameError> {
        if rows == 0 {
            return Err(GameError::Parameter {
                what: "invalid number of rows per coalition 0: must be at least 1".to_owned(),
            });
        }
        self.max_rows = rows.min(self.data.rows().len());
        Ok(self)
    }

    /// Returns D_S(x, r)² for each row r of the data; `present` contains the features of S.
    fn distances(&self, explicand: &[f64], present: &[usize]) -> Vec<f64> {
        let lower = factor(&self.correlation, present);
        let divisor = self.variant.divisor(present.len());
        let determining = determining(&lower);
        if determining.len() == present.len() {
            // Subtract before scaling, so that rows equally far below and above the explicand have identical
            // distances.
            let mut off = vec![0.0; present.len()];
            let distance = |row: &[f64]| {
                Cancellation::check();
                for (off, &feature) in off.iter_mut().zip(present) {
                    *off = in_units(row[feature], explicand[feature], self.scale[feature]);
                }
                substitute(&lower, &mut off);
                off.iter().map(|off| off.powi(2)).sum::<f64>() / divisor
            };
            return self.data.rows().iter().map(distance).collect();
        }
        let mut from: Vec<f64> =
            present.iter().map(|&j| in_units(explicand[j], self.mean[j], self.scale[j])).collect();
        solve(&lower, &mut from);
        let scores = self.scores(&lower, present);
        let from: Vec<f64> = determining.into_iter().map(|feature| from[feature]).collect();
        scores.chunks_exact(from.len().max(1)).map(|row| squared_distance(row, &from) / divisor).collect()
    }

    /// Returns D_S(r, s)² for each pair of rows s < r of the data, in order of r.
    pub(super) fn distances_of_pairs(&self, present: &[usize]) -> Vec<f64> {
        let lower = factor(&self.correlation, present);
        let scores = self.scores(&lower, present);
        let divisor = self.variant.divisor(present.len());
        let rows: Vec<&[f64]> = scores.chunks_exact(determining(&lower).len().max(1)).collect();
        let to_earlier = |r: usize| {
            Cancellation::check();
            (0..r).map(move |s| (r, s))
        };
        (0..rows.len())
            .flat_map(to_earlier)
            .map(|(r, s)| squared_distance(rows[r], rows[s]) / divisor)
            .collect()
    }

    /// Returns the rows of the data, row-major, in coordinates whose Euclidean distance is the Mahalanobis
    /// distance of the features `present`. If all these features are constant, each row is a single zero.
    fn scores(&self, lower: &Mat<f64>, present: &[usize]) -> Vec<f64> {
        let determining = determining(lower);
        let mut scores = vec![0.0; present.len()];
        let mut all = Vec::with_capacity(self.data.rows().len() * determining.len().max(1));
        for row in self.units.chunks_exact(self.mean.len()) {
            Cancellation::check();
            for (score, &feature) in scores.iter_mut().zip(present) {
                *score = row[feature];
            }
            substitute(lower, &mut scores);
            if determining.is_empty() {
                all.push(0.0);
            }
            all.extend(determining.iter().map(|&i| scores[i]));
        }
        all
    }

    /// Returns the rows that represent X given `X_S = x_S`, with the given bandwidth.
    pub(super) fn given_with<'a>(
        &'a self,
        bandwidth: f64,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Box<dyn SyntheticRows + 'a> {
        let (data, counts) = (self.data.rows(), self.data.counts());
        let present: Vec<usize> = coalition.members().collect();
        let (chosen, weights) = if present.is_empty() {
            ((0..data.len()).collect(), counts.to_vec())
        } else {
            let weighed = WeightedRows::new(self.distances(explicand, &present), counts, bandwidth);
            match self.variant {
                Variant::Paper => weighed.with_ties(self.share, self.max_rows),
                Variant::Shapr => weighed.by_place(self.share, self.max_rows),
            }
        };
        Box::new(RowsOfData::new(data, explicand, coalition, chosen, weights))
    }
}

/// Returns the positions in `lower` of the features that are not determined by the features before them.
fn determining(lower: &Mat<f64>) -> Vec<usize> {
    (0..lower.nrows()).filter(|&i| lower[(i, i)] != 0.0).collect()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

impl ConditionalDistribution for EmpiricalDistribution {
    fn columns(&self) -> usize {
        self.mean.len()
    }

    /// Returns the maximum number of rows per coalition: the number of rows in the data, or the limit if it
    /// is smaller.
    fn draws(&self) -> usize {
        self.max_rows
    }

    fn sampling(&self) -> Sampling {
        Sampling::Weighted
    }

    fn condition<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
        Ok(self.given_with(self.bandwidth, explicand, coalition))
    }
}
