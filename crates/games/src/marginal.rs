//! The marginal game: a model, an explicand and a background made into a value function.
//!
//! # Notation
//!
//! `x` is the explicand, a row of `n` features; `b` runs over the `B` background rows with weights `w_b`; `(x_S, b_{N∖S})` is the
//! *synthetic row* that has the explicand's values in `S` and the background row's elsewhere. `f` is the model, with `k` outputs.
//!
//! ```text
//! v(S) = Σ_b w_b f(x_S, b_{N∖S})
//! ```
//!
//! # Chunks
//!
//! Synthetic rows are made and predicted in chunks of a fixed number of cells, so that memory does not grow with m × B. A chunk holds
//! whole coalitions, or a part of one coalition where B rows do not fit. Sums over the background are pairwise by the row's number in
//! the background, and chunks cut at powers of two: the bits of v(S) do not depend on the chunks, on the batch or on the threads (where
//! the model's prediction of a row does not depend on the other rows that it is given).
//!
//! # Source
//!
//! Lundberg and Lee, *A Unified Approach to Interpreting Model Predictions*, 2017; also called the interventional game.

use rayon::prelude::*;

use crate::background::{Background, refuse_infinite};
use crate::coalition::{Coalition, CoalitionView};
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::{Game, check_finite};
use crate::model::{Model, Rows};
use crate::sub_game::SubGame;

/// Cells (f64 numbers) of one chunk of synthetic rows, half a MiB; a row with more columns than that is a chunk of its own.
const CHUNK_CELLS: usize = 1 << 16;

/// The game of one explicand against a background: the players are the features.
///
/// ```text
/// v(S) = Σ_b w_b f(x_S, b_{N∖S})
/// ```
///
/// The prediction where the features in S are those of the explicand x and the others those of a background row b, averaged with the
/// weights w_b (Lundberg and Lee, 2017; also called the interventional game).
///
/// One coalition takes B predictions of the model. A batch of `m` takes `m · B` predictions and `O(m · B · n)` time beside them;
/// memory is one chunk per thread.
///
/// ```
/// use apportion_games::{Background, Coalitions, Game, MarginalGame};
///
/// let model = |row: &[f64]| row[0] * row[1];
/// let background = Background::rows([0.0, 0.0, 1.0, 3.0], 2)?;
/// let game = MarginalGame::new(&model, &[2.0, 5.0], &background)?;
///
/// let mut values = [0.0; 4];
/// game.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
/// // v(∅) = (0·0 + 1·3) / 2, v({0}) = (2·0 + 2·3) / 2, v({1}) = (0·5 + 1·5) / 2, v({0, 1}) = 2·5
/// assert_eq!(values, [1.5, 3.0, 2.5, 10.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
pub struct MarginalGame<'a, M: ?Sized> {
    model: &'a M,
    outputs: usize,
    explicand: Vec<f64>,
    background: &'a Background,
    /// Rows of a chunk, a power of two.
    chunk_rows: usize,
}

impl<'a, M: Model + ?Sized> MarginalGame<'a, M> {
    /// The game of `explicand` against `background`.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] if explicand, background and model do not have the same number of features,
    /// [`GameError::InfiniteInput`] if the explicand has an infinite value (NaN is legal), [`GameError::Parameter`] if the model has
    /// no outputs.
    pub fn new(model: &'a M, explicand: &[f64], background: &'a Background) -> Result<Self, GameError> {
        if let Some(wanted) = model.features().filter(|&features| features != background.columns()) {
            return Err(GameError::Width {
                what: "background row 0".to_owned(),
                given: background.columns(),
                wanted,
            });
        }
        if explicand.len() != background.columns() {
            return Err(GameError::Width {
                what: "the explicand".to_owned(),
                given: explicand.len(),
                wanted: background.columns(),
            });
        }
        refuse_infinite(explicand, || "the explicand".to_owned())?;
        let outputs = model.outputs();
        if outputs == 0 {
            return Err(GameError::Parameter { what: "a model has at least one output, not 0".to_owned() });
        }
        let fitting = (CHUNK_CELLS / explicand.len()).max(1);
        let rows = if model.parallel() { fitting.min(model.rows_per_call()).max(1) } else { fitting };
        Ok(Self {
            model,
            outputs,
            explicand: explicand.to_vec(),
            background,
            // The largest power of two that is not above `rows`.
            chunk_rows: 1 << rows.ilog2(),
        })
    }

    /// The row that is explained.
    pub fn explicand(&self) -> &[f64] {
        &self.explicand
    }

    /// The rows that stand in for absent players.
    pub fn background(&self) -> &'a Background {
        self.background
    }

    /// The players that cannot matter: the explicand's value equals that of every background row, bit by bit or both missing.
    ///
    /// Such a player changes no synthetic row, so every value that gives null players nothing is zero there.
    pub fn null_players(&self) -> Coalition {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        let mut null = Coalition::full(self.explicand.len());
        for row in self.background.as_rows().iter() {
            for (player, (&there, &here)) in row.iter().zip(&self.explicand).enumerate() {
                if !same(there, here) {
                    null.remove(player);
                }
            }
        }
        null
    }

    /// The game of the players that can matter, the [null players](Self::null_players) taken out.
    ///
    /// [`SubGame::expand`] puts them back as zeros. Where no player can matter the game has no players.
    pub fn without_null_players(&self) -> SubGame<&Self> {
        SubGame::without(self, self.null_players().view())
    }

    /// Writes the values of the whole coalitions `first..first + out.len() / k`, whose rows fit in one chunk.
    fn whole_coalitions(&self, batch: &Coalitions, first: usize, out: &mut [f64]) -> Result<(), GameError> {
        let (count, rows) = (out.len() / self.outputs, self.background.len());
        let mut synthetic = Vec::with_capacity(count * rows * self.explicand.len());
        for index in first..first + count {
            self.push_rows(batch.row(index), 0..rows, &mut synthetic);
        }
        let mut predictions = self.predict(&synthetic, batch.row(first))?;
        let per_coalition = predictions.chunks_exact_mut(rows * self.outputs);
        for (predictions, out) in per_coalition.zip(out.chunks_exact_mut(self.outputs)) {
            weigh(predictions, self.background.weights());
            out.copy_from_slice(pairwise(predictions, self.outputs));
        }
        Ok(())
    }

    /// Writes the value of one coalition whose rows take several chunks.
    fn split_coalition(&self, coalition: CoalitionView<'_>, out: &mut [f64]) -> Result<(), GameError> {
        let (rows, k) = (self.background.len(), self.outputs);
        let part = |(index, sum): (usize, &mut [f64])| {
            let range = index * self.chunk_rows..rows.min((index + 1) * self.chunk_rows);
            let mut synthetic = Vec::with_capacity(range.len() * self.explicand.len());
            self.push_rows(coalition, range.clone(), &mut synthetic);
            let mut predictions = self.predict(&synthetic, coalition)?;
            weigh(&mut predictions, &self.background.weights()[range]);
            sum.copy_from_slice(pairwise(&mut predictions, k));
            Ok(())
        };
        let mut sums = vec![0.0; rows.div_ceil(self.chunk_rows) * k];
        first_error(&mut sums, k, self.model.parallel(), part)?;
        out.copy_from_slice(pairwise(&mut sums, k));
        Ok(())
    }

    /// Appends the synthetic rows of one coalition for the background rows in `range`.
    fn push_rows(
        &self,
        coalition: CoalitionView<'_>,
        range: std::ops::Range<usize>,
        synthetic: &mut Vec<f64>,
    ) {
        for index in range {
            let start = synthetic.len();
            synthetic.extend_from_slice(self.background.row(index));
            let row = &mut synthetic[start..];
            for member in coalition.members() {
                row[member] = self.explicand[member];
            }
        }
    }

    /// The outputs of all synthetic rows of a chunk, whose first coalition is `first`.
    fn predict(&self, synthetic: &[f64], first: CoalitionView<'_>) -> Result<Vec<f64>, GameError> {
        let rows = Rows::new(synthetic, self.explicand.len());
        // A model that leaves an output unwritten is found out by the NaN.
        let mut predictions = vec![f64::NAN; rows.len() * self.outputs];
        match self.model.predict(rows, &mut predictions) {
            Ok(()) => Ok(predictions),
            Err(source) => Err(GameError::from_model(source, first)),
        }
    }
}

/// Without the model, which need not be `Debug`.
impl<M: ?Sized> std::fmt::Debug for MarginalGame<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MarginalGame")
            .field("explicand", &self.explicand)
            .field("background", &self.background)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

impl<M: Model + ?Sized> Game for MarginalGame<'_, M> {
    fn players(&self) -> usize {
        self.explicand.len()
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn rows_per_coalition(&self) -> usize {
        self.background.len()
    }

    fn parallel(&self) -> bool {
        self.model.parallel()
    }

    fn scenarios(&self) -> usize {
        self.background.len()
    }

    fn scenario_weights(&self) -> Option<&[f64]> {
        Some(self.background.weights())
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.players(), "coalitions of another game");
        assert_eq!(scenarios.len(), batch.len(), "one scenario per coalition");
        assert_eq!(out.len(), batch.len() * self.outputs, "room for one value per coalition and output");
        let chunk = |(index, out): (usize, &mut [f64])| {
            let first = index * self.chunk_rows;
            let mut synthetic = Vec::with_capacity(out.len() / self.outputs * self.explicand.len());
            for (row, &scenario) in (first..).zip(&scenarios[first..first + out.len() / self.outputs]) {
                self.push_rows(batch.row(row), scenario..scenario + 1, &mut synthetic);
            }
            out.copy_from_slice(&self.predict(&synthetic, batch.row(first))?);
            Ok(())
        };
        first_error(out, self.chunk_rows * self.outputs, self.model.parallel(), chunk)?;
        check_finite(batch, self.outputs, out)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.players(), "coalitions of another game");
        assert_eq!(out.len(), batch.len() * self.outputs, "room for one value per coalition and output");
        let parallel = self.model.parallel();
        match self.chunk_rows / self.background.len() {
            0 => {
                first_error(out, self.outputs, parallel, |(index, out)| {
                    self.split_coalition(batch.row(index), out)
                })?;
            }
            coalitions => {
                first_error(out, coalitions * self.outputs, parallel, |(index, out)| {
                    self.whole_coalitions(batch, index * coalitions, out)
                })?;
            }
        }
        check_finite(batch, self.outputs, out)
    }
}

/// Runs `work` on each piece of `out` with its number; of several failures the one of the lowest number is returned.
fn first_error(
    out: &mut [f64],
    piece: usize,
    parallel: bool,
    work: impl Fn((usize, &mut [f64])) -> Result<(), GameError> + Sync,
) -> Result<(), GameError> {
    let failure = if parallel && out.len() > piece {
        out.par_chunks_mut(piece).enumerate().find_map_first(|piece| work(piece).err())
    } else {
        out.chunks_mut(piece).enumerate().find_map(|piece| work(piece).err())
    };
    failure.map_or(Ok(()), Err)
}

/// Multiplies each row of `rows` by its weight.
fn weigh(rows: &mut [f64], weights: &[f64]) {
    let outputs = rows.len() / weights.len();
    for (row, weight) in rows.chunks_exact_mut(outputs).zip(weights) {
        row.iter_mut().for_each(|value| *value *= weight);
    }
}

/// The sum of the rows of `k` numbers in `rows`, neighbours first, then neighbouring pairs, and so on; destroys `rows`.
///
/// Row `2^p · j` to `2^p · (j + 1)` form a subtree of their own, so that sums of such blocks may be summed apart with the same bits.
fn pairwise(rows: &mut [f64], k: usize) -> &[f64] {
    let mut count = rows.len() / k;
    while count > 1 {
        for pair in 0..count / 2 {
            for output in 0..k {
                rows[pair * k + output] = rows[2 * pair * k + output] + rows[(2 * pair + 1) * k + output];
            }
        }
        if count % 2 == 1 {
            rows.copy_within((count - 1) * k..count * k, count / 2 * k);
        }
        count = count.div_ceil(2);
    }
    &rows[..k]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_aligned_blocks_sum_to_the_same_bits() {
        let k = 2;
        for count in [1, 2, 3, 7, 8, 9, 63, 64, 65, 200] {
            let rows: Vec<f64> = (0..count * k).map(|i| (i as f64 * 0.7).sin() / 3.0).collect();
            let mut blocks: Vec<f64> =
                rows.chunks(8 * k).flat_map(|block| pairwise(&mut block.to_vec(), k).to_vec()).collect();
            assert_eq!(pairwise(&mut blocks, k), pairwise(&mut rows.clone(), k), "{count} rows");
        }
    }

    #[test]
    fn the_last_row_of_an_odd_count_is_counted_once() {
        for count in 1..20 {
            let mut rows: Vec<f64> = (0..count).map(f64::from).collect();
            assert_eq!(pairwise(&mut rows, 1), [f64::from(count * (count - 1) / 2)]);
        }
    }
}
