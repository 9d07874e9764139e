//! Pairwise interactions of the marginal game.
//!
//! # The index
//!
//! The interaction of two players is the expected second difference of the game,
//!
//! ```text
//! I_ij = Σ_{S ⊆ N∖ij} p(|S|) (v(S ∪ ij) − v(S ∪ i) − v(S ∪ j) + v(S)),        p(s) = M(s, n − 2 − s),
//! ```
//!
//! with the moments M of the semivalue's mixing measure: the Shapley and the Banzhaf interaction index (Grabisch and Roubens, *An axiomatic
//! approach to the concept of interaction among players in cooperative games*, 1999), and their like for every semivalue.
//!
//! # On a leaf
//!
//! On one leaf of value v and one background row the game is `v · [E ⊆ S] [R ∩ S = ∅]` with the path features E that only the
//! explicand satisfies and R that only the background row does. Its second difference vanishes unless both players are in E ∪ R, and then is
//! ±v where the others of E are in S and those of R are not, 0 elsewhere: with k of the two in R,
//!
//! ```text
//! i, j ∈ E:         +v · M(|E| − 2, |R|)
//! i ∈ E, j ∈ R:     −v · M(|E| − 1, |R| − 1)
//! i, j ∈ R:         +v · M(|E|, |R| − 2)
//! ```
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`pairs`] | which pairs occur, and their numbers |
//! | [`shares`] | the three numbers above |
//! | [`walk`], [`masks`], [`tables`] | the three kernels of values, for pairs |
//! | [`fill`] | the interactions on a leaf for every pattern of an explicand |
//! | [`cost`] | which kernel is taken for a tree |
//! | [`explain`] | blocks of rows |

mod cost;
mod explain;
mod fill;
mod masks;
mod pairs;
mod shares;
mod tables;
#[cfg(test)]
mod tests;
mod walk;

use std::sync::OnceLock;

use apportion_games::{Partition, Rows};
use apportion_values::Semivalue;

pub(super) use self::shares::PairShares;
use super::coalitional::group_of;
use super::cost::Choose;
use super::explain::Question;
use super::kept::Asked;
use super::{InterventionalOracle, cost as values_cost};
use crate::error::TreeError;
use crate::interactions::{Diagonal, Interactions};
use crate::moments::Moments;
use crate::tables::table::Weights;

/// How kernels are chosen: for values, which may stand on the diagonal, and for interactions.
#[derive(Clone, Copy)]
struct Choices {
    values: Choose,
    pairs: Choose,
}

const CHOICES: Choices = Choices { values: values_cost::choose, pairs: cost::choose };

impl InterventionalOracle<'_> {
    /// The interaction index of every pair of features, for every output and each of the rows, and on the diagonal what `diagonal`
    /// says: the Shapley interaction index, the Banzhaf interaction index, or that of any other semivalue.
    ///
    /// Accurate to rounding, and the same bytes for any number of threads. Takes two to four times as long as [`values`](Self::values),
    /// and rows × features² × outputs numbers of memory. Pairs of which no path of the trees has both do not interact and take no
    /// time. A kernel that is [asked for](Self::with_settings) is that of the values and of the pairs; the tables of pairs hold `f64` and are
    /// not kept. Linear leaves are walked.
    ///
    /// ```
    /// use apportion_games::Rows;
    /// use apportion_trees::{Diagonal, Ensemble, InterventionalOracle};
    /// use apportion_values::Semivalue;
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../../tests/fixtures/tiny.json"))?;
    /// let oracle = InterventionalOracle::new(&model, Rows::new(&[0.0, 0.0], 2), None)?;
    /// let explained = oracle.interactions(Semivalue::Shapley, Diagonal::Remainder, Rows::new(&[1.0, 9.0], 2))?;
    /// // Alone the features raise the prediction by 4 and 2, together by 4.
    /// assert_eq!(explained.values, [4.0, -1.0, -1.0, 2.0]);
    /// # Ok::<(), apportion_trees::TreeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values); [`TreeError::TooManyPairs`] where the result does not fit in memory.
    pub fn interactions(
        &self,
        value: Semivalue,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        self.interactions_by(value, diagonal, rows, CHOICES)
    }

    /// The interaction index of every pair of groups of `partition` in the quotient game, whose players are the groups; see
    /// [`interactions`](Self::interactions) and [`quotient_values`](Self::quotient_values).
    ///
    /// # Errors
    ///
    /// As [`interactions`](Self::interactions), and as [`quotient_values`](Self::quotient_values) for the partition.
    pub fn quotient_interactions(
        &self,
        value: Semivalue,
        diagonal: Diagonal,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        self.quotient_interactions_by(value, diagonal, partition, rows, CHOICES)
    }

    /// As [`interactions`](Self::interactions), with each tree's kernels chosen by `choices`.
    fn interactions_by(
        &self,
        value: Semivalue,
        diagonal: Diagonal,
        rows: Rows<'_>,
        choices: Choices,
    ) -> Result<Interactions, TreeError> {
        value.check_players(self.features.len())?;
        let asked = Asked::Values(value.clone());
        let moments = Moments::new(value, self.widest());
        self.interact(&self.of_features(Weights::Alike(moments), asked), diagonal, rows, choices)
    }

    /// As [`quotient_interactions`](Self::quotient_interactions), with each tree's kernels chosen by `choices`.
    fn quotient_interactions_by(
        &self,
        value: Semivalue,
        diagonal: Diagonal,
        partition: &Partition,
        rows: Rows<'_>,
        choices: Choices,
    ) -> Result<Interactions, TreeError> {
        partition.check_players(self.features.len())?;
        value.check_players(partition.len())?;
        let question = Question {
            player_of: &group_of(partition),
            players: partition.len(),
            asked: Asked::Quotient(value.clone(), partition.clone()),
            weights: Weights::Alike(Moments::new(value, self.widest().min(partition.len()))),
            sorted: &OnceLock::new(),
            cohorts: &OnceLock::new(),
        };
        self.interact(&question, diagonal, rows, choices)
    }
}
