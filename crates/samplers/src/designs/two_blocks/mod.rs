//! A design for coalitions of players in two blocks, whose numbers of members from the two blocks are
//! independent.
//!
//! # Notation
//!
//! The first block contains the `n_1` players `0..n_1`, the second block the `n_2` others. A coalition has t
//! members from the first block and a from the second. A *stratum* contains the C(n_1, t) C(n_2, a)
//! coalitions with the same (t, a).

mod nested;

use apportion_games::{Coalitions, Purpose, stream, words_for};
use rand_chacha::ChaCha8Rng;

use crate::designs::fixed_counts::round_systematically;
use crate::designs::sample::{Order, check_rows};
use crate::designs::without_replacement::{Algorithm, Units, cheaper, distinct_units};
use crate::draw::random::below;
use crate::draw::subset::UniformSubset;
use crate::error::SamplerError;
use crate::size::choose::{choose, ln_choose, populations};
use crate::size::combinadic::unrank;
use crate::size::pairing::Pairing;
use crate::size::size_distribution::SizeDistribution;
use crate::size::water_filling::water_fill;

/// A design that draws coalitions of players in two blocks without replacement, stratified by the number of
/// members from each block.
///
/// The expected number of rows in a stratum is
///
/// ```text
/// e(t, a) = min(C(n_1, t) C(n_2, a), c · g_1(t) g_2(a)),   Σ e(t, a) = m
/// ```
///
/// with the size distributions g_1 and g_2; for pairs, `g_1(t) g_2(a)` is replaced by its mean over (t, a)
/// and (n_1 − t, n_2 − a). Expected numbers are rounded as in [`FixedCounts`](crate::FixedCounts), so that
/// exactly m rows are drawn. If m reaches the number of possible coalitions, all of them are drawn. The empty
/// and the grand coalition are never drawn. For pairs, a coalition and its complement among all players are
/// included together.
///
/// In [`Order::Nested`], the units of each stratum are in a random order and are added like those of one size
/// in [`FixedCounts`](crate::FixedCounts). Their levels are `(k + u) / g`, where u is uniform on (0, 1] and
/// the rate g is `g_1(t) g_2(a)`. For pairs, the rate is the mean over the stratum and the stratum of the
/// complements, and half of this mean if both are the same stratum. [`expected`](TwoBlockSample::expected) is
/// the number drawn, except for strata with an expected number below one. A common factor of all rates does
/// not change the order of levels. If two distributions only differ in sizes that one of them cannot draw,
/// they therefore yield the same coalitions of all other sizes, up to the smaller number.
///
/// This is the design for regressions over a product measure on two sets of players. One example is the set
/// of the other groups, together with the set of the members of a player's group.
///
/// ```
/// use apportion_samplers::{Order, Pairing, SizeDistribution, TwoBlocks};
///
/// // Proper coalitions of 20 members, combined with any coalition of 5 groups; uniform sizes.
/// let sampler = TwoBlocks {
///     distributions: [SizeDistribution::leverage(20)?, SizeDistribution::custom(&[1.0; 6])?],
///     pairing: Pairing::Paired,
///     order: Order::Fixed,
/// };
/// let sample = sampler.sample(400, 7)?;
/// assert_eq!(sample.coalitions().len(), 400);
/// assert!((sample.expected(10, 2) - 400.0 / 19.0 / 6.0).abs() < 0.1);
///
/// let growing = TwoBlocks { order: Order::Nested, ..sampler };
/// let (small, large) = (growing.sample(100, 7)?, growing.sample(400, 7)?);
/// let is_among = |row| large.coalitions().iter().any(|other| other == row);
/// assert!(small.coalitions().iter().all(is_among));
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TwoBlocks {
    /// The size distributions for the first and the second block.
    pub distributions: [SizeDistribution; 2],
    /// Whether a coalition and its complement are included together.
    pub pairing: Pairing,
    /// Whether samples grow.
    pub order: Order,
}

/// The units (coalitions or pairs) with which a sample begins.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstUnits {
    /// The distinct rows; for pairs, rows 2k and 2k + 1 are complements of each other.
    pub coalitions: Coalitions,
    /// The number of independent draws that produced these units. It is larger than the number of units if
    /// some were drawn repeatedly.
    pub draws: usize,
}

impl FirstUnits {
    /// Creates an empty list of units, for `players` players.
    pub fn none(players: usize) -> Self {
        Self { coalitions: Coalitions::new(players), draws: 0 }
    }
}

/// A sample drawn by [`TwoBlocks`].
#[derive(Debug, Clone, PartialEq)]
pub struct TwoBlockSample {
    pub(crate) coalitions: Coalitions,
    pub(crate) pairing: Pairing,
    pub(crate) blocks: [usize; 2],
    /// The expected number e(t, a), at index t (n_2 + 1) + a. It is bitwise equal to the population if the
    /// stratum is exhausted.
    pub(crate) expected: Vec<f64>,
    pub(crate) populations: Vec<f64>,
    pub(crate) is_complete: bool,
}

impl TwoBlockSample {
    /// Returns the coalitions, m × (n_1 + n_2). In a paired sample, rows 2k and 2k + 1 are complements of
    /// each other.
    pub fn coalitions(&self) -> &Coalitions {
        &self.coalitions
    }

    /// Returns the pairing: [`Pairing::Paired`] if every row comes with its complement.
    pub fn pairing(&self) -> Pairing {
        self.pairing
    }

    /// Returns the number of players in each block.
    pub fn blocks(&self) -> [usize; 2] {
        self.blocks
    }

    /// Returns the number of members that row `row` has in each of the two blocks.
    ///
    /// # Panics
    ///
    /// If the row does not exist.
    pub fn sizes(&self, row: usize) -> [usize; 2] {
        let coalition = self.coalitions.row(row);
        let first = members_below(coalition.words(), self.blocks[0]);
        [first, coalition.size() - first]
    }

    /// Returns the expected number of rows in the stratum with `first` and `second` members in the two
    /// blocks.
    ///
    /// # Panics
    ///
    /// If a size exceeds its block.
    pub fn expected(&self, first: usize, second: usize) -> f64 {
        self.expected[self.stratum(first, second)]
    }

    /// Returns the logarithm of the probability that a given coalition in this stratum is in the sample, or
    /// −∞ if it is never drawn.
    ///
    /// # Panics
    ///
    /// If a size exceeds its block.
    pub fn ln_inclusion(&self, first: usize, second: usize) -> f64 {
        let stratum = self.stratum(first, second);
        if self.expected[stratum] == self.populations[stratum] {
            return 0.0;
        }
        self.expected[stratum].ln() - ln_choose(self.blocks[0], first) - ln_choose(self.blocks[1], second)
    }

    /// Returns whether every possible coalition is certainly in the sample.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn stratum(&self, first: usize, second: usize) -> usize {
        assert!(
            first <= self.blocks[0] && second <= self.blocks[1],
            "({first}, {second}) of {:?}",
            self.blocks
        );
        first * (self.blocks[1] + 1) + second
    }
}

impl TwoBlocks {
    /// Draws exactly `rows` rows, or all that exist; for pairs, one less if `rows` is odd. Takes `O(n)` time
    /// per row, plus O(n_1 n_2).
    ///
    /// # Errors
    ///
    /// [`SamplerError::TooManyRows`] above [`max_rows`](crate::max_rows).
    pub fn sample(&self, rows: usize, seed: u64) -> Result<TwoBlockSample, SamplerError> {
        let blocks @ [n_1, n_2] = [self.distributions[0].players(), self.distributions[1].players()];
        if self.order == Order::Nested {
            return self.sample_after(&FirstUnits::none(n_1 + n_2), rows, seed);
        }
        let rows = rows - rows % self.pairing.rows_per_unit();
        let of_blocks = [populations(n_1), populations(n_2)];
        let strata = || (0..=n_1).flat_map(|t| (0..=n_2).map(move |a| (t, a)));
        let populations: Vec<f64> = strata().map(|(t, a)| of_blocks[0][t] * of_blocks[1][a]).collect();
        let weights: Vec<f64> = strata().map(|(t, a)| self.weight(t, a)).collect();
        let expected = water_fill(&weights, &populations, rows as f64);
        check_rows(n_1 + n_2, expected.iter().sum::<f64>() as usize)?;
        let is_complete = (0..weights.len())
            .all(|stratum| weights[stratum] == 0.0 || expected[stratum] == populations[stratum]);

        let classes: Vec<Class> = strata()
            .zip(expected.iter().zip(&populations))
            .filter(|((t, a), (expected, _))| self.names_a_class(*t, *a) && **expected > 0.0)
            .map(|(sizes, (&expected, &population))| {
                Class::new(blocks, sizes, self.pairing, population, expected)
            })
            .collect();
        let wanted: Vec<f64> = classes.iter().map(|class| class.expected).collect();
        let counts = round_systematically(&wanted, &mut stream(seed, Purpose::Counts, 0));
        let mut coalitions =
            Coalitions::with_capacity(n_1 + n_2, rows.min(expected.iter().sum::<f64>() as usize));
        for (class, count) in classes.iter().zip(counts) {
            let unit = (class.sizes[0] * (n_2 + 1) + class.sizes[1]) as u64;
            class.draw(count, &mut stream(seed, Purpose::Coalitions, unit), &mut coalitions);
        }
        Ok(TwoBlockSample { coalitions, pairing: self.pairing, blocks, expected, populations, is_complete })
    }

    /// Returns the rate g_1(t) g_2(a) of a stratum. For pairs, returns the mean over the stratum and the
    /// stratum of the complements. Returns 0 if the stratum is never drawn.
    pub(crate) fn weight(&self, t: usize, a: usize) -> f64 {
        let [first, second] = &self.distributions;
        let (n_1, n_2) = (first.players(), second.players());
        if (t, a) == (0, 0) || (t, a) == (n_1, n_2) {
            return 0.0;
        }
        let distribution = |t: usize, a: usize| first.probability(t) * second.probability(a);
        match self.pairing {
            Pairing::Unpaired => distribution(t, a),
            Pairing::Paired => 0.5 * (distribution(t, a) + distribution(n_1 - t, n_2 - a)),
        }
    }

    /// Returns whether this stratum represents its class. For pairs, two strata form a class, which is
    /// represented by the one with fewer players from the first block. If these numbers are equal, the one
    /// with fewer players from the second block represents the class.
    pub(crate) fn names_a_class(&self, t: usize, a: usize) -> bool {
        let (n_1, n_2) = (self.distributions[0].players(), self.distributions[1].players());
        self.pairing == Pairing::Unpaired || (2 * t, 2 * a) <= (n_1, n_2)
    }
}

/// A class of coalitions, or of pairs, that the design treats equally.
pub(crate) struct Class {
    /// For each block, the number of players from which members are drawn, and the number of members drawn.
    /// They are equal to those of the stratum unless both members of a pair are in the stratum. In that case,
    /// the last player of the first block is excluded: the pair is represented by the member that contains
    /// this player.
    blocks: [usize; 2],
    drawn: [usize; 2],
    pub(crate) sizes: [usize; 2],
    /// Number of players in the first block.
    first: usize,
    players: usize,
    pairing: Pairing,
    /// Number of units in the class; infinite if at least 2^128.
    pub(crate) population: f64,
    /// Expected number of units in the sample.
    pub(crate) expected: f64,
}

impl Class {
    pub(crate) fn new(
        blocks: [usize; 2],
        (t, a): (usize, usize),
        pairing: Pairing,
        population: f64,
        expected: f64,
    ) -> Self {
        let [first, second] = blocks;
        let is_middle = pairing == Pairing::Paired && (2 * t, 2 * a) == (first, second);
        let (fixed, share) = if is_middle { (1, 0.5) } else { (0, 1.0) };
        Self {
            blocks: [first - fixed, second],
            drawn: [t - fixed, a],
            sizes: [t, a],
            first,
            players: first + second,
            pairing,
            population: share * population,
            expected: share * expected,
        }
    }

    /// Returns whether the class consists of pairs whose two members are both in the stratum.
    pub(crate) fn is_middle(&self) -> bool {
        self.drawn[0] < self.sizes[0]
    }

    /// Appends the rows of `wanted` distinct units. All sets of `wanted` units are equally likely.
    ///
    /// # Panics
    ///
    /// If the class has fewer units.
    fn draw(&self, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
        assert!(
            wanted as f64 <= self.population,
            "cannot draw {wanted} of {} coalitions without replacement",
            self.population
        );
        if cheaper(self.population, wanted) == Algorithm::Enumerate {
            self.select(wanted, rng, coalitions);
        } else {
            self.reject(wanted, rng, coalitions);
        }
    }

    /// Visits the ranks `rank_2 · C(n_1, t) + rank_1`, and keeps each with probability wanted / left
    /// (selection sampling).
    fn select(&self, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
        let [of_first, of_second] =
            [0, 1].map(|block| choose(self.blocks[block], self.drawn[block]).unwrap_or(0));
        let (mut left, mut wanted) = (self.population as u64, wanted as u64);
        let mut words = vec![0; words_for(self.players)];
        for rank_2 in 0..of_second {
            for rank_1 in 0..of_first {
                if wanted == 0 {
                    return;
                }
                if wanted == left || below(rng, left) < wanted {
                    let member =
                        |block: usize, rank: u128| unrank(self.blocks[block], self.drawn[block], rank);
                    // Both ranks are below the number of subsets, so `unrank` succeeds.
                    if let (Ok(first), Ok(second)) = (member(0, rank_1), member(1, rank_2)) {
                        self.join(first.view().words(), second.view().words(), &mut words);
                        self.pairing.push(&words, coalitions);
                    }
                    wanted -= 1;
                }
                left -= 1;
            }
        }
    }

    /// Draws a subset of each block, and draws again if the combination was drawn before.
    fn reject(&self, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
        let subsets = [0, 1].map(|block| UniformSubset::new(self.blocks[block], self.drawn[block]));
        let mut parts = self.blocks.map(|players| vec![0; words_for(players)]);
        distinct_units(
            (Units::players(self), Units::pairing(self)),
            wanted,
            rng,
            coalitions,
            |rng, words| {
                for (subset, part) in subsets.iter().zip(&mut parts) {
                    subset.draw(rng, part);
                }
                self.join(&parts[0], &parts[1], words);
            },
        );
    }

    /// Concatenates the bits of the two blocks and adds the fixed player.
    fn join(&self, first: &[u64], second: &[u64], words: &mut [u64]) {
        words.fill(0);
        words[..first.len()].copy_from_slice(first);
        if self.is_middle() {
            words[(self.first - 1) / 64] |= 1 << ((self.first - 1) % 64);
        }
        let (skip, shift) = (self.first / 64, self.first % 64);
        for (index, &word) in second.iter().enumerate() {
            words[skip + index] |= word << shift;
            // A shift by 64 bits would overflow; bits beyond the last word are zero.
            if shift > 0
                && let Some(next) = words.get_mut(skip + index + 1)
            {
                *next |= word >> (64 - shift);
            }
        }
    }
}

impl Units for Class {
    fn players(&self) -> usize {
        self.players
    }
    fn pairing(&self) -> Pairing {
        self.pairing
    }
    fn population(&self) -> f64 {
        self.population
    }
    fn append_random(&self, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
        self.reject(wanted, rng, coalitions);
    }
    fn append_all(&self, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
        self.select(self.population as usize, rng, coalitions);
    }
}

/// Returns the number of members that are below `end`.
fn members_below(words: &[u64], end: usize) -> usize {
    let whole: u32 = words[..end / 64].iter().map(|word| word.count_ones()).sum();
    let rest = words.get(end / 64).map_or(0, |word| (word & ((1 << (end % 64)) - 1)).count_ones());
    (whole + rest) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_alike, assert_count};
    use apportion_games::Coalition;
    use std::collections::{BTreeMap, BTreeSet};

    pub(super) fn sampler(blocks: [usize; 2], pairing: Pairing) -> TwoBlocks {
        let distributions =
            [SizeDistribution::leverage(blocks[0]), SizeDistribution::custom(&vec![1.0; blocks[1] + 1])];
        TwoBlocks { distributions: distributions.map(Result::unwrap), pairing, order: Order::Fixed }
    }

    /// Returns the number of possible coalitions: all except those that contain none or all players of the
    /// first block.
    pub(super) fn all(blocks: [usize; 2]) -> usize {
        ((1 << blocks[0]) - 2) << blocks[1]
    }

    const BLOCKS: [[usize; 2]; 8] = [[2, 1], [2, 2], [3, 1], [3, 4], [4, 2], [4, 4], [5, 3], [6, 6]];

    #[test]
    fn everything_is_drawn_once_where_the_rows_suffice() {
        for blocks in BLOCKS {
            for pairing in [Pairing::Unpaired, Pairing::Paired] {
                for rows in [all(blocks), all(blocks) + 3, usize::MAX] {
                    let sample = sampler(blocks, pairing).sample(rows, 1).unwrap();
                    let distinct: BTreeSet<u64> = sample.coalitions().words().iter().copied().collect();
                    assert_eq!(distinct.len(), all(blocks), "{blocks:?}");
                    assert_eq!(sample.coalitions().len(), all(blocks), "{blocks:?}");
                    assert!(sample.is_complete());
                    assert_eq!(sample.ln_inclusion(1, 0), 0.0);
                }
            }
        }
    }

    #[test]
    fn rows_are_distinct_as_many_as_wanted_and_in_complementary_pairs() {
        for blocks in [[2, 1], [3, 4], [6, 6], [10, 3], [70, 5], [5, 70], [64, 64], [1, 130], [130, 66]] {
            for pairing in [Pairing::Unpaired, Pairing::Paired] {
                let distribution = |players: usize| SizeDistribution::binomial(players).unwrap();
                let sampler =
                    TwoBlocks { distributions: blocks.map(distribution), pairing, order: Order::Fixed };
                let most = if blocks[0] + blocks[1] < 12 { (1 << (blocks[0] + blocks[1])) - 2 } else { 400 };
                for rows in [2, most / 3, most] {
                    let sample = sampler.sample(rows, 5).unwrap();
                    let wanted = if pairing == Pairing::Paired { rows - rows % 2 } else { rows };
                    assert_eq!(sample.coalitions().len(), wanted, "{blocks:?}");
                    let distinct: BTreeSet<&[u64]> =
                        sample.coalitions().iter().map(|row| row.words()).collect();
                    assert_eq!(distinct.len(), wanted, "{blocks:?}");
                    for row in 0..wanted {
                        let [t, a] = sample.sizes(row);
                        assert_eq!(t + a, sample.coalitions().row(row).size());
                        assert!(t <= blocks[0] && a <= blocks[1]);
                        assert!(sample.ln_inclusion(t, a) <= 0.0 && sample.expected(t, a) > 0.0);
                    }
                    if pairing == Pairing::Paired {
                        for first in (0..wanted).step_by(2) {
                            let complement = sample.coalitions().row(first).complement();
                            assert_eq!(complement.view(), sample.coalitions().row(first + 1));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_coalition_of_a_stratum_is_as_frequent_as_the_design_says() {
        // Compares the inclusion frequencies over many seeds with the probabilities, for 56 to 240
        // coalitions. The bound is five and a half standard errors.
        const SEEDS: u64 = 3000;
        for blocks in [[4, 2], [3, 4], [5, 3]] {
            for (pairing, rows) in [(Pairing::Unpaired, 20), (Pairing::Paired, 20), (Pairing::Paired, 44)] {
                let sampler = sampler(blocks, pairing);
                let mut times: BTreeMap<u64, u64> = BTreeMap::new();
                for seed in 0..SEEDS {
                    for &mask in sampler.sample(rows, seed).unwrap().coalitions().words() {
                        *times.entry(mask).or_default() += 1;
                    }
                }
                assert_eq!(times.len(), all(blocks), "{blocks:?}");
                let design = sampler.sample(rows, 0).unwrap();
                for (mask, times) in times {
                    let first = mask & ((1 << blocks[0]) - 1);
                    let (t, a) = (first.count_ones(), (mask >> blocks[0]).count_ones());
                    let p = design.ln_inclusion(t as usize, a as usize).exp();
                    let what = format!("{blocks:?}, {mask:b}");
                    assert_count(times as f64, SEEDS as f64, p, (5.5, 1e-8), &what);
                }
            }
        }
    }

    #[test]
    fn both_ways_of_drawing_choose_every_set_alike() {
        // There are 36 sets of two of the 9 coalitions (or pairs) with one member from each of two blocks of
        // three. The chi-square statistic with 35 degrees of freedom exceeds 85 with probability 5e-6.
        const DRAWS: usize = 36 * 400;
        let draws: [fn(&Class, usize, &mut ChaCha8Rng, &mut Coalitions); 2] = [Class::select, Class::reject];
        for pairing in [Pairing::Unpaired, Pairing::Paired] {
            let class = Class::new([3, 3], (1, 1), pairing, 9.0, 2.0);
            for draw in draws {
                let mut rng = stream(3, Purpose::Coalitions, 0);
                let draw = |_| {
                    let mut rows = Coalitions::new(6);
                    draw(&class, 2, &mut rng, &mut rows);
                    let mut set = rows.words().to_vec();
                    set.sort_unstable();
                    set
                };
                assert_alike((0..DRAWS).map(draw), 36, 85.0, &format!("{pairing:?}"));
            }
        }
    }

    // Stored results record their seed, so the draws must not change.
    #[test]
    fn first_draws_are_fixed() {
        let masks = |pairing: Pairing, order: Order| {
            let sampler = TwoBlocks { order, ..sampler([5, 3], pairing) };
            sampler.sample(6, 42).unwrap().coalitions().words().to_vec()
        };
        assert_eq!(masks(Pairing::Paired, Order::Fixed), [208, 47, 24, 231, 244, 11]);
        assert_eq!(masks(Pairing::Unpaired, Order::Fixed), [208, 24, 244, 107, 30, 253]);
        assert_eq!(masks(Pairing::Paired, Order::Nested), [2, 253, 36, 219, 12, 243]);
        assert_eq!(masks(Pairing::Unpaired, Order::Nested), [2, 36, 12, 227, 85, 158]);
    }

    #[test]
    fn samples_beyond_the_memory_of_any_machine_are_refused() {
        for order in [Order::Fixed, Order::Nested] {
            let sampler = TwoBlocks { order, ..sampler([60, 60], Pairing::Paired) };
            let error = sampler.sample(usize::MAX, 1).unwrap_err();
            assert!(matches!(error, SamplerError::TooManyRows { .. }));
        }
    }

    #[test]
    fn a_sample_tells_of_which_blocks_and_pairing_it_is_and_how_likely_each_stratum_was() {
        let distribution = |players: usize| SizeDistribution::binomial(players).unwrap();
        for pairing in [Pairing::Unpaired, Pairing::Paired] {
            for order in [Order::Fixed, Order::Nested] {
                let sampler = TwoBlocks { distributions: [distribution(3), distribution(2)], pairing, order };
                let sample = sampler.sample(12, 5).unwrap();
                assert_eq!((sample.pairing(), sample.blocks()), (pairing, [3, 2]));
                assert!(!sample.is_complete());
                assert!(sampler.sample(30, 5).unwrap().is_complete());
                for (t, a) in (0..4).flat_map(|t| (0..3).map(move |a| (t, a))) {
                    let population = (choose(3, t).unwrap() * choose(2, a).unwrap()) as f64;
                    let probability = sample.ln_inclusion(t, a).exp();
                    let wanted = (sample.expected(t, a) / population).min(1.0);
                    assert!((probability - wanted).abs() < 1e-14, "({t}, {a}): {probability}");
                    // The empty and the grand coalition are never drawn.
                    assert_eq!(probability == 0.0, (t, a) == (0, 0) || (t, a) == (3, 2));
                }
                for (t, a) in [(4, 0), (0, 3), (4, 3)] {
                    let asked = std::panic::catch_unwind(|| sample.expected(t, a));
                    assert!(asked.is_err(), "({t}, {a})");
                }
            }
        }
        let none = FirstUnits::none(5);
        assert_eq!((none.coalitions.len(), none.coalitions.players(), none.draws), (0, 5, 0));
    }

    #[test]
    fn members_of_both_blocks_are_joined_at_their_places_across_words() {
        for blocks in
            [[1, 130], [2, 2], [63, 65], [64, 64], [66, 70], [128, 3], [130, 66], [130, 200], [192, 130]]
        {
            for (t, a) in [(1, 1), (blocks[0] / 2, blocks[1] / 2)] {
                let class = Class::new(blocks, (t, a), Pairing::Paired, 9.0, 2.0);
                let members =
                    |count: usize| (0..count).filter(move |member| member % 3 != 1 || member + 1 == count);
                let part = |count: usize| Coalition::from_members(count, members(count));
                let parts = class.blocks.map(part);
                let mut words = vec![u64::MAX; words_for(blocks[0] + blocks[1])];
                class.join(parts[0].view().words(), parts[1].view().words(), &mut words);
                let of_middle = class.is_middle().then_some(blocks[0] - 1);
                let of_second = members(blocks[1]).map(|member| blocks[0] + member);
                let wanted = members(class.blocks[0]).chain(of_middle).chain(of_second);
                let wanted = Coalition::from_members(blocks[0] + blocks[1], wanted);
                assert_eq!(words, wanted.view().words(), "{blocks:?}, ({t}, {a})");
            }
        }
    }
}
