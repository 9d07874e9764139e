//! Draws of hybrids: pairs of complementary coalitions, each with one background row.
//!
//! # Design
//!
//! The population consists of all pairs {S, N∖S} of proper coalitions of n players, each with each of B
//! background rows. Pairs are divided into classes by size: class s, for s up to n/2, contains the pairs of a
//! coalition of size s and its complement. The number of draws of a class is proportional to the total size
//! of its influences on the values,
//!
//! ```text
//! q_s ∝ N_s · (Σ_i c_i(S)²)^½,      c_i(S) = M(s−1, n−s) for i ∈ S,  −M(s, n−s−1) for i ∉ S
//! ```
//!
//! with the number N_s of coalitions of this size; this allocation has the smallest variance if the residuals
//! of all sizes have the same variance (Neyman, 1934). For Shapley values, `q_s ∝ (s (n − s))^(−½)`, between
//! the uniform distribution of leverage scores and the Shapley kernel. A class is never drawn more often than
//! it has members. Draws are without replacement, and balanced: the numbers of draws of two coalitions of a
//! class differ by at most one, and so do those of two background rows.

use apportion_games::{Purpose, stream, words_for};
use apportion_samplers::{choose, ln_choose, unrank};
use apportion_values::Semivalue;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The maximum number of coalitions of a class that are listed to draw from them without replacement.
const MAX_LISTED: u128 = 1 << 20;

/// A class is also listed only if it has at most this many members for each draw. Fewer draws from larger
/// classes are seldom equal.
const MAX_SPARSE: u128 = 64;

/// Pairs of coalitions with background rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draws {
    /// The number of players.
    pub(crate) players: usize,
    /// The first coalition of each pair: pairs × words.
    pub(crate) words: Vec<u64>,
    /// The background row of each pair.
    pub(crate) background: Vec<u32>,
    /// The class of each pair: the size of the smaller coalition.
    pub(crate) classes: Vec<u32>,
    /// A number that identifies the coalition of each pair if all coalitions of its class are drawn at least
    /// twice; otherwise `u32::MAX`.
    pub(crate) repeated: Vec<u32>,
    /// The classes that were drawn, in ascending order.
    pub(crate) strata: Vec<Stratum>,
    /// The index of the first pair of each part, followed by the number of pairs.
    pub(crate) part_starts: Vec<usize>,
}

/// A class of pairs of coalitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stratum {
    /// The size of the smaller coalition of each pair.
    pub(crate) size: usize,
    /// `ln` of the number of pairs.
    pub(crate) ln_pairs: f64,
    /// The expected number of draws.
    pub(crate) expected: f64,
    /// The share of the pairs with background rows that is drawn.
    pub(crate) share: f64,
}

impl Draws {
    /// Returns the number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.background.len()
    }

    /// Returns the words of a pair's first coalition.
    pub(crate) fn coalition(&self, pair: usize) -> &[u64] {
        let words = words_for(self.players);
        &self.words[pair * words..][..words]
    }

    /// Returns the stratum of a pair.
    pub(crate) fn stratum(&self, pair: usize) -> &Stratum {
        let class = self.classes[pair] as usize;
        let at = self.strata.partition_point(|stratum| stratum.size < class);
        &self.strata[at.min(self.strata.len() - 1)]
    }

    /// Divides the pairs, which are in random order, into parts of about equal numbers.
    pub(crate) fn divide(&mut self, parts: usize) {
        self.part_starts = (0..=parts).map(|part| part * self.len() / parts).collect();
    }
}

/// Returns whether the complements of the coalitions of this size have the same size.
fn is_middle(players: usize, size: usize) -> bool {
    2 * size == players
}

/// The allocation of draws to classes, which depends on the value and on the numbers of players, pairs and
/// background rows only.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Allocation {
    players: usize,
    background: usize,
    strata: Vec<Stratum>,
}

impl Allocation {
    /// Allocates `pairs` draws to the classes; there must be at least 2 players.
    pub(crate) fn new(value: &Semivalue, players: usize, background: usize, pairs: usize) -> Self {
        let sizes = value.size_distribution(players);
        let influence = |size: usize| {
            let (s, n) = (size as f64, players as f64);
            (sizes[size - 1].powi(2) / s + sizes[size].powi(2) / (n - s)).sqrt()
        };
        let classes: Vec<usize> = (1..=players / 2).collect();
        let weights: Vec<f64> = classes
            .iter()
            .map(|&size| match is_middle(players, size) {
                true => influence(size),
                false => influence(size).hypot(influence(players - size)) * std::f64::consts::SQRT_2,
            })
            .collect();
        // Every class needs some draws, because its residuals may be large.
        let floor = 0.02 * weights.iter().sum::<f64>() / weights.len() as f64;
        let weights: Vec<f64> = weights.iter().map(|weight| weight.max(floor)).collect();
        let ln_pairs = |size: usize| {
            ln_choose(players, size) - if is_middle(players, size) { std::f64::consts::LN_2 } else { 0.0 }
        };
        let limits: Vec<f64> =
            classes.iter().map(|&size| (ln_pairs(size) + (background as f64).ln()).exp().round()).collect();
        let expected = fill(&weights, &limits, pairs as f64);
        let strata = classes.iter().zip(expected.iter().zip(&limits)).map(|(&size, (&expected, limit))| {
            Stratum { size, ln_pairs: ln_pairs(size), expected, share: (expected / limit).min(1.0) }
        });
        Self { players, background, strata: strata.collect() }
    }

    /// Returns the number of pairs that are drawn.
    pub(crate) fn pairs(&self) -> usize {
        self.strata.iter().map(|stratum| stratum.expected).sum::<f64>().round() as usize
    }

    /// Draws the sample for a seed, in random order.
    pub(crate) fn draw(&self, seed: u64) -> Draws {
        let mut random = stream(seed, Purpose::Hybrids, 0);
        let counts = self.counts(random.random_range(0.0..1.0));
        let mut draws = Draws { players: self.players, strata: self.strata.clone(), ..Draws::default() };
        let mut sequence = BackgroundSequence::new(self.background, stream(seed, Purpose::Hybrids, 1));
        let mut repeated = 0;
        for (stratum, count) in self.strata.iter().zip(counts) {
            let random = stream(seed, Purpose::Hybrids, 1 + stratum.size as u64);
            self.draw_class(stratum.size, count, random, &mut sequence, &mut repeated, &mut draws);
        }
        // Shuffle the pairs, so that the first pairs are a sample of all classes.
        let mut order: Vec<usize> = (0..draws.len()).collect();
        shuffle(&mut order, &mut random);
        draws.reordered(&order)
    }

    /// Rounds the expected numbers by systematic sampling: every number is rounded up or down at random, such
    /// that its expectation is preserved.
    fn counts(&self, offset: f64) -> Vec<usize> {
        let mut sum = offset;
        let mut last = 0;
        let total = self.pairs();
        let count = self.strata.len();
        let of_stratum = |(at, stratum): (usize, &Stratum)| {
            sum += stratum.expected;
            let next = if at + 1 == count { total } else { (sum.floor() as usize).min(total) };
            let limit = (stratum.expected / stratum.share).round() as usize;
            let own = next.saturating_sub(last).min(limit.max(1));
            last = next;
            own
        };
        self.strata.iter().enumerate().map(of_stratum).collect()
    }

    fn draw_class(
        &self,
        size: usize,
        count: usize,
        mut random: ChaCha8Rng,
        sequence: &mut BackgroundSequence,
        repeated: &mut u32,
        draws: &mut Draws,
    ) {
        let is_middle = is_middle(self.players, size);
        // A pair of the middle class is represented by its coalition that contains player 0.
        let (players, members) = if is_middle { (self.players - 1, size - 1) } else { (self.players, size) };
        let pairs = choose(players, members);
        match pairs.filter(|&pairs| pairs <= MAX_LISTED && pairs <= MAX_SPARSE * count as u128) {
            Some(pairs) => {
                let pairs = pairs as usize;
                let mut ranks: Vec<usize> = (0..pairs).collect();
                shuffle(&mut ranks, &mut random);
                let mut rows: Vec<u32> = (0..self.background as u32).collect();
                shuffle(&mut rows, &mut random);
                // This order lists each pair of the class once with each background row. At every point of
                // the list, the counts of two pairs so far differ by at most one, and so do the counts of two
                // background rows.
                let period = least_common_multiple(pairs, self.background);
                for at in 0..count {
                    let place = at % pairs;
                    let Ok(coalition) = unrank(players, members, ranks[place] as u128) else { continue };
                    let first: Vec<usize> = match is_middle {
                        true => std::iter::once(0).chain(coalition.view().members().map(|m| m + 1)).collect(),
                        false => coalition.view().members().collect(),
                    };
                    let row = rows[(at + at / period) % self.background];
                    let number = if count >= 2 * pairs { *repeated + place as u32 } else { u32::MAX };
                    draws.push(&first, row, size, number);
                }
                *repeated += if count >= 2 * pairs { pairs as u32 } else { 0 };
            }
            None => {
                let mut order: Vec<usize> = (0..self.players).collect();
                for _ in 0..count {
                    for at in 0..size {
                        let other = random.random_range(at as u64..self.players as u64) as usize;
                        order.swap(at, other);
                    }
                    draws.push(&order[..size], sequence.next(), size, u32::MAX);
                }
            }
        }
    }
}

impl Draws {
    fn push(&mut self, members: &[usize], background: u32, size: usize, repeated: u32) {
        let start = self.words.len();
        self.words.resize(start + words_for(self.players), 0);
        for &member in members {
            self.words[start + member / 64] |= 1 << (member % 64);
        }
        self.background.push(background);
        self.classes.push(size as u32);
        self.repeated.push(repeated);
    }

    fn reordered(self, order: &[usize]) -> Self {
        Self {
            players: self.players,
            words: order.iter().flat_map(|&pair| self.coalition(pair)).copied().collect(),
            background: order.iter().map(|&pair| self.background[pair]).collect(),
            classes: order.iter().map(|&pair| self.classes[pair]).collect(),
            repeated: order.iter().map(|&pair| self.repeated[pair]).collect(),
            strata: self.strata,
            part_starts: Vec::new(),
        }
    }
}

/// Background rows in random permutations, one after the other.
struct BackgroundSequence {
    rows: Vec<u32>,
    next: usize,
    random: ChaCha8Rng,
}

impl BackgroundSequence {
    fn new(background: usize, random: ChaCha8Rng) -> Self {
        Self { rows: (0..background as u32).collect(), next: background, random }
    }

    fn next(&mut self) -> u32 {
        if self.next == self.rows.len() {
            shuffle(&mut self.rows, &mut self.random);
            self.next = 0;
        }
        self.next += 1;
        self.rows[self.next - 1]
    }
}

fn least_common_multiple(one: usize, other: usize) -> usize {
    let (mut larger, mut smaller) = (one, other);
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    one / larger.max(1) * other
}

/// Shuffles elements (Fisher and Yates).
fn shuffle<T>(elements: &mut [T], random: &mut ChaCha8Rng) {
    for at in (1..elements.len()).rev() {
        let other = random.random_range(0..=at as u64) as usize;
        elements.swap(at, other);
    }
}

/// Divides `total` in proportion to `weights`, except that no amount exceeds its limit.
fn fill(weights: &[f64], limits: &[f64], total: f64) -> Vec<f64> {
    let mut amounts = vec![0.0; weights.len()];
    let mut is_full = vec![false; weights.len()];
    loop {
        let full: f64 = limits.iter().zip(&is_full).filter(|(_, full)| **full).map(|(limit, _)| limit).sum();
        let open: f64 =
            weights.iter().zip(&is_full).filter(|(_, full)| !**full).map(|(weight, _)| weight).sum();
        let scale = if open > 0.0 { (total - full).max(0.0) / open } else { 0.0 };
        let mut has_changed = false;
        for at in 0..weights.len() {
            amounts[at] = if is_full[at] { limits[at] } else { weights[at] * scale };
            if !is_full[at] && amounts[at] >= limits[at] {
                is_full[at] = true;
                has_changed = true;
            }
        }
        if !has_changed {
            return amounts;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn draws_are_distinct_balanced_and_of_the_expected_sizes() {
        for (players, background, pairs) in [(5, 7, 60), (8, 50, 1000), (6, 3, 93), (2, 5, 4), (70, 9, 500)] {
            let allocation = Allocation::new(&Semivalue::Shapley, players, background, pairs);
            let draws = allocation.draw(3);
            assert_eq!(draws.len(), pairs.min(allocation.pairs()));
            let distinct: HashSet<(Vec<u64>, u32)> =
                (0..draws.len()).map(|at| (draws.coalition(at).to_vec(), draws.background[at])).collect();
            assert_eq!(distinct.len(), draws.len(), "{players} players");
            for stratum in &draws.strata {
                let count = draws.classes.iter().filter(|class| **class as usize == stratum.size).count();
                assert!((count as f64 - stratum.expected).abs() <= 1.0, "{players} {stratum:?} {count}");
            }
        }
    }

    #[test]
    fn shares_are_inclusion_probabilities() {
        let allocation = Allocation::new(&Semivalue::Shapley, 4, 3, 9);
        let mut counts: HashMap<(u64, u32), (i32, f64)> = HashMap::new();
        for seed in 0..4000 {
            let draws = allocation.draw(seed);
            for at in 0..draws.len() {
                let key = (draws.coalition(at)[0], draws.background[at]);
                counts.entry(key).or_insert((0, draws.stratum(at).share)).0 += 1;
            }
        }
        assert_eq!(counts.len(), 3 * (4 + 3));
        for (key, (count, share)) in counts {
            assert!((f64::from(count) / 4000.0 - share).abs() < 0.04, "{key:?} {count} {share}");
        }
    }
}
