//! The largest conjunction of players that a sample misses, and its effect on a semivalue.
//!
//! # Motivation
//!
//! A sample may contain no trace of a rare event, e.g. of a bonus that is only paid if nine given players are
//! all present. If nothing else varies, all its residuals are zero, and so are the standard errors. But v(∅)
//! and v(N) are always evaluated. Every event that requires players to be present also occurs in N, and every
//! event that requires players to be absent also occurs in ∅. These two coalitions, the *ends*, therefore
//! show the event.
//!
//! # Derivation
//!
//! Let g = v − (a linear model fitted to the sample), M the largest |g| in the sample, and `r = |g(N)|`.
//! Split g into its part within [−M, M] and the excess. The spread of the sample covers the first part. The
//! excess is zero in all sampled coalitions, and `e = max(r − M, 0)` in N. The sample does not determine the
//! excess in other coalitions. The assumption is a conjunction: the excess is e in all coalitions that
//! contain k given players. The probability that the sample misses all of these coalitions, except N, is
//!
//! ```text
//! exp(−κ_k),    κ_k = Σ_s C(n−k, s−k) κ(s),    k ≤ s < n
//! κ(s) = −ln(1 − π_s) without replacement, the expected number of draws of a coalition with replacement
//! ```
//!
//! where π_s is the inclusion probability of a coalition of size s. For N, the contribution to the value is
//! computed exactly, with the weight P(n−1). From all other coalitions, a conjunction of k players
//! contributes to the value of each of these players
//!
//! ```text
//! W_k e,    W_k = Σ_s C(n−k, s−k) P(s−1) / C(n−1, s−1)    (∫ t^(k−1) dμ − P(n−1) for a mixing measure μ)
//! ```
//!
//! For given κ_k, this is the largest contribution of any event with excess e, because all weights have the
//! same sign. (The contributions of coalitions of other players partially cancel.) W_k and κ_k decrease in k.
//! The allowance is the largest W_k e for a conjunction that the sample misses with a probability of at least
//! 5%, `κ_k ≤ ln 20`, so that intervals at the level of 95% include this contribution. The same holds for ∅,
//! with the roles of presence and absence exchanged. There is no allowance if the sample would have found
//! even a conjunction of n − 1 players.
//!
//! In many smooth games, the sample contains residuals of about the size of g(N), so the excess is small. In
//! others, it is not: in a game of interactions of two players, g(N) is about n/√2 times the standard
//! deviation of the residuals. The allowance is small in these games, too, because it decreases like 1/T for
//! T draws, and standard errors decrease like 1/√T.

use apportion_samplers::{Sample, ln_choose};

/// The probability of missing an event, below which the event counts as one that would have been sampled.
const MISSED: f64 = 0.05;
/// The factor from standard errors to intervals at the level 1 − [`MISSED`]: the 97.5% quantile of the normal
/// distribution.
const TO_INTERVAL: f64 = 1.959_963_984_540_054;

/// The contributions W_k of the largest conjunctions that a sample misses, divided by the factor from
/// standard errors to 95% intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MissedConjunction {
    /// For players who must be absent, as in ∅.
    absent: f64,
    /// For players who must be present, as in N.
    present: f64,
}

impl MissedConjunction {
    /// Computes the contributions to the value in which P, `joined`, is the distribution of the size of the
    /// coalition that a player joins. Each drawn coalition was evaluated with the probability `evaluated`.
    pub(crate) fn new(joined: &[f64], sample: &Sample, evaluated: f64) -> Self {
        let has_replacement = sample.multiplicities().is_some();
        let exponents: Vec<f64> = sample
            .strata()
            .iter()
            .map(|stratum| ln_exponent(stratum.ln_inclusion() + evaluated.ln(), has_replacement))
            .collect();
        let reversed = |numbers: &[f64]| -> Vec<f64> { numbers.iter().rev().copied().collect() };
        Self {
            absent: largest_missed(&reversed(joined), &reversed(&exponents)) / TO_INTERVAL,
            present: largest_missed(joined, &exponents) / TO_INTERVAL,
        }
    }

    /// Returns the standard error for the residuals `ends` of a model at ∅ and N. `largest` is the largest
    /// absolute residual of the model in the sample. Unknown residuals are infinite or NaN.
    pub(crate) fn std_error(self, ends: [f64; 2], largest: f64) -> f64 {
        let excess = |end: f64| {
            let excess = end.abs() - largest;
            // Without a known residual, there is nothing to compare.
            if excess.is_finite() && excess > 0.0 { excess } else { 0.0 }
        };
        (self.absent * excess(ends[0])).hypot(self.present * excess(ends[1]))
    }
}

/// Returns ln κ(s) for a size whose coalitions have the inclusion probability π.
fn ln_exponent(ln_inclusion: f64, has_replacement: bool) -> f64 {
    let inclusion = ln_inclusion.exp();
    // For small π, ln(−ln(1 − π)) is ln π, also if π underflows.
    if has_replacement || inclusion < 1e-9 {
        return ln_inclusion;
    }
    (-(-inclusion.min(1.0)).ln_1p()).ln()
}

/// Returns W_k for the smallest k with `κ_k ≤ ln(1/MISSED)`; 0 if there is none. `exponents` contains ln κ(s)
/// for the sizes 0 to n.
fn largest_missed(joined: &[f64], exponents: &[f64]) -> f64 {
    let players = joined.len();
    let is_missed = |required: usize| {
        let of_size = |size: usize| (ln_choose(players - required, size - required) + exponents[size]).exp();
        (required..players).map(of_size).sum::<f64>() <= MISSED.recip().ln()
    };
    // κ_k decreases in k.
    let (mut found, mut missed) = (0, players);
    while missed - found > 1 {
        let middle = usize::midpoint(found, missed);
        if is_missed(middle) { missed = middle } else { found = middle }
    }
    if missed == players {
        return 0.0;
    }
    (missed..players)
        .map(|size| {
            let share = ln_choose(players - missed, size - missed) - ln_choose(players - 1, size - 1);
            joined[size - 1] * share.exp()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Draws;
    use apportion_games::{Coalitions, Game, TabulatedGame};
    use apportion_samplers::{Pairing, SizeDistribution};
    use apportion_values::{Semivalue, enumerate};

    fn values() -> Vec<Semivalue> {
        vec![
            Semivalue::Shapley,
            Semivalue::Banzhaf,
            Semivalue::weighted_banzhaf(0.3).unwrap(),
            Semivalue::beta_shapley(4.0, 1.0).unwrap(),
            Semivalue::beta_shapley(1.0, 4.0).unwrap(),
        ]
    }

    fn sample(players: usize, rows: usize, draws: Draws) -> Sample {
        draws.sample(SizeDistribution::leverage(players).unwrap(), Pairing::Unpaired, rows, 5).unwrap()
    }

    /// Returns the value of the first player in the game that is 1 for all coalitions with the first
    /// `required` players (without them, if not `present`), except for N (∅), and the logarithm of the
    /// probability that no such coalition is drawn, with its sign reversed.
    fn conjunction(value: &Semivalue, sample: &Sample, required: usize, present: bool) -> (f64, f64) {
        let players = sample.coalitions().players();
        let all = Coalitions::from_masks(players, 0..1 << players);
        let holds = |row: usize| {
            let size = all.sizes()[row] as usize;
            let members = (0..required).filter(|&player| all.row(row).contains(player)).count();
            if present { members == required && size < players } else { members == 0 && size > 0 }
        };
        let table: Vec<f64> = (0..all.len()).map(|row| f64::from(u8::from(holds(row)))).collect();
        let missed = (0..all.len()).filter(|&row| holds(row)).map(|row| {
            let stratum = &sample.strata()[all.sizes()[row] as usize];
            match sample.multiplicities() {
                Some(_) => stratum.inclusion_probability(),
                None if stratum.is_exhausted() => f64::INFINITY,
                None => -(1.0 - stratum.inclusion_probability()).ln(),
            }
        });
        let game = TabulatedGame::new(table, 1).unwrap();
        assert_eq!(game.players(), players);
        (enumerate(&game, value.clone()).unwrap().values[0], missed.sum())
    }

    #[test]
    fn the_contribution_is_that_of_the_largest_conjunction_that_is_missed_by_enumeration() {
        for draws in [Draws::FixedCounts, Draws::Bernoulli, Draws::WithReplacement] {
            for (players, rows) in [(2, 1), (3, 4), (7, 20), (10, 60), (11, 400)] {
                let sample = sample(players, rows, draws);
                for value in values() {
                    let found = MissedConjunction::new(&value.size_distribution(players), &sample, 1.0);
                    for (present, found) in [(true, found.present), (false, found.absent)] {
                        let expected = (1..players)
                            .map(|required| conjunction(&value, &sample, required, present))
                            .filter(|(_, exponent)| *exponent <= 20f64.ln())
                            .map(|(value, _)| value.abs())
                            .fold(0.0, f64::max);
                        let found = found * TO_INTERVAL;
                        assert!(
                            (found - expected).abs() < 1e-10,
                            "{draws:?} {players} {rows} {value:?}: {found} {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn coalitions_that_are_evaluated_half_of_the_time_count_half() {
        let sample = sample(12, 200, Draws::FixedCounts);
        let joined = Semivalue::Banzhaf.size_distribution(12);
        let [whole, half] = [1.0, 0.5].map(|evaluated| MissedConjunction::new(&joined, &sample, evaluated));
        assert!(half.present > 1.5 * whole.present, "{half:?} {whole:?}");
    }

    #[test]
    fn complete_samples_miss_nothing() {
        let sample = sample(6, 62, Draws::FixedCounts);
        let found = MissedConjunction::new(&Semivalue::Banzhaf.size_distribution(6), &sample, 1.0);
        assert_eq!(found, MissedConjunction { absent: 0.0, present: 0.0 });
    }

    #[test]
    fn thousands_of_players_neither_overflow_nor_underflow() {
        for value in values() {
            let sample = sample(3000, 9000, Draws::FixedCounts);
            let found = MissedConjunction::new(&value.size_distribution(3000), &sample, 1.0);
            for found in [found.present, found.absent] {
                assert!((0.0..1.0).contains(&found), "{value:?} {found:?}");
                // The sample is drawn for Shapley values. The sizes that it misses have no weight in the
                // others.
                assert!(value != Semivalue::Shapley || found > 0.0, "{found:?}");
            }
        }
    }

    #[test]
    fn only_residuals_beyond_those_of_the_sample_count() {
        let missed = MissedConjunction { absent: 0.5, present: 2.0 };
        assert_eq!(missed.std_error([3.0, -1.0], 3.0), 0.0);
        assert_eq!(missed.std_error([3.0, -1.0], 1.0), 1.0);
        assert_eq!(missed.std_error([-4.0, 2.5], 1.0), 1.5f64.hypot(3.0));
        assert_eq!(missed.std_error([f64::INFINITY, f64::NAN], 1.0), 0.0);
        assert_eq!(missed.std_error([2.0, 2.0], f64::NAN), 0.0);
    }
}
