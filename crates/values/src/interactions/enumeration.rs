//! Computes exact interaction indices by definition, for all coalitions K and several indices at once, in one
//! pass over all 2^n coalitions.
//!
//! # Method
//!
//! Weights depend on sizes only. An index is therefore determined by sums of the differences Δ_K v(S), one
//! sum for each K and each size of S:
//!
//! ```text
//! D_K(a) = Σ_{S⊆N∖K, |S|=a} Δ_K v(S),        I(K) = Σ_a M_k(a, n−k−a) D_K(a)
//! ```
//!
//! These are computed by folding the table of values, one player after the other. There is one table for each
//! K among the players processed so far, and for each number a of other players present. The next player
//! splits every table into two halves: it is absent in the lower half and present in the upper half. If the
//! player stays outside K, the upper half is added to the table for a + 1. If it joins K, the lower half is
//! subtracted from the upper half. The work is therefore Σ_d 2^(n−d) (d+1) C(d, ≤ s), about 24 · 2^n for
//! pairs, instead of 2^n C(n, s). Here C(d, ≤ s) is the number of coalitions of at most s of d players.
//!
//! Masks are processed in blocks of 4096, each folded separately. Two neighbouring blocks of d bits are
//! merged into one of d + 1 bits. Sums are therefore pairwise, in an order that does not depend on threads or
//! blocks, and no table of 2^n numbers is stored.

use apportion_games::{Coalitions, Game, GameError, parallel};

use super::answer::Interactions;
use super::binomial::coalitions_up_to;
use super::index::InteractionIndex;
use super::weights::IndexWeights;
use crate::enumeration::{BLOCK_BITS, MAX_PLAYERS, WAVE_BITS, check_finite, evaluate_masks};
use crate::error::ValueError;

/// Maximum size of a result, as the number of coalitions times the number of outputs: 8 MiB of numbers.
pub const MAX_INTERACTIONS: usize = 1 << 20;

/// Computes the exact interaction indices of all coalitions of up to `order` players in `game`, for all
/// outputs.
///
/// ```text
/// I(K) = Σ_{S⊆N∖K} M_k(|S|, n−k−|S|) Δ_K v(S),        1 ≤ |K| ≤ s
/// ```
///
/// with the [weights](IndexWeights::moment) of the index; for generalized values, v(S ∪ K) − v(S) replaces
/// Δ_K v(S). Evaluates each of the 2^n coalitions once, in blocks of 4096, on several threads if the game
/// allows it. A game that [is a table](Game::table) is read directly. Takes about 2^n Σ_d 2^−d (d+1)
/// C(d, ≤ s) additions per output besides the evaluations, where C(d, ≤ s) is the number of coalitions of at
/// most s of d players: 24 · 2^n for pairs, 40 · 2^n for triples, n²/4 · 2^n for all orders. Stores 3 (n+1)
/// numbers per coalition of the result, and twice as many for generalized values. The result has the same
/// bits for any number of threads.
///
/// # Errors
///
/// [`ValueError::Players`] unless 1 ≤ n ≤ 25, [`ValueError::TooManyInteractions`] for more than 2^20
/// coalitions times outputs, the errors of [`InteractionIndex::weights`], [`ValueError::Game`] if the game
/// fails or has a value that is not finite, [`ValueError::InteractionOverflow`] if the sum of finite values
/// overflows.
///
/// # Example
///
/// ```
/// use apportion_games::SumOfUnanimity;
/// use apportion_values::{InteractionIndex, enumerate_interactions};
///
/// // Three players: the value is 6 if all are present, otherwise 0.
/// let game = SumOfUnanimity::new(3, 0.0, [(vec![0, 1, 2], 6.0)])?;
/// let shapley = enumerate_interactions(&game, &InteractionIndex::SHAPLEY, 2)?;
/// let taylor = enumerate_interactions(&game, &InteractionIndex::ShapleyTaylor, 2)?;
/// for (found, wanted) in [(&shapley, [2.0, 3.0]), (&taylor, [0.0, 2.0])] {
///     for (members, wanted) in [&[0][..], &[0, 2]].into_iter().zip(wanted) {
///         let got = found.get(members).map_or(0.0, |index| index[0]);
///         assert!((got - wanted).abs() < 1e-14);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn enumerate_interactions(
    game: &(impl Game + ?Sized),
    index: &InteractionIndex,
    order: usize,
) -> Result<Interactions, ValueError> {
    enumerate_interactions_many(game, &[(index.clone(), order)]).map(|mut found| found.swap_remove(0))
}

/// Computes several exact interaction indices, each with its order, in a single pass: each coalition is
/// evaluated only once.
///
/// The results are in the order of `asked`. If `asked` is empty, the game is not evaluated.
///
/// # Errors
///
/// Same as [`enumerate_interactions`].
pub fn enumerate_interactions_many(
    game: &(impl Game + ?Sized),
    asked: &[(InteractionIndex, usize)],
) -> Result<Vec<Interactions>, ValueError> {
    enumerate_all(&game, asked)
}

/// Implements [`enumerate_interactions_many`]. It is not generic, so it is compiled once for all games.
fn enumerate_all(
    game: &dyn Game,
    asked: &[(InteractionIndex, usize)],
) -> Result<Vec<Interactions>, ValueError> {
    let (players, outputs) = (game.players(), game.outputs());
    if !(1..=MAX_PLAYERS).contains(&players) {
        return Err(ValueError::Players { actual: players, max: MAX_PLAYERS });
    }
    if outputs == 0 {
        return Err(GameError::Parameter { what: "a game must have at least one output".to_owned() }.into());
    }
    let weights = asked.iter().map(|(index, order)| index.weights(*order, players));
    let weights: Vec<IndexWeights> = weights.collect::<Result<_, _>>()?;
    let Some(order) = asked.iter().map(|(_, order)| *order).max() else { return Ok(Vec::new()) };
    let order = order.min(players);
    check_count(players, order, outputs)?;

    let are_differences = weights.iter().any(|weights| !weights.is_generalized());
    let are_generalized = weights.iter().any(IndexWeights::is_generalized);
    let mut channels = Vec::from_iter(are_differences.then_some(JoinedQuantity::Difference));
    channels.extend(
        are_generalized.then_some([JoinedQuantity::Present, JoinedQuantity::Absent]).into_iter().flatten(),
    );

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
    let pass = Pass { game, block_bits, order, first: &first, base, channels: &channels };
    let folded = pass.fold(0, players)?;

    let masks = Masks::new(players, order);
    let answers = asked.iter().zip(&weights).map(|((index, order), weights)| {
        let channels = match weights.is_generalized() {
            false => (folded.channel_sums(&channels, JoinedQuantity::Difference), None),
            true => (
                folded.channel_sums(&channels, JoinedQuantity::Present),
                Some(folded.channel_sums(&channels, JoinedQuantity::Absent)),
            ),
        };
        let constant = constant(weights, channels.0, base);
        let (coalitions, values) = masks.weigh(weights, channels, outputs);
        Interactions::new((index.clone(), *order), coalitions, values, base.to_vec(), folded.last.clone())
            .with_constant(constant)
            .finite()
    });
    answers.collect()
}

/// Returns an error if there are more coalitions than a result can contain.
pub(super) fn check_count(players: usize, order: usize, outputs: usize) -> Result<(), ValueError> {
    if coalitions_up_to(players, order).saturating_mul(outputs) > MAX_INTERACTIONS {
        return Err(ValueError::TooManyInteractions { players, order, outputs, max: MAX_INTERACTIONS });
    }
    Ok(())
}

/// Returns the index of the empty coalition: v(∅) plus its functional applied to v − v(∅). Each list in
/// `sums`, one per output, begins with the sums of v − v(∅) for each size.
fn constant(weights: &IndexWeights, sums: &[Vec<f64>], base: &[f64]) -> Vec<f64> {
    let players = weights.players();
    let by_size: Vec<f64> = (0..=players).map(|size| weights.moment(0, size, players - size)).collect();
    let of = |(sums, base): (&Vec<f64>, &f64)| {
        base + by_size.iter().zip(sums).map(|(weight, sum)| weight * sum).sum::<f64>()
    };
    sums.iter().zip(base).map(of).collect()
}

/// The quantity that is summed for a coalition K. It determines how the halves of a table are combined if the
/// next player joins K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JoinedQuantity {
    /// The difference Δ_K v(S).
    Difference,
    /// The value v(S ∪ K), with all of K present.
    Present,
    /// The value v(S), with all of K absent.
    Absent,
}

impl JoinedQuantity {
    fn combine(self, absent: f64, present: f64) -> f64 {
        match self {
            Self::Difference => present - absent,
            Self::Present => present,
            Self::Absent => absent,
        }
    }
}

/// The coalitions with at most s of d players, in the order in which folding produces them: by mask.
struct Masks {
    players: usize,
    masks: Vec<u64>,
}

impl Masks {
    fn new(players: usize, order: usize) -> Self {
        let mut masks = vec![0u64];
        for bit in (0..players).rev() {
            masks = split(&masks, order, |mask| mask | 1 << bit);
        }
        Self { players, masks }
    }

    /// Returns all non-empty coalitions up to the order of `weights`, and their interaction indices.
    fn weigh(
        &self,
        weights: &IndexWeights,
        (sums, less): (&[Vec<f64>], Option<&[Vec<f64>]>),
        outputs: usize,
    ) -> (Coalitions, Vec<f64>) {
        let (players, stride) = (self.players, self.players + 1);
        let by_size = |size: usize| -> Vec<f64> {
            (0..=players - size).map(|of| weights.moment(size, of, players - size - of)).collect()
        };
        let by_size: Vec<Vec<f64>> = (0..=weights.order().min(players)).map(by_size).collect();
        let wanted = |mask: &u64| (1..by_size.len()).contains(&(mask.count_ones() as usize));
        let mut values = Vec::new();
        for (place, mask) in self.masks.iter().enumerate().filter(|(_, mask)| wanted(mask)) {
            let weights = &by_size[mask.count_ones() as usize];
            for output in 0..outputs {
                let of = |sums: &[Vec<f64>], size: usize| sums[output][place * stride + size];
                let weighed = weights.iter().enumerate().map(|(size, weight)| {
                    let sum = of(sums, size) - less.map_or(0.0, |less| of(less, size));
                    // Skip sums whose weight is zero, because they may overflow.
                    if *weight == 0.0 { 0.0 } else { weight * sum }
                });
                values.push(weighed.sum());
            }
        }
        (Coalitions::from_masks(players, self.masks.iter().copied().filter(wanted)), values)
    }
}

/// Returns each mask unchanged, followed by `joined(mask)` if the coalition may have another member.
fn split(masks: &[u64], order: usize, joined: impl Fn(u64) -> u64) -> Vec<u64> {
    let both = |&mask: &u64| [mask].into_iter().chain(has_room(mask, order).then(|| joined(mask)));
    masks.iter().flat_map(both).collect()
}

fn has_room(mask: u64, order: usize) -> bool {
    (mask.count_ones() as usize) < order
}

/// The sums that result from folding 2^d consecutive masks.
struct FoldedSums {
    /// For each channel (a [`JoinedQuantity`]) and output, and for each coalition of at most s of the d
    /// players in mask order: d + 1 sums, indexed by size.
    sums: Vec<Vec<f64>>,
    /// The values of the last mask, one per output.
    last: Vec<f64>,
}

impl FoldedSums {
    /// Returns the sums for one channel, a list per output.
    fn channel_sums(&self, channels: &[JoinedQuantity], wanted: JoinedQuantity) -> &[Vec<f64>] {
        let outputs = self.last.len();
        match channels.iter().position(|&channel| channel == wanted) {
            Some(at) => &self.sums[at * outputs..][..outputs],
            None => unreachable!("the channels are those that the weights require"),
        }
    }
}

/// Data that all blocks of the pass share.
struct Pass<'a> {
    game: &'a dyn Game,
    block_bits: usize,
    order: usize,
    /// The values in the first block; unused if the game is a table.
    first: &'a [f64],
    base: &'a [f64],
    channels: &'a [JoinedQuantity],
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
        Ok(self.merge(&left, right, bits - 1))
    }

    /// Merges the folds of two adjacent ranges of masks, `left` before `right`, with `bits` bits each.
    fn merge(&self, left: &FoldedSums, right: FoldedSums, bits: usize) -> FoldedSums {
        let outputs = self.base.len();
        let masks = Masks::new(bits, self.order).masks;
        let merged = |(at, (left, right)): (usize, (&Vec<f64>, &Vec<f64>))| {
            let channel = self.channels[at / outputs];
            let rows = || left.chunks_exact(bits + 1).zip(right.chunks_exact(bits + 1));
            let mut sums = Vec::with_capacity(2 * (left.len() + masks.len()));
            for (left, right) in rows() {
                sums.push(left[0]);
                sums.extend(left[1..].iter().zip(right).map(|(left, right)| left + right));
                sums.push(right[bits]);
            }
            for ((left, right), _) in rows().zip(&masks).filter(|(_, mask)| has_room(**mask, self.order)) {
                sums.extend(left.iter().zip(right).map(|(left, right)| channel.combine(*left, *right)));
                sums.push(0.0);
            }
            sums
        };
        let sums = left.sums.iter().zip(&right.sums).enumerate().map(merged).collect();
        FoldedSums { sums, last: right.last }
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
        check_finite(self.game.players(), outputs, start, values)?;
        let mut sums = Vec::with_capacity(self.channels.len() * outputs);
        let (mut table, mut next) = (Vec::new(), Vec::new());
        for &channel in self.channels {
            for (output, base) in self.base.iter().enumerate() {
                table.clear();
                table.extend(values.iter().skip(output).step_by(outputs).map(|value| value - base));
                let mut masks = vec![0u64];
                for done in 0..self.block_bits {
                    fold_player(
                        channel,
                        self.order,
                        &masks,
                        (&table, 1 << (self.block_bits - done)),
                        &mut next,
                    );
                    masks = split(&masks, self.order, |mask| mask | 1 << done);
                    std::mem::swap(&mut table, &mut next);
                }
                sums.push(table.clone());
            }
        }
        Ok(FoldedSums { sums, last: values[values.len() - outputs..].to_vec() })
    }
}

/// Folds one player, the highest bit, into the tables. `tables` has `length` numbers for every mask and size;
/// folding adds one size.
fn fold_player(
    channel: JoinedQuantity,
    order: usize,
    masks: &[u64],
    (tables, length): (&[f64], usize),
    out: &mut Vec<f64>,
) {
    let sizes = tables.len() / (masks.len() * length);
    out.clear();
    for (of_mask, &mask) in tables.chunks_exact(sizes * length).zip(masks) {
        // The sum for a size is the absent half for this size plus the present half for the previous size.
        let halves = |size: usize| of_mask[size * length..][..length].split_at(length / 2);
        out.extend_from_slice(halves(0).0);
        for size in 1..sizes {
            let (absent, present) = (halves(size).0, halves(size - 1).1);
            out.extend(absent.iter().zip(present).map(|(absent, present)| absent + present));
        }
        out.extend_from_slice(halves(sizes - 1).1);
        if has_room(mask, order) {
            for size in 0..sizes {
                let (absent, present) = halves(size);
                out.extend(
                    absent.iter().zip(present).map(|(absent, present)| channel.combine(*absent, *present)),
                );
            }
            out.resize(out.len() + length / 2, 0.0);
        }
    }
}
