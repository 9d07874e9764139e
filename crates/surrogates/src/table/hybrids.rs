//! Hybrid rows: features of an explicand mixed with those of a background row, and the model's outputs for
//! them.

use std::ops::Range;

use apportion_games::{Background, Cancellation, GameError, Model, Rows, parallel};

use super::draws::Draws;
use super::players::Players;
use crate::error::{Result, SurrogateError};

/// The number of cells of the rows that a serial model predicts in one call.
const CALL_CELLS: usize = 1 << 16;

/// An explicand with its draws.
pub(crate) struct Explicand<'a> {
    /// The index of the row in the table, for messages.
    pub(crate) index: usize,
    pub(crate) row: &'a [f64],
    pub(crate) players: Players,
    pub(crate) draws: Draws,
}

impl Explicand<'_> {
    /// Calls `set` for every feature that the first hybrid of a pair takes from the explicand.
    pub(crate) fn each_member(&self, pair: usize, mut set: impl FnMut(usize)) {
        for (word, mut bits) in self.draws.coalition(pair).iter().copied().enumerate() {
            while bits != 0 {
                let player = 64 * word + bits.trailing_zeros() as usize;
                self.players.features(player).iter().for_each(|&feature| set(feature as usize));
                bits &= bits - 1;
            }
        }
    }

    /// Appends the two hybrids of a pair: (x_S, z_{N∖S}) and (z_S, x_{N∖S}).
    fn append(&self, pair: usize, background: &Background, rows: &mut Vec<f64>) {
        let other = background.row(self.draws.background[pair] as usize);
        let columns = other.len();
        let start = rows.len();
        rows.extend_from_slice(other);
        rows.extend_from_slice(self.row);
        let (first, second) = rows[start..].split_at_mut(columns);
        self.each_member(pair, |feature| {
            (first[feature], second[feature]) = (self.row[feature], other[feature]);
        });
    }

    /// Returns the hybrids of some pairs: 2 × pairs rows.
    pub(crate) fn hybrids(&self, pairs: impl Iterator<Item = usize>, background: &Background) -> Vec<f64> {
        let mut rows = Vec::new();
        pairs.for_each(|pair| self.append(pair, background, &mut rows));
        rows
    }
}

/// A model whose outputs are checked.
pub(crate) struct CheckedModel<'a, M: ?Sized> {
    pub(crate) model: &'a M,
    pub(crate) outputs: usize,
}

impl<'a, M: Model + ?Sized> CheckedModel<'a, M> {
    /// Wraps a model for rows of `columns` columns.
    pub(crate) fn new(model: &'a M, columns: usize) -> Result<Self> {
        if let Some(expected) = model.features().filter(|&features| features != columns) {
            let what = "background row 0".to_owned();
            return Err(GameError::Width { what, actual: columns, expected }.into());
        }
        let outputs = model.outputs();
        if outputs == 0 {
            return Err(
                GameError::Parameter { what: "a model must have at least one output".to_owned() }.into()
            );
        }
        Ok(Self { model, outputs })
    }

    /// Returns the number of rows of one call.
    fn rows_per_call(&self, columns: usize) -> usize {
        let fitting = (CALL_CELLS / columns.max(1)).max(1);
        if self.model.parallel() { fitting.min(self.model.rows_per_call()).max(1) } else { fitting }
    }

    /// Predicts rows, and checks that the outputs are finite. `name` names row j for messages.
    fn call(&self, rows: Rows<'_>, out: &mut [f64], name: &dyn Fn(usize) -> String) -> Result<()> {
        Cancellation::check();
        out.fill(f64::NAN);
        self.model
            .predict(rows, out)
            .map_err(|source| SurrogateError::Prediction { rows: name(0), source })?;
        match out.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err(SurrogateError::NotFinite {
                rows: name(at / self.outputs),
                output: at % self.outputs,
                value: out[at],
            }),
        }
    }

    /// Fills `out` in pieces of `piece` numbers, on several threads if the model allows it.
    fn pieces(
        &self,
        out: &mut [f64],
        piece: usize,
        work: &(dyn Fn(usize, &mut [f64]) -> Result<()> + Sync),
    ) -> Result<()> {
        let pieces = out.chunks_mut(piece).enumerate();
        if self.model.parallel() {
            parallel::try_map(pieces, |(index, out)| work(index, out))?;
        } else {
            pieces.into_iter().try_for_each(|(index, out)| work(index, out))?;
        }
        Ok(())
    }

    /// Returns the outputs for rows, rows × outputs; `what` names a row in messages.
    pub(crate) fn predict(&self, rows: Rows<'_>, what: &str) -> Result<Vec<f64>> {
        let mut out = vec![0.0; rows.len() * self.outputs];
        let count = self.rows_per_call(rows.columns());
        self.pieces(&mut out, count * self.outputs, &|index, out| {
            let first = index * count;
            let rows = rows.slice(first..first + out.len() / self.outputs);
            self.call(rows, out, &|row| format!("{what} {}", first + row))
        })?;
        Ok(out)
    }

    /// Returns the outputs for the hybrids of all explicands: for each explicand, pairs × 2 × outputs.
    pub(crate) fn predict_hybrids(
        &self,
        explicands: &[Explicand<'_>],
        background: &Background,
    ) -> Result<Vec<Vec<f64>>> {
        // The index of the first pair of each explicand, followed by the number of all pairs.
        let mut starts = vec![0];
        for explicand in explicands {
            starts.push(starts[starts.len() - 1] + explicand.draws.len());
        }
        let total = starts[explicands.len()];
        let count = self.rows_per_call(background.columns()).div_ceil(2);
        let mut out = vec![0.0; total * 2 * self.outputs];
        self.pieces(&mut out, count * 2 * self.outputs, &|index, out| {
            let pairs: Range<usize> = index * count..index * count + out.len() / (2 * self.outputs);
            let find = |pair: usize| {
                let explicand = starts.partition_point(|&start| start <= pair) - 1;
                (&explicands[explicand], pair - starts[explicand])
            };
            let mut rows = Vec::with_capacity(2 * pairs.len() * background.columns());
            for pair in pairs.clone() {
                let (explicand, pair) = find(pair);
                explicand.append(pair, background, &mut rows);
            }
            self.call(Rows::new(&rows, background.columns()), out, &|row| {
                let (explicand, pair) = find(pairs.start + row / 2);
                format!(
                    "row {} mixed with background row {}",
                    explicand.index, explicand.draws.background[pair]
                )
            })
        })?;
        let of_explicand =
            |at: usize| out[starts[at] * 2 * self.outputs..starts[at + 1] * 2 * self.outputs].to_vec();
        Ok((0..explicands.len()).map(of_explicand).collect())
    }
}
