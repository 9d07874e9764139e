//! Options of figures.

use crate::error::PlotError;
use crate::explained::{Condition, Explained};

/// Options of figures.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The width in CSS pixels. The height depends on the content [default: 720].
    pub width: f64,
    /// Maximum number of players that are shown separately; the others are summed [default: depends on the
    /// kind of figure, often 20].
    pub max_players: Option<usize>,
    /// The row to show in figures of one row, by its index in the file [default: the first]. Decision plots
    /// draw it in the foreground.
    pub row: Option<u64>,
    /// The index of the output [default: 0].
    pub output: usize,
    /// The player to show in figures of one player, by its index [default: the most important].
    pub player: Option<usize>,
    /// The player whose inputs colour a dependence plot, by its index [default: the player with the strongest
    /// interaction].
    pub partner: Option<usize>,
    /// The conditions that define cohorts, at most six [default: whether predictions are above their median].
    pub cohorts: Vec<Condition>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 720.0,
            max_players: None,
            row: None,
            output: 0,
            player: None,
            partner: None,
            cohorts: Vec::new(),
        }
    }
}

impl Options {
    /// Returns the maximum number of players that are shown separately, given the figure's default `usual`.
    pub(crate) fn max_players(&self, usual: usize) -> usize {
        self.max_players.unwrap_or(usual)
    }

    /// Returns the position of the row to show in a figure of one row.
    pub(crate) fn place_of_row(&self, explained: &Explained) -> Result<usize, PlotError> {
        self.row.map_or(Ok(0), |row| explained.place_of_row(row))
    }
}
