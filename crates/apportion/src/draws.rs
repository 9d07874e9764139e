//! What the draws of a conditional game add to the standard errors of an explanation.
//!
//! # Notation
//!
//! μ(S) is the value of a coalition without chance, `v(S) = μ(S) + ζ(S)` the one that the draws give, with `E ζ(S) = 0` and the variance
//! σ(S)², which the draws tell ([`standard_errors`](apportion_games::ConditionalGame::standard_errors)). Laws that draw have a stream for
//! each coalition: ζ(S) and ζ(T) are independent, and a coalition that is met twice has the same ζ(S) twice. ω is the method's own chance:
//! which coalitions it looks at. Given ω,
//!
//! ```text
//! φ̃_i = Σ_S a_S v(S) = φ_i(v)         linear in the values,
//! V̂_i = Q_i(v)                        the squared standard error of the method, quadratic in the values, positive semidefinite.
//! ```
//!
//! # Derivation
//!
//! As E ζ = 0, the error of φ̃_i has two parts,
//!
//! ```text
//! Var φ̃_i = Var_ω φ_i(μ)  +  E_ω Σ_S a_S² σ(S)²
//!         =  of the method +  of the draws D_i,        D_i = E φ_i(ζ)² given ω.
//! ```
//!
//! The method means to estimate the first, and would, of μ: `E_ω Q_i(μ) = Var_ω φ_i(μ)`. It gets v instead, and noise of one coalition
//! looks to it like any other difference between coalitions:
//!
//! ```text
//! E [V̂_i | ω] = Q_i(μ) + C_i,        C_i = E Q_i(ζ) given ω,
//! ```
//!
//! so that it holds C_i of the draws already. What is to be reported is
//!
//! ```text
//! V_i = V̂_i − C_i + D_i,        and no less than D_i, as Q_i(μ) ≥ 0.
//! ```
//!
//! Where the draws are most of V̂, chance has `V̂_i − C_i` below zero for some values and above for others. No less than zero is more on
//! average, so the parts `(V̂_i − C_i)₊` share in what is left of the sum, `(Σ_j V̂_j − C_j)₊`, in their proportions.
//!
//! What C_i is depends on the method. Exact values have V̂ = C = 0: all of D is added. Means over independent draws of coalitions that
//! are hardly met twice have C = D: nothing is added. Without replacement V̂ has a factor 1 − π for coalitions that are in the sample
//! with probability π, and noise does not care how likely it was to be met: C ≈ (1 − π) D. v(∅), which every method takes once, is
//! in D alone. Where pairs of coalitions, strata, or a coalition met twice share their noise, a and Q have it.
//!
//! None of this has to be known of a method, as it can be asked: the same method with the same seed, on copies of the game off by ±ζ_r
//! ([`ErrorsOfDraws`]), gives
//!
//! ```text
//! D_i ≈ mean_r [(φ_i(v + ζ_r) − φ_i(v − ζ_r)) / 2]²,        C_i ≈ mean_r [(Q_i(v + ζ_r) + Q_i(v − ζ_r)) / 2 − Q_i(v)],
//! ```
//!
//! without bias, where all it takes for C is that Q is quadratic between the copies. That is true of every method up to how it shares a
//! budget among strata, and what it adds for what it has not seen.
//!
//! # Scenarios
//!
//! Methods that draw scenarios take one draw of a coalition at a time, out of the M that it has. Given the M draws of every coalition, their
//! V̂ is the variance about the exact values φ_i of v. What is missing is that of those exact values about those of μ, `E φ_i(ζ)²`, to which
//! the empty coalition and the single players contribute most: they are few and met often, however many coalitions there are. Any other
//! method without bias tells it, by what it lacks itself: as `E_ω Q_i(ζ) = Var_ω φ̃_i(ζ)`,
//!
//! ```text
//! E_ω [D_i − C_i] = E φ̃_i(ζ)² − Var_ω φ̃_i(ζ) = E φ_i(ζ)².
//! ```

use apportion_estimators::{ErrorLaw, Explanation};
use apportion_games::{ErrorsOfDraws, Game, Sampling};

use crate::error::ExplainError;
use crate::source::Conditional;

/// Pairs of copies of the game: they tell a variance within 18 %.
const PAIRS: usize = 64;

/// The draws of a coalition that are independent of each other; none where the game leaves nothing to its draws.
pub(crate) fn independent_draws(game: &Conditional<'_>) -> Option<usize> {
    match game.sampling() {
        Sampling::Independent => Some(game.law().draws()),
        Sampling::Antithetic => Some(game.law().draws() / 2),
        _ => None,
    }
}

/// Which method tells the errors of the draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToldBy {
    /// The one that made the explanation.
    Method,
    /// Another one, as this one draws scenarios.
    OtherMethod,
}

/// What the standard errors of an explanation have of the draws of a conditional game.
pub(crate) struct ErrorOfDraws {
    /// Of each value.
    parts: Vec<Parts>,
    /// What the method says of its errors beside their sizes.
    of_method: Option<ErrorLaw>,
    /// Directions of the errors of the draws, of each output.
    directions: Vec<f64>,
    /// Draws of a coalition that are independent of each other.
    independent: usize,
}

impl ErrorOfDraws {
    /// Of `explanation`, which `explain` made of `game`, of whose draws `independent` are so; none without standard errors.
    ///
    /// `explain` is asked for the copies, which takes as many predictions again.
    pub(crate) fn of(
        game: &Conditional<'_>,
        independent: usize,
        seed: u64,
        explanation: &mut Explanation,
        told_by: ToldBy,
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
            let parts = Parts::of(error, values, errors);
            match told_by {
                ToldBy::Method => parts,
                ToldBy::OtherMethod => parts.lacking(),
            }
        });
        let of_method = explanation.diagnostics.error_law.clone();
        let outputs = explanation.outputs();
        let mut parts: Vec<Parts> = parts.collect();
        (0..outputs).for_each(|output| share_what_is_left(&mut parts, output, outputs));
        let directions = (0..outputs)
            .map(|output| directions(copies.values.chunks_exact(width).skip(output).step_by(outputs)));
        Ok(Some(Self { parts, of_method, directions: directions.collect(), independent }))
    }

    /// Of an explanation whose method is without error.
    pub(crate) fn alone(&self) -> Self {
        let alone = |part: &Parts| Parts { method: 0.0, seen: 0.0, own: 0.0, ..*part };
        Self {
            parts: self.parts.iter().map(alone).collect(),
            of_method: None,
            directions: self.directions.clone(),
            independent: self.independent,
        }
    }

    /// `explanation` with these errors, as they are with `times` the draws.
    pub(crate) fn written(&self, times: f64, explanation: &Explanation) -> Explanation {
        let mut explanation = explanation.clone();
        let parts: Vec<Parts> = self.parts.iter().map(|part| part.with_draws(times)).collect();
        explanation.std_errors = Some(parts.iter().map(Parts::error).collect());
        explanation.diagnostics.error_law = self.law(&parts, self.independent as f64 * times - 1.0);
        explanation
    }

    /// The law of the errors: Satterthwaite's, of the two parts that they are the sum of. A variance is told by the draws of one
    /// coalition at least, with `of_draws` degrees of freedom.
    fn law(&self, parts: &[Parts], of_draws: f64) -> Option<ErrorLaw> {
        let outputs = self.directions.len();
        let sums = |output: usize| {
            let own = || parts.iter().skip(output).step_by(outputs);
            let unit = own().map(|part| part.unit).fold(0.0, f64::max);
            let sum = |of: &dyn Fn(&Parts) -> f64| -> f64 {
                own().map(|part| (part.unit / unit).powi(2) * of(part)).sum()
            };
            // Where all is zero, the unit is.
            if unit == 0.0 { (0.0, 0.0) } else { (sum(&|part| part.method), sum(&Parts::variance)) }
        };
        let sums: Vec<(f64, f64)> = (0..outputs).map(sums).collect();
        if sums.iter().all(|&(_, all)| all == 0.0) {
            return self.of_method.clone();
        }
        if self.of_method.is_none() && sums.iter().any(|&(method, _)| method > 0.0) {
            return None;
        }
        let of_method = self.of_method.clone().unwrap_or_else(|| ErrorLaw {
            degrees_of_freedom: f64::INFINITY,
            directions: vec![1.0; outputs],
            ..ErrorLaw::default()
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
                // As if both had their largest errors in the same directions.
                (all / (method / of_method.sqrt() + added / of_draws.sqrt())).powi(2).max(1.0)
            },
        );
        Some(ErrorLaw {
            degrees_of_freedom: degrees.fold(f64::INFINITY, f64::min),
            directions: directions.collect(),
            // The sum of two variances is not a sample variance.
            bounded_draws: None,
            one_draw: Vec::new(),
            ..of_method
        })
    }
}

/// What a squared standard error is made of, in squares of a unit of its own, so that no scale is too large or too small.
#[derive(Debug, Clone, Copy)]
struct Parts {
    unit: f64,
    /// `V̂`, that of the method.
    method: f64,
    /// C, what it has of the draws.
    seen: f64,
    /// What it would be without draws: `V̂ − C`, or nothing; see [`share_what_is_left`].
    own: f64,
    /// D, what the draws leave to chance.
    of_draws: f64,
}

impl Parts {
    /// Of a value of which the method says that it is off by `error`, and of whose copies it says `errors`.
    fn of(error: f64, values: &[f64], errors: &[f64]) -> Self {
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

    /// What another method lacks of the draws, this one lacks.
    fn lacking(self) -> Self {
        Self { seen: 0.0, own: self.method, of_draws: (self.of_draws - self.seen).max(0.0), ..self }
    }

    /// With `times` the draws.
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

/// Has the values of an output share in what their method's errors are without draws, `(Σ V̂ − C)₊`, as `(V̂ − C)₊`.
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

/// `(tr Σ)² / tr Σ²` of the errors of the draws, whose covariance is Σ, from the copies of each value of one output.
///
/// Both traces without bias: `tr Σ²` is the mean of `(e_r · e_s)²` over errors r ≠ s.
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
