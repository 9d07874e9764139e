//! Monte Carlo for each player separately: the mean of a player's marginal contributions to random
//! coalitions.
//!
//! # Notation
//!
//! There are `n` players, `m` evaluations, and `K` coalitions to which some player is added.
//!
//! # Source
//!
//! Bachrach, Markakis, Resnick, Procaccia, Rosenschein and Saberi, *Approximating power indices: theoretical
//! and empirical analysis*, 2010, for Banzhaf values. This is the baseline "MC" of the Kernel Banzhaf paper,
//! whose appendix B describes how samples are divided among the players. The paper's code uses ⌊m/n⌋
//! coalitions per player, and so takes about 2m evaluations: [`Accounting::Subsets`].

use std::collections::HashMap;

use apportion_games::{Coalitions, Game};
use apportion_samplers::{Pairing, Sampler, SizeDistribution, WithReplacement};
use apportion_values::{Semivalue, SolutionConcept};

use crate::error::Result;
use crate::registry::{semivalue, specs};
use crate::report::{BoundedDraws, Diagnostics, ErrorDistribution, Explanation, Influences};
use crate::run::{Estimator, Evaluations, at_most_all};
use crate::setters::setters;
use crate::support::{FullBudget, exact_if_affordable};

/// The unit of the budget `m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum Accounting {
    /// Evaluations of the game, including v(∅) and v(N), so ⌊(m − 2)/2⌋ contributions are drawn. The default.
    #[default]
    Evaluations,
    /// Contributions, ⌊m/n⌋ per player, which take up to `2m + 2` evaluations. This reproduces the results of
    /// the code of the Kernel Banzhaf paper.
    Subsets,
}

/// The mean of each player's marginal contributions to coalitions that are drawn separately for this player,
/// for every semivalue.
///
/// ```text
/// φ̃_i = (1/k_i) Σ_j [v(S_j ∪ i) − v(S_j)],
/// |S_j| ~ P(s) = C(n−1, s) M(s, n−1−s),   S_j uniform among the coalitions of this size without i
/// ```
///
/// M contains the coefficients of the [`Semivalue`]. The estimate is unbiased, and exact for additive games.
/// A contribution takes two evaluations, so `K = ⌊(m − 2)/2⌋` contributions are drawn. They are drawn for
/// each player in turn: `k_i = ⌊K/n⌋`, and one more for the first `K mod n` players. A repeated coalition
/// (small ones are often repeated) is evaluated once, so fewer evaluations than the budget may be used, all
/// of them distinct.
///
/// Standard errors are those of the mean, from the sample variance of a player's contributions. Often, all
/// observed contributions of a player are equal (contributions to the empty coalition always are), although
/// others are possible. The allowance for this is half the square of a contribution of the typical size, plus
/// the square of a quarter of a contribution of the size of the values:
///
/// ```text
/// V_i = Σ_j (x_ij − φ̃_i)² / (k_i (k_i − 1)) + ½ (R_i² + R² exp(−e_i²)) + ‖φ̃‖² / (n (4 k_i)²)
///
/// R_i² = Σ_j c_ij⁴ / Σ_j c_ij²,   e_i = (Σ_j c_ij²)² / Σ_j c_ij⁴,   c_ij = (x_ij − φ̃_i)/k_i,
/// R² as R_i², over all players
/// ```
///
/// The errors of different players are independent. The degrees of freedom are the minimum of `k_i − 1`.
/// There are no standard errors if some `k_i < 4`. In our measurements (a random game of 30 players, tree
/// models of 60 and 101 features; six values; m = 10n to 40n), ±1.96 standard errors cover the true value in
/// 89 to 99% of the cases; without the allowance, they cover it in 34 to 97%.
///
/// Players share no evaluations, so other methods need far fewer evaluations for the same accuracy. Takes
/// `O(T + m n)` time, where `T` is the time of `m` evaluations, and the memory of `2m` coalitions.
///
/// ```
/// use apportion_estimators::{Estimator, MonteCarlo};
/// use apportion_games::{ClosedForm, SumOfUnanimity};
/// use apportion_values::{Semivalue, SolutionConcept};
///
/// let game = SumOfUnanimity::random(10, 30, 3, 1);
/// let explanation = MonteCarlo::new(Semivalue::Banzhaf).estimate(&game, 1000, 7)?;
/// let errors = explanation.std_errors.as_ref().unwrap();
/// for ((got, error), want) in explanation.values.iter().zip(errors).zip(game.banzhaf()) {
///     assert!((got - want).abs() <= 4.0 * error);
/// }
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MonteCarlo {
    /// The value to estimate.
    pub value: Semivalue,
    /// The unit of the budget; defaults to [`Accounting::Evaluations`].
    pub accounting: Accounting,
    /// The behaviour for a budget of `2^n`; defaults to [`FullBudget::Enumerate`].
    pub full_budget: FullBudget,
}

setters!(MonteCarlo {
    with_value => value: Semivalue,
    with_accounting => accounting: Accounting,
    with_full_budget => full_budget: FullBudget,
});

impl MonteCarlo {
    /// Creates the estimator of `value` with default settings.
    pub fn new(value: Semivalue) -> Self {
        Self { value, accounting: Accounting::default(), full_budget: FullBudget::default() }
    }

    /// Returns the number of contributions to draw.
    fn subsets(&self, players: usize, budget: usize) -> usize {
        match self.accounting {
            Accounting::Evaluations => (budget - 2) / 2,
            Accounting::Subsets => budget / players * players,
        }
    }
}

/// The minimum number of contributions per player for standard errors. A budget of 10n reaches it.
const MIN_CONTRIBUTIONS: usize = 4;

impl Estimator for MonteCarlo {
    fn name(&self) -> &'static str {
        match self.accounting {
            Accounting::Evaluations => "monte-carlo",
            Accounting::Subsets => "monte-carlo-authors",
        }
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone().into()
    }

    /// Returns `2n + 2`, for one contribution per player, or `n` if the budget counts contributions; at most
    /// `2^n`, for enumeration.
    fn minimum_budget(&self, players: usize) -> usize {
        match (self.accounting, self.full_budget) {
            (Accounting::Evaluations, FullBudget::Enumerate) => at_most_all(2 * players + 2, players),
            // A single player is never sampled.
            (Accounting::Evaluations, FullBudget::Sample) if players > 1 => 2 * players + 2,
            _ => at_most_all(players.max(2), players),
        }
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(explanation) = exact_if_affordable(self, game, budget, self.full_budget)? {
            return Ok(explanation);
        }
        let (players, outputs) = (game.players(), game.outputs());
        let others = WithReplacement {
            distribution: SizeDistribution::custom(&self.value.size_distribution(players))?,
            pairing: Pairing::Unpaired,
        }
        .sample(self.subsets(players, budget), seed)?
        .into_coalitions();
        let (distinct, rows) = merge_duplicates(&with_and_without(&others));

        let mut evaluations = Evaluations::begin(game)?;
        // These are the gains v − v(∅) of ∅, of N, and of all other coalitions.
        let mut gains = vec![0.0; outputs];
        gains.extend(evaluations.total());
        gains.extend(evaluations.gains(&distinct.slice(2..distinct.len()))?);
        let gain = |row: u32, output: usize| gains[row as usize * outputs + output];

        let pairs = rows[2..].as_chunks::<2>().0;
        let mut values = vec![0.0; players * outputs];
        let (mut squares, mut influences) = (values.clone(), Influences::none(values.len()));
        let mut shares = values.clone();
        for player in 0..players {
            let own = || pairs.iter().skip(player).step_by(players);
            for output in 0..outputs {
                let contributions =
                    || own().map(|&[before, after]| gain(after, output) - gain(before, output));
                let mean = contributions().sum::<f64>() / own().len() as f64;
                let (at, share) = (player * outputs + output, (own().len() as f64).recip());
                let power = |power: i32| contributions().map(|x| (x - mean).powi(power)).sum::<f64>();
                (values[at], squares[at], shares[at]) = (mean, power(2), share);
                influences.squares[at] = share.powi(2) * squares[at];
                influences.fourths[at] = share.powi(4) * power(4);
            }
        }
        let fewest = pairs.len() / players;
        let std_errors =
            (fewest >= MIN_CONTRIBUTIONS).then(|| standard_errors(&squares, pairs.len(), players));
        let error_distribution = std_errors.as_ref().map(|errors| ErrorDistribution {
            bounded_draws: Some(BoundedDraws { draws: fewest, span: 2.0 }),
            one_draw: influences.one_draw(&values, &shares, outputs),
            ..ErrorDistribution::of_independent_values(errors, outputs, fewest as f64 - 1.0)
        });
        let diagnostics = Diagnostics { error_distribution, ..Diagnostics::default() };
        Ok(evaluations.explain(self, values, std_errors, seed, diagnostics))
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// Returns ∅ and N, followed by S_j and S_j ∪ i for each coalition S_j in `others`, where the added player is
/// `i = j mod n`.
///
/// `others` contains coalitions of n − 1 players: players below `i` keep their index, and those from `i` on
/// are shifted by one.
fn with_and_without(others: &Coalitions) -> Coalitions {
    let players = others.players() + 1;
    let mut rows = Coalitions::with_capacity(players, 2 * others.len() + 2);
    rows.push_empty();
    rows.push_full();
    let mut words = vec![0; rows.words_per_row()];
    for (index, coalition) in others.iter().enumerate() {
        let player = index % players;
        make_room(coalition.words(), player, &mut words);
        rows.push_words(&words);
        words[player / 64] |= 1 << (player % 64);
        rows.push_words(&words);
    }
    rows
}

/// Writes `words` to `out`, with a zero bit inserted before bit `at`.
fn make_room(words: &[u64], at: usize, out: &mut [u64]) {
    let below = (1 << (at % 64)) - 1;
    let mut carry = 0;
    for (index, out) in out.iter_mut().enumerate() {
        let word = words.get(index).copied().unwrap_or(0);
        *out = match index.cmp(&(at / 64)) {
            std::cmp::Ordering::Less => word,
            std::cmp::Ordering::Equal => word & below | (word & !below) << 1,
            std::cmp::Ordering::Greater => word << 1 | carry,
        };
        carry = word >> 63;
    }
}

/// Returns the distinct rows in the order of their first appearance, and the index of each row among them.
fn merge_duplicates(rows: &Coalitions) -> (Coalitions, Vec<u32>) {
    let mut distinct = Coalitions::with_capacity(rows.players(), rows.len());
    let mut met: HashMap<&[u64], u32> = HashMap::with_capacity(rows.len());
    let positions = rows
        .iter()
        .map(|row| {
            *met.entry(row.words()).or_insert_with(|| {
                distinct.push(row);
                distinct.len() as u32 - 1
            })
        })
        .collect();
    (distinct, positions)
}

/// Returns the standard errors, computed from each player's sum of squared deviations, n × k, for `subsets`
/// contributions in total.
fn standard_errors(squares: &[f64], subsets: usize, players: usize) -> Vec<f64> {
    let outputs = squares.len() / players;
    let error = |(index, squares): (usize, &f64)| {
        let player = index / outputs;
        let count = (subsets / players + usize::from(player < subsets % players)) as f64;
        (squares / ((count - 1.0) * count)).sqrt()
    };
    squares.iter().enumerate().map(error).collect()
}

specs! {
    MONTE_CARLO = "monte-carlo": "Monte Carlo, separately for each player",
        |value| Some(Box::new(MonteCarlo::new(semivalue(value)?)));
    MONTE_CARLO_AUTHORS = "monte-carlo-authors" variant:
        "Monte Carlo with as many draws as in the Kernel Banzhaf paper's code, which takes twice the budget",
        |value| Some(Box::new(MonteCarlo::new(semivalue(value)?).with_accounting(Accounting::Subsets)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::SumOfUnanimity;

    #[test]
    fn the_player_is_absent_and_all_others_keep_their_order() {
        for players in [2, 3, 63, 64, 65, 66, 128, 129, 200] {
            let mut others = Coalitions::new(players - 1);
            for _ in 0..players {
                others.push_members((0..players - 1).filter(|player| player % 3 != 1));
            }
            let rows = with_and_without(&others);
            assert_eq!(rows.len(), 2 * players + 2);
            for player in 0..players {
                let (before, after) = (rows.row(2 + 2 * player), rows.row(3 + 2 * player));
                let number = |other: usize| if other < player { other } else { other + 1 };
                let expected = others.row(player).members().map(number);
                assert!(before.members().eq(expected), "{player} of {players}");
                assert!(!before.contains(player) && after.contains(player));
                assert_eq!(after.size(), before.size() + 1);
            }
        }
    }

    #[test]
    fn contributions_are_divided_as_evenly_as_they_can_be() {
        let estimator = MonteCarlo::new(Semivalue::Shapley);
        assert_eq!([22, 23, 24, 30, 31].map(|budget| estimator.subsets(10, budget)), [10, 10, 11, 14, 14]);
        let authors = estimator.with_accounting(Accounting::Subsets);
        assert_eq!([10, 19, 20, 31].map(|budget| authors.subsets(10, budget)), [10, 10, 20, 30]);
        assert_eq!([10, 20].map(|players| authors.minimum_budget(players)), [10, 20]);
    }

    #[test]
    fn a_budget_that_counts_subsets_takes_about_twice_as_many_evaluations() {
        let game = SumOfUnanimity::random(60, 100, 3, 1);
        let evaluations = |accounting| {
            let estimator = MonteCarlo::new(Semivalue::Banzhaf).with_accounting(accounting);
            estimator.estimate(&game, 605, 1).unwrap().evaluations
        };
        assert_eq!(evaluations(Accounting::Evaluations), 604);
        assert_eq!(evaluations(Accounting::Subsets), 1202);
    }

    #[test]
    fn too_few_contributions_have_no_standard_errors() {
        let game = SumOfUnanimity::random(12, 60, 3, 1);
        let errors = |budget| {
            MonteCarlo::new(Semivalue::Shapley).estimate(&game, budget, 1).unwrap().std_errors.is_some()
        };
        assert_eq!([26, 97, 98, 120].map(errors), [false, false, true, true]);
    }

    #[test]
    fn repeated_coalitions_are_asked_for_once() {
        // With Beta-Shapley(4000, 1), players mostly join the empty coalition: there are 299 contributions,
        // but hardly more coalitions than the 40 single players.
        let game = SumOfUnanimity::random(40, 60, 3, 1);
        let value = Semivalue::beta_shapley(4000.0, 1.0).unwrap();
        let got = MonteCarlo::new(value).estimate(&game, 600, 1).unwrap();
        assert!(got.evaluations < 80, "{}", got.evaluations);
        assert_eq!(got.distinct_coalitions, got.evaluations);
    }
}
