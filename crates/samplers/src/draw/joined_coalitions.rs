//! Draws the coalition that a player in a group joins: a union of other groups, plus members of the player's
//! group.
//!
//! # Notation
//!
//! There are `n` players in `m` groups S_1 … S_m; player i is in S_j. `A` is a set of other groups, `Q_A` is
//! their union, and `T` is a set of other members of S_j.
//!
//! # Source
//!
//! Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, *Approximation of group explainers with coalition
//! structure using Monte Carlo sampling on the product space of coalitions and features*, 2023, Algorithms 1
//! and 3.

use apportion_games::{Partition, words_for};
use rand_chacha::ChaCha8Rng;

use crate::draw::discrete::Discrete;
use crate::draw::subset::UniformSubset;
use crate::error::SamplerError;

/// The distribution of the coalition `Q_A ∪ T` that a player in a group joins. A and T are independent; for
/// each of them, the size is drawn first.
///
/// `|A|` has the distribution `between` on 0..m, and `|T|` has the distribution `within(|S_j|)` on 0..|S_j|.
/// Given the sizes, all A and all T are equally likely. If the size distributions are those of two
/// semivalues, the mean of `v(Q_A ∪ T ∪ i) − v(Q_A ∪ T)` is a coalitional value (equation 3.13). If all
/// players are in one group, this mean is the semivalue whose size distribution is `within(n)`.
///
/// A draw takes at most O(n) time, and usually no allocation.
///
/// ```
/// use apportion_games::{Coalition, Partition, Purpose, stream};
/// use apportion_samplers::JoinedCoalitions;
///
/// let partition = Partition::new(4, vec![vec![0, 1, 2], vec![3]])?;
/// let uniform = |sizes: usize| vec![1.0; sizes];
/// let owen = JoinedCoalitions::new(&partition, &uniform(2), uniform)?;
/// let mut words = [0];
/// owen.draw_union(0, &mut stream(7, Purpose::ProductSpace, 0), &mut words);
/// assert!(words == [0] || words == [0b1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct JoinedCoalitions<'p> {
    partition: &'p Partition,
    /// The coalition of each group's members, as consecutive words.
    unions: Vec<u64>,
    /// The position of each player within its group.
    places: Vec<u32>,
    between: SubsetDistribution,
    /// The distribution of T for each group size that occurs; the index is the size.
    within: Vec<Option<SubsetDistribution>>,
}

impl<'p> JoinedCoalitions<'p> {
    /// Creates the distribution from weights that are proportional to probabilities. `between[a]` is the
    /// weight of `|A| = a`, with a in 0..m. In a group of s players, `within(s)[t]` is the weight of
    /// `|T| = t`, with t in 0..s.
    ///
    /// # Errors
    ///
    /// [`SamplerError::Sizes`] if there is not one weight for each size, [`SamplerError::OutcomeWeight`] and
    /// [`SamplerError::NoOutcome`] for invalid weights.
    pub fn new(
        partition: &'p Partition,
        between: &[f64],
        within: impl Fn(usize) -> Vec<f64>,
    ) -> Result<Self, SamplerError> {
        let words = words_for(partition.players());
        let mut unions = vec![0; words * partition.len()];
        let mut places = vec![0; partition.players()];
        let mut distributions = vec![None; partition.largest() + 1];
        for (group, members) in partition.groups().iter().enumerate() {
            for (place, &player) in members.iter().enumerate() {
                unions[group * words + player / 64] |= 1 << (player % 64);
                places[player] = place as u32;
            }
            let distribution = &mut distributions[members.len()];
            if distribution.is_none() {
                *distribution = Some(SubsetDistribution::new(members.len(), &within(members.len()))?);
            }
        }
        let between = SubsetDistribution::new(partition.len(), between)?;
        Ok(Self { partition, unions, places, between, within: distributions })
    }

    /// Draws A from all groups except the one of `player`, and adds Q_A to the coalition `words`.
    ///
    /// # Panics
    ///
    /// If the player does not exist, or the length of `words` is wrong.
    pub fn draw_union(&self, player: usize, rng: &mut ChaCha8Rng, words: &mut [u64]) {
        let width = words_for(self.partition.players());
        self.between.draw(self.partition.group_of(player), rng, |other| {
            let union = &self.unions[other * width..(other + 1) * width];
            words.iter_mut().zip(union).for_each(|(word, union)| *word |= union);
        });
    }

    /// Draws T from the other members of the group of `player`, and adds it to the coalition `words`.
    ///
    /// # Panics
    ///
    /// If the player does not exist, or the length of `words` is wrong.
    pub fn draw_members(&self, player: usize, rng: &mut ChaCha8Rng, words: &mut [u64]) {
        let members = self.partition.group(self.partition.group_of(player));
        if let Some(distribution) = &self.within[members.len()] {
            distribution.draw(self.places[player] as usize, rng, |place| {
                words[members[place] / 64] |= 1 << (members[place] % 64);
            });
        }
    }
}

/// A distribution of subsets of `count` elements without a given element: first a random size, then a
/// uniformly random subset of this size.
#[derive(Debug, Clone)]
pub(super) struct SubsetDistribution {
    sizes: Discrete,
    /// For each size, uniformly random subsets of `count − 1` elements.
    subsets: Vec<UniformSubset>,
}

/// Maximum number of words in a subset that is stored on the stack: up to 1024 elements.
const STACK_WORDS: usize = 16;

impl SubsetDistribution {
    pub(super) fn new(count: usize, sizes: &[f64]) -> Result<Self, SamplerError> {
        if sizes.len() != count {
            return Err(SamplerError::Sizes { actual: sizes.len(), expected: count });
        }
        let subsets = (0..count).map(|size| UniformSubset::new(count - 1, size)).collect();
        Ok(Self { sizes: Discrete::new(sizes)?, subsets })
    }

    /// Draws a random subset of the elements other than `without`, and calls `visit` with each of its
    /// elements.
    #[inline]
    pub(super) fn draw(&self, without: usize, rng: &mut ChaCha8Rng, mut visit: impl FnMut(usize)) {
        let size = self.sizes.draw(rng);
        let width = words_for(self.subsets.len() - 1);
        let (mut stack, mut heap);
        let words: &mut [u64] = if width <= STACK_WORDS {
            stack = [0; STACK_WORDS];
            &mut stack[..width]
        } else {
            heap = vec![0; width];
            &mut heap
        };
        self.subsets[size].draw(rng, words);
        for (index, word) in words.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let element = index * 64 + rest.trailing_zeros() as usize;
                visit(element + usize::from(element >= without));
                rest &= rest - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Coalition, Coalitions, Purpose, stream};
    use std::collections::BTreeMap;

    fn distribution_of_size(sizes: usize) -> Vec<f64> {
        (0..sizes).map(|size| ((size * size + 3 * size) % 7 + 1) as f64).collect()
    }

    /// Returns the probability of each coalition that `player` may join, by definition.
    fn by_definition(partition: &Partition, player: usize) -> BTreeMap<u64, f64> {
        let group = partition.group_of(player);
        let mask = |players: &[usize]| players.iter().fold(0u64, |mask, player| mask | 1 << player);
        let fellows: Vec<usize> =
            partition.group(group).iter().copied().filter(|&other| other != player).collect();
        let others: Vec<u64> = (0..partition.len())
            .filter(|&other| other != group)
            .map(|other| mask(partition.group(other)))
            .collect();
        let probability = |size: u32, among: usize| {
            let distribution = distribution_of_size(among + 1);
            distribution[size as usize]
                / distribution.iter().sum::<f64>()
                / crate::choose(among, size as usize).unwrap() as f64
        };
        let mut distribution = BTreeMap::new();
        for a in 0u64..1 << others.len() {
            let union =
                (0..others.len()).filter(|at| a >> at & 1 == 1).fold(0, |union, at| union | others[at]);
            for t in 0u64..1 << fellows.len() {
                let members: Vec<usize> =
                    (0..fellows.len()).filter(|at| t >> at & 1 == 1).map(|at| fellows[at]).collect();
                let both =
                    probability(a.count_ones(), others.len()) * probability(t.count_ones(), fellows.len());
                distribution.insert(union | mask(&members), both);
            }
        }
        distribution
    }

    #[test]
    fn coalitions_have_the_law_of_the_definition() {
        let of = |players, groups: &[&[usize]]| {
            Partition::new(players, groups.iter().map(|group| group.to_vec()).collect()).unwrap()
        };
        for partition in [
            of(1, &[&[0]]),
            of(2, &[&[1], &[0]]),
            of(6, &[&[4, 0], &[1], &[5, 3, 2]]),
            Partition::whole(5),
            Partition::singletons(5),
        ] {
            let distribution = JoinedCoalitions::new(
                &partition,
                &distribution_of_size(partition.len()),
                distribution_of_size,
            )
            .unwrap();
            for player in 0..partition.players() {
                let wanted = by_definition(&partition, player);
                let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
                let mut rng = stream(5, Purpose::ProductSpace, player as u64);
                for _ in 0..20_000 {
                    let mut words = [0];
                    distribution.draw_union(player, &mut rng, &mut words);
                    distribution.draw_members(player, &mut rng, &mut words);
                    *counts.entry(words[0]).or_default() += 1.0;
                }
                assert!(counts.keys().all(|mask| wanted.contains_key(mask)), "{partition:?}");
                let term = |(mask, probability): (&u64, &f64)| {
                    let expected = 20_000.0 * probability;
                    (counts.get(mask).unwrap_or(&0.0) - expected).powi(2) / expected
                };
                // The bound on chi-square is six standard deviations above the mean.
                let (freedom, chi_square) = (wanted.len() as f64 - 1.0, wanted.iter().map(term).sum::<f64>());
                let bound = freedom + 6.0 * (2.0 * freedom).sqrt();
                assert!(chi_square <= bound + 1e-9, "{partition:?} {player}: {chi_square} {bound}");
            }
        }
    }

    #[test]
    fn unions_are_of_whole_groups_and_members_fellows_beyond_the_first_words() {
        // A subset of 2300 players is too large to be stored on the stack.
        for (players, groups) in [(65, 5), (130, 7), (2300, 2)] {
            let members = |group: usize| (group..players).step_by(groups).collect();
            let partition = Partition::new(players, (0..groups).map(members).collect()).unwrap();
            let uniform = |sizes: usize| vec![1.0; sizes];
            let distribution = JoinedCoalitions::new(&partition, &uniform(groups), uniform).unwrap();
            let mut rng = stream(6, Purpose::ProductSpace, 0);
            let mut sizes = [0.0; 2];
            for draw in 0..400 {
                let player = draw % players;
                let group = partition.group_of(player);
                let mut words = vec![0; words_for(players)];
                let mut batch = Coalitions::new(players);
                distribution.draw_union(player, &mut rng, &mut words);
                batch.push_words(&words);
                words.fill(0);
                distribution.draw_members(player, &mut rng, &mut words);
                batch.push_words(&words);
                let groups_in = |row: usize| -> Vec<usize> {
                    (0..groups)
                        .filter(|&group| {
                            let all =
                                Coalition::from_members(players, partition.group(group).iter().copied());
                            all.view().is_subset_of(batch.row(row))
                        })
                        .collect()
                };
                let union: usize = groups_in(0).iter().map(|&group| partition.group(group).len()).sum();
                assert_eq!(union, batch.row(0).size());
                assert!(!batch.row(0).contains(player) && !batch.row(1).contains(player));
                assert!(batch.row(1).members().all(|member| partition.group_of(member) == group));
                sizes[0] += groups_in(0).len() as f64 / (groups - 1) as f64 / 400.0;
                sizes[1] += batch.row(1).size() as f64 / (partition.group(group).len() - 1) as f64 / 400.0;
            }
            // Sizes are uniform, so their mean is half of the maximum, with a standard error of at most ½ /
            // √400 = 0.025. The bound is five standard errors.
            assert!(sizes.iter().all(|size| (size - 0.5).abs() < 0.125), "{players}: {sizes:?}");
        }
    }

    #[test]
    fn laws_of_the_wrong_length_are_refused() {
        let partition = Partition::new(3, vec![vec![0, 1], vec![2]]).unwrap();
        let refused = JoinedCoalitions::new(&partition, &[1.0; 3], |sizes| vec![1.0; sizes]).unwrap_err();
        assert_eq!(refused, SamplerError::Sizes { actual: 3, expected: 2 });
        let refused = JoinedCoalitions::new(&partition, &[1.0; 2], |_| vec![1.0]).unwrap_err();
        assert_eq!(refused, SamplerError::Sizes { actual: 1, expected: 2 });
        let refused = JoinedCoalitions::new(&partition, &[1.0, -1.0], |sizes| vec![1.0; sizes]).unwrap_err();
        assert!(matches!(refused, SamplerError::OutcomeWeight { outcome: 1, .. }), "{refused}");
    }

    // Stored results record their seed: if these coalitions change, so do all stored results.
    #[test]
    fn first_draws_are_fixed() {
        let partition = Partition::new(8, vec![vec![0, 1, 2, 3], vec![4, 5], vec![6], vec![7]]).unwrap();
        let uniform = |sizes: usize| vec![1.0; sizes];
        let distribution = JoinedCoalitions::new(&partition, &uniform(4), uniform).unwrap();
        let mut rng = stream(42, Purpose::ProductSpace, 0);
        let draws: Vec<u64> = (0..6)
            .map(|_| {
                let mut words = [0];
                distribution.draw_union(0, &mut rng, &mut words);
                distribution.draw_members(0, &mut rng, &mut words);
                words[0]
            })
            .collect();
        assert_eq!(draws, [54, 48, 54, 0, 140, 142]);
    }
}
