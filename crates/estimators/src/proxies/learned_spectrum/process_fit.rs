//! A process on coalitions that is fitted to the sample of another method, the *plain* method, to make its
//! estimate more accurate.
//!
//! The sum of a free linear model and a [`WalshProcess`] is fitted to the evaluated coalitions. Its posterior
//! mean has the value
//!
//! ```text
//! φ̃_i = 2 b_i + Σ_k Cov(φ_i, v(S_k)) (Q y)_k
//! ```
//!
//! for the coefficients b of the signs, the values y_k of the coalitions S_k, and the matrix Q of
//! [`Kriging`]. The process is used for an output if its leave-one-out residuals are clearly smaller than
//! those of a linear model. If a coalition was drawn together with its complement, both are left out.
//!
//! # Correction
//!
//! φ̃ is biased if the game is not smooth. The plain method R, applied to the game minus the predictions of
//! the process, measures the bias, as in [proxy-residual regression](crate::ProxyResidual):
//!
//! ```text
//! D = R(v − ĝ) − φ̃
//! ĝ(S_k) = g_{−k}(S_k) − g(∅) − Σ_{i ∈ S_k} φ_i(g_{−k}),    φ_i(g_{−k}) = φ̃_i − G_ik r_k
//! ```
//!
//! where g is the posterior mean, g_{−k} the one without coalition k, r_k the leave-one-out residual of this
//! coalition, and G_ik the derivative of φ̃_i with respect to v(S_k). Since φ(ĝ) = 0, R(v − ĝ) has no bias
//! from the process. Its variances V_D are those of the plain method for the remainders v − ĝ. If D is as
//! small as its errors, it only adds noise. With the squared bias estimated by ‖D‖² − tr V_D (tr is the sum
//! of the variances), the mean squared error of φ̃ + λ D is smallest for
//!
//! ```text
//! λ = max(0, 1 − tr V_D / ‖D‖²)
//! ```
//!
//! (James and Stein, *Estimation with Quadratic Loss*, 1961, for estimates shrunk to φ̃).
//!
//! # Errors
//!
//! As for Shapley values, φ̃ is linear in the coalition values once the prior is fixed. It has the variances
//! `V_i = Σ_k f_k (G_ik r_k)²`, where f_k is 1 minus the inclusion probability. The squared errors of
//! φ̃ + λ D are `(1 − λ)² V + λ V_D`. They include the remaining squared bias, `(1 − λ) λ tr V_D`. A bias
//! that D does not show has about the size of the errors of D, so a part of tr V_D is added, too.
//!
//! # Safeguards
//!
//! The plain estimate is unbiased and has the variances V_R, so its difference from φ̃ + λ D measures the
//! bias of the latter. The plain estimate is kept if the squared norm of this difference exceeds tr V_R times
//! a quantile of Fisher's F distribution, or if tr V_D is not clearly below tr V_R. The result is then
//! identical to that of the method without a prior. Otherwise, the excess of the squared norm over tr V_R is
//! added to the squared errors.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use apportion_games::{Coalition, Coalitions, Game, GameError, memory};
use apportion_solvers::{Constraint, Design, Functionals, Kriging, least_squares};

use super::choice;
use super::errors::{MIN_DEGREES, OPTIMISM, distribution_of, sum_of_squares};
use crate::error::Result;
use crate::report::{Explanation, fisher, unseen};
use crate::surrogate::prior::Signs;
use crate::surrogate::walsh_process::{WalshProcess, linear_columns};

/// The maximum number of coalitions in the regression. With more, the plain estimate is used.
const MAX_ROWS: usize = 2000;
/// The maximum number of players of the process.
const MAX_PLAYERS: usize = 256;
/// The minimum number of coalitions in excess of the columns of the linear model.
const MIN_SPARE: usize = 8;
/// The maximum number of coalitions from which the relevances are learned: the first number, or the second
/// number per player if that is more.
const LEARNED: (usize, usize) = (220, 3);
/// The variance of the noise of v(∅) and v(N), relative to that of other coalitions. It is small because
/// these two coalitions are not drawn at random.
const NOISE_OF_ENDS: f64 = 1e-6;

/// The maximum of tr V_D, relative to tr V_R. A larger variance shows that the process does not predict the
/// part of the game that determines the value, e.g. in voting games.
const MAX_NOISE: f64 = 0.5;
/// The error probability of the test whether the corrected and the plain estimate contradict each other. With
/// 5%, squared errors of conjunctions are up to 2.7 times those of the plain estimate, and squared errors of
/// smooth games are 0.18 times those of the plain estimate. With 25%, the factors are 1.5 and 0.25.
const DISAGREEMENT: f64 = 0.25;
/// The assumed squared bias that D does not show, relative to tr V_D.
const UNDETECTED: f64 = 0.5;

/// The coalitions that the plain method evaluated, and their values.
pub(super) struct Evaluated {
    /// The coalitions other than ∅ and N.
    pub(super) coalitions: Coalitions,
    /// The inclusion probability of each coalition.
    pub(super) inclusion: Vec<f64>,
    /// The coalition that was drawn together with each coalition, or the coalition itself if it was drawn
    /// alone.
    pub(super) partners: Vec<usize>,
    /// The weights of squared residuals in the comparison with a linear model.
    pub(super) weights: Vec<f64>,
    /// The values of the coalitions, followed by v(∅) and v(N), rows × outputs.
    pub(super) values: Vec<f64>,
}

/// Replaces the plain values and errors of each output with those of the process, unless a safeguard keeps
/// them, and reports the choice. `with_values` returns the covariances of the value of each player with the
/// values of coalitions, players × rows. `plain` applies the plain method to a game. With the same seed, it
/// must evaluate the same coalitions in every game.
pub(super) fn improve(
    explanation: &mut Explanation,
    evaluated: &Evaluated,
    with_values: &dyn Fn(&WalshProcess, &Signs) -> Option<Vec<f64>>,
    plain: &dyn Fn(&dyn Game) -> Result<Explanation>,
    name_of_plain: &str,
) -> Result<()> {
    let (n, outputs) = (evaluated.coalitions.players(), explanation.outputs());
    let degrees = explanation.diagnostics.error_distribution.as_ref().map(|known| known.degrees_of_freedom);
    let mut chosen = vec![name_of_plain.to_owned(); outputs];
    for (output, chosen) in chosen.iter_mut().enumerate() {
        let Some(degrees) = degrees.filter(|_| can_fit(n, evaluated.coalitions.len())) else { break };
        let own: Vec<f64> = evaluated.values.iter().skip(output).step_by(outputs).copied().collect();
        let Some(process) = ProcessFit::new(evaluated, &own, with_values) else { continue };
        if !process.is_better(evaluated, &own)? {
            continue;
        }
        let mut remainders = Vec::with_capacity(2);
        for is_unseen in [false, true] {
            let game = process.remainders(evaluated, is_unseen);
            let found = plain(&game)?;
            remainders.extend(game.is_sufficient().then_some(found));
        }
        if let [of_values, of_errors] = &remainders[..]
            && process.replace(explanation, evaluated, (output, degrees), [of_values, of_errors])
        {
            *chosen = format!("products of all players with relevances, and {name_of_plain}");
        }
    }
    explanation.diagnostics.chosen = Some(chosen.join("; "));
    Ok(())
}

/// Returns the number of bytes for the covariances of the coalitions and for their influences on the values.
pub(super) fn memory(players: usize, outputs: usize, budget: usize) -> u128 {
    let rows = if players <= MAX_PLAYERS { budget.min(MAX_ROWS) } else { 0 };
    let columns = players.saturating_add(outputs).saturating_add(1);
    let of_all = memory::product([4, budget, columns, 8]);
    of_all
        .saturating_add(memory::product([8, rows, rows, 8]))
        .saturating_add(memory::product([4, players, players, 8]))
}

/// Returns whether the number of coalitions is neither too small nor too large for the process.
fn can_fit(players: usize, rows: usize) -> bool {
    (players + 1 + MIN_SPARE..=MAX_ROWS).contains(&(rows + 2)) && players <= MAX_PLAYERS
}

/// The process that is fitted to a sample for one output, its values and its leave-one-out residuals.
struct ProcessFit {
    players: usize,
    /// The residual of each coalition if it is left out together with its partner.
    left: Vec<f64>,
    /// The estimate for each player.
    estimates: Vec<f64>,
    /// The derivatives of the estimates with respect to each value, players × rows.
    influences: Vec<f64>,
    /// The residual of each coalition.
    residuals: Vec<f64>,
    /// The effective number of degrees of freedom of the residuals.
    degrees_of_freedom: f64,
}

impl ProcessFit {
    /// Fits the process to the evaluated coalitions, ∅ and N, with the values `targets` of one output.
    /// Returns `None` if the regression is not determined.
    fn new(
        evaluated: &Evaluated,
        targets: &[f64],
        with_values: &dyn Fn(&WalshProcess, &Signs) -> Option<Vec<f64>>,
    ) -> Option<Self> {
        let coalitions = &evaluated.coalitions;
        let (n, rows) = (coalitions.players(), coalitions.len());
        let mut ends = Coalitions::with_capacity(n, 2);
        ends.push_empty();
        ends.push_full();
        let signs = Signs::new(n, coalitions.iter().chain(ends.iter()));
        let (process, noise) = learn(&signs, targets);
        let noise: Vec<f64> =
            (0..rows + 2).map(|row| if row < rows { noise } else { noise * NOISE_OF_ENDS }).collect();
        let mut covariance = process.cross(&signs, &signs);
        covariance.iter_mut().step_by(rows + 3).zip(&noise).for_each(|(entry, noise)| *entry += noise);
        let covariances = with_values(&process, &signs)?;
        let kriging = Kriging::new(&covariance, &linear_columns(&signs), rows + 2)?;
        let of_columns: Vec<f64> =
            (0..n * (n + 1)).map(|at| if at % (n + 1) == at / (n + 1) + 1 { 2.0 } else { 0.0 }).collect();
        let functionals = Functionals { count: n, of_columns: &of_columns, covariances: &covariances };
        let found = kriging.estimate(&functionals, targets, 1);
        let partners: Vec<usize> = evaluated.partners.iter().copied().chain([rows, rows + 1]).collect();
        let mut left = kriging.left_out_with(targets, &partners);
        left.truncate(rows);
        let influences =
            found.influences.chunks_exact(rows + 2).flat_map(|own| own[..rows].iter().copied()).collect();
        let (mut residuals, mut shares) = (kriging.left_out(targets, 1), kriging.residual_shares(&noise));
        residuals.iter_mut().zip(&shares).for_each(|(residual, share)| *residual *= share);
        residuals.truncate(rows);
        shares.truncate(rows);
        let degrees_of_freedom = shares.iter().sum();
        Some(Self { players: n, left, estimates: found.values, influences, residuals, degrees_of_freedom })
    }

    /// Returns whether the leave-one-out residuals of the process are clearly smaller than those of a linear
    /// model of the values `targets`.
    fn is_better(&self, evaluated: &Evaluated, targets: &[f64]) -> Result<bool> {
        let weights = &evaluated.weights;
        if weights.iter().all(|&weight| weight == 0.0) || self.left.iter().any(|left| !left.is_finite()) {
            return Ok(false);
        }
        let design = Design::new(&evaluated.coalitions, weights)?.with_intercept();
        let linear = least_squares(&design, &targets[..self.left.len()], 1, Constraint::None)?;
        let (residuals, hats) = (linear.residuals(), linear.hat_values());
        let squares = |residual: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let square = |(row, weight): (usize, &f64)| match weight * residual(row).powi(2) {
                _ if *weight == 0.0 => 0.0,
                square if square.is_nan() => f64::INFINITY,
                square => square,
            };
            weights.iter().enumerate().map(square).collect()
        };
        let of_process = squares(&|row| self.left[row]);
        let of_linear = squares(&|row| residuals[row] / (1.0 - hats[row]));
        let is_undetermined = of_linear.iter().any(|square| square.is_infinite());
        Ok(is_undetermined || choice::is_clearly_less(&of_process, &of_linear))
    }

    /// Returns the game v − ĝ, up to a constant, on the evaluated coalitions. If `is_unseen`, the predictions
    /// ĝ are those for estimating errors, from g_{−k}. Otherwise, they are those for estimating values, from
    /// weighted means of g_{−k} and g. The weight of g is the inclusion probability, as for
    /// [folds](crate::support::folds).
    fn remainders(&self, evaluated: &Evaluated, is_unseen: bool) -> KnownGame {
        let n = self.players;
        let rows = evaluated.coalitions.len();
        let mut values = HashMap::with_capacity(rows + 2);
        values.insert(Coalition::from_members(n, []).view().words().into(), 0.0);
        values.insert(Coalition::from_members(n, 0..n).view().words().into(), self.estimates.iter().sum());
        for (row, coalition) in evaluated.coalitions.iter().enumerate() {
            let without = if is_unseen { 1.0 } else { 1.0 - evaluated.inclusion[row] };
            let partner = evaluated.partners[row];
            let change = |player: usize| {
                let of = |row: usize| self.influences[player * rows + row] * self.left[row];
                if partner == row { of(row) } else { of(row) + of(partner) }
            };
            let value = |player: usize| self.estimates[player] - without * change(player);
            let residual = without * self.left[row] + (1.0 - without) * self.residuals[row];
            values.insert(coalition.words().into(), coalition.members().map(value).sum::<f64>() + residual);
        }
        KnownGame { players: n, values, is_exceeded: AtomicBool::new(false) }
    }

    /// Replaces the plain values and errors of an output with those of the process, unless a safeguard
    /// keeps the plain estimate, whose errors have `degrees_of_plain` degrees of freedom.
    /// The correction uses the results of the plain method for both games of
    /// [`remainders`](Self::remainders). Returns whether the values were replaced.
    fn replace(
        &self,
        explanation: &mut Explanation,
        evaluated: &Evaluated,
        (output, degrees_of_plain): (usize, f64),
        [of_values, of_errors]: [&Explanation; 2],
    ) -> bool {
        let (n, outputs) = (self.players, explanation.outputs());
        let known = of_errors.std_errors.as_ref().zip(of_errors.diagnostics.error_distribution.as_ref());
        let (Some(errors), Some(distribution), Some((of_remainders, known))) =
            (&mut explanation.std_errors, &mut explanation.diagnostics.error_distribution, known)
        else {
            // Without errors, the correction cannot be weighed against its noise.
            return false;
        };
        let draws_left = (evaluated.coalitions.len() as f64 - (n + 1) as f64).max(1.0);
        let degrees_of_process = self.degrees_of_freedom.max(MIN_DEGREES);
        let places = || (0..n).map(|player| player * outputs + output);
        let square_sum = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>();
        let noise = sum_of_squares(of_remainders);
        let changes: Vec<f64> =
            of_values.values.iter().zip(&self.estimates).map(|(other, own)| other - own).collect();
        let square = sum_of_squares(&changes);
        let share = if square > noise { 1.0 - noise / square } else { 0.0 };
        let mut combined: Vec<f64> =
            self.estimates.iter().zip(&changes).map(|(own, change)| own + share * change).collect();
        if explanation.value.is_efficient() {
            // Remove the error of the sum, which the noise of v(∅) and v(N) in the process causes.
            let total = explanation.prediction[output] - explanation.base[output];
            let rest = (total - combined.iter().sum::<f64>()) / n as f64;
            combined.iter_mut().for_each(|value| *value += rest);
        }
        let apart =
            square_sum(&mut places().zip(&combined).map(|(at, value)| value - explanation.values[at]));
        let of_plain = square_sum(&mut places().map(|at| errors[at]));
        let of_difference = distribution.directions.get(output).copied().unwrap_or(1.0);
        let limit = fisher(of_difference, degrees_of_plain, DISAGREEMENT);
        if noise > MAX_NOISE * of_plain || apart > limit * of_plain {
            return false;
        }
        let bias = (apart - of_plain).max(0.0) + UNDETECTED * noise;
        let (mut shares, units) = self.shares(evaluated);
        let (of_shares, directions) = distribution_of(&shares, n, units);
        shares.iter_mut().for_each(|change| *change *= 1.0 - share);
        let variances: Vec<f64> = shares.chunks_exact(units).map(sum_of_squares).collect();
        for (player, at) in places().enumerate() {
            explanation.values[at] = combined[player];
            let of_remainder = share * of_remainders[player].powi(2);
            errors[at] = (variances[player] + bias / n as f64 + of_remainder).sqrt();
        }
        // Satterthwaite's approximation for the sum of both variances. The direction of the bias is unknown.
        let (own, other) = (variances.iter().sum::<f64>(), share * noise);
        let all = (own + other).max(f64::MIN_POSITIVE);
        let degrees = degrees_of_process.min(of_shares).max(1.0);
        let parts = (own / all).powi(2) / degrees + (other / all).powi(2) / known.degrees_of_freedom;
        let degrees = if parts > 0.0 { parts.recip().max(1.0) } else { degrees };
        distribution.degrees_of_freedom = distribution.degrees_of_freedom.min(degrees);
        if let Some(place) = distribution.directions.get_mut(output) {
            let of_remainders = known.directions.first().copied().unwrap_or(1.0);
            let least = own / directions.sqrt() + other / of_remainders.sqrt() + bias;
            let ratio = (own + other + bias) / least;
            *place = if ratio.is_finite() { ratio.powi(2).clamp(1.0, n as f64) } else { 1.0 };
        }
        if distribution.one_draw.is_empty() {
            distribution.draws_left = Some(draws_left);
        } else {
            let squares: Vec<f64> = places().map(|at| errors[at].powi(2)).collect();
            let (unseen, _) = unseen::of_regression(&combined, &squares, draws_left, 1);
            for ((player, at), square) in places().enumerate().zip(unseen) {
                let of_remainder = known.one_draw.get(player).copied().unwrap_or(0.0);
                distribution.one_draw[at] = square.sqrt().hypot(share.sqrt() * of_remainder);
            }
        }
        true
    }

    /// Returns the change in each player's value if a unit (a coalition, or two that were drawn together) is
    /// left out, players × units, and the number of units. Changes are scaled such that the sums of their
    /// squares are variances.
    fn shares(&self, evaluated: &Evaluated) -> (Vec<f64>, usize) {
        let rows = evaluated.coalitions.len();
        let factors: Vec<f64> =
            evaluated.inclusion.iter().map(|inclusion| (OPTIMISM * (1.0 - inclusion)).sqrt()).collect();
        let units: Vec<usize> = (0..rows).filter(|&row| evaluated.partners[row] >= row).collect();
        let of_player = |own: &[f64]| -> Vec<f64> {
            let change =
                |row: usize| if factors[row] == 0.0 { 0.0 } else { factors[row] * own[row] * self.left[row] };
            let of_unit = |&row: &usize| match evaluated.partners[row] {
                partner if partner == row => change(row),
                partner => change(row) + change(partner),
            };
            units.iter().map(of_unit).collect()
        };
        (self.influences.chunks_exact(rows).flat_map(of_player).collect(), units.len())
    }
}

/// A game whose values are known for ∅, N and the evaluated coalitions. All other values are zero.
struct KnownGame {
    players: usize,
    values: HashMap<Box<[u64]>, f64>,
    /// Whether an unknown value was evaluated.
    is_exceeded: AtomicBool,
}

impl KnownGame {
    /// Returns whether all evaluated values were known. They are if the plain method draws the same sample
    /// for the same seed.
    fn is_sufficient(&self) -> bool {
        !self.is_exceeded.load(Ordering::Relaxed)
    }
}

impl Game for KnownGame {
    fn players(&self) -> usize {
        self.players
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (row, out) in batch.iter().zip(out) {
            let known = self.values.get(row.words());
            if known.is_none() {
                self.is_exceeded.store(true, Ordering::Relaxed);
            }
            *out = known.copied().unwrap_or(0.0);
        }
        Ok(())
    }
}

/// Learns the process, and the variance of its noise, from evenly spaced rows. The last two rows are ∅ and N,
/// which are always included.
fn learn(signs: &Signs, targets: &[f64]) -> (WalshProcess, f64) {
    let (fixed, per_player) = LEARNED;
    let most = fixed.max(per_player * signs.players);
    let sampled = signs.rows - 2;
    let step = sampled.div_ceil(most).max(1);
    let rows: Vec<usize> = (0..sampled).step_by(step).chain(sampled..signs.rows).collect();
    let some: Vec<f64> = rows.iter().map(|&row| targets[row]).collect();
    WalshProcess::learn(&signs.some(&rows), &some, 1)
}
