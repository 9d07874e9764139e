//! Linear game values: averages of marginal contributions, with a custom distribution of coalitions for each
//! player.

use std::sync::Arc;

use apportion_games::{Cached, CoalitionView, Coalitions, Game, GameError};
use serde::{Deserialize, Serialize};

use crate::attributions::Attributions;
use crate::coalitional::ends;
use crate::enumeration::MAX_PLAYERS;
use crate::error::{DistributionProblem, ValueError};

/// Maximum number of players if distributions are tabulated from a function of all coalitions, because the
/// function is called n 2^(n − 1) times.
const MAX_TABULATED_PLAYERS: usize = 20;

/// Maximum difference between the sum of the weights of a distribution and 1, which allows for rounding
/// errors.
const SUM_TOLERANCE: f64 = 1e-9;

/// Number of coalitions whose marginal contributions are evaluated in one batch.
const CHUNK: usize = 2048;

/// A linear game value: for each player, the mean of its marginal contributions under a separate distribution
/// of the coalitions of the other players (Kotsiopoulos et al. 2023, equation 2.6).
///
/// ```text
/// h_i = Σ_{S ⊆ N∖i} w_i(S) [v(S ∪ i) − v(S)],     (A1) w_i(S) ≥ 0,     (A2) Σ_S w_i(S) = 1
/// ```
///
/// For a semivalue, the weights depend on the size of S only, and are the same for all players. Here they are
/// arbitrary. This allows for players that never occur together, restricted orders, and players with
/// different weights.
///
/// ```
/// use apportion_games::Glove;
/// use apportion_values::LinearValue;
///
/// // The players join in a fixed order: 0, then 1, then 2.
/// let order = LinearValue::from_weights(3, |player, coalition| {
///     let before = (0..3).all(|other| coalition.contains(other) == (other < player));
///     f64::from(before)
/// })?;
/// assert_eq!(order.enumerate(&Glove::new(1, 2)?)?.values, [0.0, 1.0, 0.0]);
///
/// let negative =
///     LinearValue::from_weights(2, |_, coalition| if coalition.size() == 0 { 1.5 } else { -0.5 });
/// assert!(negative.unwrap_err().to_string().contains("-0.5"));
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Tables", into = "Tables")]
pub struct LinearValue {
    distributions: Arc<[CoalitionDistribution]>,
}

/// The distribution `P_i` of the coalition that player i joins: coalitions of the other players with their
/// probabilities.
#[derive(Debug, Clone, PartialEq)]
pub struct CoalitionDistribution {
    coalitions: Coalitions,
    probabilities: Vec<f64>,
}

impl CoalitionDistribution {
    /// Creates the distribution in which each row of `coalitions` has the probability at the same index of
    /// `probabilities`. Coalitions may be repeated.
    ///
    /// [`LinearValue`] checks whether the distribution is valid.
    pub fn new(coalitions: Coalitions, probabilities: Vec<f64>) -> Self {
        Self { coalitions, probabilities }
    }

    /// Returns the coalitions. They are coalitions of all n players, but never contain the player that joins
    /// them.
    pub fn coalitions(&self) -> &Coalitions {
        &self.coalitions
    }

    /// Returns the probability of each coalition.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Checks that this is a valid distribution for `player` in a game of `players` players.
    fn check(&self, player: usize, players: usize) -> Result<(), DistributionProblem> {
        let (given, wanted) = (self.probabilities.len(), self.coalitions.len());
        if given != wanted || wanted == 0 {
            return Err(DistributionProblem::Lengths { coalitions: wanted, weights: given });
        }
        if self.coalitions.players() != players {
            return Err(DistributionProblem::OtherPlayers {
                actual: self.coalitions.players(),
                expected: players,
            });
        }
        for (coalition, &weight) in self.coalitions.iter().zip(&self.probabilities) {
            if coalition.contains(player) {
                return Err(DistributionProblem::Member { coalition: coalition.to_coalition() });
            }
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(DistributionProblem::Weight { coalition: coalition.to_coalition(), weight });
            }
        }
        let sum: f64 = self.probabilities.iter().sum();
        if (sum - 1.0).abs() <= SUM_TOLERANCE { Ok(()) } else { Err(DistributionProblem::Sum { sum }) }
    }
}

impl LinearValue {
    /// Creates the value in which `distributions[i]` is the distribution for player i.
    ///
    /// # Errors
    ///
    /// [`ValueError::Distribution`] for the first invalid distribution, for example if its weights violate
    /// (A1) or (A2), with the reason; [`ValueError::Players`] without distributions.
    pub fn from_distributions(distributions: Vec<CoalitionDistribution>) -> Result<Self, ValueError> {
        let players = distributions.len();
        if players == 0 {
            return Err(ValueError::Players { actual: 0, max: MAX_PLAYERS });
        }
        for (player, distribution) in distributions.iter().enumerate() {
            distribution
                .check(player, players)
                .map_err(|problem| ValueError::Distribution { player, problem })?;
        }
        Ok(Self { distributions: distributions.into() })
    }

    /// Creates the value with the weight `weight(i, S)` for every player i and coalition S of the others.
    /// Coalitions of weight 0 are omitted.
    ///
    /// Calls `weight` n 2^(n − 1) times.
    ///
    /// # Errors
    ///
    /// Same as [`from_distributions`](Self::from_distributions); also [`ValueError::Players`] for more than
    /// 20 players. For more players, pass distributions over few coalitions instead.
    pub fn from_weights(
        players: usize,
        weight: impl Fn(usize, CoalitionView<'_>) -> f64,
    ) -> Result<Self, ValueError> {
        check_tabulated(players)?;
        let distribution = |player: usize| {
            let (below, mut coalitions) = ((1u64 << player) - 1, Coalitions::new(players));
            let mut probabilities = Vec::new();
            for others in 0..1u64 << (players - 1) {
                let words = [others & below | (others & !below) << 1];
                coalitions.push_words(&words);
                let weight = weight(player, coalitions.row(coalitions.len() - 1));
                probabilities.push(weight);
            }
            let kept: Vec<usize> = (0..probabilities.len()).filter(|&at| probabilities[at] != 0.0).collect();
            let mut distribution =
                CoalitionDistribution::new(Coalitions::with_capacity(players, kept.len()), Vec::new());
            for at in kept {
                distribution.coalitions.push(coalitions.row(at));
                distribution.probabilities.push(probabilities[at]);
            }
            distribution
        };
        Self::from_distributions((0..players).map(distribution).collect())
    }

    /// Creates the weighted Shapley value (Shapley 1953; Kalai and Samet, *On weighted Shapley values*,
    /// 1987): the expected marginal contribution in a random order of the players. The order is drawn from
    /// the last player to the first; each remaining player i comes next with a probability proportional to
    /// `weights[i]`. In a unanimity game, the members of the carrier share in proportion to their weights.
    /// Equal weights yield the Shapley value.
    ///
    /// If q(T) is the probability that the players of T come first, `w_i(S) = q(S ∪ i) weights[i] / Σ_{S ∪ i}
    /// weights`.
    ///
    /// # Errors
    ///
    /// [`ValueError::PlayerWeight`] for a weight that is not positive and finite; [`ValueError::Players`]
    /// without players or for more than 20.
    pub fn weighted_shapley(weights: &[f64]) -> Result<Self, ValueError> {
        let players = weights.len();
        check_tabulated(players)?;
        if let Some(player) = weights.iter().position(|weight| !(weight.is_finite() && *weight > 0.0)) {
            return Err(ValueError::PlayerWeight { player, weight: weights[player] });
        }
        let members = |mask: usize| (0..players).filter(move |player| mask >> player & 1 == 1);
        // Divide by the largest weight first: sums of very large weights would overflow.
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let share = |player: usize, mask: usize| -> f64 {
            let sum: f64 = members(mask).map(|member| weights[member] / largest).sum();
            weights[player] / largest / sum
        };
        let mut first = vec![0.0; 1 << players];
        first[(1 << players) - 1] = 1.0;
        for mask in (1..1usize << players).rev() {
            for player in members(mask) {
                first[mask ^ 1 << player] += first[mask] * share(player, mask);
            }
        }
        Self::from_weights(players, |player, coalition| {
            let mask = coalition.words()[0] as usize | 1 << player;
            first[mask] * share(player, mask)
        })
    }

    /// Returns the number of players n.
    pub fn players(&self) -> usize {
        self.distributions.len()
    }

    /// Returns the distribution of the coalitions that `player` joins.
    ///
    /// # Panics
    ///
    /// If the player does not exist.
    pub fn distribution(&self, player: usize) -> &CoalitionDistribution {
        &self.distributions[player]
    }

    /// Computes the exact values of all players of `game`, by definition. Evaluates each coalition in the
    /// support of the distributions once and caches it.
    ///
    /// # Errors
    ///
    /// [`ValueError::DistributionsForOtherPlayers`] if the number of players of the game differs; any error
    /// of the game; [`ValueError::Overflow`].
    pub fn enumerate(&self, game: &(impl Game + ?Sized)) -> Result<Attributions, ValueError> {
        self.check_players(game.players())?;
        let outputs = game.outputs();
        let game = Cached::new(game);
        let (base, full) = ends(&game)?;
        let mut values = vec![0.0; self.players() * outputs];
        for (player, value) in values.chunks_exact_mut(outputs).enumerate() {
            self.add_contributions(&game, player, value)?;
        }
        Attributions::for_players(self.players(), values, base, full).finite()
    }

    /// Returns an error for a game with a different number of players.
    pub(crate) fn check_players(&self, players: usize) -> Result<(), ValueError> {
        if players == self.players() {
            return Ok(());
        }
        Err(ValueError::DistributionsForOtherPlayers { distributions: self.players(), players })
    }

    fn add_contributions(&self, game: &dyn Game, player: usize, value: &mut [f64]) -> Result<(), GameError> {
        let (distribution, outputs) = (self.distribution(player), value.len());
        for start in (0..distribution.coalitions.len()).step_by(CHUNK) {
            let end = distribution.coalitions.len().min(start + CHUNK);
            let mut batch = Coalitions::with_capacity(self.players(), 2 * (end - start));
            for row in start..end {
                let mut joined = distribution.coalitions.row(row).to_coalition();
                joined.insert(player);
                batch.push(distribution.coalitions.row(row));
                batch.push(joined.view());
            }
            let mut worth = vec![0.0; batch.len() * outputs];
            game.values(&batch, &mut worth)?;
            for (pair, probability) in
                worth.chunks_exact(2 * outputs).zip(&distribution.probabilities[start..end])
            {
                for (output, value) in value.iter_mut().enumerate() {
                    *value += probability * (pair[outputs + output] - pair[output]);
                }
            }
        }
        Ok(())
    }
}

fn check_tabulated(players: usize) -> Result<(), ValueError> {
    if (1..=MAX_TABULATED_PLAYERS).contains(&players) {
        Ok(())
    } else {
        Err(ValueError::Players { actual: players, max: MAX_TABULATED_PLAYERS })
    }
}

/// The serialized form of all distributions: for each player, a list of coalitions (as members) with
/// probabilities.
#[derive(Serialize, Deserialize)]
struct Tables(Vec<Vec<(Vec<usize>, f64)>>);

impl From<LinearValue> for Tables {
    fn from(value: LinearValue) -> Self {
        let table = |distribution: &CoalitionDistribution| {
            let members = distribution.coalitions.iter().map(|coalition| coalition.members().collect());
            members.zip(distribution.probabilities.iter().copied()).collect()
        };
        Self(value.distributions.iter().map(table).collect())
    }
}

impl TryFrom<Tables> for LinearValue {
    type Error = ValueError;

    fn try_from(Tables(tables): Tables) -> Result<Self, ValueError> {
        let players = tables.len();
        let distribution = |(player, table): (usize, Vec<(Vec<usize>, f64)>)| {
            let mut distribution = CoalitionDistribution::new(Coalitions::new(players), Vec::new());
            for (members, probability) in table {
                if let Some(&unknown) = members.iter().find(|&&member| member >= players) {
                    let problem =
                        DistributionProblem::OtherPlayers { actual: unknown + 1, expected: players };
                    return Err(ValueError::Distribution { player, problem });
                }
                distribution.coalitions.push_members(members);
                distribution.probabilities.push(probability);
            }
            Ok(distribution)
        };
        Self::from_distributions(tables.into_iter().enumerate().map(distribution).collect::<Result<_, _>>()?)
    }
}
