//! The coalitions of one draw for a player, and the resulting marginal contribution (Algorithms 1, 3 and 4).

use std::ops::Range;

use apportion_games::{Coalition, Hierarchy, Partition, Purpose, stream, words_for};
use apportion_samplers::{Discrete, JoinedCoalitions, JoinedOverHierarchy};
use apportion_values::{CoalitionalValue, LinearValue, Semivalue};
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::support::product_draws::{ProductDraws, ScenarioCoalitions, Scenarios};

/// The distribution of the coalition that a player joins.
pub(crate) enum CoalitionDistributions<'a> {
    /// `Q_A ∪ T`, with one distribution between groups and one within them: Algorithm 3. For a semivalue, all
    /// players are in one group, and this is Algorithm 1.
    Coalitional(JoinedCoalitions<'a>),
    /// Siblings at every level of a hierarchy: Algorithm 3 with more than two levels.
    OverHierarchy(JoinedOverHierarchy<'a>),
    /// T among the other members of the player's group alone, and Q_A together with the whole group:
    /// Algorithm 4.
    TwoStep(JoinedCoalitions<'a>, &'a Partition),
    /// A custom distribution for each requested player: Algorithm 1 for linear values.
    Linear(&'a LinearValue, Vec<Discrete>),
}

impl<'a> CoalitionDistributions<'a> {
    /// Returns the distributions of a semivalue, with all players in one group.
    pub(crate) fn semivalue(value: &Semivalue, whole: &'a Partition) -> Result<Self> {
        Ok(Self::Coalitional(JoinedCoalitions::new(whole, &[1.0], |players| {
            value.size_distribution(players)
        })?))
    }

    /// Returns the distributions of a coalitional value.
    pub(crate) fn coalitional(value: &CoalitionalValue, partition: &'a Partition) -> Result<Self> {
        Ok(Self::Coalitional(joined(value, partition)?))
    }

    /// Returns the distributions of a coalitional value over a hierarchy.
    pub(crate) fn over_hierarchy(value: &CoalitionalValue, hierarchy: &'a Hierarchy) -> Result<Self> {
        let sizes = |level, members| value.at_level(level).size_distribution(members);
        Ok(Self::OverHierarchy(JoinedOverHierarchy::new(hierarchy, sizes)?))
    }

    /// Returns the distributions of the two-step Shapley value.
    pub(crate) fn two_step(partition: &'a Partition) -> Result<Self> {
        Ok(Self::TwoStep(joined(&CoalitionalValue::owen(), partition)?, partition))
    }

    /// Returns the distributions of a linear value, for `players`.
    pub(crate) fn linear(value: &'a LinearValue, players: &[usize]) -> Result<Self> {
        let distribution = |&player: &usize| Discrete::new(value.distribution(player).probabilities());
        Ok(Self::Linear(value, players.iter().map(distribution).collect::<Result<_, _>>()?))
    }
}

fn joined<'a>(value: &CoalitionalValue, partition: &'a Partition) -> Result<JoinedCoalitions<'a>> {
    let between = value.between.size_distribution(partition.len());
    Ok(JoinedCoalitions::new(partition, &between, |members| value.within.size_distribution(members))?)
}

/// Returns the number of scenario evaluations for one draw of `player` for a two-step value. These are `T`,
/// `T ∪ i`, `Q_A`, `Q_A ∪ S_j`, `S_j` and ∅, all in one scenario. A player that is alone in its group
/// requires only the two evaluations of Algorithm 2.
pub(crate) fn two_step_rows(partition: &Partition, player: usize) -> usize {
    if is_alone(partition, player) { 2 } else { 6 }
}

fn is_alone(partition: &Partition, player: usize) -> bool {
    partition.group(partition.group_of(player)).len() == 1
}

/// Independent draws for each of the given players.
pub(crate) struct Contributions<'a> {
    pub(crate) distributions: CoalitionDistributions<'a>,
    pub(crate) scenarios: Scenarios,
    pub(crate) players: &'a [usize],
    /// The number of players of the game, and the number of its outputs.
    pub(crate) game_players: usize,
    pub(crate) outputs: usize,
    pub(crate) seed: u64,
}

/// The number of bits in a stream number that identify the block. The remaining bits identify the player.
pub(crate) const BLOCK_BITS: u32 = 28;

impl ProductDraws for Contributions<'_> {
    type BlockState = ();

    fn rows_per_draw(&self, unit: usize) -> usize {
        match &self.distributions {
            CoalitionDistributions::TwoStep(_, partition) => two_step_rows(partition, self.players[unit]),
            CoalitionDistributions::Coalitional(_)
            | CoalitionDistributions::OverHierarchy(_)
            | CoalitionDistributions::Linear(..) => 2,
        }
    }

    fn stream(&self, unit: usize, block: usize) -> ChaCha8Rng {
        let unit = (self.players[unit] as u64) << BLOCK_BITS | block as u64;
        stream(self.seed, Purpose::ProductSpace, unit)
    }

    fn draw(&self, unit: usize, draws: Range<usize>, rng: &mut ChaCha8Rng, asked: &mut ScenarioCoalitions) {
        let player = self.players[unit];
        let mut words = vec![0; words_for(self.game_players)];
        match &self.distributions {
            CoalitionDistributions::Coalitional(distribution) => {
                for draw in draws {
                    words.fill(0);
                    distribution.draw_union(player, rng, &mut words);
                    distribution.draw_members(player, rng, &mut words);
                    push_joined(asked, &mut words, player);
                    asked.all_in(self.scenarios.scenario(draw, rng));
                }
            }
            CoalitionDistributions::OverHierarchy(distribution) => {
                for draw in draws {
                    words.fill(0);
                    distribution.draw(player, rng, &mut words);
                    push_joined(asked, &mut words, player);
                    asked.all_in(self.scenarios.scenario(draw, rng));
                }
            }
            CoalitionDistributions::Linear(value, tables) => {
                let coalitions = value.distribution(player).coalitions();
                for draw in draws {
                    words.copy_from_slice(coalitions.row(tables[unit].draw(rng)).words());
                    push_joined(asked, &mut words, player);
                    asked.all_in(self.scenarios.scenario(draw, rng));
                }
            }
            CoalitionDistributions::TwoStep(distribution, partition) => {
                let members = partition.group(partition.group_of(player));
                let group = Coalition::from_members(self.game_players, members.iter().copied());
                let empty = vec![0; words.len()];
                for draw in draws {
                    words.fill(0);
                    if members.len() > 1 {
                        distribution.draw_members(player, rng, &mut words);
                        push_joined(asked, &mut words, player);
                        words.fill(0);
                    }
                    distribution.draw_union(player, rng, &mut words);
                    asked.push(&words);
                    words.iter_mut().zip(group.view().words()).for_each(|(word, group)| *word |= group);
                    asked.push(&words);
                    if members.len() > 1 {
                        asked.push(group.view().words());
                        asked.push(&empty);
                    }
                    asked.all_in(self.scenarios.scenario(draw, rng));
                }
            }
        }
    }

    fn samples(&self, unit: usize, (): (), values: &[f64]) -> Vec<f64> {
        let share = match &self.distributions {
            CoalitionDistributions::TwoStep(_, partition) => {
                1.0 / partition.group(partition.group_of(self.players[unit])).len() as f64
            }
            CoalitionDistributions::Coalitional(_)
            | CoalitionDistributions::OverHierarchy(_)
            | CoalitionDistributions::Linear(..) => 1.0,
        };
        // The terms are T and T ∪ i, followed by Q_A, Q_A ∪ S_j, S_j and ∅ for a share of the group's
        // contribution beyond its own value.
        let signs = [-1.0, 1.0, -share, share, -share, share];
        let rows = self.rows_per_draw(unit);
        let mut samples = Vec::with_capacity(values.len() / rows);
        for draw in values.chunks_exact(rows * self.outputs) {
            for output in 0..self.outputs {
                let answers = draw.iter().skip(output).step_by(self.outputs);
                samples.push(answers.zip(signs).map(|(value, sign)| sign * value).sum());
            }
        }
        samples
    }
}

/// Appends two coalitions: `words` without `player`, and `words` with `player`.
fn push_joined(asked: &mut ScenarioCoalitions, words: &mut [u64], player: usize) {
    asked.push(words);
    words[player / 64] |= 1 << (player % 64);
    asked.push(words);
}
