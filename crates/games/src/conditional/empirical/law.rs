//! The law, with a bandwidth that is given.

use faer::Mat;

use super::kept::Weighed;
use crate::cancellation::Cancellation;
use crate::coalition::CoalitionView;
use crate::conditional::counted::Counted;
use crate::conditional::law::{ConditionalLaw, Sampling, check_data};
use crate::conditional::rows_of_data::RowsOfData;
use crate::conditional::unit_normal::{
    Standardized, check_enough, correlation, factor, in_units, solve, substitute,
};
use crate::error::GameError;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// Rows of the data, weighted by a Gaussian kernel of their distance from the explicand in the features present.
///
/// ```text
/// D_S(x, r)² = (x_S − r_S)ᵀ Σ_SS⁻¹ (x_S − r_S) / |S|
/// w_S(x, r)  = exp(−D_S(x, r)² / (2 σ²))
/// v(S)       = Σ_r w_S(x, r) f(x_S, r_S̄) / Σ_r w_S(x, r)
/// ```
///
/// (Aas, Jullum and Løland, 2021, section 3.3.) Σ_SS is the covariance of the present features, so that D_S is a Mahalanobis distance
/// scaled by their number. Rows count from the nearest on until they hold a share η of all weight; rows as far as the last of these
/// count as well. So the order of the data does not matter: values have the same bits in any.
///
/// - *Bandwidth* σ, without unit; 0.1 unless [changed](Self::with_bandwidth), as the paper uses. A small one trusts few near rows (small
///   bias, large variance), a large one takes rows that do not resemble the explicand: as σ grows, the game becomes the marginal one. It
///   may be [chosen by the model](Self::with_bandwidths_by_aicc).
/// - *Share* η: 0.95 unless [changed](Self::with_share). With 1 all rows count.
/// - *Rows* per coalition: all that the share needs, unless [limited](Self::with_most_rows). Where rows equally far are more than there is
///   room for, some of them share the weight of all: those at even steps of weight in the order of their values.
/// - v(∅) is the mean over all rows, whatever the share and the limit.
///
/// # As in shapr
///
/// [`as_in_shapr`](Self::as_in_shapr) gives the numbers of the R package shapr (`approach = "empirical"`, 1.0.9), which departs from the
/// paper: it divides by |S|² where D_S² has |S|, and of rows equally far it leaves out those that come first, as few as one of them, so
/// that its values depend on the order of the data.
///
/// Weights are relative to the nearest row, so that an explicand far from all rows is explained by the nearest ones. Constant and
/// collinear columns are legal: a constant feature says nothing, and Σ_SS⁻¹ is a pseudo-inverse, as in
/// [`GaussianLaw`](crate::GaussianLaw).
///
/// A coalition takes `O(n³ + N |S|² + N log N)` time.
///
/// ```
/// use apportion_games::{Coalitions, ConditionalGame, EmpiricalLaw, Game, Rows};
///
/// // The second feature is the square of the first.
/// let data: Vec<f64> = (-50..=50).flat_map(|i| [f64::from(i) / 10.0, f64::from(i * i) / 100.0]).collect();
/// let law = EmpiricalLaw::fit(Rows::new(&data, 2))?;
/// let model = |row: &[f64]| row[1];
/// let game = ConditionalGame::new(&model, &[-3.0, 9.0], &law)?;
/// let mut value = [0.0];
/// game.values(&Coalitions::from_masks(2, [0b01]), &mut value)?;
/// assert!((value[0] - 9.0).abs() < 0.2);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EmpiricalLaw {
    pub(super) data: Counted,
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// The rows in standard units, one after the other.
    units: Vec<f64>,
    correlation: Mat<f64>,
    variant: Variant,
    pub(super) bandwidth: f64,
    share: f64,
    most_rows: usize,
}

/// How rows are weighed and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    /// As published.
    Paper,
    /// As the package computes.
    Shapr,
}

impl Variant {
    /// What squared Mahalanobis distances in some number of features are divided by.
    fn divisor(self, features: usize) -> f64 {
        match self {
            Self::Paper => features as f64,
            Self::Shapr => (features * features) as f64,
        }
    }
}

impl EmpiricalLaw {
    /// The rows of the data, with bandwidth 0.1, share 0.95 and no limit of rows.
    ///
    /// # Errors
    ///
    /// [`GameError::MissingValue`] and [`GameError::InfiniteInput`] with row and column, [`GameError::TooFewRows`] for fewer than n + 1
    /// rows, which are all equally far from each other, [`GameError::Covariance`] if numbers are too large for a variance.
    pub fn fit(rows: Rows<'_>) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(Counted::once(rows).sorted(), Variant::Paper)
    }

    /// The rows of the data, each of which has its weight times that of the kernel.
    ///
    /// Whole weights say how often a row stands in the data; others are a proportion and are scaled to sum to the number of rows. Rows
    /// of weight 0 are left out. A limit of rows counts rows, whatever their weights.
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit); [`GameError::BackgroundWeights`] unless there is one weight per row, all finite, none negative, not all zero.
    pub fn fit_weighted(rows: Rows<'_>, weights: &[f64]) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(Counted::weighted(rows, weights)?.sorted(), Variant::Paper)
    }

    /// The rows of the data as the R package shapr weighs and keeps them, see [above](Self#as-in-shapr).
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit).
    pub fn as_in_shapr(rows: Rows<'_>) -> Result<Self, GameError> {
        check_data(rows)?;
        Self::counted(Counted::once(rows), Variant::Shapr)
    }

    fn counted(data: Counted, variant: Variant) -> Result<Self, GameError> {
        check_enough(&data, "an empirical law")?;
        let Standardized { mean, scale, units } = Standardized::new(&data)?;
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
            most_rows: rows,
        })
    }

    /// The same law with bandwidth σ.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] unless it is finite and above zero.
    pub fn with_bandwidth(mut self, bandwidth: f64) -> Result<Self, GameError> {
        if !(bandwidth.is_finite() && bandwidth > 0.0) {
            return Err(GameError::Parameter {
                what: format!("a bandwidth is finite and above 0, not {bandwidth}"),
            });
        }
        self.bandwidth = bandwidth;
        Ok(self)
    }

    /// The same law with the share η of weight that the rows of a coalition hold at least.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] unless it is above 0 and at most 1.
    pub fn with_share(mut self, share: f64) -> Result<Self, GameError> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(GameError::Parameter {
                what: format!("the share of weight that rows hold is above 0 and at most 1, not {share}"),
            });
        }
        self.share = share;
        Ok(self)
    }

    /// The same law with at most `rows` rows for a coalition, the empty one excepted; more than there are is no limit.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for 0.
    pub fn with_most_rows(mut self, rows: usize) -> Result<Self, GameError> {
        if rows == 0 {
            return Err(GameError::Parameter {
                what: "a conditional law takes at least one row per coalition, not 0".to_owned(),
            });
        }
        self.most_rows = rows.min(self.data.rows().len());
        Ok(self)
    }

    /// D_S(x, r)² for each row r of the data; `present` are the features of S.
    fn distances(&self, explicand: &[f64], present: &[usize]) -> Vec<f64> {
        let lower = factor(&self.correlation, present);
        let divisor = self.variant.divisor(present.len());
        let determining = determining(&lower);
        if determining.len() == present.len() {
            // Differences before units: what is equally far on both sides has the same digits.
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

    /// D_S(r, s)² for each pair of rows s < r of the data, one r after the other.
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

    /// What is left of each row, one after the other, in units in which distances are Euclidean; a zero where nothing is left.
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

    /// The rows that stand for X given `X_S = x_S` with this bandwidth.
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
            let weighed = Weighed::new(self.distances(explicand, &present), counts, bandwidth);
            match self.variant {
                Variant::Paper => weighed.with_ties(self.share, self.most_rows),
                Variant::Shapr => weighed.by_place(self.share, self.most_rows),
            }
        };
        Box::new(RowsOfData::new(data, explicand, coalition, chosen, weights))
    }
}

/// The features, by place, that are not determined by those before them.
fn determining(lower: &Mat<f64>) -> Vec<usize> {
    (0..lower.nrows()).filter(|&i| lower[(i, i)] != 0.0).collect()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

impl ConditionalLaw for EmpiricalLaw {
    fn columns(&self) -> usize {
        self.mean.len()
    }

    /// The most rows of a coalition: those of the data or the limit.
    fn draws(&self) -> usize {
        self.most_rows
    }

    fn sampling(&self) -> Sampling {
        Sampling::Weighted
    }

    fn given<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
        Ok(self.given_with(self.bandwidth, explicand, coalition))
    }
}
