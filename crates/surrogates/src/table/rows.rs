//! Equal rows, and the seed of a row.

use std::collections::HashMap;

use apportion_games::{Purpose, Rows, stream};
use rand::Rng;

/// Returns the indices of the distinct rows, and for each row the index of the first equal row.
pub(crate) fn distinct_rows(rows: Rows<'_>) -> (Vec<usize>, Vec<usize>) {
    let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut distinct = Vec::new();
    let of_row = rows.iter().enumerate().map(|(index, row)| {
        *first.entry(bits_of(row)).or_insert_with(|| {
            distinct.push(index);
            index
        })
    });
    let of_row = of_row.collect();
    (distinct, of_row)
}

/// Returns the bits of a row, in which all missing values are equal.
fn bits_of(row: &[f64]) -> Vec<u64> {
    row.iter().map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }).collect()
}

/// Returns the seed of a row's draws, which depends on its values only.
pub(crate) fn seed_of(row: &[f64], seed: u64) -> u64 {
    let bits = bits_of(row);
    let mixed = bits.iter().fold(0, |state: u64, word| {
        // The finalizer of SplitMix64.
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    });
    stream(seed, Purpose::Hybrids, mixed >> 16).next_u64()
}
