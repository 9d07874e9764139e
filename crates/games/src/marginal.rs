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
//! # Source
//!
//! Lundberg and Lee, *A Unified Approach to Interpreting Model Predictions*, 2017; also called the interventional game.

use std::ops::Range;

use crate::background::{Background, refuse_infinite};
use crate::coalition::{Coalition, CoalitionView};
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::model::Model;
use crate::sub_game::SubGame;
use crate::synthetic::{Averaged, SyntheticRows};

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
    model: Averaged<'a, M>,
    explicand: Vec<f64>,
    background: &'a Background,
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
        let model = Averaged::new(model, background.columns(), "background row 0")?;
        if explicand.len() != background.columns() {
            return Err(GameError::Width {
                what: "the explicand".to_owned(),
                given: explicand.len(),
                wanted: background.columns(),
            });
        }
        refuse_infinite(explicand, || "the explicand".to_owned())?;
        Ok(Self { model, explicand: explicand.to_vec(), background })
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

    /// The background rows with the explicand's values in `coalition`.
    fn rows_of<'b>(&'b self, coalition: CoalitionView<'b>) -> SubstitutedRows<'b> {
        SubstitutedRows { explicand: &self.explicand, background: self.background, coalition }
    }
}

/// Background rows that have the explicand's values in a coalition.
struct SubstitutedRows<'a> {
    explicand: &'a [f64],
    background: &'a Background,
    coalition: CoalitionView<'a>,
}

impl SyntheticRows for SubstitutedRows<'_> {
    fn weights(&self) -> &[f64] {
        self.background.weights()
    }

    fn append(&self, range: Range<usize>, rows: &mut Vec<f64>) {
        for index in range {
            let start = rows.len();
            rows.extend_from_slice(self.background.row(index));
            let row = &mut rows[start..];
            for member in self.coalition.members() {
                row[member] = self.explicand[member];
            }
        }
    }
}

/// Without the model, which need not be `Debug`.
impl<M: ?Sized> std::fmt::Debug for MarginalGame<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MarginalGame")
            .field("explicand", &self.explicand)
            .field("background", &self.background)
            .field("outputs", &self.model.outputs())
            .finish_non_exhaustive()
    }
}

impl<M: Model + ?Sized> Game for MarginalGame<'_, M> {
    fn players(&self) -> usize {
        self.explicand.len()
    }

    fn outputs(&self) -> usize {
        self.model.outputs()
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
        self.model.values_in_scenarios(batch, scenarios, |coalition| Ok(self.rows_of(coalition)), out)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.model.values(batch, self.background.len(), |coalition| Ok(self.rows_of(coalition)), out)
    }
}
