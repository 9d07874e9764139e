//! How much pairs of players interact, for the figures that show it.

use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::Table;

/// The mean |I_ij| of all pairs over all rows, for one output.
pub(super) struct Pairs<'a> {
    strengths: &'a [f64],
    players: usize,
    outputs: usize,
    output: usize,
}

impl<'a> Pairs<'a> {
    /// Those of these results.
    ///
    /// # Errors
    ///
    /// [`PlotError::Nothing`] where they have values alone.
    pub(super) fn of(explained: &'a Explained, output: usize, kind: &'static str) -> Result<Self, PlotError> {
        let strengths = &explained.summary.interactions[..];
        if strengths.is_empty() {
            let why =
                "the results have values and no interactions; give it results of `explain --interactions`";
            return Err(PlotError::Nothing { kind, why });
        }
        Ok(Self { strengths, players: explained.players(), outputs: explained.outputs(), output })
    }

    /// How much two players interact; of one with itself, what stands on the diagonal.
    pub(super) fn strength(&self, one: usize, other: usize) -> f64 {
        self.strengths[(one * self.players + other) * self.outputs + self.output]
    }

    /// The pair of these players that interacts most, with its strength; none of fewer than two.
    pub(super) fn strongest(&self, players: &[usize]) -> Option<(usize, usize, f64)> {
        let pairs = of_two(players).map(|(one, other)| (one, other, self.strength(one, other)));
        pairs.reduce(|best, next| if next.2 > best.2 { next } else { best })
    }

    /// A line for each pair, and for each player by itself.
    pub(super) fn table(&self, explained: &Explained, players: &[usize]) -> Table {
        let mut table = Table::new(["feature", "other feature", "mean |interaction|"]);
        let name = |player: usize| explained.heading.players[player].clone();
        for &player in players {
            table.push([name(player).into(), name(player).into(), self.strength(player, player).into()]);
        }
        for (one, other) in of_two(players) {
            table.push([name(one).into(), name(other).into(), self.strength(one, other).into()]);
        }
        table
    }
}

/// All pairs.
pub(super) fn of_two(players: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let with_later = |(place, &one)| players[place + 1..].iter().map(move |&other| (one, other));
    players.iter().enumerate().flat_map(with_later)
}
