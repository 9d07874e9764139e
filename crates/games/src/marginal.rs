//! The marginal game: the value function of a model, an explicand and a background.
//!
//! # Notation
//!
//! `x` is the explicand, a row of `n` features; `b` runs over the `B` background rows with weights `w_b`;
//! `(x_S, b_{N∖S})` is the *synthetic row* that takes the features in `S` from the explicand and all others
//! from the background row. `f` is the model, with `k` outputs.
//!
//! ```text
//! v(S) = Σ_b w_b f(x_S, b_{N∖S})
//! ```
//!
//! # Source
//!
//! Lundberg and Lee, *A Unified Approach to Interpreting Model Predictions*, 2017; also called the
//! interventional game.

use std::ops::Range;
use std::sync::OnceLock;

use crate::background::Background;
use crate::coalition::{Coalition, CoalitionView};
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::{Game, check_finite};
use crate::model::Model;
use crate::near::{Changes, NearReference};
use crate::sub_game::SubGame;
use crate::synthetic::{AnyAveraged, AveragedModel, SyntheticRows};

/// The marginal game of an explicand with a background. The features are the players.
///
/// ```text
/// v(S) = Σ_b w_b f(x_S, b_{N∖S})
/// ```
///
/// v(S) is the average prediction, with the weights w_b, over rows that take the features in S from the
/// explicand x and all other features from a background row b (Lundberg and Lee, 2017; also called the
/// interventional game).
///
/// One coalition takes B predictions of the model. A batch of `m` takes `m · B` predictions and
/// `O(m · B · n)` additional time; each thread stores one chunk of rows. If the background is a single
/// baseline and the model implements [`near`](Model::near), small coalitions are predicted as changes to the
/// baseline.
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
    model: AveragedModel<'a, M>,
    rows: Substitution<'a>,
    near: OnceLock<Option<Box<dyn NearReference>>>,
}

/// The part of the game that does not depend on the model, separated so that it is compiled only once for all
/// models.
#[derive(Debug)]
struct Substitution<'a> {
    explicand: Vec<f64>,
    background: &'a Background,
}

/// Number of coalitions near the baseline that a thread predicts in one call.
const NEAR_COALITIONS: usize = 256;

impl<'a, M: Model + ?Sized> MarginalGame<'a, M> {
    /// Creates the game of `explicand` with `background`.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] if explicand, background and model have different numbers of features,
    /// [`GameError::Parameter`] if the model has no outputs. NaN and infinite values are allowed.
    pub fn new(model: &'a M, explicand: &[f64], background: &'a Background) -> Result<Self, GameError> {
        let model = AveragedModel::new(model, background.columns(), "background row 0")?;
        Ok(Self { model, rows: Substitution::new(explicand, background)?, near: OnceLock::new() })
    }

    /// Returns the row that is explained.
    pub fn explicand(&self) -> &[f64] {
        &self.rows.explicand
    }

    /// Returns the rows that provide the values of absent features.
    pub fn background(&self) -> &'a Background {
        self.rows.background
    }

    /// Returns the features that cannot have an effect: their value in the explicand equals their value in
    /// every background row, bitwise or because both are missing.
    ///
    /// Such a player does not change any synthetic row, so its attribution is zero under every solution
    /// concept that satisfies the null player axiom.
    pub fn null_players(&self) -> Coalition {
        self.rows.null_players()
    }

    /// Returns the game without the [null players](Self::null_players).
    ///
    /// [`SubGame::expand`] restores them as zeros. If all players are null players, the game has no players.
    pub fn without_null_players(&self) -> SubGame<&Self> {
        SubGame::without(self, self.null_players().view())
    }

    /// Returns the model's predictor for rows near the baseline, if there is a single baseline and the model
    /// has one.
    fn near(&self) -> Option<&dyn NearReference> {
        let background = self.rows.background;
        let about = || match background.len() {
            1 => self.model.near(background.row(0)),
            _ => None,
        };
        self.near.get_or_init(about).as_deref()
    }
}

impl<'a> Substitution<'a> {
    fn new(explicand: &[f64], background: &'a Background) -> Result<Self, GameError> {
        if explicand.len() != background.columns() {
            return Err(GameError::Width {
                what: "the explicand".to_owned(),
                actual: explicand.len(),
                expected: background.columns(),
            });
        }
        Ok(Self { explicand: explicand.to_vec(), background })
    }

    fn null_players(&self) -> Coalition {
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

    /// Returns the features of `coalition` in which the explicand differs from the baseline, with the
    /// explicand's values.
    fn changes<'b>(&'b self, coalition: CoalitionView<'b>) -> impl Iterator<Item = (usize, f64)> + 'b {
        let baseline = self.background.row(0);
        let members = coalition.members().map(|member| (member, self.explicand[member]));
        members.filter(|&(member, value)| !same(value, baseline[member]))
    }

    /// Writes the values of the coalitions in `batch`. Coalitions that change at most `near.max_changes()`
    /// features are predicted as changes to the baseline, and all others as complete rows.
    ///
    /// This choice depends only on the coalition.
    fn values_about(
        &self,
        near: &dyn NearReference,
        model: &AnyAveraged<'_>,
        batch: &Coalitions,
        out: &mut [f64],
    ) -> Result<(), GameError> {
        let k = model.outputs();
        let is_near = |index: &usize| {
            let most = near.max_changes();
            batch.sizes()[*index] as usize <= most
                || self.changes(batch.row(*index)).take(most + 1).count() <= most
        };
        let (close, far): (Vec<usize>, Vec<usize>) = (0..batch.len()).partition(is_near);
        let mut values = vec![f64::NAN; close.len() * k];
        model.pieces(&mut values, NEAR_COALITIONS * k, &|(piece, values)| {
            let first = piece * NEAR_COALITIONS;
            let mut rows = Changes::new();
            let mine = &close[first..first + values.len() / k];
            mine.iter().for_each(|&index| rows.push(self.changes(batch.row(index))));
            near.predict(&rows, values).map_err(|source| GameError::from_model(source, batch.row(mine[0])))
        })?;
        let mut rest = Coalitions::with_capacity(batch.players(), far.len());
        far.iter().for_each(|&index| rest.push(batch.row(index)));
        let mut others = vec![0.0; far.len() * k];
        model.values(&rest, 1, &|coalition| Ok(self.rows_of(coalition)), &mut others)?;
        for (indices, values) in [(close, values), (far, others)] {
            for (index, value) in indices.into_iter().zip(values.chunks_exact(k)) {
                out[index * k..(index + 1) * k].copy_from_slice(value);
            }
        }
        check_finite(batch, k, out)
    }

    fn values(
        &self,
        near: Option<&dyn NearReference>,
        model: &AnyAveraged<'_>,
        batch: &Coalitions,
        out: &mut [f64],
    ) -> Result<(), GameError> {
        match near {
            Some(near) => self.values_about(near, model, batch, out),
            None => model.values(batch, self.background.len(), &|coalition| Ok(self.rows_of(coalition)), out),
        }
    }

    fn values_in_scenarios(
        &self,
        model: &AnyAveraged<'_>,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        model.values_in_scenarios(batch, scenarios, &|coalition| Ok(self.rows_of(coalition)), out)
    }

    /// Returns the background rows with the explicand's values in `coalition`.
    fn rows_of<'b>(&'b self, coalition: CoalitionView<'b>) -> SubstitutedRows<'b> {
        SubstitutedRows { explicand: &self.explicand, background: self.background, coalition }
    }
}

/// Returns whether two values are identical for a model: bitwise equal, or both missing.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
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

/// Omits the model, because it need not implement `Debug`.
impl<M: ?Sized> std::fmt::Debug for MarginalGame<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MarginalGame")
            .field("explicand", &self.rows.explicand)
            .field("background", &self.rows.background)
            .field("outputs", &self.model.outputs())
            .finish_non_exhaustive()
    }
}

impl<M: Model + ?Sized> Game for MarginalGame<'_, M> {
    fn players(&self) -> usize {
        self.rows.explicand.len()
    }

    fn outputs(&self) -> usize {
        self.model.outputs()
    }

    fn rows_per_coalition(&self) -> usize {
        self.rows.background.len()
    }

    fn parallel(&self) -> bool {
        self.model.parallel()
    }

    fn scenarios(&self) -> usize {
        self.rows.background.len()
    }

    fn scenario_weights(&self) -> Option<&[f64]> {
        Some(self.rows.background.weights())
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.rows.values_in_scenarios(&self.model.any(), batch, scenarios, out)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.rows.values(self.near(), &self.model.any(), batch, out)
    }
}
