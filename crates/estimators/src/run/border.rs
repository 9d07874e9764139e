//! The border of a game: each player alone, and all players but one. These 2n evaluations reveal interactions
//! that samples may miss.
//!
//! # Notation
//!
//! For `n` players, `P(s)` is the probability that, in the definition of the value, a player joins s others.
//! `T = m/n` is the number of draws per player in a sample of m evaluations. `Δ_i = v(i) − v(∅)` and
//! `Δ'_i = v(N) − v(N∖i)` are the contributions on the border, and `r_i = Δ_i − φ̃_i` and
//! `r'_i = Δ'_i − φ̃_i` are their misfits.
//!
//! # Motivation
//!
//! The Shapley value gives all coalition sizes the same total weight, but there are only n coalitions of size
//! 1 and only n of size n − 1. Each of these has 1/n of the total weight of all coalitions of n/2 players,
//! yet a sample whose size is a small multiple of n contains few of them. Suppose that a large voter needs
//! one other voter to win. Then the rest of the sample looks additive, and the large voter's value is wrong
//! by 1/n without any sign of this in the sample.
//!
//! # Formula
//!
//! Once the border is known, its contribution to the variance need not be estimated. A misfit for coalitions
//! with no other player is assumed to extend to coalitions with one and two others. The exception is a sample
//! that is so large that it should have contained such coalitions of the player:
//!
//! ```text
//! V_i ≥ (1/T) Σ_{s=0,1,2} c_s [P(s) r_i² + P(n−1−s) r'_i²],
//! c_0 = 1 − the inclusion probability of the border,  c_s = exp(−T P(s))
//! ```
//!
//! If coalitions are drawn with their complements, `r_i` and `r'_i` partially cancel, as in the sample. In
//! this case, `½ (r_i + r'_i)²` replaces both squares.

use apportion_games::{Coalition, Coalitions, Game, GameError};
use apportion_values::{Semivalue, SolutionConcept};

use crate::report::Explanation;

/// The number of sizes, counted from the border, to which a misfit is assumed to extend.
const SIZES: usize = 3;

/// The border is not evaluated if the [`SIZES`] smallest and the [`SIZES`] largest sizes together have at
/// most this fraction of the weight in the value.
const MATTERS: f64 = 1e-3;

/// The contributions of each player to the empty coalition, and to the coalition of all other players: n × k
/// numbers each, for n players and k outputs.
#[derive(Debug, Clone)]
pub(crate) struct Border {
    alone: Vec<f64>,
    last: Vec<f64>,
}

impl Border {
    /// Creates the border from evaluations of the 2n border coalitions of `units` (players, or groups that
    /// act as one player), with v(∅) and v(N) from `ends`.
    pub(crate) fn evaluate(
        game: &dyn Game,
        units: &[Vec<usize>],
        ends: &Explanation,
    ) -> Result<Self, GameError> {
        let (players, outputs) = (game.players(), game.outputs());
        let mut batch = Coalitions::with_capacity(players, 2 * units.len());
        for unit in units {
            batch.push(Coalition::from_members(players, unit.iter().copied()).view());
            batch.push_complement(batch.len() - 1);
        }
        let mut values = vec![0.0; batch.len() * outputs];
        game.values(&batch, &mut values)?;
        let (mut alone, mut last) = (Vec::new(), Vec::new());
        for pair in values.chunks_exact(2 * outputs) {
            alone.extend(pair[..outputs].iter().zip(&ends.base).map(|(value, empty)| value - empty));
            last.extend(pair[outputs..].iter().zip(&ends.prediction).map(|(value, full)| full - value));
        }
        Ok(Self { alone, last })
    }

    /// Raises the standard errors of `explanation`, if present, to the lower bound that the border implies.
    /// `budget` counts a stored evaluation once for each time it was drawn.
    pub(crate) fn raise(&self, explanation: &mut Explanation, budget: usize) {
        let (players, outputs) = (explanation.players(), explanation.outputs());
        let Some(joins) = distribution(&explanation.value, players) else { return };
        let known = explanation.diagnostics.error_distribution.as_ref();
        let is_paired = known.is_some_and(|distribution| distribution.is_paired);
        let left = known.and_then(|distribution| distribution.border_left).unwrap_or(1.0);
        let draws = (budget as f64 / players as f64).max(1.0);
        let share = |size: usize| {
            let others = if size == 0 { left } else { (-draws * joins[size]).exp() };
            [joins[size], joins[players - 1 - size]].map(|joins| others * joins / draws)
        };
        let shares = (0..SIZES.min(players)).map(share);
        let [small, large] = shares.fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]).map(f64::sqrt);
        let (Some(errors), values) = (&mut explanation.std_errors, &explanation.values) else { return };
        for (at, error) in errors.iter_mut().enumerate() {
            let [alone, last] = [self.alone[at] - values[at], self.last[at] - values[at]];
            let least = if is_paired {
                small.hypot(large) * (0.5 * alone + 0.5 * last).abs() * std::f64::consts::SQRT_2
            } else {
                (small * alone).hypot(large * last)
            };
            // A lower bound that overflows is ignored, and an exact value stays exact.
            if *error > 0.0 && least.is_finite() {
                *error = error.max(least);
            }
        }
        debug_assert_eq!(values.len(), players * outputs);
    }
}

/// Returns whether the border matters for `value` with `players` players (or groups).
pub(crate) fn matters(value: &SolutionConcept, players: usize) -> bool {
    distribution(value, players).is_some_and(|joins| {
        let near = |size: usize| joins[size] + joins[players - 1 - size];
        (0..SIZES.min(players)).map(near).sum::<f64>() > MATTERS
    })
}

/// Returns `P(s)` for s in 0..n, or `None` for values on graphs, for linear values with custom distributions,
/// and for semivalues that are not defined for this number of players. Values for players in groups use the
/// Shapley distribution, which has about the same weights on the border.
fn distribution(value: &SolutionConcept, players: usize) -> Option<Vec<f64>> {
    match value {
        SolutionConcept::Semivalue(value) | SolutionConcept::Quotient(value) => {
            value.check_players(players).is_ok().then(|| value.size_distribution(players))
        }
        SolutionConcept::Coalitional(_) | SolutionConcept::TwoStepShapley => {
            Some(Semivalue::Shapley.size_distribution(players))
        }
        _ => None,
    }
}
