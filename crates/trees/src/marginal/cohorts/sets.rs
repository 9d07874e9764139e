//! Sets of rows, with one bit each, and their weights.

use super::MAX_DEPTH;

/// A set of rows, 64 per word.
pub(crate) type Set<const W: usize> = [u64; W];

#[inline(always)]
pub(crate) fn both<const W: usize>(a: Set<W>, b: Set<W>) -> Set<W> {
    std::array::from_fn(|word| a[word] & b[word])
}

#[inline(always)]
pub(crate) fn either<const W: usize>(a: Set<W>, b: Set<W>) -> Set<W> {
    std::array::from_fn(|word| a[word] | b[word])
}

#[inline(always)]
pub(crate) fn less<const W: usize>(a: Set<W>, b: Set<W>) -> Set<W> {
    std::array::from_fn(|word| a[word] & !b[word])
}

#[inline(always)]
pub(crate) fn is_empty<const W: usize>(set: Set<W>) -> bool {
    set.iter().fold(0, |any, word| any | word) == 0
}

/// Returns memory for `N` sets, grown if needed.
#[inline(always)]
pub(crate) fn room<const W: usize, const N: usize>(words: &mut Vec<u64>) -> &mut [Set<W>; N] {
    if words.len() < N * W {
        words.resize(N * W, 0);
    }
    match words.as_chunks_mut().0.first_chunk_mut() {
        Some(sets) => sets,
        None => unreachable!("the memory has N × W words"),
    }
}

/// The number of bits that a count of players on a path takes.
const BITS: usize = (MAX_DEPTH.ilog2() + 1) as usize;

/// The number of possible counts of players on a path.
pub(crate) const SIZES: usize = MAX_DEPTH + 1;

/// For each row, the number of added sets that contain it.
///
/// Bit j of the numbers of all rows is a set. Adding a set works like adding one to a binary number: each bit
/// is flipped for the rows in the carry. The next carry consists of the rows in the carry for which the bit
/// was set.
pub(crate) struct Numbers<const W: usize> {
    bits: [Set<W>; BITS],
    sets: usize,
}

impl<const W: usize> Numbers<W> {
    /// Creates the counter, with no sets added yet.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { bits: [[0; W]; BITS], sets: 0 }
    }

    /// Adds a set: increases the number of every row in `set` by 1.
    #[inline(always)]
    pub(crate) fn add(&mut self, set: Set<W>) {
        self.sets += 1;
        let mut carry = set;
        for bit in &mut self.bits[..=self.sets.ilog2() as usize] {
            (*bit, carry) = (std::array::from_fn(|word| bit[word] ^ carry[word]), both(*bit, carry));
        }
    }

    /// Writes to `by_number[k]`, for each k up to the number of sets, the subset of `rows` that are in
    /// exactly k of the sets.
    #[inline(always)]
    pub(crate) fn sort(&self, rows: Set<W>, by_number: &mut [Set<W>; SIZES]) {
        let used = self.sets.checked_ilog2().map_or(0, |bit| bit as usize + 1);
        for (number, of_number) in by_number[..=self.sets].iter_mut().enumerate() {
            *of_number = self.bits[..used].iter().enumerate().fold(rows, |rows, (place, &bit)| {
                if number >> place & 1 == 1 { both(rows, bit) } else { less(rows, bit) }
            });
        }
    }
}

/// The weights of rows, from which the weight of a set of rows is computed.
pub(crate) trait Weigh {
    /// Returns `Σ_m w(set ∩ others_m) factors_m`, where w is the weight of a set.
    fn weigh<const W: usize>(&self, set: Set<W>, others: &[Set<W>], factors: &[f64]) -> f64;
}

/// Equal weights for all rows: the weight of a set is a bit count times a constant.
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

/// Individual weights, one for each row.
pub(super) struct Sums<'a> {
    /// One weight per row.
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
