//! Exact values of what is behind the link: probabilities, rates, scores.
//!
//! # The game
//!
//! For an explicand x and background rows b with weights w_b that sum to 1,
//!
//! ```text
//! v(S) = Σ_b w_b g(f(x_S, b_rest))
//! ```
//!
//! where f is the margin and g the link, which for a softmax takes all margins of a row together. This is the marginal game of the model
//! that people see, and its values differ from any rescaling of those of the margin: g is not additive, so the game is no sum over
//! leaves.
//!
//! # How it is enumerated
//!
//! - Against one background row only the players *who part* matter: those whose features send x and b different ways at some split
//!   that a mixture of the two comes to ([`walk`]). All others are null, and semivalues do not see null players. With m of them there are
//!   2^m mixtures instead of 2^n.
//! - Background rows that decide alike wherever a mixture comes make the same game, and are one *cohort* ([`cohorts`]).
//! - The margins of all 2^m mixtures come from one transform for all trees, in fixed point without cancellation ([`table`],
//!   [`fixed`]). They then go through the link, and the table is folded into values.
//!
//! What that takes is counted before anything is computed, and refused where it is more than allowed.
//!
//! Of features in groups, a group that is a player parts where one of its features does. A coalitional value asks one question for each
//! group, among its members and the other groups as wholes ([`question`]).
//!
//! # What is not here
//!
//! The path-dependent game has no outputs behind the link: what a tree expects of features that it is not told is an expectation of
//! margins, and the link of an expectation is not the expectation of the link.

mod cohorts;
mod explain;
mod fixed;
mod link;
mod mixtures;
mod question;
mod table;
#[cfg(test)]
mod tests;
mod walk;
mod weights;

use apportion_games::{Partition, Rows};
use apportion_values::{CoalitionalValue, Semivalue};

use self::mixtures::Mixtures;
use self::question::Question;
use crate::error::TreeError;
use crate::groups::{members_alone, two_step};
use crate::oracle::{Attributions, InterventionalOracle};
use apportion_models::{Ensemble, Link};

/// Exact values of an ensemble's outputs (probabilities, rates, scores) against a background.
///
/// ```text
/// v(S) = Σ_b w_b g(f(x_S, b_{N∖S}))
/// ```
///
/// is the game: the output g(f) where the features in S are those of the explicand x and the others those of a background row b, averaged
/// with the weights w_b; g is the [link](Ensemble::link) and f the margin. Values, base and predictions of the [`Attributions`] are in units
/// of the output.
///
/// It is enumerated: with m features on which x and b go different ways at some split, 2^m mixtures of the two, which cost one
/// *step* for each output. A step takes 15 to 20 ns of one core: rows that part on 20 features make a million of them. Those of a model
/// of 100 trees of depth 4 on 12 features (adult census, logistic) take 26 µs per background row:
/// `cargo run --release -p apportion-trees --example linked`. What all comes to is predicted first and refused beyond a
/// [limit](Self::with_most_steps).
///
/// Nothing is rescaled from margins. `shap.TreeExplainer(…, model_output="probability")` does so: it takes the margin's values against each
/// background row and stretches them by the ratio of the differences in output and in margin. That sums to the same total, and agrees
/// where only one feature counts, but is no value of this game: on five rows of that model against 20 background rows it is off by
/// up to 0.094 where the largest value is 0.593, and small values change their sign.
///
/// Where the link is the identity, outputs are margins, and [`InterventionalOracle`] computes them without any limit.
///
/// The path-dependent game is defined for margins alone, and not offered.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, LinkedOracle};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/logistic.json"))?;
/// let oracle = LinkedOracle::new(&model, Rows::new(&[0.0, 0.0], 2), None)?;
/// let explained = oracle.values(Semivalue::Shapley, Rows::new(&[1.0, 9.0], 2))?;
/// // Probabilities, and what each feature adds to one.
/// let total: f64 = explained.values.iter().sum();
/// assert!((explained.base[0] + total - explained.predictions[0]).abs() < 1e-15);
/// assert!(explained.predictions[0] < 1.0);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
pub struct LinkedOracle<'a> {
    way: Way<'a>,
}

enum Way<'a> {
    /// Outputs are margins.
    Margins(Box<InterventionalOracle<'a>>),
    Outputs(Box<Mixtures<'a>>),
}

impl std::fmt::Debug for LinkedOracle<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LinkedOracle").field("link", &self.link()).finish_non_exhaustive()
    }
}

impl<'a> LinkedOracle<'a> {
    /// The steps that are allowed unless [told otherwise](Self::with_most_steps): some ten minutes of one core.
    pub const MOST_STEPS: u64 = 40_000_000_000;

    /// The oracle of `ensemble` against the rows of `background`: one baseline, or many rows, of equal weight unless `weights`
    /// has one per row. Weights need not sum to 1. Missing values are NaN.
    ///
    /// Takes one prediction per background row.
    ///
    /// # Errors
    ///
    /// [`ModelError::UnknownLink`](crate::ModelError::UnknownLink) where the link is not known; [`TreeError::Unsupported`] for linear leaves, and
    /// for leaves so large that a link would tell the rounding of their sums;
    /// [`TreeError::OutputOverflow`] where outputs are too large for `f64`; and as [`InterventionalOracle::new`].
    pub fn new(
        ensemble: &'a Ensemble,
        background: Rows<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Self, TreeError> {
        let way = match ensemble.linked()?.link() {
            Link::Identity => {
                Way::Margins(Box::new(InterventionalOracle::new(ensemble, background, weights)?))
            }
            link => {
                Way::Outputs(Box::new(Mixtures::new(ensemble, link, background, weights, Self::MOST_STEPS)?))
            }
        };
        Ok(Self { way })
    }

    /// The same oracle with another limit of what one call may take. A step is one output of one mixture, or one leaf that mixtures reach:
    /// 15 to 20 ns of one core.
    pub fn with_most_steps(mut self, most_steps: u64) -> Self {
        if let Way::Outputs(mixtures) = &mut self.way {
            mixtures.most_steps = most_steps;
        }
        self
    }

    /// How margins become outputs.
    pub fn link(&self) -> Link {
        match &self.way {
            Way::Margins(_) => Link::Identity,
            Way::Outputs(mixtures) => mixtures.link,
        }
    }

    /// v(∅) of every explicand, per output: the weighted mean output of the background.
    pub fn base(&self) -> &[f64] {
        match &self.way {
            Way::Margins(oracle) => oracle.base(),
            Way::Outputs(mixtures) => &mixtures.base,
        }
    }

    /// The `value` of every feature, for every output and each of the rows.
    ///
    /// Accurate to rounding: for efficient values, values and base add up to the prediction within 1e-12 of the largest. The result does
    /// not depend on the number of threads.
    ///
    /// # Errors
    ///
    /// [`TreeError::TooManySteps`] where it would take more than is allowed, before it is begun; [`TreeError::OutputOverflow`]
    /// where outputs are too large for `f64`; and as [`InterventionalOracle::values`].
    pub fn values(&self, value: Semivalue, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        let mixtures = match &self.way {
            Way::Margins(oracle) => return oracle.values(value, rows),
            Way::Outputs(mixtures) => mixtures,
        };
        let features = mixtures.ensemble.feature_count();
        value.check_players(features)?;
        let question = Question::alike(value, (0..features as u32).collect(), features);
        mixtures.checked_answer(&[question], features, rows)
    }

    /// The value of every feature where features stand in the groups of `partition`; see
    /// [`InterventionalOracle::coalitional_values`].
    ///
    /// Each group takes the mixtures of its own members and the other groups as wholes: 2^(groups − 1 + members) at most.
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values) and [`InterventionalOracle::coalitional_values`].
    pub fn coalitional_values(
        &self,
        value: &CoalitionalValue,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let mixtures = match &self.way {
            Way::Margins(oracle) => return oracle.coalitional_values(value, partition, rows),
            Way::Outputs(mixtures) => mixtures,
        };
        partition.check_players(mixtures.ensemble.feature_count())?;
        value.check(partition)?;
        if partition.largest() == 1 {
            return self.values(value.between.clone(), rows);
        }
        mixtures.checked_answer(&Question::coalitional(value, partition), partition.players(), rows)
    }

    /// The `value` of every group of `partition` in the quotient game; see [`InterventionalOracle::quotient_values`].
    ///
    /// Takes 2^groups mixtures at most.
    ///
    /// # Errors
    ///
    /// As [`coalitional_values`](Self::coalitional_values).
    pub fn quotient_values(
        &self,
        value: Semivalue,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let mixtures = match &self.way {
            Way::Margins(oracle) => return oracle.quotient_values(value, partition, rows),
            Way::Outputs(mixtures) => mixtures,
        };
        partition.check_players(mixtures.ensemble.feature_count())?;
        value.check_players(partition.len())?;
        mixtures.checked_answer(&[Question::quotient(value, partition)], partition.len(), rows)
    }

    /// The two-step Shapley value of every feature; see [`InterventionalOracle::two_step_shapley`].
    ///
    /// Takes the mixtures of each group's members, and those of the groups.
    ///
    /// # Errors
    ///
    /// As [`coalitional_values`](Self::coalitional_values).
    pub fn two_step_shapley(&self, partition: &Partition, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        let mixtures = match &self.way {
            Way::Margins(oracle) => return oracle.two_step_shapley(partition, rows),
            Way::Outputs(mixtures) => mixtures,
        };
        partition.check_players(mixtures.ensemble.feature_count())?;
        mixtures.ensemble.check_rows(rows, "row")?;
        let members = Question::coalitional(&members_alone()?, partition);
        let groups = [Question::quotient(Semivalue::Shapley, partition)];
        let both: Vec<&Question> = members.iter().chain(&groups).collect();
        mixtures.check_cost(&both, rows)?;
        let alone = mixtures.answer(&members, partition.players(), rows)?;
        two_step(partition, alone, &mixtures.answer(&groups, partition.len(), rows)?)
    }
}
