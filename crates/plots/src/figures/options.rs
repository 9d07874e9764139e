//! What a figure shows of what there is.

use crate::error::PlotError;
use crate::explained::{Condition, Explained};

/// What a figure shows of what there is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The width in pixels of a page; the height follows [default: 720].
    pub width: f64,
    /// The most players that are shown one by one; the others are summed [default: as many as read well in a figure of the kind, such as 20].
    pub most_players: Option<usize>,
    /// The number of the row in its file, for figures of one row [default: the first]; in front of others in a figure of decisions.
    pub row: Option<u64>,
    /// The place of the output [default: 0].
    pub output: usize,
    /// The place of the player, for figures of one [default: that which matters most].
    pub player: Option<usize>,
    /// The place of the player whose inputs give the colours of a scatter [default: that which interacts most].
    pub partner: Option<usize>,
    /// What divides rows into cohorts: at most six conditions [default: whether predictions are above their median].
    pub cohorts: Vec<Condition>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 720.0,
            most_players: None,
            row: None,
            output: 0,
            player: None,
            partner: None,
            cohorts: Vec::new(),
        }
    }
}

impl Options {
    /// The most players that are shown one by one, in a figure in which so many read well.
    pub(crate) fn most_players(&self, usual: usize) -> usize {
        self.most_players.unwrap_or(usual)
    }

    /// The place of the row that a figure of one row shows.
    pub(crate) fn place_of_row(&self, explained: &Explained) -> Result<usize, PlotError> {
        self.row.map_or(Ok(0), |row| explained.place_of_row(row))
    }
}
