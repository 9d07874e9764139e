//! Exact values by definition, in a single pass over all 2^n coalitions.
//!
//! # Notation
//!
//! `n` is the number of players, `k` the number of outputs, and `s = |S|`. M are the moments of the
//! [semivalue](crate::Semivalue). The *mask* of S is the number whose bit i is set if player i is a member.
//!
//! # Method
//!
//! The definition sums over the coalitions without player i,
//!
//! ```text
//! φ_i = Σ_{S∌i} M(s, n−1−s) [v(S∪i) − v(S)]
//! ```
//!
//! This would take n passes over 2^{n−1} pairs of coalitions. Rearranged by v(S), with b(s) = M(s, n−1−s),
//! b(n) = 0, and a(s) = b(s) + M(s−1, n−s):
//!
//! ```text
//! φ_i = Σ_{S∋i} a(s) v(S) − Σ_S b(s) v(S)
//! ```
//!
//! The second sum is the same for all players, and the first is the sum over one half of a weighted table,
//! namely the masks in which bit i is set. These sums are computed for all bits by folding the table. The
//! upper half of the table contains the masks in which the top bit is set. The total of the upper half is the
//! sum for this bit. Then the upper half is added to the lower half element by element, and the same is
//! repeated with the lower half. The work is therefore O(2^n) rather than O(n 2^n). Masks are processed in
//! blocks of a fixed size, each folded separately. Two neighbouring blocks of d bits are merged into one with
//! an additional bit; the sum for this bit is the total of the right block. All sums are therefore pairwise,
//! in an order that does not depend on threads or blocks.

use apportion_games::{Coalitions, Game, GameError, parallel};

use crate::attributions::Attributions;
use crate::error::ValueError;
use crate::semivalue::Semivalue;

/// Maximum number of players for enumeration: 2^25 coalitions.
pub const MAX_PLAYERS: usize = 25;

/// Number of mask bits in a block: 4096 coalitions are evaluated in one batch.
pub(crate) const BLOCK_BITS: usize = 12;

/// Number of mask bits in a wave, a range of masks whose blocks may run in parallel. After a failure, blocks
/// of the same wave may still run; later waves do not start.
pub(crate) const WAVE_BITS: usize = 18;

/// Computes the exact `value` of every player of `game`, for all outputs.
///
/// ```text
/// φ_i = Σ_{S∌i} M(s, n−1−s) [v(S∪i) − v(S)]
/// ```
///
/// Evaluates each of the 2^n coalitions once, in blocks of 4096, on several threads if the game allows it. A
/// game that [is a table](Game::table) is read directly. Takes O(2^n k) time in addition to the evaluations,
/// and stores one block per thread. The result has the same bits for any number of threads.
///
/// Accuracy: sums are pairwise over v(S) − v(∅), so a large constant does not reduce the accuracy. For random
/// games of up to 14 players with values in \[−1, 1), the tests limit the error to 1e-14. The value of a null
/// player is zero up to this error.
///
/// # Errors
///
/// [`ValueError::Players`] unless 1 ≤ n ≤ 25, [`ValueError::WeightsForOtherPlayers`] if weights by size are
/// for a different n, [`ValueError::Game`] if the game fails or has a value that is not finite (if several
/// blocks fail, the error of the block with the lowest masks), [`ValueError::Overflow`] if the sum of finite
/// values overflows.
///
/// # Example
///
/// ```
/// use apportion_games::Cooking;
/// use apportion_values::{Semivalue, enumerate};
///
/// let shapley = enumerate(&Cooking, Semivalue::Shapley)?;
/// for (got, wanted) in shapley.values.iter().zip([6.0, 5.0, 4.0]) {
///     assert!((got - wanted).abs() < 1e-14);
/// }
/// assert_eq!((shapley.base, shapley.predictions), (vec![0.0], vec![15.0]));
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
pub fn enumerate(game: &(impl Game + ?Sized), value: Semivalue) -> Result<Attributions, ValueError> {
    enumerate_many(game, std::slice::from_ref(&value)).map(|mut enumerations| enumerations.swap_remove(0))
}

/// Computes the exact values for several semivalues in one pass: each coalition is evaluated once, not once
/// per semivalue.
///
/// The results are in the order of `values`, and each is bitwise equal to the result of [`enumerate`]. If
/// `values` is empty, the game is not evaluated.
///
/// # Errors
///
/// Same as [`enumerate`].
pub fn enumerate_many(
    game: &(impl Game + ?Sized),
    values: &[Semivalue],
) -> Result<Vec<Attributions>, ValueError> {
    enumerate_all(&game, values)
}

/// Implements [`enumerate_many`]. It is not generic, so it is compiled once for all games.
fn enumerate_all(game: &dyn Game, values: &[Semivalue]) -> Result<Vec<Attributions>, ValueError> {
    let (players, outputs) = (game.players(), game.outputs());
    if !(1..=MAX_PLAYERS).contains(&players) {
        return Err(ValueError::Players { actual: players, max: MAX_PLAYERS });
    }
    if outputs == 0 {
        return Err(GameError::Parameter { what: "a game must have at least one output".to_owned() }.into());
    }
    if values.is_empty() {
        return Ok(Vec::new());
    }

    values.iter().try_for_each(|value| value.check_players(players))?;

    // Evaluate the first block before the others, because they need v(∅).
    let block_bits = players.min(BLOCK_BITS);
    let first = match game.table() {
        Some(_) => Vec::new(),
        None => evaluate_masks(game, 0, block_bits)?,
    };
    let base = match game.table() {
        Some(table) => &table[..outputs],
        None => &first[..outputs],
    };
    let weights: Vec<Weights> =
        values.iter().map(|value| Weights::for_value(value, players, block_bits)).collect();
    let pass = Pass { game, block_bits, first: &first, base, weights: &weights };
    let folded = pass.fold(0, players)?;

    let of_sums = |sums| {
        let values = values_of(sums, players, outputs);
        Attributions::for_players(players, values, base.to_vec(), folded.last.clone()).finite()
    };
    folded.sums.into_iter().map(of_sums).collect()
}

/// Returns the values of all players for one semivalue, from its [sums](FoldedSums::sums) over all
/// coalitions.
fn values_of(mut sums: Vec<f64>, players: usize, outputs: usize) -> Vec<f64> {
    let (halves, totals) = sums.split_at_mut(players * outputs);
    let without = &totals[outputs..];
    for half in halves.chunks_exact_mut(outputs) {
        half.iter_mut().zip(without).for_each(|(half, without)| *half -= without);
    }
    sums.truncate(players * outputs);
    sums
}

/// The weights of one semivalue, arranged by block. Row h contains the weights for a block of 2^d masks whose
/// higher bits include h set bits.
struct Weights {
    /// a(s): for each mask, its weight in the sum over coalitions that contain the player.
    with: Vec<Vec<f64>>,
    /// b(s): for each mask, its weight in the sum that all players share.
    without: Vec<Vec<f64>>,
}

impl Weights {
    fn for_value(value: &Semivalue, players: usize, block_bits: usize) -> Self {
        let joined = |size: usize| if size < players { value.coefficient(players, size) } else { 0.0 };
        let left = |size: usize| if size > 0 { value.coefficient(players, size - 1) } else { 0.0 };
        let laid_out = |by_size: Vec<f64>| {
            let row = |above| {
                (0..1usize << block_bits).map(|mask| by_size[above + mask.count_ones() as usize]).collect()
            };
            (0..=players - block_bits).map(row).collect()
        };
        Self {
            with: laid_out((0..=players).map(|size| joined(size) + left(size)).collect()),
            without: laid_out((0..=players).map(joined).collect()),
        }
    }
}

/// The sums that result from folding 2^d consecutive masks.
struct FoldedSums {
    /// For each semivalue, d + 2 rows of k numbers: for each bit, the sum of a(s) (v(S) − v(∅)) over the
    /// masks in which it is set; then the totals of a(s) (v(S) − v(∅)) and of b(s) (v(S) − v(∅)) over all
    /// masks.
    sums: Vec<Vec<f64>>,
    /// The values of the last mask, one per output.
    last: Vec<f64>,
}

/// Data that all blocks of the pass share.
struct Pass<'a> {
    game: &'a dyn Game,
    block_bits: usize,
    /// The values in the first block; unused if the game is a table.
    first: &'a [f64],
    base: &'a [f64],
    weights: &'a [Weights],
}

impl Pass<'_> {
    /// Folds the 2^`bits` masks that begin at `start`.
    fn fold(&self, start: usize, bits: usize) -> Result<FoldedSums, ValueError> {
        if bits <= self.block_bits {
            return self.fold_block(start);
        }
        let left = || self.fold(start, bits - 1);
        let right = || self.fold(start + (1 << (bits - 1)), bits - 1);
        let (left, right) = if bits > WAVE_BITS || !self.game.parallel() {
            (left()?, right()?)
        } else {
            let (left, right) = parallel::join(left, right);
            (left?, right?)
        };
        Ok(left.merge(right, self.base.len()))
    }

    /// Folds the block of masks that begins at `start`.
    fn fold_block(&self, start: usize) -> Result<FoldedSums, ValueError> {
        let outputs = self.base.len();
        let asked;
        let values = if let Some(table) = self.game.table() {
            &table[start * outputs..(start + (1 << self.block_bits)) * outputs]
        } else if start == 0 {
            self.first
        } else {
            asked = evaluate_masks(self.game, start, self.block_bits)?;
            &asked
        };
        let above = start.count_ones() as usize;
        let mut scratch = Vec::with_capacity(values.len());
        let sums = self
            .weights
            .iter()
            .map(|weights| {
                let mut sums = vec![0.0; (self.block_bits + 2) * outputs];
                let (halves, without) = sums.split_at_mut((self.block_bits + 1) * outputs);
                weigh(values, self.base, &weights.with[above], &mut scratch);
                fold_halves(&mut scratch, halves, outputs);
                weigh(values, self.base, &weights.without[above], &mut scratch);
                without.copy_from_slice(sum_rows(&mut scratch, outputs));
                sums
            })
            .collect::<Vec<_>>();
        // If a value is not finite, neither are the totals (the last weight b(n) = 0 turns infinity into
        // NaN).
        if sums.iter().flatten().any(|sum| !sum.is_finite()) {
            check_finite(self.game.players(), outputs, start, values)?;
        }
        Ok(FoldedSums { sums, last: values[values.len() - outputs..].to_vec() })
    }
}

impl FoldedSums {
    /// Merges the folds of two adjacent ranges of masks, `self` before `right`. The result has one more bit.
    fn merge(mut self, right: Self, outputs: usize) -> Self {
        for (left, right) in self.sums.iter_mut().zip(&right.sums) {
            left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
            // The sum for the new bit is the total of the right fold. Insert it before the two totals.
            let totals = right.len() - 2 * outputs;
            let half = &right[totals..totals + outputs];
            left.splice(totals..totals, half.iter().copied());
        }
        Self { sums: self.sums, last: right.last }
    }
}

/// Returns the values of the 2^`bits` masks that begin at `start`.
pub(crate) fn evaluate_masks(game: &dyn Game, start: usize, bits: usize) -> Result<Vec<f64>, GameError> {
    let batch = Coalitions::from_masks(game.players(), start as u64..(start + (1 << bits)) as u64);
    let mut values = vec![0.0; game.outputs() << bits];
    game.values(&batch, &mut values)?;
    Ok(values)
}

/// Returns an error that names the first coalition whose value is not finite. `start` is the mask of the
/// first value.
pub(crate) fn check_finite(
    players: usize,
    outputs: usize,
    start: usize,
    values: &[f64],
) -> Result<(), GameError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let mask = (start + at / outputs) as u64;
            let coalition = Coalitions::from_masks(players, [mask]).row(0).to_coalition();
            Err(GameError::NotFinite { coalition, output: at % outputs, value: values[at] })
        }
    }
}

/// Writes `weight · (v(S) − v(∅))` for each mask in a block.
fn weigh(values: &[f64], base: &[f64], weights: &[f64], out: &mut Vec<f64>) {
    out.clear();
    if let &[base] = base {
        out.extend(values.iter().zip(weights).map(|(value, weight)| (value - base) * weight));
    } else {
        for (row, weight) in values.chunks_exact(base.len()).zip(weights) {
            out.extend(row.iter().zip(base).map(|(value, base)| (value - base) * weight));
        }
    }
}

/// Writes to row j of `halves` the sum over the masks in which bit j is set, and to the last row the sum over
/// all masks. Overwrites `table`.
fn fold_halves(table: &mut [f64], halves: &mut [f64], outputs: usize) {
    let bits = halves.len() / outputs - 1;
    let mut rest = table;
    for bit in (0..bits).rev() {
        let (low, high) = rest.split_at_mut(outputs << bit);
        low.iter_mut().zip(high.iter()).for_each(|(low, high)| *low += high);
        halves[bit * outputs..(bit + 1) * outputs].copy_from_slice(sum_rows(high, outputs));
        rest = low;
    }
    halves[bits * outputs..].copy_from_slice(rest);
}

/// Returns the sum of 2^d rows, pairwise: the upper half is added to the lower half until one row is left.
/// Overwrites `rows`.
pub(crate) fn sum_rows(rows: &mut [f64], outputs: usize) -> &[f64] {
    let mut rest = rows;
    while rest.len() > outputs {
        let (low, high) = rest.split_at_mut(rest.len() / 2);
        low.iter_mut().zip(high.iter()).for_each(|(low, high)| *low += high);
        rest = low;
    }
    rest
}
