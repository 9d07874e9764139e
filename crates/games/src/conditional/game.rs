//! The conditional game of an explicand.

use crate::coalition::{Coalition, CoalitionView};
use crate::coalitions::Coalitions;
use crate::conditional::distribution::{ConditionalDistribution, Sampling, refuse_infinite, refuse_missing};
use crate::error::GameError;
use crate::game::Game;
use crate::model::Model;
use crate::synthetic::{AveragedModel, OneRow, SyntheticRows, pairwise, weigh};

/// The conditional game of an explicand under a distribution of the features. The features are the players.
///
/// ```text
/// v(S) = E[f(X) | X_S = x_S] ≈ Σ_d w_d f(x_S, x̃_d)
/// ```
///
/// v(S) is the expected prediction given that the features in S equal those of the explicand x (v^CE in
/// Kotsiopoulos et al., 2023). It is computed as the weighted mean of the predictions for the M rows that the
/// distribution provides for S. v(N) = f(x) exactly; v(∅) is the unconditional mean.
///
/// For an [affine](Model::is_affine) model, `E[f(X) | X_S = x_S] = f(E[X | X_S = x_S])`. If the distribution
/// [provides means](ConditionalDistribution::mean), as normal distributions do, each coalition is evaluated
/// at a single row, the mean, and nothing is drawn.
///
/// A coalition takes up to M predictions of the model (the grand coalition a single one), and the time to
/// condition the distribution on S. If the distribution draws at random with equal weights, draw d is
/// scenario d. Otherwise the weights depend on the coalition, and there is a single scenario.
///
/// ```
/// use apportion_games::{Coalitions, ConditionalGame, Game, GaussianDistribution};
///
/// // Two features of mean 0 and variance 1 with correlation 0.8; 1000 draws.
/// let distribution = GaussianDistribution::new(&[0.0, 0.0], &[1.0, 0.8, 0.8, 1.0], 1000, 42)?;
/// let model = |row: &[f64]| row[1];
/// let game = ConditionalGame::new(&model, &[2.0, -1.0], &distribution)?;
///
/// let batch = Coalitions::from_masks(2, 0..4);
/// let (mut values, mut errors) = ([0.0; 4], [0.0; 4]);
/// game.values(&batch, &mut values)?;
/// game.standard_errors(&batch, &mut errors)?;
/// // The model ignores the first feature, but it predicts the second: E[X_1 | X_0 = 2] = 0.8 · 2.
/// for (value, (error, exact)) in values.iter().zip(errors.iter().zip([0.0, 1.6, -1.0, -1.0])) {
///     assert!((value - exact).abs() <= 3.0 * error);
/// }
/// // If the second feature is present, the value does not depend on any draw.
/// assert!(errors[0] > 0.0 && errors[1] > 0.0);
/// assert_eq!(errors[2..], [0.0, 0.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
pub struct ConditionalGame<'a, M: ?Sized, L: ?Sized> {
    model: AveragedModel<'a, M>,
    explicand: Vec<f64>,
    distribution: &'a L,
    /// Whether each coalition is evaluated at the conditional mean only.
    by_means: bool,
}

impl<'a, M: Model + ?Sized, L: ConditionalDistribution + ?Sized> ConditionalGame<'a, M, L> {
    /// Creates the game of `explicand` under `distribution`.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] if explicand, distribution and model have different numbers of features;
    /// [`GameError::MissingValue`] or [`GameError::InfiniteInput`] if the explicand has a missing or infinite
    /// value that the distribution does not support; [`GameError::Parameter`] if the model has no outputs.
    pub fn new(model: &'a M, explicand: &[f64], distribution: &'a L) -> Result<Self, GameError> {
        let is_affine = model.is_affine();
        let model =
            AveragedModel::new(model, distribution.columns(), "a row of the conditional distribution")?;
        if explicand.len() != distribution.columns() {
            return Err(GameError::Width {
                what: "the explicand".to_owned(),
                actual: explicand.len(),
                expected: distribution.columns(),
            });
        }
        let what = || "the explicand".to_owned();
        if !distribution.takes_infinite_values() {
            refuse_infinite(explicand, what)?;
        }
        if !distribution.takes_missing_values() {
            refuse_missing(explicand, what)?;
        }
        let by_means =
            is_affine && distribution.mean(explicand, Coalition::empty(explicand.len()).view()).is_some();
        Ok(Self { model, explicand: explicand.to_vec(), distribution, by_means })
    }

    /// Returns the row that is explained.
    pub fn explicand(&self) -> &[f64] {
        &self.explicand
    }

    /// Returns the distribution of the features.
    pub fn distribution(&self) -> &'a L {
        self.distribution
    }

    /// Returns how the rows of this game represent the distribution: exactly, if the model is
    /// [affine](Model::is_affine) and the distribution [provides means](ConditionalDistribution::mean), else
    /// as the distribution specifies.
    pub fn sampling(&self) -> Sampling {
        if self.by_means { Sampling::Exact } else { self.distribution.sampling() }
    }

    /// Returns the number of rows per coalition.
    fn draws(&self) -> usize {
        if self.by_means { 1 } else { self.distribution.draws() }
    }

    /// Writes the standard error of v(S_j) to `out[j·k .. (j+1)·k]` for each row `S_j` of `batch`: m × k
    /// numbers, row-major, in the units of the model.
    ///
    /// ```text
    /// √(s² Σ_d w_d²),   s² = Σ_d w_d (f_d − v)² / Σ_d w_d (1 − w_d)
    /// ```
    ///
    /// For M independent draws, this is the standard deviation of their predictions (divisor M − 1), divided
    /// by √M. For antithetic draws, the same formula is applied to the M/2 means of pairs. For weighted rows,
    /// it is the standard deviation divided by the square root of the effective sample size 1/Σw². The
    /// standard error is zero for N, for exact distributions, and if all predictions are equal. It is
    /// infinite if there is only a single row or pair.
    ///
    /// The standard error accounts for the randomness of the draws or, for weighted rows, of the sampled
    /// data. It does not account for the error of fitting the distribution to finitely many rows, for
    /// misspecification of the distribution, or for the distance of weighted rows from the explicand.
    ///
    /// Takes the same number of predictions as [`values`](Game::values). Each thread stores the predictions
    /// for one coalition.
    ///
    /// # Errors
    ///
    /// Same as [`values`](Game::values).
    ///
    /// # Panics
    ///
    /// If `out.len()` is not `batch.len() · k`, or the number of players of the batch differs.
    pub fn standard_errors(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let k = self.model.outputs();
        assert_eq!(out.len(), batch.len() * k, "`out` must hold one error per coalition and output");
        if self.sampling() == Sampling::Exact {
            assert_eq!(batch.players(), self.players(), "the coalitions belong to another game");
            out.fill(0.0);
            return Ok(());
        }
        let mut both = vec![0.0; 2 * out.len()];
        self.values_and_errors(batch, &mut both)?;
        for (both, out) in both.chunks_exact(2 * k).zip(out.chunks_exact_mut(k)) {
            out.copy_from_slice(&both[k..]);
        }
        Ok(())
    }

    /// Writes the k values of each coalition, followed by their k standard errors, from the same predictions.
    pub(super) fn values_and_errors(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let k = self.model.outputs();
        assert_eq!(batch.players(), self.players(), "the coalitions belong to another game");
        let model = self.model.any();
        model.pieces(out, 2 * k, &|(index, out)| {
            let coalition = batch.row(index);
            let rows = self.rows_of(coalition)?;
            let mut predictions = model.predictions(coalition, &rows)?;
            let (values, errors) = out.split_at_mut(k);
            if let Some(at) = predictions.iter().position(|prediction| !prediction.is_finite()) {
                return Err(GameError::NotFinite {
                    coalition: coalition.to_coalition(),
                    output: at % k,
                    value: predictions[at],
                });
            }
            for (output, error) in errors.iter_mut().enumerate() {
                if coalition.size() == self.players() {
                    *error = 0.0;
                    continue;
                }
                let of_output = predictions.iter().skip(output).step_by(k).copied();
                *error = if self.sampling() == Sampling::Antithetic {
                    let all: Vec<f64> = of_output.collect();
                    let pairs: Vec<f64> = all.chunks(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0).collect();
                    error_of_mean(&pairs, &vec![1.0 / pairs.len() as f64; pairs.len()])
                } else {
                    error_of_mean(&of_output.collect::<Vec<f64>>(), rows.weights())
                };
            }
            weigh(&mut predictions, rows.weights());
            values.copy_from_slice(pairwise(&mut predictions, k));
            Ok(())
        })
    }

    fn rows_of(&self, coalition: CoalitionView<'_>) -> Result<Box<dyn SyntheticRows + '_>, GameError> {
        if coalition.size() == self.explicand.len() {
            return Ok(Box::new(OneRow(self.explicand.clone())));
        }
        let mean = if self.by_means { self.distribution.mean(&self.explicand, coalition) } else { None };
        match mean {
            Some(mean) => Ok(Box::new(OneRow(mean))),
            None => self.distribution.condition(&self.explicand, coalition),
        }
    }
}

/// Omits the model and the distribution, because they need not implement `Debug`.
impl<M: ?Sized, L: ?Sized> std::fmt::Debug for ConditionalGame<'_, M, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConditionalGame")
            .field("explicand", &self.explicand)
            .field("outputs", &self.model.outputs())
            .finish_non_exhaustive()
    }
}

impl<M: Model + ?Sized, L: ConditionalDistribution + ?Sized> Game for ConditionalGame<'_, M, L> {
    fn players(&self) -> usize {
        self.explicand.len()
    }

    fn outputs(&self) -> usize {
        self.model.outputs()
    }

    fn rows_per_coalition(&self) -> usize {
        self.draws()
    }

    fn parallel(&self) -> bool {
        self.model.parallel()
    }

    fn scenarios(&self) -> usize {
        match self.sampling() {
            Sampling::Independent | Sampling::Antithetic => self.draws(),
            Sampling::Weighted | Sampling::Exact => 1,
        }
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        match self.sampling() {
            Sampling::Independent | Sampling::Antithetic => self.model.any().values_in_scenarios(
                batch,
                scenarios,
                &|coalition| self.rows_of(coalition),
                out,
            ),
            Sampling::Weighted | Sampling::Exact => {
                assert_eq!(scenarios.len(), batch.len(), "expected one scenario per coalition");
                self.values(batch, out)
            }
        }
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.model.any().values(batch, self.draws(), &|coalition| self.rows_of(coalition), out)
    }
}

/// Returns the standard error of the weighted mean of `values`; `weights` sum to 1.
fn error_of_mean(values: &[f64], weights: &[f64]) -> f64 {
    let sum = |term: &dyn Fn(f64, f64) -> f64| {
        let mut terms: Vec<f64> =
            values.iter().zip(weights).map(|(&value, &weight)| term(value, weight)).collect();
        pairwise(&mut terms, 1)[0]
    };
    // Subtract the first value, so that the mean of equal values is exact.
    let start = values[0];
    let mean = start + sum(&|value, weight| weight * (value - start));
    let largest = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    if values.len() > 1 && largest == 0.0 {
        return 0.0;
    }
    let spread = sum(&|value, weight| weight * ((value - mean) / largest).powi(2));
    let freedom = sum(&|_, weight| weight * (1.0 - weight));
    if freedom <= 0.0 {
        return f64::INFINITY;
    }
    largest * (spread / freedom * sum(&|_, weight| weight * weight)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_equal_weights_is_the_standard_deviation_over_the_root() {
        let values = [1.0, 2.0, 4.0, 9.0];
        let variance = (9.0 + 4.0 + 0.0 + 25.0) / 3.0_f64;
        assert!((error_of_mean(&values, &[0.25; 4]) - (variance / 4.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn rows_of_no_weight_change_no_error() {
        let (values, weights) = ([1.0, 2.0, 4.0, 1e6], [0.2, 0.3, 0.5, 0.0]);
        let error = error_of_mean(&values, &weights);
        assert!((error - error_of_mean(&values[..3], &weights[..3])).abs() < 1e-9 * error);
    }

    #[test]
    fn an_error_that_a_single_row_cannot_tell_is_infinite() {
        assert_eq!(error_of_mean(&[3.0], &[1.0]), f64::INFINITY);
        assert_eq!(error_of_mean(&[3.0, 4.0], &[1.0, 0.0]), f64::INFINITY);
        assert_eq!(error_of_mean(&[3.0, 3.0], &[0.5, 0.5]), 0.0);
    }

    #[test]
    fn errors_neither_overflow_nor_underflow() {
        for scale in [1e-200, 1e200] {
            let values = [1.0 * scale, 2.0 * scale, 4.0 * scale];
            let expected = error_of_mean(&[1.0, 2.0, 4.0], &[1.0 / 3.0; 3]) * scale;
            assert!((error_of_mean(&values, &[1.0 / 3.0; 3]) / expected - 1.0).abs() < 1e-14);
        }
    }
}
