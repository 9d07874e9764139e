//! Bandwidth selection by the corrected Akaike information criterion (AICc).
//!
//! # Source
//!
//! Hurvich, Simonoff and Tsai, *Smoothing parameter selection in nonparametric regression using an improved
//! Akaike information criterion*, 1998; for empirical conditional distributions Aas, Jullum and Løland, 2021,
//! section 3.3.

use super::distribution::EmpiricalDistribution;
use crate::cancellation::Cancellation;
use crate::coalition::CoalitionView;
use crate::conditional::distribution::{ConditionalDistribution, Sampling};
use crate::error::GameError;
use crate::model::{Model, Rows};
use crate::shared::Shared;
use crate::synthetic::SyntheticRows;

/// Maximum number of rows of data. All pairwise distances for one coalition take 16 MB per thread.
const MAX_ROWS: usize = 2000;

/// The smallest bandwidth in the grid is 10 to this power.
const MIN_EXPONENT: i32 = -2;

/// Number of bandwidths in the grid: five per power of ten, up to 100.
const TRIED: usize = 21;

/// The golden-section search ends at this relative width of the interval.
const NARROW: f64 = 1e-7;

/// An empirical distribution that chooses the bandwidth for each explicand and coalition by minimizing the
/// AICc.
///
/// For a coalition S, the predictions `y_r = f(x_S, r_S̄)` of all N rows r are smoothed over the present
/// features: `ŷ = H y` with `H_rs = w_S(r, s) / Σ_t w_S(r, t)`, where w_S is the distribution's kernel
/// between two rows. The chosen bandwidth minimizes
///
/// ```text
/// AICc(σ) = ln(|y − ŷ|² / N) + (1 + tr(H)/N) / (1 − (tr(H) + 2)/N)
/// ```
///
/// (Hurvich, Simonoff and Tsai, 1998), summed over the outputs, among the σ from 0.01 to 100 with tr(H) + 2 <
/// N. The minimum is found on a coarse grid and refined by golden-section search. If the predictions `y_r` do
/// not vary, because the model does not depend on any absent feature, the bandwidth of the original
/// [`EmpiricalDistribution`] is used.
///
/// This corresponds to `AICc_full` in the R package shapr, which searches for a local minimum, starting at
/// 0.1, and stops after 20 steps. (Its `AICc_each_k` uses one bandwidth for the coalitions of equal size that
/// happen to be computed together.)
///
/// Choosing the bandwidth for a coalition takes N additional predictions and about 50 N² steps. The data may
/// have at most 2000 rows.
///
/// ```
/// use apportion_games::{Coalitions, ConditionalGame, EmpiricalDistribution, Game, Rows};
///
/// let data: Vec<f64> = (-50..=50).flat_map(|i| [f64::from(i) / 10.0, f64::from(i * i) / 100.0]).collect();
/// let model = |row: &[f64]| row[1];
/// let distribution = EmpiricalDistribution::fit(Rows::new(&data, 2))?.with_bandwidths_by_aicc(&model)?;
/// let game = ConditionalGame::new(&model, &[-3.0, 9.0], &distribution)?;
/// let mut value = [0.0];
/// game.values(&Coalitions::from_masks(2, [0b01]), &mut value)?;
/// // The second feature is a function of the first, so the narrowest kernel is the best.
/// assert!((value[0] - 9.0).abs() < 0.01);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
pub struct AdaptedEmpiricalDistribution<'a> {
    distribution: EmpiricalDistribution,
    model: Shared<'a, dyn Model + 'a>,
}

impl EmpiricalDistribution {
    /// Chooses the bandwidth for each explicand and coalition by the AICc of smoothing the predictions of
    /// `model`.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] for more than 2000 rows, [`GameError::TooFewRows`] for fewer than 4,
    /// [`GameError::Width`] if the model and the data have different numbers of features.
    pub fn with_bandwidths_by_aicc<'a>(
        self,
        model: impl Into<Shared<'a, dyn Model + 'a>>,
    ) -> Result<AdaptedEmpiricalDistribution<'a>, GameError> {
        let (model, rows) = (model.into(), self.data.rows());
        if let Some(wanted) = model.features().filter(|&features| features != rows.columns()) {
            let what = "a row of the empirical distribution".to_owned();
            return Err(GameError::Width { what, actual: rows.columns(), expected: wanted });
        }
        if rows.len() > MAX_ROWS {
            let what = format!(
                "choosing the bandwidth by AICc compares all pairs of rows and supports at most {MAX_ROWS} \
                 rows, got {}; use fewer rows, or set a bandwidth",
                rows.len()
            );
            return Err(GameError::Parameter { what });
        }
        let total = self.data.total().round() as usize;
        if total < 4 {
            return Err(GameError::TooFewRows {
                distribution: "choosing the bandwidth by AICc",
                actual: total,
                min: 4,
                hint: "use more rows, or set a bandwidth",
            });
        }
        Ok(AdaptedEmpiricalDistribution { distribution: self, model })
    }
}

impl AdaptedEmpiricalDistribution<'_> {
    /// Returns the bandwidth for a coalition that is neither empty nor the grand coalition.
    ///
    /// # Errors
    ///
    /// [`GameError::Model`] or [`GameError::NotFinite`] if the model fails.
    pub fn bandwidth(&self, explicand: &[f64], coalition: CoalitionView<'_>) -> Result<f64, GameError> {
        let present: Vec<usize> = coalition.members().collect();
        let outputs = self.responses(explicand, &present, coalition)?;
        if outputs.is_empty() {
            return Ok(self.distribution.bandwidth);
        }
        let smoother = Smoother {
            distances: self.distribution.distances_of_pairs(&present),
            counts: self.distribution.data.counts(),
            total: self.distribution.data.total(),
            outputs,
        };
        Ok(smoother.best_bandwidth())
    }

    /// Returns, for each output that varies, the predictions for the rows of the data with the explicand's
    /// present features. The predictions are shifted so that the first is 0, and scaled so that the largest
    /// magnitude is 1.
    fn responses(
        &self,
        explicand: &[f64],
        present: &[usize],
        coalition: CoalitionView<'_>,
    ) -> Result<Vec<Vec<f64>>, GameError> {
        let mut rows = self.distribution.data.rows().values().to_vec();
        for row in rows.chunks_exact_mut(explicand.len()) {
            present.iter().for_each(|&feature| row[feature] = explicand[feature]);
        }
        let rows = Rows::new(&rows, explicand.len());
        let k = self.model.outputs();
        let mut predictions = vec![f64::NAN; rows.len() * k];
        self.model
            .predict(rows, &mut predictions)
            .map_err(|source| GameError::from_model(source, coalition))?;
        if let Some(at) = predictions.iter().position(|prediction| !prediction.is_finite()) {
            let coalition = coalition.to_coalition();
            return Err(GameError::NotFinite { coalition, output: at % k, value: predictions[at] });
        }
        let outputs = (0..k).filter_map(|output| {
            let mut values: Vec<f64> = predictions.iter().skip(output).step_by(k).copied().collect();
            let size = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
            let first = values[0];
            values.iter_mut().for_each(|value| *value = *value / 2.0 - first / 2.0);
            let largest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
            values.iter_mut().for_each(|value| *value /= largest);
            // Smaller variation is the rounding error of a constant output.
            (largest > 1e-13 * size).then_some(values)
        });
        Ok(outputs.collect())
    }
}

impl std::fmt::Debug for AdaptedEmpiricalDistribution<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdaptedEmpiricalDistribution")
            .field("distribution", &self.distribution)
            .finish_non_exhaustive()
    }
}

impl ConditionalDistribution for AdaptedEmpiricalDistribution<'_> {
    fn columns(&self) -> usize {
        self.distribution.columns()
    }

    fn draws(&self) -> usize {
        self.distribution.draws()
    }

    fn sampling(&self) -> Sampling {
        self.distribution.sampling()
    }

    fn condition<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
        let bandwidth = match coalition.size() {
            0 => self.distribution.bandwidth,
            _ => self.bandwidth(explicand, coalition)?,
        };
        Ok(self.distribution.given_with(bandwidth, explicand, coalition))
    }
}

/// The data from which the AICc is computed for one coalition.
struct Smoother<'a> {
    /// Scaled squared distances between rows r and s < r, in order of r.
    distances: Vec<f64>,
    counts: &'a [f64],
    total: f64,
    outputs: Vec<Vec<f64>>,
}

impl Smoother<'_> {
    /// Returns AICc(σ), or infinity if tr(H) + 2 ≥ N.
    fn criterion(&self, bandwidth: f64) -> f64 {
        let (rows, k) = (self.counts.len(), self.outputs.len());
        // For each row r: Σ_s c_s w(r, s), and Σ_s c_s w(r, s) y_s for each output.
        let mut sums: Vec<f64> = self.counts.to_vec();
        let mut fits: Vec<f64> =
            (0..rows * k).map(|at| self.counts[at / k] * self.outputs[at % k][at / k]).collect();
        let per_distance = -0.5 / (bandwidth * bandwidth);
        let mut distances = self.distances.iter();
        for r in 0..rows {
            Cancellation::check();
            for (s, distance) in (0..r).zip(distances.by_ref()) {
                let weight = (distance * per_distance).exp();
                let (of_r, of_s) = (weight * self.counts[r], weight * self.counts[s]);
                sums[r] += of_s;
                sums[s] += of_r;
                for (output, values) in self.outputs.iter().enumerate() {
                    fits[r * k + output] += of_s * values[s];
                    fits[s * k + output] += of_r * values[r];
                }
            }
        }
        let trace: f64 = self.counts.iter().zip(&sums).map(|(count, sum)| count / sum).sum();
        let freedom = 1.0 - (trace + 2.0) / self.total;
        if freedom <= 0.0 {
            return f64::INFINITY;
        }
        let penalty = (1.0 + trace / self.total) / freedom;
        let of_output = |(output, values): (usize, &Vec<f64>)| {
            let square = |r: usize| self.counts[r] * (values[r] - fits[r * k + output] / sums[r]).powi(2);
            let squares: f64 = (0..rows).map(square).sum();
            (squares / self.total).max(f64::MIN_POSITIVE).ln() + penalty
        };
        self.outputs.iter().enumerate().map(of_output).sum()
    }

    /// Returns the bandwidth σ that minimizes the AICc.
    fn best_bandwidth(&self) -> f64 {
        let tried = |index: usize| 10f64.powf(f64::from(MIN_EXPONENT) + index as f64 / 5.0);
        let best =
            (0..TRIED).map(|index| (self.criterion(tried(index)), index)).min_by(|a, b| a.0.total_cmp(&b.0));
        let index = best.map_or(0, |(_, index)| index);
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (tried(index.saturating_sub(1)), tried((index + 1).min(TRIED - 1)));
        let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
        let (mut at_left, mut at_right) = (self.criterion(left), self.criterion(right));
        while high - low > NARROW * high {
            if at_left <= at_right {
                (high, right, at_right) = (right, left, at_left);
                left = high - ratio * (high - low);
                at_left = self.criterion(left);
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = low + ratio * (high - low);
                at_right = self.criterion(right);
            }
        }
        low.midpoint(high)
    }
}
