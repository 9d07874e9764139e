//! Rows of a design, stored as bits.
//!
//! Kernels are compiled for several instruction sets if this makes them faster, and the best version is
//! chosen at run time. All versions perform the same operations in the same order, so the choice does not
//! change a single bit of the result.

/// Compiles a function once for each instruction set that makes the kernels faster. The version is selected
/// at the first call.
macro_rules! multiversioned {
    ($item:item) => {
        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2",
            "x86_64+avx2+popcnt+bmi1+bmi2",
            "x86_64+popcnt",
        ))]
        $item
    };
}
pub(crate) use multiversioned;

/// Rows of a design as bits, in the layout of [`apportion_games::Coalitions`].
#[derive(Debug, Clone)]
pub(crate) struct BitRows {
    pub(crate) players: usize,
    /// The number of 64-bit words per row.
    pub(crate) width: usize,
    /// The words of all rows, row-major; bits beyond the last player are zero.
    pub(crate) words: Vec<u64>,
}

impl BitRows {
    pub(crate) fn len(&self) -> usize {
        self.words.len() / self.width
    }

    pub(crate) fn row(&self, index: usize) -> &[u64] {
        &self.words[index * self.width..(index + 1) * self.width]
    }
}

/// Returns `value` if the lowest bit of `bit` is set, otherwise zero. Uses a mask, because compilers
/// vectorize masks, but not conditionals.
#[inline(always)]
pub(crate) fn masked(bit: u64, value: f64) -> f64 {
    f64::from_bits(value.to_bits() & (bit & 1).wrapping_neg())
}

/// Transposes a 64 × 64 matrix of bits: bit `i` of word `r` becomes bit `r` of word `i`.
///
/// The algorithm swaps the off-diagonal quarters of ever smaller blocks (Warren, *Hacker's Delight*, section
/// 7-3).
#[inline(always)]
pub(crate) fn transpose(block: &mut [u64; 64]) {
    let mut mask = u64::MAX;
    for half in [32, 16, 8, 4, 2, 1] {
        mask ^= mask << half;
        for start in (0..64).step_by(2 * half) {
            for row in start..start + half {
                let swap = (block[row] >> half ^ block[row + half]) & mask;
                block[row] ^= swap << half;
                block[row + half] ^= swap;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn transposing_exchanges_rows_and_columns() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let block: [u64; 64] = std::array::from_fn(|_| rng.next_u64());
        let mut transposed = block;
        transpose(&mut transposed);
        for (row, bits) in block.iter().enumerate() {
            for (column, transposed) in transposed.iter().enumerate() {
                assert_eq!(bits >> column & 1, transposed >> row & 1);
            }
        }
    }
}
