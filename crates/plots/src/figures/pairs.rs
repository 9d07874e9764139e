//! Strengths of the interactions of pairs of players.

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
    /// Returns the pairs of these results.
    ///
    /// # Errors
    ///
    /// [`PlotError::Nothing`] if the results have no interactions.
    pub(super) fn new(
        explained: &'a Explained,
        output: usize,
        kind: &'static str,
    ) -> Result<Self, PlotError> {
        let strengths = &explained.summary.interactions[..];
        if strengths.is_empty() {
            let why = "the results contain no interactions; use results of `explain --interactions`";
            return Err(PlotError::Nothing { kind, why });
        }
        Ok(Self { strengths, players: explained.players(), outputs: explained.outputs(), output })
    }

    /// Returns the strength of the interaction of two players, or the diagonal entry if they are the same.
    pub(super) fn strength(&self, one: usize, other: usize) -> f64 {
        self.strengths[(one * self.players + other) * self.outputs + self.output]
    }

    /// Returns the strongest pair among these players with its strength, or `None` for fewer than two
    /// players.
    pub(super) fn strongest(&self, players: &[usize]) -> Option<(usize, usize, f64)> {
        let pairs = of_two(players).map(|(one, other)| (one, other, self.strength(one, other)));
        pairs.reduce(|best, next| if next.2 > best.2 { next } else { best })
    }

    /// Returns a table with a line for each player and each pair.
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

/// Iterates over all pairs of these players.
pub(super) fn of_two(players: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let with_later = |(place, &one)| players[place + 1..].iter().map(move |&other| (one, other));
    players.iter().enumerate().flat_map(with_later)
}
