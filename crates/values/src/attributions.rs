//! Results of exact computations: arrays of values with named axes.

use apportion_games::scan;

use crate::error::ValueError;

/// An axis of the array [`Attributions::values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Axis {
    /// Explicands: the rows that are explained. A game counts as a single explicand.
    Row,
    /// Players, or groups for quotient values.
    Player,
    /// The second players of the pairs, if the values are for pairs.
    OtherPlayer,
    /// Outputs of the game or of the model.
    Output,
}

/// Exact values of players, or of pairs of players, for one or more explicands, together with v(∅) and v(N).
///
/// All numbers are row-major and in units of the outputs. The [axes](Self::axes) are rows × players × outputs
/// for values of players, and rows × players × players × outputs for values of pairs. Enumerating a single
/// game yields one row.
///
/// ```
/// use apportion_games::Cooking;
/// use apportion_values::{Axis, Semivalue, enumerate};
///
/// let shapley = enumerate(&Cooking, Semivalue::Shapley)?;
/// assert_eq!(shapley.axes(), [(Axis::Row, 1), (Axis::Player, 3), (Axis::Output, 1)]);
/// assert!((shapley.value(0, 2)[0] - 4.0).abs() < 1e-14);
/// assert_eq!((shapley.base[0], shapley.predictions[0]), (0.0, 15.0));
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Attributions {
    /// The values, row-major. For n players and k outputs, the value of player i for output o in row r is
    /// `values[(r·n + i)·k + o]`, and the value of the pair (i, j) is `values[((r·n + i)·n + j)·k + o]`.
    pub values: Vec<f64>,
    /// The base value v(∅), one number per output. For the marginal game of a model, this is the weighted
    /// mean prediction over the background; for the path-dependent game, the average prediction of the trees,
    /// weighted by cover.
    pub base: Vec<f64>,
    /// The value v(N) for each row, rows × outputs. For a model, these are the predictions for the rows.
    pub predictions: Vec<f64>,
    axes: Vec<(Axis, usize)>,
}

impl Attributions {
    /// Creates values of players: `values` is rows × players × outputs, `base` has one number per output, and
    /// `predictions` is rows × outputs. The number of rows is inferred from the predictions.
    ///
    /// # Panics
    ///
    /// If the lengths do not match.
    pub fn for_players(players: usize, values: Vec<f64>, base: Vec<f64>, predictions: Vec<f64>) -> Self {
        Self::from_parts(&[(Axis::Player, players)], values, base, predictions)
    }

    /// Creates values of all pairs of players, like [`for_players`](Self::for_players), but with
    /// rows × players × players × outputs values.
    ///
    /// # Panics
    ///
    /// If the lengths do not match.
    pub fn for_pairs(players: usize, values: Vec<f64>, base: Vec<f64>, predictions: Vec<f64>) -> Self {
        Self::from_parts(&[(Axis::Player, players), (Axis::OtherPlayer, players)], values, base, predictions)
    }

    fn from_parts(
        players: &[(Axis, usize)],
        values: Vec<f64>,
        base: Vec<f64>,
        predictions: Vec<f64>,
    ) -> Self {
        let (rows, outputs) = (predictions.len() / base.len().max(1), base.len());
        assert_eq!(
            predictions.len(),
            rows * outputs,
            "expected one prediction per row for each of {outputs} outputs"
        );
        let axes = [&[(Axis::Row, rows)], players, &[(Axis::Output, outputs)]].concat();
        let numbers = axes.iter().map(|&(_, length)| length).product::<usize>();
        assert_eq!(values.len(), numbers, "the number of values does not match the axes {axes:?}");
        Self { values, base, predictions, axes }
    }

    /// Returns the axes of the values with their lengths; the last axis varies fastest.
    pub fn axes(&self) -> &[(Axis, usize)] {
        &self.axes
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.length(Axis::Row)
    }

    /// Returns the number of players `n`; for quotient values, the number of groups.
    pub fn players(&self) -> usize {
        self.length(Axis::Player)
    }

    /// Returns the number of outputs `k`.
    pub fn outputs(&self) -> usize {
        self.length(Axis::Output)
    }

    /// Returns whether these are values of pairs of players.
    pub fn are_of_pairs(&self) -> bool {
        self.axes.iter().any(|&(axis, _)| axis == Axis::OtherPlayer)
    }

    /// Returns the values of `player` in `row`, one per output.
    ///
    /// # Panics
    ///
    /// If the row or player does not exist, or these are values of pairs.
    pub fn value(&self, row: usize, player: usize) -> &[f64] {
        self.at(&[row, player])
    }

    /// Returns the values of a pair of players in `row`, one per output.
    ///
    /// # Panics
    ///
    /// If the row or a player does not exist, or these are values of single players.
    pub fn pair(&self, row: usize, player: usize, other: usize) -> &[f64] {
        self.at(&[row, player, other])
    }

    /// Returns the attributions of a single row.
    ///
    /// # Panics
    ///
    /// If the row does not exist.
    pub fn of_row(&self, row: usize) -> Self {
        let rows = self.rows();
        assert!(row < rows, "row {row} is out of range: there are {rows} rows");
        let part = |numbers: &[f64]| numbers[row * numbers.len() / rows..][..numbers.len() / rows].to_vec();
        let mut axes = self.axes.clone();
        axes[0].1 = 1;
        Self {
            values: part(&self.values),
            base: self.base.clone(),
            predictions: part(&self.predictions),
            axes,
        }
    }

    /// Returns these attributions, or an error if a value is not finite.
    ///
    /// # Errors
    ///
    /// [`ValueError::Overflow`] with the player and the output.
    pub fn finite(self) -> Result<Self, ValueError> {
        let Some(at) = scan::position(&self.values, |value| !value.is_finite()) else { return Ok(self) };
        let players = self.players();
        let each = self.values.len() / (self.rows() * players);
        Err(ValueError::Overflow { player: at / each % players, output: at % self.outputs() })
    }

    fn length(&self, of: Axis) -> usize {
        self.axes.iter().find(|&&(axis, _)| axis == of).map_or(0, |&(_, length)| length)
    }

    /// Returns the values for all outputs, at the given indices along the other axes.
    fn at(&self, places: &[usize]) -> &[f64] {
        assert_eq!(
            places.len() + 1,
            self.axes.len(),
            "expected an index for each of the axes {:?} except the rows",
            self.axes
        );
        let mut at = 0;
        for (&place, &(axis, length)) in places.iter().zip(&self.axes) {
            assert!(place < length, "index {place} is out of range for the axis {axis:?} of length {length}");
            at = at * length + place;
        }
        &self.values[at * self.outputs()..][..self.outputs()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns attributions with two rows, three players and two outputs. The value of player i for output o
    /// in row r is 100 r + 10 i + o.
    fn players() -> Attributions {
        let values = [0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 100.0, 101.0, 110.0, 111.0, 120.0, 121.0];
        Attributions::for_players(3, values.to_vec(), vec![0.5, 0.25], vec![1.0, 2.0, 3.0, 4.0])
    }

    /// Returns values of pairs, with two rows, two players and one output.
    fn pairs() -> Attributions {
        let values = [0.0, 1.0, 10.0, 11.0, 100.0, 101.0, 110.0, 111.0];
        Attributions::for_pairs(2, values.to_vec(), vec![0.5], vec![1.0, 2.0])
    }

    #[test]
    fn axes_are_named_in_the_order_of_the_numbers() {
        assert_eq!(players().axes(), [(Axis::Row, 2), (Axis::Player, 3), (Axis::Output, 2)]);
        let of_pairs = [(Axis::Row, 2), (Axis::Player, 2), (Axis::OtherPlayer, 2), (Axis::Output, 1)];
        assert_eq!(pairs().axes(), of_pairs);
        for (found, lengths) in [(players(), (2, 3, 2)), (pairs(), (2, 2, 1))] {
            assert_eq!((found.rows(), found.players(), found.outputs()), lengths);
            assert_eq!(found.are_of_pairs(), found.axes().len() == 4);
        }
    }

    #[test]
    fn values_stand_where_their_row_and_players_say() {
        assert_eq!(players().value(0, 2), [20.0, 21.0]);
        assert_eq!(players().value(1, 0), [100.0, 101.0]);
        assert_eq!((pairs().pair(0, 1, 0), pairs().pair(1, 0, 1)), (&[10.0][..], &[101.0][..]));
    }

    #[test]
    fn one_row_alone_is_what_it_was_among_others() {
        let row = players().of_row(1);
        assert_eq!((row.rows(), row.value(0, 2)), (1, players().value(1, 2)));
        assert_eq!((row.base, row.predictions), (vec![0.5, 0.25], vec![3.0, 4.0]));
        assert_eq!(pairs().of_row(1).values, [100.0, 101.0, 110.0, 111.0]);
        assert_eq!(
            Attributions::for_players(0, vec![], vec![0.0], vec![7.0, 8.0]).of_row(1).predictions,
            [8.0]
        );
    }

    #[test]
    fn lengths_places_and_kinds_that_do_not_fit_panic() {
        let (one, two) = (|| vec![0.0], || vec![0.0; 2]);
        let wrong: [&(dyn Fn() + std::panic::RefUnwindSafe); 8] = [
            &|| drop(Attributions::for_players(3, two(), one(), one())),
            &|| drop(Attributions::for_pairs(2, two(), one(), one())),
            &|| drop(Attributions::for_players(1, one(), two(), one())),
            &|| drop(players().value(0, 3).to_vec()),
            &|| drop(players().value(2, 0).to_vec()),
            &|| drop(players().pair(0, 0, 0).to_vec()),
            &|| drop(pairs().value(0, 0).to_vec()),
            &|| drop(pairs().of_row(2)),
        ];
        for (index, wrong) in wrong.into_iter().enumerate() {
            assert!(std::panic::catch_unwind(wrong).is_err(), "{index}");
        }
        let nothing = Attributions::for_pairs(5, vec![], one(), vec![]);
        assert_eq!((nothing.rows(), nothing.players()), (0, 5));
    }

    #[test]
    fn values_that_are_not_finite_are_told_by_player_and_output() {
        let mut found = players();
        assert_eq!(found.clone().finite().unwrap(), found);
        found.values[9] = f64::NAN;
        assert!(matches!(found.finite(), Err(ValueError::Overflow { player: 1, output: 1 })));
        let mut found = pairs();
        found.values[6] = f64::INFINITY;
        assert!(matches!(found.finite(), Err(ValueError::Overflow { player: 1, output: 0 })));
    }
}
