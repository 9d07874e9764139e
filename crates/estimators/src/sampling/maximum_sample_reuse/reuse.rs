//! The estimate of one semivalue from a sample. For every player, it compares two means of the game, or of
//! the residuals of a linear model: over the coalitions with the player, and over those without.

use apportion_games::Coalitions;
use apportion_samplers::Sample;
use apportion_solvers::{Constraint, Design, LeastSquares, least_squares};

use super::membership::{self, Side};
use super::weights::SizeWeights;
use crate::error::Result;
use crate::report::{Diagnostics, ErrorDistribution, Influences};
use crate::support::{DrawDistribution, StandardErrors, border_left};

/// The adjustment of the estimate by a linear model of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum Adjustment {
    /// No adjustment.
    #[default]
    None,
    /// A linear model of the game is fitted to the same evaluations. The estimate consists of its
    /// coefficients plus the means of its residuals.
    Linear,
}

/// A sample with the weights for one semivalue.
pub(crate) struct Reuse<'a> {
    pub(crate) sample: &'a Sample,
    pub(crate) weights: SizeWeights,
    pub(crate) outputs: usize,
}

/// The estimate of one semivalue for all players.
pub(crate) struct Answer {
    /// The values, n × k, row-major.
    pub(crate) values: Vec<f64>,
    pub(crate) std_errors: Option<Vec<f64>>,
    pub(crate) diagnostics: Diagnostics,
}

/// The maximum number of rows for estimating the error distribution.
const MAX_JUDGED_ROWS: usize = 512;

/// The contribution of one side (the coalitions with each player, or those without) to the variances: k × n
/// means, n factors, and a weight for each row.
struct Spread<'a> {
    means: &'a [f64],
    factors: &'a [f64],
    weights: &'a [f64],
}

/// The minimum (effective) number of coalitions on each side of a player for standard errors.
const MIN_DRAWS: f64 = 10.0;

impl Reuse<'_> {
    /// Computes the estimate. `gains` contains v(S) − v(∅) for each row, m × k; `total` is v(N) − v(∅).
    pub(crate) fn answer(
        &self,
        gains: &[f64],
        total: &[f64],
        adjustment: Adjustment,
        standard_errors: StandardErrors,
    ) -> Result<Answer> {
        let fit = match adjustment {
            // If every row is certain to be in the sample, there is nothing to adjust.
            Adjustment::Linear if self.weights.regression.iter().any(|&weight| weight > 0.0) => {
                Some(self.fit_linear_model(gains)?)
            }
            _ => None,
        };
        let players = self.coalitions().players();
        let residuals = fit.as_ref().map(LeastSquares::residuals);
        let residuals = residuals.as_deref().unwrap_or(gains);
        let (mut values, (empty, full)) = match &fit {
            None => (vec![0.0; players * self.outputs], (vec![0.0; self.outputs], total.to_vec())),
            Some(fit) => (fit.coefficients().to_vec(), ends_left(fit, total)),
        };
        let means = self.means(residuals, &empty, &full);
        for (player, values) in values.chunks_exact_mut(self.outputs).enumerate() {
            for (output, value) in values.iter_mut().enumerate() {
                let at = output * players + player;
                *value += self.weights.full[0] * full[output] + self.weights.full[1] * means.holding[at];
                *value -= self.weights.empty[0] * empty[output] + self.weights.empty[1] * means.lacking[at];
            }
        }
        let unbent = match (standard_errors, &fit) {
            (StandardErrors::Omitted, _) => None,
            (StandardErrors::Estimated, None) => Some(gains.to_vec()),
            (StandardErrors::Estimated, Some(fit)) => self.unbent_residuals(fit, residuals),
        };
        let unknowns = fit.as_ref().map_or(Some(0), LeastSquares::rank);
        let judged = unbent
            .as_deref()
            .zip(unknowns)
            .and_then(|(residuals, unknowns)| self.judge(residuals, &means, unknowns + 1));
        let shown_by_ends = unbent
            .as_deref()
            .map(|residuals| self.shown_by_ends(residuals, &empty, &full))
            .unwrap_or_default();
        let (std_errors, distribution) = judged.unzip();
        let error_distribution = distribution.map(|(distribution, influences)| {
            // If nothing varied for a plain mean of the game, use v(N) − v(∅) as the size of a draw.
            let total = || total.iter().cycle().take(values.len()).copied().collect();
            let sizes = if fit.is_some() { values.clone() } else { total() };
            let share = if self.weights.complete { 0.0 } else { distribution.degrees_of_freedom.recip() };
            let one_draw = influences.one_draw(&sizes, &vec![share; values.len()], self.outputs);
            ErrorDistribution { one_draw, shown_by_ends, ..distribution }
        });
        let diagnostics = Diagnostics {
            error_distribution,
            exact: self.weights.complete,
            rank: fit.as_ref().and_then(LeastSquares::rank),
            unknowns: fit.as_ref().map(|_| players),
            condition_number: fit.as_ref().map(LeastSquares::condition_number),
            ..Diagnostics::default()
        };
        Ok(Answer { values, std_errors, diagnostics })
    }

    fn coalitions(&self) -> &Coalitions {
        self.sample.coalitions()
    }

    /// Returns, for each row, the entry of `by_size` for the row's size.
    fn rows<'b>(&'b self, by_size: &'b [f64]) -> impl Iterator<Item = f64> + 'b {
        self.coalitions().sizes().iter().map(|&size| by_size[size as usize])
    }

    /// Returns the number of draws of each row.
    fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let multiplicities = self.sample.multiplicities();
        (0..self.coalitions().len()).map(move |row| multiplicities.map_or(1.0, |times| f64::from(times[row])))
    }

    /// Returns, for each row, the entry of `by_size` for the row's size, multiplied by the row's number of
    /// draws.
    fn weigh<'b>(&'b self, by_size: &'b [f64]) -> impl Iterator<Item = f64> + 'b {
        self.rows(by_size).zip(self.times()).map(|(weight, times)| weight * times)
    }

    /// Fits a linear model to `gains`: a regression on the members of the rows, with an intercept.
    fn fit_linear_model(&self, gains: &[f64]) -> Result<LeastSquares> {
        let weights: Vec<f64> = self.weigh(&self.weights.regression).collect();
        let design = Design::new(self.coalitions(), &weights)?.with_intercept();
        Ok(least_squares(&design, gains, self.outputs, Constraint::None)?)
    }

    /// Returns the weighted means of `gains` over the rows with each player, and over the rows without it. If
    /// no such row has positive weight, uses `full` or `empty` instead.
    fn means(&self, gains: &[f64], empty: &[f64], full: &[f64]) -> Means {
        let side = |by_size: &[f64], held: bool, end: &[f64]| {
            let weights: Vec<f64> = self.weigh(by_size).collect();
            let sums = |values: &mut dyn Iterator<Item = f64>| {
                let (holding, lacking) = membership::sums(self.coalitions(), values);
                if held { holding } else { lacking }
            };
            let sizes = sums(&mut weights.iter().copied());
            let mut means = Vec::with_capacity(sizes.len() * self.outputs);
            for (output, &end) in end.iter().enumerate() {
                let of_output = gains.iter().skip(output).step_by(self.outputs);
                let weighted = sums(&mut weights.iter().zip(of_output).map(|(weight, gain)| weight * gain));
                let mean = |(sum, size): (f64, &f64)| if *size > 0.0 { sum / size } else { end };
                means.extend(weighted.into_iter().zip(&sizes).map(mean));
            }
            (means, sizes)
        };
        let (holding, held) = side(&self.weights.holding, true, full);
        let (lacking, lacked) = side(&self.weights.lacking, false, empty);
        Means { holding, lacking, held, lacked }
    }

    /// Returns the standard errors (n × k) of the difference between the two means, computed from the
    /// deviations of the rows, and the error distribution after fitting `unknowns` coefficients. Also returns
    /// the influences of the rows. Returns `None` if some player has too few rows.
    fn judge(
        &self,
        gains: &[f64],
        means: &Means,
        unknowns: usize,
    ) -> Option<(Vec<f64>, (ErrorDistribution, Influences))> {
        // For a row with deviation 1, compute its contribution to the variance if the weights sum to 1.
        let variances = |by_size: &[f64]| -> Vec<f64> {
            let chance = self.rows(by_size).zip(self.rows(&self.weights.free));
            chance.zip(self.times()).map(|((weight, free), times)| times * free * weight * weight).collect()
        };
        let (holding, lacking) = (variances(&self.weights.holding), variances(&self.weights.lacking));
        let is_enough = |sizes: &[f64], squares: &[f64], share: f64| {
            share == 0.0
                || sizes
                    .iter()
                    .zip(squares)
                    .all(|(size, squares)| *size > 0.0 && size * size >= MIN_DRAWS * squares)
        };
        let enough = |sizes: &[f64], side: &[f64], held: bool, share: f64| {
            let (with, without) = membership::sums(self.coalitions(), side.iter().copied());
            is_enough(sizes, if held { &with } else { &without }, share)
        };
        if !enough(&means.held, &holding, true, self.weights.full[1])
            || !enough(&means.lacked, &lacking, false, self.weights.empty[1])
        {
            return None;
        }
        let factors = |sizes: &[f64], share: f64| -> Vec<f64> {
            sizes.iter().map(|size| if share > 0.0 { share / size } else { 0.0 }).collect()
        };
        let holding_factors = factors(&means.held, self.weights.full[1]);
        let lacking_factors = factors(&means.lacked, self.weights.empty[1]);
        let players = self.coalitions().players();
        let mut errors = vec![0.0; players * self.outputs];
        for output in 0..self.outputs {
            let of_output: Vec<f64> = gains.iter().skip(output).step_by(self.outputs).copied().collect();
            let of_player = output * players..(output + 1) * players;
            let variances = membership::squares(
                self.coalitions(),
                &of_output,
                &Side {
                    means: &means.holding[of_player.clone()],
                    factors: &holding_factors,
                    weights: &holding,
                },
                &Side { means: &means.lacking[of_player], factors: &lacking_factors, weights: &lacking },
            );
            for (player, variance) in variances.into_iter().enumerate() {
                errors[player * self.outputs + output] = variance.sqrt();
            }
        }
        let sides = [
            Spread { means: &means.lacking, factors: &lacking_factors, weights: &lacking },
            Spread { means: &means.holding, factors: &holding_factors, weights: &holding },
        ];
        Some((errors, self.distribution(gains, &sides, unknowns)))
    }

    /// Estimates the error distribution from the contributions of all rows, or of at most [`MAX_JUDGED_ROWS`]
    /// evenly spaced rows if there are more.
    fn distribution(
        &self,
        gains: &[f64],
        sides: &[Spread<'_>; 2],
        unknowns: usize,
    ) -> (ErrorDistribution, Influences) {
        let (players, rows) = (self.coalitions().players(), self.coalitions().len());
        let step = rows.div_ceil(MAX_JUDGED_ROWS);
        let is_open: Vec<bool> = self.rows(&self.weights.free).map(|free| free > 0.0).collect();
        let times: Vec<f64> = self.times().collect();
        let draws: f64 = times.iter().zip(&is_open).filter(|(_, open)| **open).map(|(times, _)| times).sum();
        let mut distribution = DrawDistribution::new(players, self.outputs);
        let (mut added, mut judged) = (vec![0.0; players * self.outputs], 0.0);
        let mut influences = Influences::none(added.len());
        for (row, &times) in times.iter().enumerate().step_by(step).filter(|(row, _)| is_open[*row]) {
            let coalition = self.coalitions().row(row);
            for player in 0..players {
                let held = coalition.contains(player);
                let side = &sides[usize::from(held)];
                let factor = side.factors[player] * (side.weights[row] / times).sqrt();
                for output in 0..self.outputs {
                    let deviation =
                        gains[row * self.outputs + output] - side.means[output * players + player];
                    added[player * self.outputs + output] = if held { factor } else { -factor } * deviation;
                }
            }
            (0..times as usize).for_each(|_| distribution.add(&added));
            let sums = influences.squares.iter_mut().zip(&mut influences.fourths);
            for ((squares, fourths), influence) in sums.zip(&added) {
                *squares += times * influence.powi(2);
                *fourths += times * influence.powi(4);
            }
            judged += times;
        }
        // Extrapolate from the processed rows to all rows.
        let all = if judged > 0.0 { draws / judged } else { 0.0 };
        influences.squares.iter_mut().chain(&mut influences.fourths).for_each(|sum| *sum *= all);
        let degrees = if judged > 0.0 { distribution.degrees_of_freedom() * draws / judged } else { 1.0 };
        let distribution = ErrorDistribution {
            degrees_of_freedom: degrees.min(draws - unknowns as f64).max(1.0),
            directions: distribution.directions(players),
            border_left: border_left(self.sample),
            ..ErrorDistribution::default()
        };
        (distribution, influences)
    }

    /// Returns, for each output, the standard error due to the largest conjunction that the sample missed,
    /// given the `residuals` of the linear model for the sample, and those for ∅ and N. Their mean in the
    /// sample is subtracted. Without a linear model, they are the gains v(S) − v(∅), so this mean serves as
    /// the model.
    fn shown_by_ends(&self, residuals: &[f64], empty: &[f64], full: &[f64]) -> Vec<f64> {
        let draws: f64 = self.times().sum();
        (0..self.outputs)
            .map(|output| {
                let own = || residuals.iter().skip(output).step_by(self.outputs);
                let mean =
                    own().zip(self.times()).map(|(residual, times)| residual * times).sum::<f64>() / draws;
                let largest = own().map(|residual| (residual - mean).abs()).fold(0.0, f64::max);
                self.weights.missed.std_error([empty[output] - mean, full[output] - mean], largest)
            })
            .collect()
    }

    /// Returns the residuals corrected for leverage, `e_k / √(1 − h_k)`; `None` if the fit is not determined
    /// without some row.
    fn unbent_residuals(&self, fit: &LeastSquares, residuals: &[f64]) -> Option<Vec<f64>> {
        /// A hat value within this distance of 1 means that the row alone determines some coefficient.
        const SATURATED: f64 = 1e-9;
        let mut unbent = Vec::with_capacity(residuals.len());
        for ((residuals, hat), times) in
            residuals.chunks_exact(self.outputs).zip(fit.hat_values()).zip(self.times())
        {
            let left = 1.0 - hat / times;
            if left < SATURATED {
                return None;
            }
            unbent.extend(residuals.iter().map(|residual| residual / left.sqrt()));
        }
        Some(unbent)
    }
}

/// Returns the residuals of the model for the empty and the grand coalition.
fn ends_left(fit: &LeastSquares, total: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let empty: Vec<f64> = fit.intercepts().into_iter().flatten().map(|intercept| -intercept).collect();
    let mut full: Vec<f64> = total.iter().zip(&empty).map(|(total, empty)| total + empty).collect();
    for coefficients in fit.coefficients().chunks_exact(total.len()) {
        full.iter_mut().zip(coefficients).for_each(|(full, coefficient)| *full -= coefficient);
    }
    (empty, full)
}

/// Means over the rows with each player, and over the rows without it.
struct Means {
    /// Means over the rows with the player: k × n, one output after another.
    holding: Vec<f64>,
    /// Means over the rows without the player, in the same layout.
    lacking: Vec<f64>,
    /// The sum of the weights of the rows with the player, for each of the n players.
    held: Vec<f64>,
    /// The sum of the weights of the rows without the player, for each of the n players.
    lacked: Vec<f64>,
}
