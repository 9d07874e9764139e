//! Passes over rows of bits, which compute the products `Z X` and `Zᵀ Y` of the rows with several vectors at
//! once.
//!
//! # Method
//!
//! Neighbouring players form groups, and the sums of a vector over all subsets of each group are tabulated. A
//! row then adds one table entry for each group (the method of "four Russians"). Groups have eight players
//! for one vector. For several vectors, whose entries are as wide as a vector register, groups have four. The
//! transposed product works in the opposite direction: for each group, rows are first summed by the subset of
//! the group that they contain.
//!
//! The tables for a strip of a few words fit in the first two cache levels. A block of rows also stays in the
//! cache while all strips are processed. The order of the additions depends only on n and the number of
//! vectors, so results do not depend on the machine.
//!
//! # Interleaved vectors
//!
//! `L` vectors are interleaved, entry by entry: `[f64; L]` for each player, or for each row. `L` is 1, 2, 4
//! or 8.

// Loops over lanes use indices, because compilers vectorize such loops.
#![allow(clippy::needless_range_loop)]

use apportion_games::Cancellation;

use crate::bits::{BitRows, multiversioned};

/// The number of rows in a block, which takes about 640 kB for 10 000 players.
const BLOCK: usize = 512;

/// Interleaved vectors that can be multiplied by rows of bits.
pub(crate) trait Side: Sized {
    /// The memory for the tables of one word of players.
    type Tables: Clone;

    /// Returns memory for the tables of all players. Allocating it for each pass may take longer than the
    /// pass.
    fn tables(rows: &BitRows) -> Vec<Self::Tables>;

    /// Computes `Z X`: writes, for each row, the sums of the vectors over its members to `out`.
    fn times(rows: &BitRows, vectors: &[Self], out: &mut [Self], tables: &mut [Self::Tables]);

    /// Computes `Zᵀ Y`: writes, for each player, the sums of the values over the rows that contain it to
    /// `out`.
    fn transposed_times(rows: &BitRows, values: &[Self], out: &mut [Self], tables: &mut [Self::Tables]);
}

impl BitRows {
    /// Computes `Z u`: writes, for each row, the sum of `vector` over its members to `out`.
    pub(crate) fn times(&self, vector: &[f64], out: &mut [f64]) {
        let mut tables = <[f64; 1]>::tables(self);
        Side::times(self, vector.as_chunks::<1>().0, out.as_chunks_mut::<1>().0, &mut tables);
    }

    /// Computes `Zᵀ t`: returns, for each player, the sum of `values` over the rows that contain it.
    pub(crate) fn transposed_times(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.players];
        let mut tables = <[f64; 1]>::tables(self);
        Side::transposed_times(self, values.as_chunks::<1>().0, sums.as_chunks_mut::<1>().0, &mut tables);
        sums
    }
}

macro_rules! side {
    (
        $lanes:literal, $groups:literal groups of $subsets:literal, $strip:literal words, $sums:literal sums
    ) => {
        impl Side for [f64; $lanes] {
            type Tables = [[[f64; $lanes]; $subsets]; $groups];

            fn tables(rows: &BitRows) -> Vec<Self::Tables> {
                vec![[[[0.0; $lanes]; $subsets]; $groups]; rows.width]
            }

            fn times(rows: &BitRows, vectors: &[Self], out: &mut [Self], tables: &mut [Self::Tables]) {
                multiversioned! {
                    fn tabulate_word(
                        players: &[[f64; $lanes]],
                        tables: &mut [[[f64; $lanes]; $subsets]; $groups],
                    ) {
                        for (group, table) in tables.iter_mut().enumerate() {
                            // Only the empty subset of the players beyond the last one occurs.
                            let start = (group * (64 / $groups)).min(players.len());
                            let end = (start + 64 / $groups).min(players.len());
                            tabulate(&players[start..end], table);
                        }
                    }
                }
                multiversioned! {
                    fn add(
                        words: &[u64],
                        width: usize,
                        start: usize,
                        tables: &[[[[f64; $lanes]; $subsets]; $groups]],
                        sums: &mut [[[f64; $lanes]; $sums]],
                    ) {
                        add_entries(words, width, start, tables, sums);
                    }
                }
                for (tables, players) in tables.iter_mut().zip(vectors.chunks(64)) {
                    tabulate_word(players, tables);
                }
                let mut sums = vec![[[0.0; $lanes]; $sums]; BLOCK.min(out.len())];
                for (words, out) in rows.words.chunks(BLOCK * rows.width).zip(out.chunks_mut(BLOCK)) {
                    Cancellation::check();
                    let sums = &mut sums[..out.len()];
                    sums.fill([[0.0; $lanes]; $sums]);
                    for (strip, tables) in tables.chunks($strip).enumerate() {
                        add(words, rows.width, $strip * strip, tables, sums);
                    }
                    for (out, sums) in out.iter_mut().zip(sums) {
                        *out = [0.0; $lanes];
                        for part in sums {
                            for lane in 0..$lanes {
                                out[lane] += part[lane];
                            }
                        }
                    }
                }
            }

            fn transposed_times(
                rows: &BitRows,
                values: &[Self],
                out: &mut [Self],
                tables: &mut [Self::Tables],
            ) {
                multiversioned! {
                    fn add(
                        words: &[u64],
                        width: usize,
                        start: usize,
                        values: &[[f64; $lanes]],
                        tables: &mut [[[[f64; $lanes]; $subsets]; $groups]],
                    ) {
                        sort(words, width, start, values, tables);
                    }
                }
                tables.fill([[[0.0; $lanes]; $subsets]; $groups]);
                for (words, values) in rows.words.chunks(BLOCK * rows.width).zip(values.chunks(BLOCK)) {
                    Cancellation::check();
                    for (strip, tables) in tables.chunks_mut($strip).enumerate() {
                        add(words, rows.width, $strip * strip, values, tables);
                    }
                }
                for (tables, players) in tables.iter().zip(out.chunks_mut(64)) {
                    for (table, players) in tables.iter().zip(players.chunks_mut(64 / $groups)) {
                        add_up(table, players);
                    }
                }
            }
        }
    };
}

side!(1, 8 groups of 256, 8 words, 8 sums);
side!(2, 16 groups of 16, 8 words, 4 sums);
side!(4, 16 groups of 16, 8 words, 2 sums);
side!(8, 16 groups of 16, 4 words, 1 sums);

/// Tabulates the sums over all subsets of a few players. If the last group has fewer players, the entries for
/// other subsets are not used.
#[inline(always)]
fn tabulate<const L: usize, const SUBSETS: usize>(players: &[[f64; L]], table: &mut [[f64; L]; SUBSETS]) {
    table[0] = [0.0; L];
    for (player, value) in players.iter().enumerate() {
        let (without, with) = table.split_at_mut(1 << player);
        for (with, without) in with.iter_mut().zip(without) {
            for lane in 0..L {
                with[lane] = without[lane] + value[lane];
            }
        }
    }
}

/// Sums, for each of a few players, the table entries of the subsets that contain the player.
fn add_up<const L: usize, const SUBSETS: usize>(table: &[[f64; L]; SUBSETS], players: &mut [[f64; L]]) {
    for (player, sum) in players.iter_mut().enumerate() {
        *sum = [0.0; L];
        for subset in (0..SUBSETS).filter(|subset| subset >> player & 1 == 1) {
            for lane in 0..L {
                sum[lane] += table[subset][lane];
            }
        }
    }
}

/// Adds the table entries for the groups of a row, in the words from `start` on, to the sums of the row.
/// There is one sum for each table.
#[inline(always)]
fn add_entries<const L: usize, const SUBSETS: usize, const GROUPS: usize, const SUMS: usize>(
    words: &[u64],
    width: usize,
    start: usize,
    tables: &[[[[f64; L]; SUBSETS]; GROUPS]],
    sums: &mut [[[f64; L]; SUMS]],
) {
    for (row, sums) in words.chunks_exact(width).zip(sums) {
        let mut of_row = *sums;
        for (&word, tables) in row[start..].iter().zip(tables) {
            let mut bits = word;
            for group in 0..GROUPS {
                let entry = &tables[group][bits as usize & (SUBSETS - 1)];
                bits >>= 64 / GROUPS;
                for lane in 0..L {
                    of_row[group % SUMS][lane] += entry[lane];
                }
            }
        }
        *sums = of_row;
    }
}

/// Adds the value of each row to the table entries that correspond to its groups.
#[inline(always)]
fn sort<const L: usize, const SUBSETS: usize, const GROUPS: usize>(
    words: &[u64],
    width: usize,
    start: usize,
    values: &[[f64; L]],
    tables: &mut [[[[f64; L]; SUBSETS]; GROUPS]],
) {
    for (row, values) in words.chunks_exact(width).zip(values) {
        for (&word, tables) in row[start..].iter().zip(tables.iter_mut()) {
            let mut bits = word;
            for group in 0..GROUPS {
                let entry = &mut tables[group][bits as usize & (SUBSETS - 1)];
                bits >>= 64 / GROUPS;
                for lane in 0..L {
                    entry[lane] += values[lane];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::tests::random;

    fn passes_equal_sums_over_members<const L: usize>()
    where
        [f64; L]: Side,
    {
        for players in [1, 7, 8, 63, 64, 65, 130, 300] {
            for rows in [0, 1, 2, 511, 513, 1200] {
                let (bits, _) = random(players, rows, 3, 5);
                // Use small integers, whose sums are exact in any order.
                let number = |index: usize, lane: usize| ((index * (lane + 3) + lane) % 17) as f64 - 8.0;
                let vectors: Vec<[f64; L]> =
                    (0..players).map(|i| std::array::from_fn(|lane| number(i, lane))).collect();
                let values: Vec<[f64; L]> =
                    (0..rows).map(|k| std::array::from_fn(|lane| number(k, lane + 1))).collect();
                let mut products = vec![[f64::NAN; L]; rows];
                let mut tables = <[f64; L]>::tables(&bits);
                let mut transposed = vec![[f64::NAN; L]; players];
                // Run twice, because the tables left by one pass must not affect the next.
                for _ in 0..2 {
                    Side::times(&bits, &vectors, &mut products, &mut tables);
                    Side::transposed_times(&bits, &values, &mut transposed, &mut tables);
                }
                let mut expected = vec![[0.0; L]; players];
                for row in 0..rows {
                    let mut product = [0.0; L];
                    let is_member = |i: &usize| bits.row(row)[i / 64] >> (i % 64) & 1 == 1;
                    for i in (0..players).filter(is_member) {
                        for lane in 0..L {
                            product[lane] += vectors[i][lane];
                            expected[i][lane] += values[row][lane];
                        }
                    }
                    assert_eq!(products[row], product, "{players} players, row {row}");
                }
                assert_eq!(transposed, expected, "{players} players, {rows} rows");
            }
        }
    }

    #[test]
    fn passes_over_bits_equal_the_sums_over_members() {
        passes_equal_sums_over_members::<1>();
        passes_equal_sums_over_members::<2>();
        passes_equal_sums_over_members::<4>();
        passes_equal_sums_over_members::<8>();
    }
}
