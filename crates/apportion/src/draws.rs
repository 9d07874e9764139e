//! The sampling error of the draws of a conditional game, as a part of an explanation's standard errors.
//!
//! # Notation
//!
//! μ(S) is the exact value of a coalition, and `v(S) = μ(S) + ζ(S)` its estimate from the draws, with `E ζ(S)
//! = 0` and variance σ(S)², which is estimated from the draws
//! ([`standard_errors`](apportion_games::ConditionalGame::standard_errors)). A distribution that draws rows
//! uses a separate random stream for each coalition: ζ(S) and ζ(T) are independent. If a coalition is
//! evaluated twice, ζ(S) is the same both times. ω is the randomness of the method, that is, which coalitions
//! it evaluates. Given ω,
//!
//! ```text
//! φ̃_i = Σ_S a_S v(S) = φ_i(v)         linear in the values,
//! V̂_i = Q_i(v)                        the squared standard error of the method, quadratic in the values,
//!                                     positive semidefinite.
//! ```
//!
//! # Derivation
//!
//! Because E ζ = 0, the error of φ̃_i has two parts,
//!
//! ```text
//! Var φ̃_i = Var_ω φ_i(μ)  +  E_ω Σ_S a_S² σ(S)²
//!         = method's part +  draws' part D_i,          D_i = E φ_i(ζ)² given ω.
//! ```
//!
//! The method estimates the first part. From μ, its estimate would be unbiased: `E_ω Q_i(μ) = Var_ω φ_i(μ)`.
//! But it evaluates v, and cannot distinguish the noise of a coalition from other differences between
//! coalitions:
//!
//! ```text
//! E [V̂_i | ω] = Q_i(μ) + C_i,        C_i = E Q_i(ζ) given ω,
//! ```
//!
//! so its estimate already contains the amount C_i of the draws' part. The variance to report is
//!
//! ```text
//! V_i = V̂_i − C_i + D_i,        and at least D_i, because Q_i(μ) ≥ 0.
//! ```
//!
//! If the draws dominate V̂, `V̂_i − C_i` is negative by chance for some values and positive for others.
//! Clipping at zero alone would be biased upwards, so the clipped parts `(V̂_i − C_i)₊` are scaled such that
//! they sum to `(Σ_j V̂_j − C_j)₊`.
//!
//! C_i depends on the method. For exact values, V̂ = C = 0, and all of D is added. For means over independent
//! draws of coalitions that rarely repeat, C = D, and nothing is added. Without replacement, V̂ has a factor
//! 1 − π for coalitions with inclusion probability π, which does not apply to the noise: C ≈ (1 − π) D. v(∅),
//! which every method evaluates once, contributes to D only. If pairs of coalitions, strata or repeated
//! coalitions share noise, the coefficients a and the form Q account for it.
//!
//! C and D need not be derived for each method, because they can be measured. If the same method is run with
//! the same seed on copies of the game with errors ±ζ_r ([`ErrorsOfDraws`]), then
//!
//! ```text
//! D_i ≈ mean_r [(φ_i(v + ζ_r) − φ_i(v − ζ_r)) / 2]²,
//! C_i ≈ mean_r [(Q_i(v + ζ_r) + Q_i(v − ζ_r)) / 2 − Q_i(v)],
//! ```
//!
//! without bias. For C, this only requires that Q is quadratic between the copies. That holds for every
//! method, except for the allocation of a budget to strata and for terms that are added for unseen events.
//!
//! # Scenarios
//!
//! Methods that draw scenarios use one of the M draws of a coalition at a time. Given the M draws of every
//! coalition, their V̂ is the variance around the exact values φ_i of v. It lacks the variance of these exact
//! values around the exact values of μ, `E φ_i(ζ)²`. The empty coalition and the single players contribute
//! most to this variance, because they are few and evaluated often, no matter how many coalitions there are.
//! Any other unbiased method can estimate it, as the part D − C that is missing from its own errors: because
//! `E_ω Q_i(ζ) = Var_ω φ̃_i(ζ)`,
//!
//! ```text
//! E_ω [D_i − C_i] = E φ̃_i(ζ)² − Var_ω φ̃_i(ζ) = E φ_i(ζ)².
//! ```

use apportion_estimators::{ErrorDistribution, Explanation};
use apportion_games::{ErrorsOfDraws, Game, Sampling};

use crate::error::ExplainError;
use crate::source::Conditional;

/// The number of pairs of copies of the game. With 64 pairs, the relative standard error of a variance is
/// 18%.
const PAIRS: usize = 64;

/// Returns the number of independent draws per coalition, or `None` if no coalition value depends on draws.
pub(crate) fn independent_draws(game: &Conditional<'_>) -> Option<usize> {
    match game.sampling() {
        Sampling::Independent => Some(game.distribution().draws()),
        Sampling::Antithetic => Some(game.distribution().draws() / 2),
        _ => None,
    }
}

/// The method that estimates the errors of the draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorSource {
    /// The method that computed the explanation.
    Method,
    /// A different method, because the explanation's method draws scenarios.
    OtherMethod,
}

/// The parts of an explanation's standard errors, including the parts due to the draws of a conditional game.
pub(crate) struct ErrorOfDraws {
    /// The parts of the squared standard error of each value.
    parts: Vec<Parts>,
    /// The distribution of the errors that are due to the method.
    of_method: Option<ErrorDistribution>,
    /// For each output, the effective number of independent directions of the draws' errors.
    directions: Vec<f64>,
    /// The number of independent draws per coalition.
    independent: usize,
}

impl ErrorOfDraws {
    /// Estimates the errors of the draws for `explanation`, which `explain` computed for `game`, with
    /// `independent` independent draws per coalition. Returns `None` without standard errors, or for a single
    /// draw per coalition.
    ///
    /// Calls `explain` for the copies of the game, which doubles the number of predictions.
    pub(crate) fn estimate(
        game: &Conditional<'_>,
        independent: usize,
        seed: u64,
        explanation: &mut Explanation,
        told_by: ErrorSource,
        explain: impl FnOnce(&dyn Game) -> Result<Explanation, ExplainError>,
    ) -> Result<Option<Self>, ExplainError> {
        let Some(errors) = explanation.std_errors.as_ref().filter(|_| independent > 1) else {
            return Ok(None);
        };
        let copies = explain(&ErrorsOfDraws::new(game, PAIRS, seed))?;
        explanation.model_rows += copies.model_rows;
        let Some(errors_of_copies) = &copies.std_errors else { return Ok(None) };
        let width = 1 + 2 * PAIRS;
        let of_values = copies.values.chunks_exact(width).zip(errors_of_copies.chunks_exact(width));
        let parts = errors.iter().zip(of_values).map(|(&error, (values, errors))| {
            let parts = Parts::new(error, values, errors);
            match told_by {
                ErrorSource::Method => parts,
                ErrorSource::OtherMethod => parts.lacking(),
            }
        });
        let of_method = explanation.diagnostics.error_distribution.clone();
        let outputs = explanation.outputs();
        let mut parts: Vec<Parts> = parts.collect();
        (0..outputs).for_each(|output| share_what_is_left(&mut parts, output, outputs));
        let directions = (0..outputs)
            .map(|output| directions(copies.values.chunks_exact(width).skip(output).step_by(outputs)));
        Ok(Some(Self { parts, of_method, directions: directions.collect(), independent }))
    }

    /// Returns only the errors due to the draws, as if the method itself had no error.
    pub(crate) fn alone(&self) -> Self {
        let alone = |part: &Parts| Parts { method: 0.0, seen: 0.0, own: 0.0, ..*part };
        Self {
            parts: self.parts.iter().map(alone).collect(),
            of_method: None,
            directions: self.directions.clone(),
            independent: self.independent,
        }
    }

    /// Returns `explanation` with the standard errors that are expected with `times` times as many draws.
    pub(crate) fn written(&self, times: f64, explanation: &Explanation) -> Explanation {
        let mut explanation = explanation.clone();
        let parts: Vec<Parts> = self.parts.iter().map(|part| part.with_draws(times)).collect();
        explanation.std_errors = Some(parts.iter().map(Parts::error).collect());
        explanation.diagnostics.error_distribution =
            self.distribution(&parts, self.independent as f64 * times - 1.0);
        explanation
    }

    /// Returns the distribution of the errors, by Satterthwaite's approximation for the sum of the two parts.
    /// The variance of the draws is estimated from at least one coalition, with `of_draws` degrees of
    /// freedom.
    fn distribution(&self, parts: &[Parts], of_draws: f64) -> Option<ErrorDistribution> {
        let outputs = self.directions.len();
        let sums = |output: usize| {
            let own = || parts.iter().skip(output).step_by(outputs);
            let unit = own().map(|part| part.unit).fold(0.0, f64::max);
            let sum = |of: &dyn Fn(&Parts) -> f64| -> f64 {
                own().map(|part| (part.unit / unit).powi(2) * of(part)).sum()
            };
            // A unit of zero means that all errors are zero.
            if unit == 0.0 { (0.0, 0.0) } else { (sum(&|part| part.method), sum(&Parts::variance)) }
        };
        let sums: Vec<(f64, f64)> = (0..outputs).map(sums).collect();
        if sums.iter().all(|&(_, all)| all == 0.0) {
            return self.of_method.clone();
        }
        if self.of_method.is_none() && sums.iter().any(|&(method, _)| method > 0.0) {
            return None;
        }
        let of_method = self.of_method.clone().unwrap_or_else(|| ErrorDistribution {
            degrees_of_freedom: f64::INFINITY,
            directions: vec![1.0; outputs],
            ..ErrorDistribution::default()
        });
        let degrees = sums.iter().filter(|&&(_, all)| all > 0.0).map(|&(method, all)| {
            1.0 / ((method / all).powi(2) / of_method.degrees_of_freedom
                + (1.0 - method / all).powi(2) / of_draws)
        });
        let directions = of_method.directions.iter().zip(&self.directions).zip(&sums).map(
            |((&of_method, &of_draws), &(method, all))| {
                let added = all - method;
                if added <= 0.0 {
                    return of_method;
                }
                // This is a lower bound: it assumes that both parts have their largest errors in the same
                // directions.
                (all / (method / of_method.sqrt() + added / of_draws.sqrt())).powi(2).max(1.0)
            },
        );
        Some(ErrorDistribution {
            degrees_of_freedom: degrees.fold(f64::INFINITY, f64::min),
            directions: directions.collect(),
            // The sum of two variances is not a sample variance.
            bounded_draws: None,
            one_draw: Vec::new(),
            ..of_method
        })
    }
}

/// The parts of a squared standard error, in units of `unit`², to prevent overflow and underflow.
#[derive(Debug, Clone, Copy)]
struct Parts {
    unit: f64,
    /// `V̂`, the variance estimated by the method.
    method: f64,
    /// C, the part of `V̂` due to the draws.
    seen: f64,
    /// The variance without draws: `V̂ − C`, clipped at zero and scaled by [`share_what_is_left`].
    own: f64,
    /// D, the variance due to the draws.
    of_draws: f64,
}

impl Parts {
    /// Returns the parts for a value with the standard error `error`. `values` and `errors` are the estimates
    /// and the standard errors of this value in the copies of the game.
    fn new(error: f64, values: &[f64], errors: &[f64]) -> Self {
        let off = |pair: &[f64]| pair[0] / 2.0 - pair[1] / 2.0;
        let pairs = || values[1..].chunks_exact(2).zip(errors[1..].chunks_exact(2));
        let unit = errors.iter().copied().fold(error, f64::max);
        let unit = pairs().map(|(values, _)| off(values).abs()).fold(unit, f64::max);
        if unit == 0.0 || unit.is_infinite() {
            let method = unit.min(1.0);
            return Self { unit, method, seen: 0.0, own: method, of_draws: 0.0 };
        }
        let square = |error: f64| (error / unit).powi(2);
        let mean = |of: &dyn Fn(&[f64], &[f64]) -> f64| {
            pairs().map(|(values, errors)| of(values, errors)).sum::<f64>() / PAIRS as f64
        };
        let method = square(error);
        let seen = mean(&|_, pair| (square(pair[0]) + square(pair[1])) / 2.0) - square(errors[0]);
        let of_draws = mean(&|values, _| square(off(values)));
        Self { unit, method, seen, own: (method - seen).max(0.0), of_draws }
    }

    /// Returns the parts for a method that draws scenarios. The errors of such a method lack D − C, which is
    /// measured with a different method.
    fn lacking(self) -> Self {
        Self { seen: 0.0, own: self.method, of_draws: (self.of_draws - self.seen).max(0.0), ..self }
    }

    /// Returns the parts that are expected with `times` times as many draws.
    fn with_draws(self, times: f64) -> Self {
        if times == 1.0 {
            return self;
        }
        Self {
            method: self.own + self.seen / times,
            seen: self.seen / times,
            of_draws: self.of_draws / times,
            ..self
        }
    }

    fn variance(&self) -> f64 {
        self.own + self.of_draws
    }

    fn error(&self) -> f64 {
        self.unit * self.variance().sqrt()
    }
}

/// Scales the parts `(V̂ − C)₊` of one output such that they sum to `(Σ V̂ − C)₊`.
fn share_what_is_left(parts: &mut [Parts], output: usize, outputs: usize) {
    let own = || parts.iter().skip(output).step_by(outputs);
    let unit = own().map(|part| part.unit).fold(0.0, f64::max);
    if unit == 0.0 || unit.is_infinite() {
        return;
    }
    let sum = |of: fn(&Parts) -> f64| own().map(|part| (part.unit / unit).powi(2) * of(part)).sum::<f64>();
    let (left, shared) = (sum(|part| part.method - part.seen).max(0.0), sum(|part| part.own));
    if left < shared {
        parts.iter_mut().skip(output).step_by(outputs).for_each(|part| part.own *= left / shared);
    }
}

/// Returns `(tr Σ)² / tr Σ²` for one output, from the copies of each value. Σ is the covariance matrix of the
/// errors of the draws.
///
/// Both traces are estimated without bias: `tr Σ²` is the mean of `(e_r · e_s)²` over errors r ≠ s.
fn directions<'c>(copies: impl Iterator<Item = &'c [f64]>) -> f64 {
    let errors: Vec<Vec<f64>> = copies
        .map(|copies| copies[1..].chunks_exact(2).map(|pair| pair[0] / 2.0 - pair[1] / 2.0).collect())
        .collect();
    let unit = errors.iter().flatten().fold(0.0, |most: f64, error| most.max(error.abs()));
    if unit == 0.0 {
        return 1.0;
    }
    let product = |r: usize, s: usize| -> f64 {
        errors.iter().map(|errors| (errors[r] / unit) * (errors[s] / unit)).sum()
    };
    let trace = (0..PAIRS).map(|r| product(r, r)).sum::<f64>() / PAIRS as f64;
    let squares: f64 = (0..PAIRS).map(|r| (0..r).map(|s| product(r, s).powi(2)).sum::<f64>()).sum();
    let squares = squares / (PAIRS * (PAIRS - 1) / 2) as f64;
    if squares > 0.0 { (trace * trace / squares).clamp(1.0, errors.len() as f64) } else { 1.0 }
}
