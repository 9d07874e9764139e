//! Contributions of players to coalitions of their neighbourhoods.

use apportion_games::{Coalitions, Game};
use apportion_samplers::{Pairing, Sampler, SizeDistribution, WithReplacement};
use apportion_values::{Outside, Semivalue};

use crate::error::Result;
use crate::on_graph::exact_result::BATCH;
use crate::report::{Influences, RunningMoments};

/// The minimum number of draws per player for standard errors, as in Monte Carlo.
const MIN_DRAWS: usize = 4;

/// The estimate for one player.
pub(super) struct PlayerEstimate {
    pub(super) values: Vec<f64>,
    pub(super) std_errors: Option<Vec<f64>>,
    pub(super) degrees_of_freedom: f64,
    pub(super) influences: Influences,
    /// The weight of one draw in the value; 0 if the value is exact, or if its errors already include the
    /// allowance for unseen events.
    pub(super) share: f64,
}

/// The specification of the draws for one player.
pub(super) struct Draws<'a> {
    pub(super) player: usize,
    /// The neighbourhood of the player.
    pub(super) around: &'a [usize],
    pub(super) outside: Outside,
    /// Whether each coalition is drawn together with its complement.
    pub(super) is_paired: bool,
    pub(super) evaluations: usize,
    pub(super) seed: u64,
}

/// The running moments of all players' draws. A draw is a contribution or the mean of two contributions.
pub(super) struct Contributions {
    /// The coalitions that wait for evaluation, alternately without and with the player.
    batch: Coalitions,
    /// For each draw in the batch, the player and the number of contributions in the draw's mean.
    draws: Vec<(usize, usize)>,
    moments: Vec<RunningMoments>,
    outputs: usize,
}

impl Contributions {
    pub(super) fn new(players: usize, outputs: usize) -> Self {
        let moments = vec![RunningMoments::new(outputs); players];
        Self { batch: Coalitions::new(players), draws: Vec::new(), moments, outputs }
    }

    /// Draws coalitions for the player from the distribution of `value`, and evaluates the batch once it is
    /// full.
    pub(super) fn draw(&mut self, game: &dyn Game, value: &Semivalue, draws: &Draws<'_>) -> Result<()> {
        let pairing = if draws.is_paired { Pairing::Paired } else { Pairing::Unpaired };
        let sampler = WithReplacement {
            distribution: SizeDistribution::custom(&value.size_distribution(draws.around.len()))?,
            pairing,
        };
        let sample = sampler.sample(draws.evaluations / 2, draws.seed)?.into_coalitions();
        let others: Vec<usize> = draws.around.iter().copied().filter(|&node| node != draws.player).collect();
        let mut beyond = vec![0; self.batch.words_per_row()];
        if draws.outside == Outside::Present {
            put(
                &mut beyond,
                (0..self.batch.players()).filter(|node| draws.around.binary_search(node).is_err()),
            );
        }
        let together = if draws.is_paired { 2 } else { 1 };
        let mut words = beyond.clone();
        for (index, coalition) in sample.iter().enumerate() {
            words.copy_from_slice(&beyond);
            put(&mut words, coalition.members().map(|member| others[member]));
            self.batch.push_words(&words);
            put(&mut words, [draws.player]);
            self.batch.push_words(&words);
            if (index + 1) % together == 0 {
                self.draws.push((draws.player, together));
                if self.batch.len() >= BATCH {
                    self.settle(game)?;
                }
            }
        }
        Ok(())
    }

    /// Evaluates the batch, and adds its draws to the moments.
    pub(super) fn settle(&mut self, game: &dyn Game) -> Result<()> {
        let mut values = vec![0.0; self.batch.len() * self.outputs];
        game.values(&self.batch, &mut values)?;
        let mut contributions = values.chunks_exact(2 * self.outputs);
        let mut mean = vec![0.0; self.outputs];
        for &(player, together) in &self.draws {
            mean.fill(0.0);
            for pair in contributions.by_ref().take(together) {
                let (before, after) = pair.split_at(self.outputs);
                for ((mean, before), after) in mean.iter_mut().zip(before).zip(after) {
                    *mean += (after - before) / together as f64;
                }
            }
            self.moments[player].add(&mean);
        }
        self.batch.clear();
        self.draws.clear();
        Ok(())
    }

    /// Returns the minimum number of draws among the players that have any.
    pub(super) fn min_draws(&self) -> Option<usize> {
        self.moments.iter().map(RunningMoments::count).filter(|&count| count > 0).min()
    }

    /// Returns the mean of the player's draws, with standard errors if there are enough draws.
    pub(super) fn own(&self, player: usize) -> PlayerEstimate {
        let moments = &self.moments[player];
        let count = moments.count() as f64;
        let has_errors = moments.count() >= MIN_DRAWS;
        PlayerEstimate {
            values: moments.mean().collect(),
            std_errors: has_errors.then(|| moments.standard_errors().collect()),
            degrees_of_freedom: count - 1.0,
            influences: moments.influences(),
            share: count.recip(),
        }
    }
}

/// Sets the bits of `members` in `words`.
fn put(words: &mut [u64], members: impl IntoIterator<Item = usize>) {
    members.into_iter().for_each(|member| words[member / 64] |= 1 << (member % 64));
}
