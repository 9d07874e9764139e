//! What a cohort gives to the players on the path to a leaf.
//!
//! Sets are given by their rows' bits. Let G_i be the rows of the cohort that fail player i. The number |E_b| of players that a row fails
//! is the sum of its bits in all G_i; in binary, bit j of the sums of all rows is a set again, and a set is added as a number is to a
//! counter: each bit is turned where the carry is, and the carry goes on where both were set. From those sets, C_k, the rows that fail
//! k players, take an intersection, and
//!
//! ```text
//! φ_i += v Σ_k w(G_i ∩ C_k) M(k − 1, |R|)        φ_i −= v Σ_k w(C_k) M(k, |R| − 1)   for i ∈ R
//! ```
//!
//! with w the weight of a set: where rows weigh the same, a count of bits.

use super::super::masks::ones;
use super::{MOST_DEPTH, Set, both, is_empty, less};
use crate::moments::Moments;

/// Bits of a number of players.
const BITS: usize = (MOST_DEPTH.ilog2() + 1) as usize;

/// Numbers of players on a path.
const SIZES: usize = MOST_DEPTH + 1;

/// The weight of a set of rows.
pub(super) trait Weigh {
    /// `Σ_m w(set ∩ others_m) factors_m`.
    fn weigh<const W: usize>(&self, set: Set<W>, others: &[Set<W>], factors: &[f64]) -> f64;
}

/// Of rows that weigh the same.
pub(super) struct Counts {
    pub(super) weight: f64,
}

impl Weigh for Counts {
    #[inline(always)]
    fn weigh<const W: usize>(&self, set: Set<W>, others: &[Set<W>], factors: &[f64]) -> f64 {
        let mut sums = [0.0; W];
        for (&other, factor) in others.iter().zip(factors) {
            for (sum, rows) in sums.iter_mut().zip(both(set, other)) {
                *sum += f64::from(rows.count_ones()) * factor;
            }
        }
        self.weight * sums.iter().sum::<f64>()
    }
}

/// Of rows with weights of their own.
pub(super) struct Sums<'a> {
    /// Row by row.
    pub(super) weights: &'a [f64],
}

impl Weigh for Sums<'_> {
    #[inline(always)]
    fn weigh<const W: usize>(&self, set: Set<W>, others: &[Set<W>], factors: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (&other, factor) in others.iter().zip(factors) {
            let mut weight = 0.0;
            for (word, mut rows) in both(set, other).into_iter().enumerate() {
                while rows != 0 {
                    weight += self.weights[64 * word + rows.trailing_zeros() as usize];
                    rows &= rows - 1;
                }
            }
            sum += weight * factor;
        }
        sum
    }
}

/// The cohort at a leaf, and whom of which levels it meets.
pub(super) struct Arrived<'a, const W: usize> {
    pub(super) value: f64,
    pub(super) cohort: Set<W>,
    /// Levels whose player the explicand fails no test of, and those of R: a bit for each.
    pub(super) live: u64,
    pub(super) rest: u64,
    /// By level.
    pub(super) failing: &'a [Set<W>],
    pub(super) players: &'a [u32],
}

/// `M(k − 1, r)` and `M(k, r − 1)` for as many players as there may be on a path; 0 where there are none.
pub(super) struct Shares {
    side: usize,
    gains: Vec<f64>,
    losses: Vec<f64>,
}

impl Shares {
    /// For up to `widest` players on a path.
    pub(super) fn new(moments: &Moments, widest: usize) -> Self {
        let side = widest.min(MOST_DEPTH) + 1;
        let all = (0..side).flat_map(|rest| (0..side).map(move |own| (own, rest)));
        let (gains, losses) = all
            .map(|(own, rest)| if own + rest < side { moments.shares(own, rest) } else { (0.0, 0.0) })
            .unzip();
        Self { side, gains, losses }
    }

    /// Those of `rest` others, by the number of own players.
    #[inline(always)]
    fn of(&self, rest: usize) -> (&[f64], &[f64]) {
        let range = rest * self.side..(rest + 1) * self.side;
        (&self.gains[range.clone()], &self.losses[range])
    }
}

/// The memory that a leaf takes.
#[derive(Default)]
pub(super) struct Leaf {
    /// G_i of those players that some row of the cohort fails.
    sets: Vec<u64>,
    /// C_k, by k.
    by_size: Vec<u64>,
}

impl Leaf {
    /// Adds what the cohort gives to `phi`, player by player.
    #[inline(always)]
    pub(super) fn add<const W: usize>(
        &mut self,
        Arrived { value, cohort, live, rest, failing, players }: Arrived<'_, W>,
        shares: &Shares,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(usize, f64),
    ) {
        let (sets, by_size) = (room::<W, MOST_DEPTH>(&mut self.sets), room::<W, SIZES>(&mut self.by_size));
        let (gains, losses) = shares.of(rest.count_ones() as usize);
        let mut owners = [0; MOST_DEPTH];
        let mut count = 0;
        let mut sums = [[0; W]; BITS];
        for level in ones(live) {
            let own = both(failing[level], cohort);
            if is_empty(own) {
                continue;
            }
            sets[count] = own;
            owners[count] = players[level];
            count += 1;
            let mut carry = own;
            for sum in &mut sums[..=count.ilog2() as usize] {
                (*sum, carry) = (std::array::from_fn(|word| sum[word] ^ carry[word]), both(*sum, carry));
            }
        }
        let used = count.checked_ilog2().map_or(0, |bit| bit as usize + 1);
        for (size, set) in by_size[..=count].iter_mut().enumerate() {
            *set = sums[..used].iter().enumerate().fold(cohort, |set, (bit, &sum)| {
                if size >> bit & 1 == 1 { both(set, sum) } else { less(set, sum) }
            });
        }
        for (&own, &player) in sets.iter().zip(&owners[..count]) {
            phi(player as usize, value * weigh.weigh(own, &by_size[1..=count], &gains[1..=count]));
        }
        if rest != 0 {
            let lost = value * weigh.weigh(cohort, &by_size[..=count], &losses[..=count]);
            for level in ones(rest) {
                phi(players[level] as usize, -lost);
            }
        }
    }
}

/// Room for as many sets.
#[inline(always)]
pub(super) fn room<const W: usize, const N: usize>(words: &mut Vec<u64>) -> &mut [Set<W>; N] {
    if words.len() < N * W {
        words.resize(N * W, 0);
    }
    match words.as_chunks_mut().0.first_chunk_mut() {
        Some(sets) => sets,
        None => unreachable!("as many words"),
    }
}
