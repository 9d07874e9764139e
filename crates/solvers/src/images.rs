//! Images `Q z_k` of rows of bits z_k under a symmetric matrix Q, for hat values and certificates.
//!
//! The product with bits needs no multiplication. For every four players, the 16 possible sums of their
//! columns of `Q` are tabulated. Each row then adds one table entry for every four players (the method of
//! "four Russians"). A table for 32 players × 32 columns takes 32 KiB, and stays in the first-level cache
//! while a block of rows is processed. This takes about `n²/4` additions per row, half the time of a dense
//! product.

// Loops over lanes use indices, because compilers vectorize such loops.
#![allow(clippy::needless_range_loop)]

use std::ops::Range;

use apportion_games::Cancellation;
use faer::Mat;

use crate::bits::{BitRows, masked, multiversioned};

/// The number of columns of `Q` in a table, and the number of players that a table covers.
pub(crate) const SIDE: usize = 32;
/// The number of players whose subsets are tabulated together.
const BITS: usize = 4;
const SUBSETS: usize = 1 << BITS;

/// A strip: 32 neighbouring entries of an image.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Strip(pub(crate) [f64; SIDE]);

const ZERO: Strip = Strip([0.0; SIDE]);

/// For each of eight groups of four players, the sums of rows of `Q` over all subsets of the group.
type Table = [Strip; SUBSETS * SIDE / BITS];

/// Returns the number of rows in a block. The images of a block take at most 8 MiB, up to n = 16 000. The
/// number is even, so that pairs stay together.
fn block_rows(strips: usize) -> usize {
    ((1 << 20) / (strips * SIDE)).clamp(64, 1024) & !1
}

/// The images of a block of rows.
pub(crate) struct Images<'a> {
    /// The range of rows in the block.
    pub(crate) rows: Range<usize>,
    words: &'a [u64],
    width: usize,
    /// The strips of all images: strip `c` of row `k` in the block is at `strips[c · capacity + k]`.
    strips: &'a mut [Strip],
    capacity: usize,
}

/// Calls `visit` with the images `Q z_k + shift` of all rows, one block at a time and in order. Stops at the
/// first error.
pub(crate) fn for_each_block<E>(
    rows: &BitRows,
    matrix: &Mat<f64>,
    shift: &[f64],
    mut visit: impl FnMut(Images<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let (n, width) = (rows.players, rows.width);
    let strips_per_row = n.div_ceil(SIDE);
    let capacity = block_rows(strips_per_row).min(rows.len().max(1));
    let mut images = vec![ZERO; strips_per_row * capacity];
    let mut table: Box<Table> = Box::new([ZERO; SUBSETS * SIDE / BITS]);
    let mut square = [ZERO; SIDE];
    for (index, words) in rows.words.chunks(capacity * width).enumerate() {
        let count = words.len() / width;
        for (strip, images) in images.chunks_exact_mut(capacity).enumerate() {
            Cancellation::check();
            let images = &mut images[..count];
            let mut start = ZERO;
            let part = &shift[strip * SIDE..(strip * SIDE + SIDE).min(n)];
            start.0[..part.len()].copy_from_slice(part);
            images.fill(start);
            for half in 0..n.div_ceil(SIDE) {
                // Q is symmetric, so its rows are its columns.
                for (lane, line) in square.iter_mut().enumerate() {
                    *line = ZERO;
                    if half * SIDE + lane < n {
                        let column = matrix.col_as_slice(half * SIDE + lane);
                        let part = &column[strip * SIDE..(strip * SIDE + SIDE).min(n)];
                        line.0[..part.len()].copy_from_slice(part);
                    }
                }
                tabulate(&square, &mut table);
                add(&table, words, width, half, images);
            }
        }
        visit(Images {
            rows: index * capacity..index * capacity + count,
            words,
            width,
            strips: &mut images,
            capacity,
        })?;
    }
    Ok(())
}

impl Images<'_> {
    /// Returns, for every row in the block, the product of the row with its own image:
    /// `z_kᵀ (Q z_k + shift)`.
    pub(crate) fn own_forms(&self) -> Vec<f64> {
        self.forms(self.words)
    }

    /// Returns, for every pair of rows in the block, the product of the first row with the image of the
    /// second: `z_kᵀ (Q z_{k+1} + shift)`.
    pub(crate) fn neighbour_forms(&self) -> Vec<f64> {
        let mut swapped = self.words.to_vec();
        for pair in swapped.chunks_exact_mut(2 * self.width) {
            let (first, second) = pair.split_at_mut(self.width);
            second.copy_from_slice(first);
        }
        self.forms(&swapped).into_iter().skip(1).step_by(2).collect()
    }

    fn forms(&self, words: &[u64]) -> Vec<f64> {
        let mut forms = vec![0.0; self.rows.len()];
        for (index, images) in self.strips.chunks_exact(self.capacity).enumerate() {
            add_members(images, words, self.width, index, &mut forms);
        }
        forms
    }

    /// Adds `Σ_k factor_k image_ki²` to `out[i]` for every player i.
    pub(crate) fn add_squares(&self, factors: &[f64], out: &mut [f64]) {
        self.add(factors, out, add_squares);
    }

    /// Adds `Σ (factor_k image_ki + factor_{k+1} image_{k+1,i})²`, summed over every second row k, to
    /// `out[i]` for every player i.
    pub(crate) fn add_squares_of_pairs(&self, factors: &[f64], out: &mut [f64]) {
        self.add(factors, out, add_squares_of_pairs);
    }

    /// Subtracts, in every image, the mean of the entries for the players `among` from these entries. Call
    /// this after computing the forms, because they need the original images.
    pub(crate) fn take_off_mean(&mut self, among: Range<usize>) {
        for row in 0..self.rows.len() {
            let place = |player: usize| (player / SIDE * self.capacity + row, player % SIDE);
            let sum: f64 = among.clone().map(place).map(|(strip, lane)| self.strips[strip].0[lane]).sum();
            let mean = sum / among.len() as f64;
            among.clone().map(place).for_each(|(strip, lane)| self.strips[strip].0[lane] -= mean);
        }
    }

    /// Writes combinations of the images to `out`: for each unit, `Σ factor_k image_k` over its
    /// `rows_per_unit` neighbouring rows k. Only the players `among` are included; the result is
    /// units × players, row-major.
    pub(crate) fn combine(
        &self,
        factors: &[f64],
        rows_per_unit: usize,
        among: Range<usize>,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(self.rows.len() / rows_per_unit * among.len(), 0.0);
        for (strip, images) in self.strips.chunks_exact(self.capacity).enumerate() {
            let first = strip * SIDE;
            let players = among.start.max(first)..among.end.min(first + SIDE);
            if players.is_empty() {
                continue;
            }
            for (row, (image, factor)) in images.iter().zip(factors).enumerate() {
                let start = row / rows_per_unit * among.len();
                let out = &mut out[start + players.start - among.start..start + players.end - among.start];
                let entries = &image.0[players.start - first..players.end - first];
                out.iter_mut().zip(entries).for_each(|(out, entry)| *out += factor * entry);
            }
        }
    }

    fn add(&self, factors: &[f64], out: &mut [f64], kernel: fn(&[Strip], &[f64], &mut Strip)) {
        for (images, out) in self.strips.chunks_exact(self.capacity).zip(out.chunks_mut(SIDE)) {
            let mut sums = ZERO;
            kernel(&images[..factors.len()], factors, &mut sums);
            for (out, sum) in out.iter_mut().zip(sums.0) {
                *out += sum;
            }
        }
    }
}

multiversioned! {
    /// Tabulates the sums of the lines of `square` over all subsets of the players 0..4, of 4..8, and so on.
    fn tabulate(square: &[Strip; SIDE], table: &mut Table) {
        for (players, sums) in square.chunks_exact(BITS).zip(table.chunks_exact_mut(SUBSETS)) {
            for subset in 1..SUBSETS {
                let line = &players[subset.trailing_zeros() as usize];
                let rest = sums[subset & (subset - 1)];
                for lane in 0..SIDE {
                    sums[subset].0[lane] = rest.0[lane] + line.0[lane];
                }
            }
        }
    }
}

multiversioned! {
    fn add(table: &Table, words: &[u64], width: usize, half: usize, images: &mut [Strip]) {
        add_body(table, words, width, half, images);
    }
}

/// Adds to each image the table entries for the members of its row among the players 32·half..32·half + 32.
#[inline(always)]
fn add_body(table: &Table, words: &[u64], width: usize, half: usize, images: &mut [Strip]) {
    for (row, image) in words.chunks_exact(width).zip(images) {
        let mut bits = row[half / 2] >> (half % 2 * SIDE);
        let mut sums = *image;
        for fours in 0..SIDE / BITS {
            let entry = &table[fours * SUBSETS + (bits & (SUBSETS as u64 - 1)) as usize];
            for lane in 0..SIDE {
                sums.0[lane] += entry.0[lane];
            }
            bits >>= BITS;
        }
        *image = sums;
    }
}

multiversioned! {
    /// Adds to `out[k]` the product of row k with the strip `strip` of its own image.
    fn add_members(images: &[Strip], words: &[u64], width: usize, strip: usize, out: &mut [f64]) {
        for ((row, image), out) in words.chunks_exact(width).zip(images).zip(out) {
            let bits = row[strip / 2] >> (strip % 2 * SIDE);
            let mut eighths = [0.0; 8];
            for part in 0..SIDE / 8 {
                for lane in 0..8 {
                    eighths[lane] += masked(bits >> (8 * part + lane), image.0[8 * part + lane]);
                }
            }
            let [a, b, c, d, e, f, g, h] = eighths;
            *out += ((a + e) + (b + f)) + ((c + g) + (d + h));
        }
    }
}

multiversioned! {
    fn add_squares(images: &[Strip], factors: &[f64], sums: &mut Strip) {
        let mut total = *sums;
        for (image, &factor) in images.iter().zip(factors) {
            for lane in 0..SIDE {
                total.0[lane] += factor * image.0[lane] * image.0[lane];
            }
        }
        *sums = total;
    }
}

multiversioned! {
    fn add_squares_of_pairs(images: &[Strip], factors: &[f64], sums: &mut Strip) {
        let mut total = *sums;
        for (images, factors) in images.chunks_exact(2).zip(factors.chunks_exact(2)) {
            for lane in 0..SIDE {
                let change = factors[0] * images[0].0[lane] + factors[1] * images[1].0[lane];
                total.0[lane] += change * change;
            }
        }
        *sums = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::tests::random;
    use std::convert::Infallible;

    #[test]
    fn images_forms_and_squares_equal_dense_products() {
        for players in [1, 3, 31, 32, 33, 64, 65, 130] {
            for rows in [1, 5, 1025] {
                let (bits, factors) = random(players, rows, 7, 4);
                let matrix = Mat::from_fn(players, players, |i, j| ((i * j + i + j) % 11) as f64 - 5.0);
                let shift: Vec<f64> = (0..players).map(|i| (i % 3) as f64).collect();
                let (mut forms, mut neighbours) = (Vec::new(), Vec::new());
                let (mut squares, mut pairs) = (vec![0.0; players], vec![0.0; players]);
                for_each_block(&bits, &matrix, &shift, |images| {
                    forms.extend(images.own_forms());
                    neighbours.extend(images.neighbour_forms());
                    images.add_squares(&factors[images.rows.clone()], &mut squares);
                    images.add_squares_of_pairs(&factors[images.rows.clone()], &mut pairs);
                    Ok::<(), Infallible>(())
                })
                .unwrap();
                let (mut expected, mut wanted_pairs) = (vec![0.0; players], vec![0.0; players]);
                let mut last: Option<(Vec<usize>, Vec<f64>)> = None;
                for row in 0..rows {
                    let members: Vec<usize> =
                        (0..players).filter(|i| bits.row(row)[i / 64] >> (i % 64) & 1 == 1).collect();
                    let image =
                        (0..players).map(|j| shift[j] + members.iter().map(|&i| matrix[(i, j)]).sum::<f64>());
                    let image: Vec<f64> = image.collect();
                    assert_eq!(forms[row], members.iter().map(|&i| image[i]).sum::<f64>());
                    for (expected, value) in expected.iter_mut().zip(&image) {
                        *expected += factors[row] * value * value;
                    }
                    match last.take() {
                        None => last = Some((members, image)),
                        Some((before, image_before)) => {
                            assert_eq!(neighbours[row / 2], before.iter().map(|&i| image[i]).sum::<f64>());
                            for (i, expected) in wanted_pairs.iter_mut().enumerate() {
                                *expected +=
                                    (factors[row - 1] * image_before[i] + factors[row] * image[i]).powi(2);
                            }
                        }
                    }
                }
                for (got, want) in squares.iter().chain(&pairs).zip(expected.iter().chain(&wanted_pairs)) {
                    assert!((got - want).abs() <= 1e-12 * want, "{players} players, {rows} rows");
                }
            }
        }
    }

    macro_rules! forced {
        ($name:ident, $target:literal) => {
            #[multiversion::multiversion(targets($target))]
            fn $name(table: &Table, words: &[u64], width: usize, half: usize, images: &mut [Strip]) {
                add_body(table, words, width, half, images);
            }
        };
    }
    forced!(avx512, "x86_64+avx512f+avx512vl+avx512dq+avx512vpopcntdq+avx2+popcnt+bmi1+bmi2");
    forced!(avx2, "x86_64+avx2+popcnt+bmi1+bmi2");

    #[test]
    fn every_instruction_set_gives_the_same_images() {
        let (bits, values) = random(64, 40, 1000, 8);
        let mut square = [ZERO; SIDE];
        for (index, line) in square.iter_mut().enumerate() {
            line.0 = std::array::from_fn(|lane| values[(index + lane) % 40].sin());
        }
        let mut table = Box::new([ZERO; SUBSETS * SIDE / BITS]);
        tabulate(&square, &mut table);
        let run = |kernel: fn(&Table, &[u64], usize, usize, &mut [Strip])| {
            let mut images = vec![ZERO; 40];
            kernel(&table, &bits.words, bits.width, 1, &mut images);
            images.iter().flat_map(|image| image.0).collect::<Vec<f64>>()
        };
        for kernel in [avx512, avx2, add] {
            assert_eq!(run(kernel), run(add_body));
        }
    }
}
