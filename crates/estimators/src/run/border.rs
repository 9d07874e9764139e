//! The border of a game: each player alone, and all but each. Where games hide from samples, and 2n evaluations reveal them.
//!
//! # Notation
//!
//! `n` players, `P(s)` the probability that a value has a player join s others, `T = m/n` draws for each player of a sample of m evaluations.
//! `Δ_i = v(i) − v(∅)` and `Δ'_i = v(N) − v(N∖i)` are the contributions on the border, `r_i = Δ_i − φ̃_i` and `r'_i = Δ'_i − φ̃_i` their misfits.
//!
//! # Why
//!
//! Of the coalitions of a size all have the same weight, and of the smallest and the largest there are n. So the Shapley value gives each of
//! those as much weight as all coalitions of n/2 players together have over n, and a sample of a few n evaluations meets few of them. Where a
//! large voter needs one other to win, all else that it meets is additive, and its value is wrong by 1/n without a sign of it in the sample.
//!
//! # What it adds
//!
//! Once the border is known, what it adds to the variance need not be estimated. And as the misfit is there with nobody else, it is taken to be
//! there with one and with two others, too, unless the sample is large enough to have met such coalitions of the player:
//!
//! ```text
//! V_i ≥ (1/T) Σ_{s=0,1,2} c_s [P(s) r_i² + P(n−1−s) r'_i²],    c_0 = the share of the border left to chance,  c_s = exp(−T P(s))
//! ```
//!
//! Where coalitions come with their complements, `r_i` and `r'_i` go against each other as they do in the sample: `½ (r_i + r'_i)²` stands for either
//! square, times two.

use apportion_games::{Coalition, Coalitions, Game, GameError};
use apportion_values::{Semivalue, SolutionConcept};

use crate::report::Explanation;

/// Sizes next to the border to which a misfit on it is taken to go on.
const SIZES: usize = 3;

/// The share of a value that the border and the sizes next to it decide, below which it is not looked at.
const MATTERS: f64 = 1e-3;

/// Contributions to nobody, and to all others: n × k each.
#[derive(Debug, Clone)]
pub(crate) struct Border {
    alone: Vec<f64>,
    last: Vec<f64>,
}

impl Border {
    /// Asks for the 2n coalitions of `units` (players, or groups that play as one).
    pub(crate) fn ask(game: &dyn Game, units: &[Vec<usize>], ends: &Explanation) -> Result<Self, GameError> {
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

    /// Raises the standard errors of `explanation`, which has them, to what the border says at least after `budget` evaluations, those that were
    /// remembered counted as often as they were drawn.
    pub(crate) fn raise(&self, explanation: &mut Explanation, budget: usize) {
        let (players, outputs) = (explanation.players(), explanation.outputs());
        let Some(joins) = law(&explanation.value, players) else { return };
        let known = explanation.diagnostics.error_law.as_ref();
        let is_paired = known.is_some_and(|law| law.is_paired);
        let left = known.and_then(|law| law.border_left).unwrap_or(1.0);
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
            // An error beyond all numbers is no bound; a value that is exact stays so.
            if *error > 0.0 && least.is_finite() {
                *error = error.max(least);
            }
        }
        debug_assert_eq!(values.len(), players * outputs);
    }
}

/// Whether the border matters to `value` of a game of so many players (or groups).
pub(crate) fn matters(value: &SolutionConcept, players: usize) -> bool {
    law(value, players).is_some_and(|joins| {
        let near = |size: usize| joins[size] + joins[players - 1 - size];
        (0..SIZES.min(players)).map(near).sum::<f64>() > MATTERS
    })
}

/// `P(s)` for s in 0..n; none for values on graphs and those of the user's own laws. Of players in groups it is the Shapley value's, which has
/// about the weights that those have there.
fn law(value: &SolutionConcept, players: usize) -> Option<Vec<f64>> {
    match value {
        SolutionConcept::Semivalue(value) | SolutionConcept::Quotient(value) => {
            value.check_players(players).is_ok().then(|| value.size_law(players))
        }
        SolutionConcept::Coalitional(_) | SolutionConcept::TwoStepShapley => {
            Some(Semivalue::Shapley.size_law(players))
        }
        _ => None,
    }
}
