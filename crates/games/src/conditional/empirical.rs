//! The empirical law: rows of the data, weighted by how near they are to what is present.

use faer::Mat;

use crate::coalition::CoalitionView;
use crate::conditional::law::{ConditionalLaw, Sampling};
use crate::conditional::rows_of_data::RowsOfData;
use crate::conditional::unit_normal::{Standardized, factor, in_units, solve, substitute};
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
/// scaled by their number. Rows count from the nearest on, equal distances in the order of the data, until they hold a share η of all
/// weight.
///
/// - *Bandwidth* σ, without unit; 0.1 unless [changed](Self::with_bandwidth), as the paper uses. A small one trusts few near rows (small
///   bias, large variance), a large one takes rows that do not resemble the explicand: as σ grows, the game becomes the marginal one.
/// - *Share* η: 0.95 unless [changed](Self::with_share). With 1 all rows count.
/// - *Rows* per coalition: all that the share needs, unless [limited](Self::with_most_rows).
/// - v(∅) is the mean over all rows, whatever the share and the limit.
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
    rows: Vec<f64>,
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// The rows in standard units, one after the other.
    units: Vec<f64>,
    correlation: Mat<f64>,
    bandwidth: f64,
    share: f64,
    most_rows: usize,
}

impl EmpiricalLaw {
    /// The rows of the data, with bandwidth 0.1, share 0.95 and no limit of rows.
    ///
    /// # Errors
    ///
    /// [`GameError::MissingValue`] and [`GameError::InfiniteInput`] with row and column, [`GameError::TooFewRows`] for fewer than n + 1
    /// rows, which are all equally far from each other, [`GameError::Covariance`] if numbers are too large for a variance.
    pub fn fit(rows: Rows<'_>) -> Result<Self, GameError> {
        let standardized = Standardized::new(rows, "an empirical law")?;
        let units = &standardized.units;
        Ok(Self {
            rows: rows.values().to_vec(),
            units: (0..rows.len()).flat_map(|i| (0..rows.columns()).map(move |j| units[(i, j)])).collect(),
            correlation: standardized.correlation(),
            mean: standardized.mean,
            scale: standardized.scale,
            bandwidth: 0.1,
            share: 0.95,
            most_rows: rows.len(),
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
        self.most_rows = rows.min(self.rows.len() / self.mean.len());
        Ok(self)
    }

    /// `|S| D_S(x, r)²` for each row r of the data; `present` are the features of S.
    fn squared_distances(&self, explicand: &[f64], present: &[usize]) -> Vec<f64> {
        let lower = factor(&self.correlation, present);
        let mut from: Vec<f64> =
            present.iter().map(|&j| in_units(explicand[j], self.mean[j], self.scale[j])).collect();
        solve(&lower, &mut from);
        let determining: Vec<usize> = (0..present.len()).filter(|&i| lower[(i, i)] != 0.0).collect();
        let mut scores = vec![0.0; present.len()];
        let distance = |row: &[f64]| {
            for (score, &feature) in scores.iter_mut().zip(present) {
                *score = row[feature];
            }
            substitute(&lower, &mut scores);
            determining.iter().map(|&i| (scores[i] - from[i]).powi(2)).sum()
        };
        self.units.chunks_exact(self.mean.len()).map(distance).collect()
    }
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
        let data = Rows::new(&self.rows, self.mean.len());
        let mut chosen: Vec<usize> = (0..data.len()).collect();
        let present: Vec<usize> = coalition.members().collect();
        if present.is_empty() {
            let weights = vec![1.0; data.len()];
            return Ok(Box::new(RowsOfData::new(data, explicand, coalition, chosen, weights)));
        }
        let distances = self.squared_distances(explicand, &present);
        chosen.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        let nearest = distances[chosen[0]];
        // Divided one by one: the square of the bandwidth may underflow.
        let weight = |&row: &usize| {
            let farther = (distances[row] - nearest) / present.len() as f64;
            (-farther / self.bandwidth / self.bandwidth / 2.0).exp()
        };
        let mut weights: Vec<f64> = chosen.iter().map(weight).collect();
        let wanted = self.share * weights.iter().sum::<f64>();
        let held = weights.iter().scan(0.0, |held, weight| {
            *held += weight;
            Some(*held)
        });
        let short =
            if self.share < 1.0 { held.take_while(|&held| held < wanted).count() } else { data.len() };
        let count = (short + 1).min(self.most_rows);
        chosen.truncate(count);
        weights.truncate(count);
        Ok(Box::new(RowsOfData::new(data, explicand, coalition, chosen, weights)))
    }
}
