//! Computes the Gram matrix by counting the common bits of columns.
//!
//! Rows of equal weight are divided into sets of 64. Each set is transposed, so that one `u64` word contains
//! the bits of one column for those 64 rows. Entry (i, j) then grows by `w · |c_i ∧ c_j|`. Eight columns j
//! are stored in one vector, so that counting, converting and weighting take a few vector instructions for 8
//! entries and up to 64 rows.
//!
//! The work is divided into blocks of words that stay in the second-level cache. Nothing of size m × n is
//! ever stored.

// Loops over lanes use indices, because compilers vectorize such loops.
#![allow(clippy::needless_range_loop)]

use apportion_games::Cancellation;
use faer::Mat;

use super::groups::Groups;
use crate::bits::{BitRows, multiversioned, transpose};

/// The number of columns per vector.
const LANES: usize = 8;
/// The number of rows of the Gram matrix that are computed together, so that a loaded vector of columns is
/// used several times.
const ROWS: usize = 4;
/// The number of words per block: 128 words of 1000 columns are 1 MiB.
const BLOCK: usize = 128;

/// One word of each of 8 neighbouring columns.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Columns([u64; LANES]);

/// Eight neighbouring entries in a row of the Gram matrix.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Entries([f64; LANES]);

/// The words `start..end` of a block, which contain rows of equal weight.
#[derive(Clone, Copy)]
struct Segment {
    weight: f64,
    start: usize,
    end: usize,
}

/// Returns the upper triangle of `Σ_k w_k z_k z_kᵀ`; the entries below the diagonal are zero.
pub(super) fn upper_triangle(rows: &BitRows, groups: &Groups) -> Mat<f64> {
    let tiles = rows.players.div_ceil(LANES);
    let mut sums = vec![Entries([0.0; LANES]); tiles * LANES * tiles];
    let mut block = vec![Columns([0; LANES]); tiles * BLOCK];
    let mut segments = Vec::new();
    let mut words = 0;
    for group in &groups.groups {
        for members in groups.order[group.start..group.end].chunks(64) {
            if words == BLOCK {
                Cancellation::check();
                add_block(&segments, &block, &mut sums);
                segments.clear();
                words = 0;
            }
            transpose_word(rows, members, words, &mut block);
            match segments.last_mut() {
                Some(Segment { weight, end, .. }) if *weight == group.weight => *end += 1,
                _ => segments.push(Segment { weight: group.weight, start: words, end: words + 1 }),
            }
            words += 1;
        }
    }
    add_block(&segments, &block, &mut sums);

    let mut gram = Mat::zeros(rows.players, rows.players);
    for (i, row) in sums.chunks_exact(tiles).take(rows.players).enumerate() {
        for (tile, entries) in row.iter().enumerate().take(i / LANES + 1) {
            let used = (i + 1 - tile * LANES).min(LANES);
            gram.col_as_slice_mut(i)[tile * LANES..][..used].copy_from_slice(&entries.0[..used]);
        }
    }
    gram
}

/// Writes the bits of up to 64 rows as word `word` of every column. Columns are stored in tiles: word `t` of
/// tile `c` is at `block[c · BLOCK + t]`.
fn transpose_word(rows: &BitRows, members: &[u32], word: usize, block: &mut [Columns]) {
    for (column, tiles) in block.chunks_mut(64 / LANES * BLOCK).enumerate() {
        let mut square = [0; 64];
        for (bits, &row) in square.iter_mut().zip(members) {
            *bits = rows.words[row as usize * rows.width + column];
        }
        transpose(&mut square);
        for (tile, columns) in tiles.chunks_exact_mut(BLOCK).zip(square.chunks_exact(LANES)) {
            tile[word].0.copy_from_slice(columns);
        }
    }
}

multiversioned! {
    /// Adds the contributions of the words in a block to the lower triangle in `sums`, in which row `i` of
    /// the Gram matrix begins at `sums[i · tiles]`.
    fn add_block(segments: &[Segment], block: &[Columns], sums: &mut [Entries]) {
        add_block_body(segments, block, sums);
    }
}

#[inline(always)]
fn add_block_body(segments: &[Segment], block: &[Columns], sums: &mut [Entries]) {
    let tiles = block.len() / BLOCK;
    for (i, left) in block.chunks_exact(BLOCK).enumerate() {
        for (j, right) in block.chunks_exact(BLOCK).enumerate().take(i + 1) {
            for offset in (0..LANES).step_by(ROWS) {
                let first = (i * LANES + offset) * tiles + j;
                let mut tile: [Entries; ROWS] = std::array::from_fn(|r| sums[first + r * tiles]);
                add_tile(segments, left, offset, right, &mut tile);
                for (r, entries) in tile.into_iter().enumerate() {
                    sums[first + r * tiles] = entries;
                }
            }
        }
    }
}

#[inline(always)]
fn add_tile(
    segments: &[Segment],
    left: &[Columns],
    offset: usize,
    right: &[Columns],
    tile: &mut [Entries; ROWS],
) {
    let mut sums = *tile;
    for segment in segments {
        let words = segment.start..segment.end;
        // A single word needs no loop; this is the usual case for large n.
        let counts = if words.len() == 1 {
            count(&left[words.start..][..1], offset, &right[words.start..][..1])
        } else {
            count(&left[words.clone()], offset, &right[words])
        };
        for r in 0..ROWS {
            for lane in 0..LANES {
                sums[r].0[lane] += segment.weight * f64::from(counts[r][lane] as i32);
            }
        }
    }
    *tile = sums;
}

/// Returns, for each r and lane, the number of rows that contain both column `offset + r` of `left` and
/// column `lane` of `right`.
#[inline(always)]
fn count(left: &[Columns], offset: usize, right: &[Columns]) -> [[i64; LANES]; ROWS] {
    let mut counts = [[0; LANES]; ROWS];
    for (left, right) in left.iter().zip(right) {
        for r in 0..ROWS {
            for lane in 0..LANES {
                counts[r][lane] += i64::from((left.0[offset + r] & right.0[lane]).count_ones());
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    macro_rules! forced {
        ($name:ident, $target:literal) => {
            #[multiversion::multiversion(targets($target))]
            fn $name(segments: &[Segment], block: &[Columns], sums: &mut [Entries]) {
                add_block_body(segments, block, sums);
            }
        };
    }
    forced!(avx512, "x86_64+avx512f+avx512vl+avx512dq+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2");
    forced!(avx2, "x86_64+avx2+popcnt+bmi1+bmi2");
    forced!(popcnt, "x86_64+popcnt");

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let tiles = 5;
        let block: Vec<Columns> =
            (0..tiles * BLOCK).map(|_| Columns(std::array::from_fn(|_| rng.next_u64()))).collect();
        let segments: Vec<Segment> = [(0, 1), (1, 2), (2, 9), (9, 11), (11, 12), (12, BLOCK)]
            .map(|(start, end)| Segment { weight: 1.0 / (start + 3) as f64, start, end })
            .to_vec();
        let run = |kernel: fn(&[Segment], &[Columns], &mut [Entries])| {
            let mut sums = vec![Entries([0.1; LANES]); tiles * LANES * tiles];
            kernel(&segments, &block, &mut sums);
            sums.iter().flat_map(|entries| entries.0).collect::<Vec<f64>>()
        };
        let portable = run(add_block_body);
        assert!(portable.iter().any(|&sum| sum > 100.0));
        for kernel in [avx512, avx2, popcnt, add_block] {
            assert_eq!(run(kernel), portable);
        }
    }
}
