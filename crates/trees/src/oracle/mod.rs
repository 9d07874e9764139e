//! Exact values of the marginal (interventional) game of a tree ensemble, without sampling.
//!
//! # The game
//!
//! For an explicand x and background rows b with weights w_b that sum to 1, the players are the features and
//!
//! ```text
//! v(S) = Σ_b w_b f(x_S, b_rest)
//! ```
//!
//! where f is the margin. An ensemble is a sum of leaves, and on one leaf and one background row the game is a product: it is worth the
//! leaf's value iff all features E that only x satisfies are in S and none of the features R that only b satisfies is. Its semivalues
//! are moments of the mixing measure (see `apportion_values::Semivalue`), so the values of the whole game are sums over leaves of
//!
//! ```text
//! v · M(|E| − 1, |R|)  to each i ∈ E        −v · M(|E|, |R| − 1)  to each i ∈ R.
//! ```
//!
//! # Four ways to add them up
//!
//! | kernel | what it does | cost per row and tree | when |
//! |---|---|---|---|
//! | [`walk`] | follows one explicand and one background row to the leaves that a mixture can reach | background rows × leaves reached | few background rows and few explicands; any depth |
//! | [`cohorts`] | follows one explicand and all background rows at once, as sets of bits | leaves × background rows / 64 | few explicands, many background rows; depth up to 64 |
//! | [`masks`] | sorts the background by pattern at each leaf, then goes through the patterns | leaves × distinct patterns | few explicands; long paths |
//! | [`tables`] | writes down the values of every pattern of an explicand, then looks them up | leaves × path features | many explicands |
//!
//! All are exact and agree within rounding. [`cost`] says which is taken for a tree. Trees with linear leaves have a walk of their own,
//! in [`linear`].
//!
//! A single background row needs no sums over patterns: that game is a path-dependent one, and [`one_baseline`] has it computed by quadrature
//! where that is faster.
//!
//! # Features in groups
//!
//! In a quotient game the players are groups of features: the same kernels, told whose player a feature is. Coalitional values have moments
//! for groups and for their members, and the kernels once more, in [`coalitional`] and
//! [`cohorts`].

pub(crate) mod coalitional;
pub(crate) mod cohorts;
pub(crate) mod cost;
mod explain;
pub(crate) mod histograms;
mod interactions;
mod kept;
mod linear;
mod masks;
mod one_baseline;
#[cfg(test)]
mod settings_tests;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod walk;

use std::sync::OnceLock;

use apportion_games::{Background, Partition, Rows};
use apportion_values::{CoalitionalValue, Semivalue};

use self::coalitional::{Coalitional, group_of};
use self::cohorts::Cohorts;
use self::explain::{Question, Sorted};
use self::kept::{Asked, KeptTables};
use crate::background::CompiledBackground;
use crate::error::TreeError;
use crate::groups::{members_alone, two_step};
use crate::kernel::{Plan, Settings};
use crate::moments::Moments;
use crate::path_dependent::AgainstBaseline;
use crate::tables::paths;
use crate::tables::table::Weights;
use apportion_models::Ensemble;

/// Exact attributions of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Attributions {
    /// Rows × features × outputs, row-major: with n features and k outputs, the value of feature i for output o of row j is
    /// `values[(j·n + i)·k + o]`. Quotient values are of groups in the place of features.
    pub values: Vec<f64>,
    /// Per output: v(∅). Of the marginal game the weighted mean margin of the background, of the path-dependent game what the trees
    /// expect where nothing is known.
    pub base: Vec<f64>,
    /// Rows × outputs: v(N), the margin of each row.
    pub predictions: Vec<f64>,
}

impl Attributions {
    /// Refuses numbers that are not finite: every kernel's values come through here.
    pub(crate) fn new(values: Vec<f64>, base: Vec<f64>, predictions: Vec<f64>) -> Result<Self, TreeError> {
        check_finite("a value", &values, &base, &predictions)?;
        Ok(Self { values, base, predictions })
    }
}

/// Refuses values of rows, called `what`, and ends that are not finite.
pub(crate) fn check_finite(
    what: &'static str,
    values: &[f64],
    base: &[f64],
    predictions: &[f64],
) -> Result<(), TreeError> {
    let outputs = base.len().max(1);
    let rows = (predictions.len() / outputs).max(1);
    for (what, numbers, rows) in
        [("the base", base, 1), ("the prediction", predictions, rows), (what, values, rows)]
    {
        if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(TreeError::Overflow {
                what,
                row: at / (numbers.len() / rows).max(1),
                output: at % outputs,
            });
        }
    }
    Ok(())
}

/// Exact values of an ensemble against a background, for every semivalue, of features alone and in groups.
///
/// ```text
/// v(S) = Σ_b w_b f(x_S, b_{N∖S})
/// ```
///
/// is the game: the margin f where the features in S are those of the explicand x and the others those of a background row b, averaged
/// with the weights w_b. Its values are sums over the leaves of the trees, by the kernel whose predicted time is least. With many rows to
/// explain a row takes a lookup per leaf and path feature, however large the background; a single row against a single baseline takes the
/// leaves that a mixture of the two can reach (Lundberg et al., *From local explanations to global understanding with explainable AI for
/// trees*, 2020, extended to background sets and semivalues).
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, InterventionalOracle};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
/// let background = Rows::new(&[0.0, 0.0, 2.0, 0.0], 2);
/// let oracle = InterventionalOracle::new(&model, background, None)?;
/// let attributions = oracle.values(Semivalue::Shapley, Rows::new(&[2.0, 3.0], 2))?;
/// let total: f64 = attributions.values.iter().sum();
/// assert!((total + attributions.base[0] - attributions.predictions[0]).abs() < 1e-12);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
#[derive(Debug)]
pub struct InterventionalOracle<'a> {
    ensemble: &'a Ensemble,
    /// Rounded, row-major; rows of weight 0 are left out.
    background: Vec<f64>,
    /// Positive, with sum 1.
    weights: Vec<f64>,
    base: Vec<f64>,
    /// 0, 1, …: each feature is its own player.
    features: Vec<u32>,
    sorted: OnceLock<Sorted>,
    cohorts: OnceLock<Cohorts>,
    settings: Settings,
    kept: KeptTables,
    /// Made when first wanted, where the background is one row.
    baseline: OnceLock<AgainstBaseline>,
    /// Whether the background is a compiled one: `sorted` is there, and its rows are not.
    compiled: bool,
}

impl<'a> InterventionalOracle<'a> {
    /// The oracle of `ensemble` against the rows of `background`: one baseline, or many rows, of equal weight unless `weights`
    /// has one per row. Weights need not sum to 1. Missing values are NaN.
    ///
    /// Takes one prediction per background row. What a kernel needs of the background is computed when a kernel first needs it, and kept.
    ///
    /// # Errors
    ///
    /// [`GameError::EmptyBackground`](apportion_games::GameError::EmptyBackground),
    /// [`GameError::Width`](apportion_games::GameError::Width) and
    /// [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) for the background,
    /// [`GameError::BackgroundWeights`](apportion_games::GameError::BackgroundWeights) for weights that are not one per row, finite,
    /// not negative and not all zero.
    pub fn new(
        ensemble: &'a Ensemble,
        background: Rows<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Self, TreeError> {
        let mut background = Background::rows(background.values(), background.columns())?;
        ensemble.check_rows(background.as_rows(), "background row")?;
        if let Some(weights) = weights {
            background = background.with_weights(weights)?;
        }
        let (rows, weights) = (background.as_rows(), background.weights());
        let outputs = ensemble.output_count();
        let mut base = vec![0.0; outputs];
        for (margins, weight) in ensemble.margins(rows)?.chunks_exact(outputs).zip(weights) {
            for (base, margin) in base.iter_mut().zip(margins) {
                *base += weight * margin;
            }
        }
        let counted = || rows.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        Ok(Self {
            ensemble,
            background: counted()
                .flat_map(|(row, _)| row)
                .map(|&value| ensemble.width().round(value))
                .collect(),
            weights: counted().map(|(_, &weight)| weight).collect(),
            base,
            features: (0..ensemble.feature_count() as u32).collect(),
            sorted: OnceLock::new(),
            cohorts: OnceLock::new(),
            settings: Settings::default(),
            kept: KeptTables::default(),
            baseline: OnceLock::new(),
            compiled: false,
        })
    }

    /// The oracle of `ensemble` against a background that was compiled for it, without its rows.
    ///
    /// All values are those against the rows, to rounding. They come from tables and masks: the walk, which needs the rows, is refused with
    /// [`TreeError::Unsupported`].
    ///
    /// # Errors
    ///
    /// [`TreeError::OtherModel`] for a background that was compiled for another ensemble.
    pub fn from_compiled(ensemble: &'a Ensemble, background: CompiledBackground) -> Result<Self, TreeError> {
        let parts = background.into_parts(ensemble)?;
        Ok(Self {
            ensemble,
            background: Vec::new(),
            weights: Vec::new(),
            base: parts.base,
            features: (0..ensemble.feature_count() as u32).collect(),
            sorted: OnceLock::from(parts.sorted.into_iter().map(Some).collect::<Sorted>()),
            cohorts: OnceLock::new(),
            settings: Settings::default(),
            kept: KeptTables::default(),
            baseline: OnceLock::new(),
            compiled: true,
        })
    }

    /// The same oracle, told how to compute. [`Kernel::Quadrature`](crate::Kernel::Quadrature) is a kernel of the path-dependent game, which
    /// the game against one baseline is, too: of semivalues of features against one background row; every other question to it is
    /// refused with [`TreeError::Unsupported`].
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, kept: KeptTables::default(), ..self }
    }

    /// What [`values`](Self::values) would do with these rows, tree by tree, and the time that it would take: predicted from the trees and
    /// the number of rows, not measured. Takes the time of sorting the background, if that pays for these rows; it is kept.
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values).
    pub fn plan(&self, value: &Semivalue, rows: Rows<'_>) -> Result<Plan, TreeError> {
        self.plan_for(value, rows.len(), rows)
    }

    /// As [`plan`](Self::plan) for `count` rows, of which `sample` has some.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn plan_for(&self, value: &Semivalue, count: usize, sample: Rows<'_>) -> Result<Plan, TreeError> {
        value.check_players(self.features.len())?;
        self.ensemble.check_rows(sample, "row")?;
        if let Some(plan) = self.plan_by_quadrature(value, sample, count) {
            return Ok(plan);
        }
        let weights = Weights::Alike(Moments::new(value.clone(), self.widest()));
        self.plan_of(&self.of_features(weights, Asked::Values(value.clone())), sample, count)
    }

    /// v(∅) of every explicand, per output: the weighted mean margin of the background.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// The `value` of every feature, for every output and each of the rows.
    ///
    /// Accurate to rounding: for efficient values, values and base add up to the prediction within 1e-12 of the largest. The result does
    /// not depend on the number of threads.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`](apportion_games::GameError::Width) where rows have another number of columns than the model has features,
    /// [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) where a value is infinite,
    /// [`TreeError::Value`] for weights by size of another number of players than the model has features, [`TreeError::Kernel`] and
    /// [`TreeError::Unsupported`] for a kernel that was [asked for](Self::with_settings) and cannot be used.
    pub fn values(&self, value: Semivalue, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        if let Some(attributions) = self.by_quadrature(&value, rows)? {
            return Ok(attributions);
        }
        self.values_by(value, rows, cost::choose)
    }

    /// The value of every feature where features stand in the groups of `partition`: Owen, Banzhaf-Owen, and every other pair of
    /// semivalues (Kotsiopoulos et al. 2023, equation 3.13; see [`CoalitionalValue`]).
    ///
    /// Groups of one, and one group of all, reduce it to the semivalue between the groups and to that within. Takes about as long as
    /// [`values`](Self::values): a leaf counts for groups of which it needs features of both rows only where that is one group.
    ///
    /// ```
    /// use apportion_games::{Partition, Rows};
    /// use apportion_trees::{Ensemble, InterventionalOracle};
    /// use apportion_values::CoalitionalValue;
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
    /// let oracle = InterventionalOracle::new(&model, Rows::new(&[0.0, 0.0], 2), None)?;
    /// let together = Partition::whole(2);
    /// let explained = oracle.coalitional_values(&CoalitionalValue::owen(), &together, Rows::new(&[1.0, 9.0], 2))?;
    /// assert_eq!(explained.values, [3.0, 1.0]);
    /// # Ok::<(), apportion_trees::TreeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values); [`GameError::PartitionOfOthers`](apportion_games::GameError::PartitionOfOthers) for a partition of
    /// another number of players than the model has features; [`TreeError::Value`] for weights by size that are for another number of
    /// groups, or of members of any group.
    pub fn coalitional_values(
        &self,
        value: &CoalitionalValue,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        partition.check_players(self.features.len())?;
        value.check(partition)?;
        match (partition.len(), partition.largest()) {
            (_, 1) => self.values(value.between.clone(), rows),
            (1, _) => self.values(value.within.clone(), rows),
            _ => self.coalitional_values_by(value, partition, rows, cost::choose),
        }
    }

    /// The `value` of every group of `partition` in the quotient game v^P(A) = v(∪_{j∈A} S_j), whose players are the groups
    /// (Kotsiopoulos et al. 2023, definition 2.1).
    ///
    /// Values are rows × groups × outputs, in the order of the groups. Takes no longer than [`values`](Self::values), but what is
    /// computed of a background set is not kept between calls.
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
        self.quotient_values_by(value, partition, rows, cost::choose)
    }

    /// The two-step Shapley value of every feature (Kotsiopoulos et al. 2023, equation 3.19, for the game less v(∅)):
    ///
    /// ```text
    /// TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − (v(S_j) − v(∅))) / |S_j|,     i ∈ S_j.
    /// ```
    ///
    /// Takes as long as [`coalitional_values`](Self::coalitional_values) and [`quotient_values`](Self::quotient_values) together.
    ///
    /// # Errors
    ///
    /// As [`coalitional_values`](Self::coalitional_values).
    pub fn two_step_shapley(&self, partition: &Partition, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        let alone = self.coalitional_values(&members_alone()?, partition, rows)?;
        let groups = self.quotient_values(Semivalue::Shapley, partition, rows)?;
        two_step(partition, alone, &groups)
    }

    /// As [`values`](Self::values), with each tree's kernel chosen by `choose`.
    pub(crate) fn values_by(
        &self,
        value: Semivalue,
        rows: Rows<'_>,
        choose: cost::Choose,
    ) -> Result<Attributions, TreeError> {
        value.check_players(self.features.len())?;
        let asked = Asked::Values(value.clone());
        let weights = Weights::Alike(Moments::new(value, self.widest()));
        self.explain(&self.of_features(weights, asked), rows, choose)
    }

    /// As [`coalitional_values`](Self::coalitional_values) where all is checked, with each tree's kernel chosen by `choose`.
    fn coalitional_values_by(
        &self,
        value: &CoalitionalValue,
        partition: &Partition,
        rows: Rows<'_>,
        choose: cost::Choose,
    ) -> Result<Attributions, TreeError> {
        let asked = Asked::Coalitional(value.clone(), partition.clone());
        let weights = Weights::Grouped(Coalitional::new(value, partition, self.widest()));
        self.explain(&self.of_features(weights, asked), rows, choose)
    }

    /// As [`quotient_values`](Self::quotient_values), with each tree's kernel chosen by `choose`.
    fn quotient_values_by(
        &self,
        value: Semivalue,
        partition: &Partition,
        rows: Rows<'_>,
        choose: cost::Choose,
    ) -> Result<Attributions, TreeError> {
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
        self.explain(&question, rows, choose)
    }

    /// The question for the values of features.
    fn of_features(&self, weights: Weights, asked: Asked) -> Question<'_> {
        Question {
            player_of: &self.features,
            players: self.features.len(),
            asked,
            weights,
            sorted: &self.sorted,
            cohorts: &self.cohorts,
        }
    }

    /// At least as many as the features of any path and of the model of its leaf.
    fn widest(&self) -> usize {
        (self.ensemble.depth() + self.ensemble.most_terms()).min(self.features.len())
    }
}
