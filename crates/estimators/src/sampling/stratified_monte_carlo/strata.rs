//! The strata and their coalitions.

use apportion_games::{Coalitions, Partition, Purpose, stream};
use apportion_samplers::{JoinedCoalitions, SamplerError, choose, unrank};
use rand::Rng;

/// The sizes of the joined coalition that have strata, and the cost of draws.
#[derive(Debug, Clone)]
pub(crate) struct Sizes {
    pub(crate) players: usize,
    /// The weights P(l) of the sizes 0..n.
    pub(crate) distribution: Vec<f64>,
    /// The sizes in 1..=n−2 with positive weight. For sizes 0 and n−1, there is one coalition per player.
    pub(crate) inner: Vec<usize>,
}

/// The weight below which sizes are ignored. It is smaller than the rounding error of the sum of the other
/// weights.
const NO_WEIGHT: f64 = 1e-18;

impl Sizes {
    pub(crate) fn new(distribution: Vec<f64>) -> Self {
        let players = distribution.len();
        let inner = (1..players.saturating_sub(1)).filter(|&size| distribution[size] >= NO_WEIGHT).collect();
        Self { players, distribution, inner }
    }

    /// Returns whether coalitions of one player occur in some contribution.
    pub(crate) fn needs_singles(&self) -> bool {
        self.distribution.iter().take(2).any(|&weight| weight >= NO_WEIGHT)
    }

    /// Returns whether coalitions of all players but one occur in some contribution, and have more than one
    /// player.
    pub(crate) fn needs_all_but_one(&self) -> bool {
        self.players > 2 && self.distribution.iter().rev().take(2).any(|&weight| weight >= NO_WEIGHT)
    }

    /// Returns whether coalitions of `size` are evaluated in draws, rather than before the first draw.
    pub(crate) fn is_asked(&self, size: usize) -> bool {
        (2..self.players - 1).contains(&size)
    }

    /// Returns the number of evaluations for a draw in which a player joins `size` others: 2, or fewer if the
    /// draw contains coalitions of one player or of all players but one.
    pub(crate) fn cost(&self, size: usize) -> usize {
        usize::from(self.is_asked(size)) + usize::from(self.is_asked(size + 1))
    }

    /// Returns the number of evaluations before any draw, including ∅ and N.
    pub(crate) fn known_evaluations(&self) -> usize {
        2 + self.players * (usize::from(self.needs_singles()) + usize::from(self.needs_all_but_one()))
    }

    /// Returns the number of evaluations for one draw from every stratum.
    pub(crate) fn min_evaluations(&self) -> usize {
        let draws: usize = self.inner.iter().map(|&size| self.cost(size)).sum();
        self.known_evaluations().saturating_add(self.players.saturating_mul(draws))
    }
}

/// Strata with at most this number of coalitions are drawn without replacement.
const SMALL: u128 = 64;

/// Log2 of the distance between consecutive draws in the random stream of a stratum, in random words. A draw
/// consumes fewer words than this distance.
const DRAW_BITS: u32 = 24;

/// The strata of the inner sizes, numbered size by size: stratum `at · n + player` is that of `player` and of
/// the size `sizes.inner[at]`.
pub(crate) struct Strata<'p> {
    pub(crate) sizes: Sizes,
    /// C(n−1, l) for each inner size whose coalitions are drawn without replacement.
    populations: Vec<Option<u32>>,
    joined: Vec<JoinedCoalitions<'p>>,
    seed: u64,
}

impl<'p> Strata<'p> {
    /// Creates the strata of the players of `whole`, all in one group.
    pub(crate) fn new(sizes: Sizes, whole: &'p Partition, seed: u64) -> Result<Self, SamplerError> {
        let players = sizes.players;
        let of_size = |&size: &usize| {
            let only = |sizes: usize| (0..sizes).map(|other| f64::from(u8::from(other == size))).collect();
            JoinedCoalitions::new(whole, &[1.0], only)
        };
        let joined = sizes.inner.iter().map(of_size).collect::<Result<_, _>>()?;
        // Sizes 1 and n − 2 have n − 1 coalitions, which is few compared with the budget for any n.
        let small = |&size: &usize| {
            let most = if size == 1 || size + 2 == players { u128::from(u32::MAX) } else { SMALL };
            choose(players - 1, size).filter(|&count| count <= most).map(|count| count as u32)
        };
        let populations = sizes.inner.iter().map(small).collect();
        Ok(Self { sizes, populations, joined, seed })
    }

    /// Returns the number of strata.
    pub(crate) fn len(&self) -> usize {
        self.sizes.inner.len() * self.sizes.players
    }

    pub(crate) fn player(&self, stratum: usize) -> usize {
        stratum % self.sizes.players
    }

    /// Returns the size of the joined coalition in a stratum.
    pub(crate) fn size(&self, stratum: usize) -> usize {
        self.sizes.inner[stratum / self.sizes.players]
    }

    /// Returns the weight P(l) of the size of a stratum.
    pub(crate) fn weight(&self, stratum: usize) -> f64 {
        self.sizes.distribution[self.size(stratum)]
    }

    /// Returns the number of evaluations for a draw from a stratum.
    pub(crate) fn cost(&self, stratum: usize) -> usize {
        self.sizes.cost(self.size(stratum))
    }

    /// Returns the number of coalitions in a stratum that is drawn without replacement; `None` for other
    /// strata.
    pub(crate) fn population(&self, stratum: usize) -> Option<u32> {
        self.populations[stratum / self.sizes.players]
    }

    /// Appends to `batch` the coalition (without the player) of draw number `draw` on `side` of a stratum. It
    /// is determined by these numbers and the seed.
    ///
    /// If a stratum is drawn without replacement, its draws are its coalitions in random order, and only one
    /// side is used.
    pub(crate) fn push(&self, stratum: usize, side: usize, draw: usize, batch: &mut Coalitions) {
        let (at, player) = (stratum / self.sizes.players, self.player(stratum));
        let mut rng = stream(self.seed, Purpose::Strata, (2 * stratum + side) as u64);
        if let Some(population) = self.populations[at] {
            let mut order: Vec<(u64, u32)> = (0..population).map(|rank| (rng.next_u64(), rank)).collect();
            order.sort_unstable();
            let rank = order[draw].1;
            // Any rank below C(n − 1, l) is valid.
            if let Ok(others) = unrank(self.sizes.players - 1, self.sizes.inner[at], rank.into()) {
                batch.push_members(others.view().members().map(|other| other + usize::from(other >= player)));
            }
            return;
        }
        rng.set_word_pos((draw as u128) << DRAW_BITS);
        let mut others = vec![0; batch.words_per_row()];
        self.joined[at].draw_members(player, &mut rng, &mut others);
        batch.push_words(&others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn uniform(players: usize) -> Sizes {
        Sizes::new(vec![1.0 / players as f64; players])
    }

    #[test]
    fn the_least_budget_draws_once_from_every_stratum() {
        // For three or more players, the number is 2 (n − 1)².
        let least = |players| uniform(players).min_evaluations();
        assert_eq!([2, 3, 4, 5, 10, 30].map(least), [4, 8, 18, 32, 162, 1682]);
        let early = Sizes::new(vec![0.5, 0.5, 0.0, 0.0, 0.0]);
        assert_eq!(
            (early.inner.clone(), early.known_evaluations(), early.min_evaluations()),
            (vec![1], 7, 12)
        );
        let middle = Sizes::new(vec![0.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!((middle.known_evaluations(), middle.min_evaluations()), (2, 12));
    }

    #[test]
    fn small_strata_come_whole_and_large_ones_at_random() {
        for players in [4, 8, 12, 70] {
            let whole = Partition::whole(players);
            let strata = Strata::new(uniform(players), &whole, 3).unwrap();
            for stratum in 0..strata.len() {
                let (player, size) = (strata.player(stratum), strata.size(stratum));
                let count = strata.population(stratum).map_or(40, |count| count as usize);
                let mut batch = Coalitions::new(players);
                (0..count).for_each(|draw| strata.push(stratum, 0, draw, &mut batch));
                assert!(batch.iter().all(|row| row.size() == size && !row.contains(player)));
                let distinct: BTreeSet<&[u64]> = batch.iter().map(|row| row.words()).collect();
                if strata.population(stratum).is_some() {
                    assert_eq!(distinct.len() as u128, choose(players - 1, size).unwrap());
                } else {
                    assert!(distinct.len() > 20, "{players}, {size}: {}", distinct.len());
                    let mut other = Coalitions::new(players);
                    (0..count).for_each(|draw| strata.push(stratum, 1, draw, &mut other));
                    assert_ne!(batch, other);
                }
            }
        }
    }
}
