//! LIME: a linear surrogate of a game near the coalition of all players.
//!
//! # Source
//!
//! Ribeiro, Singh and Guestrin, *"Why Should I Trust You?": Explaining the Predictions of Any Classifier*, KDD 2016: section 3.3 (draws
//! near the explicand), equation 2 (locality-aware square loss), section 3.4 (exponential kernel on a distance, the cosine distance for
//! texts). The paper leaves open how exactly players are removed, how wide the kernel is and how the regression is regularized; there we
//! take what the authors' `lime` package does. It departs from the paper in two things: its kernel is the square root of the paper's, so
//! that its width is √2 times as wide, and for images it takes the cosine distance as well, not the Euclidean one.
//!
//! Its choice of at most K players is left out: all of them get a coefficient, as in comparisons of rankings.

mod sampling;

use apportion_games::{CoalitionView, Game};
use apportion_samplers::{SamplerError, most_rows};
use apportion_solvers::{Design, SolverError, ridge};
use serde::{Deserialize, Serialize};

use crate::error::EstimatorError;

pub use sampling::LimeSampling;

/// LIME: weighted ridge regression on coalitions near the one of all players.
///
/// ```text
/// φ, β = argmin Σ_k π(z_k) (β + ⟨z_k, φ⟩ − v(z_k))² + α ‖φ‖²
/// π(z) = exp(−D(z)² / (2σ²)),   D(z) = 1 − √(|z|/n)
/// ```
///
/// D is the cosine distance between the bits of z and those of all players, 1 for the empty coalition. The `lime` package states it in
/// hundredths for texts, where its width is 25, and in units for images, where it is 0.25: the same σ = ¼, the default of both here.
///
/// What this computes is no value of the game. It has no axioms: the coefficients do not add up to `v(N) − v(∅)`, even those of an
/// additive game are shrunk by α, and how much depends on the budget. So LIME is not an [`Estimator`](crate::Estimator).
///
/// A budget of m makes m draws. Coalitions that are drawn repeatedly are evaluated once, all in one batch, and weigh as often as they
/// were drawn.
///
/// Takes `O(T + m n² + n³)` time, `T` being the time of at most m evaluations.
///
/// ```
/// use apportion_estimators::Lime;
/// use apportion_games::{Background, MarginalGame};
///
/// let model = |row: &[f64]| 2.0 * row[0] - row[1];
/// let background = Background::baseline(vec![0.0; 2])?;
/// let game = MarginalGame::new(&model, &[1.0, 3.0], &background)?;
/// let surrogate = Lime { ridge: 0.0, ..Lime::default() }.explain(&game, 50, 0)?;
/// assert!((surrogate.coefficients[0] - 2.0).abs() < 1e-12);
/// assert!((surrogate.coefficients[1] + 3.0).abs() < 1e-12);
/// assert_eq!(surrogate.evaluations, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lime {
    /// How coalitions are drawn; [`LimeSampling::UniformRemovals`] by default.
    pub sampling: LimeSampling,
    /// σ, in units of the cosine distance; 0.25 by default.
    pub kernel_width: f64,
    /// α, the penalty; 1 by default. It weighs against the sum of at most m weights π ≤ 1.
    pub ridge: f64,
    /// Whether β is fitted, without a penalty; else it is 0. True by default.
    pub intercept: bool,
}

impl Default for Lime {
    fn default() -> Self {
        Self { sampling: LimeSampling::default(), kernel_width: 0.25, ridge: 1.0, intercept: true }
    }
}

/// The surrogate of a game that [`Lime`] fits: `v(S) ≈ β + Σ_{i∈S} φ_i` near the coalition of all players.
///
/// `n` players, `k` outputs; all matrices are row-major.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimeExplanation {
    /// φ: n × k numbers, in units of the outputs.
    pub coefficients: Vec<f64>,
    /// β: k numbers; zeros where none was fitted.
    pub intercept: Vec<f64>,
    /// v(N): k numbers.
    pub prediction: Vec<f64>,
    /// The weighted coefficient of determination, k numbers, dimensionless: `1 − Σ π (v − β − ⟨z, φ⟩)² / Σ π (v − v̄)²`, with the weighted
    /// mean v̄, or 0 where no intercept is fitted. 1 where nothing varies.
    pub r_squared: Vec<f64>,
    /// Rank of the regression, an intercept not counted: n, unless there is no penalty and too few different coalitions; then the
    /// coefficients are those of least norm.
    pub rank: usize,
    /// Coalitions drawn, that of all players included.
    pub draws: usize,
    /// Evaluations of the game used; v(∅) counts only if it was drawn.
    pub evaluations: usize,
    /// Different coalitions among the draws. Each is evaluated once.
    pub distinct_coalitions: usize,
    /// Rows that the model behind the game predicted.
    pub model_rows: usize,
    /// The seed of all draws.
    pub seed: u64,
}

impl LimeExplanation {
    /// Number of outputs `k`.
    pub fn outputs(&self) -> usize {
        self.intercept.len()
    }

    /// `β + Σφ`, what the surrogate says of all players together: k numbers, to set beside [`prediction`](Self::prediction).
    pub fn local_prediction(&self) -> Vec<f64> {
        let sum = |output: usize| self.coefficients.iter().skip(output).step_by(self.outputs()).sum::<f64>();
        self.intercept.iter().enumerate().map(|(output, intercept)| intercept + sum(output)).collect()
    }
}

impl Lime {
    /// LIME for images, the players being superpixels: [`LimeSampling::FairCoins`].
    pub fn superpixels() -> Self {
        Self { sampling: LimeSampling::FairCoins, ..Self::default() }
    }

    /// Fits the surrogate on `budget` draws.
    ///
    /// # Errors
    ///
    /// [`EstimatorError`] for a game without players, a budget below 2 (the coalition of all players and one draw) or above
    /// [`most_rows`], a kernel width that is not positive and finite, a penalty that is negative or not finite, and what the game
    /// cannot say.
    pub fn explain(
        &self,
        game: &dyn Game,
        budget: usize,
        seed: u64,
    ) -> Result<LimeExplanation, EstimatorError> {
        let (players, outputs) = (game.players(), game.outputs());
        self.check(players, budget)?;
        let (coalitions, times) = self.sampling.draw(players, budget, seed);
        let weights: Vec<f64> = coalitions
            .iter()
            .zip(&times)
            .map(|(row, &times)| self.proximity(row) * f64::from(times))
            .collect();
        let design = Design::new(&coalitions, &weights)?;
        let design = if self.intercept { design.with_intercept() } else { design };
        let mut values = vec![0.0; coalitions.len() * outputs];
        game.values(&coalitions, &mut values)?;
        let fit = ridge(&design, &values, outputs, self.ridge)?;
        values.truncate(outputs);
        Ok(LimeExplanation {
            coefficients: fit.coefficients().to_vec(),
            intercept: fit.intercepts().map_or_else(|| vec![0.0; outputs], <[f64]>::to_vec),
            prediction: values,
            r_squared: fit.determination().to_vec(),
            rank: fit.rank(),
            draws: budget,
            evaluations: coalitions.len(),
            distinct_coalitions: coalitions.len(),
            model_rows: coalitions.len() * game.rows_per_coalition(),
            seed,
        })
    }

    /// Before any work.
    fn check(&self, players: usize, budget: usize) -> Result<(), EstimatorError> {
        if players == 0 {
            return Err(EstimatorError::NoPlayers);
        }
        if budget < 2 {
            return Err(EstimatorError::Budget { method: "lime", given: budget, least: 2, players });
        }
        if budget > most_rows(players) {
            return Err(SamplerError::TooManyRows { given: budget, most: most_rows(players) }.into());
        }
        if !(self.kernel_width.is_finite() && self.kernel_width > 0.0) {
            return Err(EstimatorError::KernelWidth { given: self.kernel_width });
        }
        if !(self.ridge.is_finite() && self.ridge >= 0.0) {
            return Err(SolverError::Penalty { value: self.ridge }.into());
        }
        Ok(())
    }

    /// π, the weight of one draw.
    fn proximity(&self, coalition: CoalitionView<'_>) -> f64 {
        let distance = 1.0 - (coalition.size() as f64 / coalition.players() as f64).sqrt();
        (-0.5 * (distance / self.kernel_width).powi(2)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Coalitions, SumOfUnanimity};

    #[test]
    fn weights_fall_with_the_cosine_distance() {
        let lime = Lime::default();
        let of = |masks: &[u64]| -> Vec<f64> {
            Coalitions::from_masks(4, masks.iter().copied()).iter().map(|row| lime.proximity(row)).collect()
        };
        // Cosines 1, ½√3, ½ and, by definition, 0: distances 1 minus those, in hundredths at width 25 as in units at width ¼.
        let kernel = |hundredths: f64| (-hundredths * hundredths / (25.0 * 25.0)).exp().sqrt();
        let wanted = [1.0, kernel(100.0 - 50.0 * 3.0_f64.sqrt()), kernel(50.0), kernel(100.0)];
        for (got, want) in of(&[15, 7, 1, 0]).iter().zip(wanted) {
            assert!((got - want).abs() < 1e-15, "{got}, not {want}");
        }
    }

    /// Solves a square system by Gaussian elimination with partial pivoting; each row ends with its right-hand side.
    fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
        for column in 0..rows.len() {
            let size = |row: &usize| rows[*row][column].abs();
            let pivot = (column..rows.len()).max_by(|a, b| size(a).total_cmp(&size(b)));
            rows.swap(column, pivot.unwrap_or(column));
            let pivot = rows[column].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != column) {
                let factor = row[column] / pivot[column];
                row.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
            }
        }
        rows.iter().enumerate().map(|(index, row)| row[rows.len()] / row[index]).collect()
    }

    /// The regression on all draws, one by one, by normal equations in which the intercept is one more column.
    #[test]
    fn coefficients_are_those_of_the_draws_one_by_one() {
        for (players, draws) in [(1, 5), (2, 9), (5, 40), (8, 12), (70, 200), (131, 90)] {
            for sampling in [LimeSampling::UniformRemovals, LimeSampling::FairCoins] {
                let lime = Lime { sampling, kernel_width: 0.4, ridge: 0.3, intercept: true };
                let game = SumOfUnanimity::random(players, 30, 3, 5);
                let got = lime.explain(&game, draws, 11).unwrap();
                let (coalitions, times) = sampling.draw(players, draws, 11);
                let mut values = vec![0.0; coalitions.len()];
                game.values(&coalitions, &mut values).unwrap();
                let columns = players + 1;
                let mut system = vec![vec![0.0; columns + 1]; columns];
                for (index, row) in coalitions.iter().enumerate() {
                    for _ in 0..times[index] {
                        let bit =
                            |i: usize| if i == players { 1.0 } else { f64::from(u8::from(row.contains(i))) };
                        let norm = (0..players).map(|i| bit(i) * bit(i)).sum::<f64>().sqrt();
                        let common: f64 = (0..players).map(bit).sum();
                        let cosine =
                            if norm == 0.0 { 0.0 } else { common / (norm * (players as f64).sqrt()) };
                        let weight = (-(1.0 - cosine).powi(2) / (2.0 * 0.4 * 0.4)).exp();
                        for (i, equation) in system.iter_mut().enumerate() {
                            (0..columns).for_each(|j| equation[j] += weight * bit(i) * bit(j));
                            equation[columns] += weight * bit(i) * values[index];
                        }
                    }
                }
                (0..players).for_each(|i| system[i][i] += 0.3);
                let want = eliminate(system);
                let scale = want.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
                for player in 0..players {
                    let (got, want) = (got.coefficients[player], want[player]);
                    assert!((got - want).abs() < 1e-9 * scale, "{players} players: {got}, not {want}");
                }
                assert!((got.intercept[0] - want[players]).abs() < 1e-9 * scale);
            }
        }
    }
}
