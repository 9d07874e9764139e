//! Rows of bits, and the passes over them that everything else is made of.
//!
//! Kernels that gain by it are compiled for several instruction sets, and the best one is chosen at run time. All of them do the
//! same operations in the same order, so that the choice does not change a bit of the result.

/// Compiles a function for each instruction set that makes the kernels faster, and picks one when it is first called.
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
    /// Words of one row.
    pub(crate) width: usize,
    /// Row-major; bits beyond the players are zero.
    pub(crate) words: Vec<u64>,
}

impl BitRows {
    pub(crate) fn len(&self) -> usize {
        self.words.len() / self.width
    }

    pub(crate) fn row(&self, index: usize) -> &[u64] {
        &self.words[index * self.width..(index + 1) * self.width]
    }

    /// `A u`: for each row the sum of `vector` over its members, written to `out`.
    ///
    /// The sums over the subsets of each eight neighbouring players are tabulated, so that a row adds one entry for each of its
    /// bytes.
    pub(crate) fn times(&self, vector: &[f64], out: &mut [f64]) {
        let mut padded = vec![0.0; self.width * 64];
        padded[..self.players].copy_from_slice(vector);
        let tabulate = |values: &[f64; 8]| {
            let mut sums = [0.0; 256];
            for subset in 1..256_usize {
                sums[subset] = sums[subset & (subset - 1)] + values[subset.trailing_zeros() as usize];
            }
            sums
        };
        let tables: Vec<[f64; 256]> = padded.as_chunks::<8>().0.iter().map(tabulate).collect();
        for (row, out) in self.words.chunks_exact(self.width).zip(out) {
            let mut sums = [0.0; 8];
            for (word, tables) in row.iter().zip(tables.as_chunks::<8>().0) {
                for ((sum, table), byte) in sums.iter_mut().zip(tables).zip(word.to_le_bytes()) {
                    *sum += table[usize::from(byte)];
                }
            }
            *out = sums.iter().sum();
        }
    }

    /// `Aᵀ t`: for each player the sum of `values` over the rows that hold it.
    ///
    /// The reverse of [`times`](Self::times): rows are first summed by the subset of each eight neighbouring players that they
    /// hold. So a sum is made of 128 shorter ones.
    pub(crate) fn transposed_times(&self, values: &[f64]) -> Vec<f64> {
        let mut tables = vec![[0.0; 256]; self.width * 8];
        for (row, value) in self.words.chunks_exact(self.width).zip(values) {
            for (word, tables) in row.iter().zip(tables.as_chunks_mut::<8>().0) {
                for (table, byte) in tables.iter_mut().zip(word.to_le_bytes()) {
                    table[usize::from(byte)] += value;
                }
            }
        }
        let sum_over_holders = |player: usize| {
            let table = &tables[player / 8];
            (0..256).filter(|subset| subset >> (player % 8) & 1 == 1).map(|subset| table[subset]).sum()
        };
        (0..self.players).map(sum_over_holders).collect()
    }
}

/// `value` where the lowest bit is set, else zero. By masking, because compilers make vector code of this and not of a choice.
#[inline(always)]
pub(crate) fn kept(bit: u64, value: f64) -> f64 {
    f64::from_bits(value.to_bits() & (bit & 1).wrapping_neg())
}

/// Transposes a 64 × 64 matrix of bits: bit `i` of word `r` becomes bit `r` of word `i`.
///
/// Swaps the off-diagonal quarters of ever smaller blocks (Warren, *Hacker's Delight*, section 7-3).
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

    #[test]
    fn passes_over_bits_equal_the_sums_over_members() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for players in [1, 7, 64, 65, 130] {
            let mut batch = apportion_games::Coalitions::new(players);
            for _ in 0..600 {
                let word = rng.next_u64();
                batch.push_members((0..players).filter(|i| word.rotate_left(*i as u32 * 7) & 1 == 1));
            }
            let rows = BitRows { players, width: batch.words_per_row(), words: batch.words().to_vec() };
            // Small integers, so that sums are exact in any order.
            let vector: Vec<f64> = (0..players).map(|i| (i % 17) as f64 - 8.0).collect();
            let mut products = vec![0.0; rows.len()];
            rows.times(&vector, &mut products);
            let mut sums = vec![0.0; players];
            for (row, product) in batch.iter().zip(&products) {
                assert_eq!(row.members().map(|i| vector[i]).sum::<f64>(), *product);
                row.members().for_each(|i| sums[i] += product);
            }
            assert_eq!(rows.transposed_times(&products), sums);
        }
    }
}
