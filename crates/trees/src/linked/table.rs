//! The table of the game of one explicand and one background row, after the link, and the values of that
//! game.
//!
//! # Notation
//!
//! The rows diverge for m players; a coalition S is a mask of m bits. A [cube](Cube) (E, R, v) has the value
//! v for the coalitions that contain E and no player of R, and zero for all other coalitions.
//!
//! # Algorithm
//!
//! In terms of *present* players, a cube is a signed sum, `[E ⊆ S] Π_{j∈R} (1 − [j ∈ S])`. With the sign of a
//! term moved into its mask,
//!
//! ```text
//! f(S) = Σ_{U⊆S} (−1)^|U| c(U),        c(U) = Σ_cubes (−1)^|E| v · [E ⊆ U ⊆ E ∪ R],
//! ```
//!
//! so a cube adds one number at 2^|R| positions, for any number of coalitions that reach it. One transform
//! for all trees, `hi ← lo − hi` bit by bit, yields the table of all margins with m/2 subtractions per entry.
//! In fixed point, all these steps are [exact](super::fixed). Then the link and the weights are applied, and
//! folding yields the sums over both halves for every bit, as in `apportion_values::enumerate`.
//!
//! If the rows diverge for more players than a table has bits, the cubes are split by the highest player. The
//! cubes whose R does not contain this player and the cubes whose E does not contain it form two games with
//! one player fewer. For any m, the memory for one table suffices. Sums are computed pairwise, and their
//! order does not depend on the threads.
//!
//! If most branches of a tree with d players are reached, the tree would add about 3^d numbers. If it would
//! add more than (d + 4) 2^d numbers, it is first tabulated and transformed separately, and then added from
//! its own table.

use apportion_games::parallel;

use super::link::apply;
use super::walk::Cube;
use super::weights::ByClass;
use apportion_models::Link;

/// The number of entries in a table, over all outputs: 512 KiB.
const TABLE_NUMBERS: usize = 1 << 16;

/// The number of bits that are folded at a time.
const BLOCK_BITS: usize = 11;

/// The game of one explicand and one background row.
pub(super) struct PairGame<'a> {
    pub(super) link: Link,
    /// Base margins of the outputs that the link mixes.
    pub(super) base: &'a [f64],
    /// The leaf value that the integer 1 in a cube represents.
    pub(super) unit: f64,
    /// The index of the output to which each tree contributes.
    pub(super) output_of: &'a [usize],
    pub(super) weights: &'a ByClass,
    /// The increment that each player adds to a coalition's class.
    pub(super) steps: &'a [u32],
    /// The outputs g(f(b)) of the background row, which are subtracted before all sums.
    pub(super) empty: &'a [f64],
}

/// For each output, sums over a range of masks of d bits. With the weights `with`: for each bit, the sum over
/// the masks that contain the bit; then the sum over all masks. With the weights `without`: the sum over all
/// masks.
struct Sums(Vec<Vec<f64>>);

impl PairGame<'_> {
    /// Returns the values of all diverging players, ordered by player, then by output. The entries of players
    /// that are not members are arbitrary.
    pub(super) fn values(&self, cubes: &[Cube]) -> Vec<f64> {
        let (players, outputs) = (self.steps.len(), self.base.len());
        let sums = self.fold_cubes(cubes, players, 0);
        let mut values = vec![0.0; players * outputs];
        for (output, sums) in sums.0.iter().enumerate() {
            for (player, half) in sums[..players].iter().enumerate() {
                values[player * outputs + output] = half - sums[players + 1];
            }
        }
        values
    }

    /// Returns the number of bits of an index into a table.
    fn table_bits(&self) -> usize {
        ((TABLE_NUMBERS / self.base.len()).max(1).ilog2() as usize).max(BLOCK_BITS)
    }

    /// Returns the sums over the masks of the lowest `bits` bits, with all higher bits fixed; `class` is the
    /// class of the higher bits.
    fn fold_cubes(&self, cubes: &[Cube], bits: usize, class: u32) -> Sums {
        if bits > self.table_bits() {
            let top = 1u64 << (bits - 1);
            // The bit remains in the masks of the cubes, but is ignored in all further steps.
            let side = |forbidden: fn(&Cube) -> u64| {
                cubes.iter().copied().filter(|cube| forbidden(cube) & top == 0).collect::<Vec<_>>()
            };
            let (left, right) = parallel::join(
                || self.fold_cubes(&side(|cube| cube.own), bits - 1, class),
                || self.fold_cubes(&side(|cube| cube.rest), bits - 1, class + self.steps[bits - 1]),
            );
            return left.merge(right);
        }
        let mut table = vec![0i64; self.base.len() << bits];
        self.add(cubes, bits, &mut table);
        self.fold(table.chunks_exact_mut(1 << bits).collect(), class)
    }

    /// Adds the numbers c(U) of all cubes to the tables of their outputs.
    fn add(&self, cubes: &[Cube], bits: usize, table: &mut [i64]) {
        let low = (1u64 << bits) - 1;
        let mut own_table = Vec::new();
        for cubes in cubes.chunk_by(|a, b| a.tree == b.tree) {
            let Some(first) = cubes.first() else { continue };
            let output = self.output_of[first.tree as usize];
            let table = &mut table[output << bits..][..1 << bits];
            let players = cubes.iter().fold(0, |all, cube| all | cube.own | cube.rest) & low;
            let terms = cubes.iter().map(|cube| 1u64 << (cube.rest & low).count_ones()).sum::<u64>();
            let count = u64::from(players.count_ones());
            if terms <= (count + 4) << count {
                for cube in cubes {
                    add_cube(cube.own & low, cube.rest & low, cube.value, table);
                }
                continue;
            }
            own_table.clear();
            own_table.resize(1 << count, 0);
            for cube in cubes {
                let (own, rest) = (gathered(cube.own, players), gathered(cube.rest, players));
                write_cube(own, rest, count as u32, cube.value, &mut own_table);
            }
            // The transform is its own inverse.
            transform(&mut own_table);
            let mut place = 0u64;
            for value in &own_table {
                table[place as usize] = table[place as usize].wrapping_add(*value);
                // Go to the next mask that is a subset of the tree's players.
                place = (place | !players).wrapping_add(1) & players;
            }
        }
    }

    /// Returns the sums over the masks, given one table per output that is not yet transformed.
    fn fold(&self, mut columns: Vec<&mut [i64]>, class: u32) -> Sums {
        let bits = columns.first().map_or(0, |column| column.len().ilog2()) as usize;
        if bits <= BLOCK_BITS {
            return self.fold_block(&mut columns, bits, class);
        }
        let (low, high) = columns
            .into_iter()
            .map(|column| {
                let (low, high) = column.split_at_mut(1 << (bits - 1));
                subtract(low, high);
                (low, high)
            })
            .unzip();
        let left = self.fold(low, class);
        left.merge(self.fold(high, class + self.steps[bits - 1]))
    }

    fn fold_block(&self, columns: &mut [&mut [i64]], bits: usize, class: u32) -> Sums {
        let size = 1 << bits;
        let mut outputs = vec![0.0; columns.len() << bits];
        for ((column, base), margins) in columns.iter_mut().zip(self.base).zip(outputs.chunks_exact_mut(size))
        {
            transform(column);
            for (margin, &value) in margins.iter_mut().zip(column.iter()) {
                *margin = base + value as f64 * self.unit;
            }
        }
        apply(self.link, &mut outputs, size);
        let mut classes = vec![class; size];
        for (bit, step) in self.steps[..bits].iter().enumerate() {
            let (known, next) = classes.split_at_mut(1 << bit);
            next.iter_mut().zip(known.iter()).for_each(|(next, known)| *next = known + step);
        }
        let sums = outputs.chunks_exact_mut(size).zip(self.empty).map(|(values, empty)| {
            let mut without = Vec::with_capacity(size);
            for (value, &class) in values.iter_mut().zip(&classes) {
                *value -= empty;
                without.push(*value * self.weights.without[class as usize]);
                *value *= self.weights.with[class as usize];
            }
            let mut sums = fold_halves(values);
            sums.push(total(&mut without));
            sums
        });
        Sums(sums.collect())
    }
}

impl Sums {
    /// Combines the sums of both halves. The masks of `right` are those of `self` with the next higher bit
    /// set.
    fn merge(mut self, right: Self) -> Self {
        for (left, right) in self.0.iter_mut().zip(right.0) {
            let bits = right.len() - 2;
            left.iter_mut().zip(&right).for_each(|(left, right)| *left += right);
            left.insert(bits, right[bits]);
        }
        self
    }
}

/// Adds a cube's number at all U with E ⊆ U ⊆ E ∪ R.
fn add_cube(own: u64, rest: u64, value: i64, table: &mut [i64]) {
    let value = if own.count_ones().is_multiple_of(2) { value } else { value.wrapping_neg() };
    let mut part = 0u64;
    loop {
        let place = &mut table[(own | part) as usize];
        *place = place.wrapping_add(value);
        part = part.wrapping_sub(rest) & rest;
        if part == 0 {
            return;
        }
    }
}

/// Writes a cube's value at all coalitions of `count` players that reach it.
fn write_cube(own: u64, rest: u64, count: u32, value: i64, table: &mut [i64]) {
    let free = ((1u64 << count) - 1) & !(own | rest);
    let mut part = 0u64;
    loop {
        table[(own | part) as usize] = value;
        part = part.wrapping_sub(free) & free;
        if part == 0 {
            return;
        }
    }
}

/// Returns the bits of `mask` at the positions of `players`, packed into the lowest bits.
fn gathered(mask: u64, players: u64) -> u64 {
    let (mut rest, mut gathered, mut place) = (players, 0, 0);
    while rest != 0 {
        gathered |= (mask >> rest.trailing_zeros() & 1) << place;
        place += 1;
        rest &= rest - 1;
    }
    gathered
}

/// Transforms c(U) to f(S) = Σ_{U⊆S} (−1)^|U| c(U), and back.
fn transform(table: &mut [i64]) {
    let mut half = table.len() / 2;
    while half > 0 {
        for pair in table.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            subtract(low, high);
        }
        half /= 2;
    }
}

/// Replaces `high` with `low − high`, element by element.
fn subtract(low: &[i64], high: &mut [i64]) {
    for (low, high) in low.iter().zip(high) {
        *high = low.wrapping_sub(*high);
    }
}

/// Returns, for each bit, the sum over the masks that contain the bit, followed by the sum over all masks;
/// overwrites `table`.
fn fold_halves(table: &mut [f64]) -> Vec<f64> {
    let bits = table.len().ilog2() as usize;
    let mut sums = vec![0.0; bits + 1];
    let mut rest = table;
    for bit in (0..bits).rev() {
        let (low, high) = rest.split_at_mut(1 << bit);
        low.iter_mut().zip(high.iter()).for_each(|(low, high)| *low += high);
        sums[bit] = total(high);
        rest = low;
    }
    sums[bits] = rest[0];
    sums
}

/// Returns the sum of 2^d numbers, computed pairwise; overwrites them.
fn total(numbers: &mut [f64]) -> f64 {
    let mut rest = numbers;
    while rest.len() > 1 {
        let (low, high) = rest.split_at_mut(rest.len() / 2);
        low.iter_mut().zip(high.iter()).for_each(|(low, high)| *low += high);
        rest = low;
    }
    rest[0]
}
