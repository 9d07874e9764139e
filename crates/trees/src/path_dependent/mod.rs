//! Exact values of the path-dependent game of a tree ensemble, without sampling.
//!
//! # The game
//!
//! `x` is the explicand; a coalition knows its features and no others. v(S) is what the trees expect: at a split on a known feature the
//! branch of x, at any other both branches, weighted by the *shares* κ of the training cover that they have of the split's
//! (see [`PathDependentGame`](crate::PathDependentGame)).
//!
//! # The derivation
//!
//! A semivalue is an average over t of the derivative of the multilinear extension: let every player be present with a probability of
//! its own, all independent, and F be the expectation of v. Then `φ_i = ∫ ∂F/∂t_i dμ(t)`, taken where all probabilities are t (Owen, *Multilinear
//! extensions of games*, 1972; for semivalues Dubey, Neyman and Weber, 1981).
//!
//! On a tree, F is an expectation over random walks from the root: every split tosses whether its feature is present. The first split on
//! a feature finds it present with probability t. At a later split on it, the walk that came here is evidence: it came by x's
//! branches only if present, and with probability c, the product of the shares so far, if absent. By Bayes's rule the feature is now
//! present with probability
//!
//! ```text
//! s = t / (t + c (1 − t))    if x passes all earlier tests of the feature (c = 1 and s = t, where there are none),
//! s = 0                      if x fails one: the walk would not be here.
//! ```
//!
//! So each split mixes what is expected below its children, by itself, and a leaf expects its value v:
//!
//! ```text
//! T(leaf) = v,     A = κ_l T_l + κ_r T_r,     Δ = T(child of x) − A,     T(split) = A + s Δ.
//! ```
//!
//! With P the probability that the walk reaches a split, F depends on the split's s by `∂F/∂s = P Δ`, and by the chain rule
//!
//! ```text
//! P(root) = 1,     P(child) = P · ((1 − s) κ_child + s [x goes to the child]),
//! φ_i(t) = Σ_{splits on i} P · ds/dt · Δ,     ds/dt = c / (t + c (1 − t))²,  or 0 where s is 0.
//! ```
//!
//! P is computed on the way down, T and φ on the way up: each split is visited twice, however deep the tree and however many features it
//! has. On a leaf with d distinct features on its path, φ_i(t) is a polynomial of degree d − 1, so a Gauss rule of ⌈d/2⌉ nodes integrates it
//! exactly; (weighted) Banzhaf values have one node.
//!
//! The gradient of the multilinear extension and its quadrature are those of Li, Yu and Low, *TreeGrad*, 2026, and of Wettenstein, Mitchell
//! and Yu, *Quadrature-TreeSHAP*, 2026. The latter divides the product of a leaf by the factor of a feature to take the feature out; with
//! conditional probabilities there is nothing to divide.
//!
//! # Why it is stable
//!
//! P, s and κ are probabilities, and T lies between the values of leaves. Nothing is divided out of a product, so no product need be
//! invertible: neither small shares nor long paths do harm. Nothing is subtracted but what is expected with and without the feature.
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`questions`] | what trees ask of rows, and on whose behalf |
//! | [`program`] | trees, flattened: shares, c, the order of the steps |
//! | [`kernel`] | the recursion, for a block of rows and some nodes of the rule |
//! | [`one_row`] | the same for a single row, the nodes of the rule side by side |
//! | [`coalitional`] | the same for features in groups |
//! | [`interactions`] | the same for interactions of pairs |
//! | [`kept`] | what was made for the groups of the last call |
//! | [`plan`] | which kernel, and how long it takes |
//! | [`block`] | rows to columns and back |
//! | [`baseline`] | the marginal game against one baseline, which is one of these |
//! | [`by_size`], [`others`] | weights by size, which have no quadrature: another kernel, slower |

mod baseline;
mod block;
mod by_size;
mod coalitional;
mod interactions;
mod kept;
mod kernel;
mod one_row;
mod others;
mod plan;
mod program;
mod questions;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use apportion_games::{Partition, Rows};
use apportion_values::{CoalitionalValue, Semivalue};
use rayon::prelude::*;

pub(crate) use self::baseline::AgainstBaseline;
use self::by_size::BySize;
use self::interactions::Partners;
use self::kept::Kept;
use self::kernel::Kernel;
pub(crate) use self::plan::Cost;
use self::program::Program;
use self::questions::Players;
use crate::error::TreeError;
use crate::groups::{members_alone, two_step};
use crate::kernel::Settings;
use crate::moments::Moments;
use crate::oracle::Attributions;
use crate::oracle::coalitional::Coalitional;
use crate::tables::table::Weights;
use apportion_models::Ensemble;
use apportion_models::tree::Tree;

/// Exact values of the path-dependent game of an ensemble: Shapley, Banzhaf, and every other semivalue; for features in groups Owen,
/// Banzhaf-Owen, and every other pair, values of the groups, and two-step Shapley values.
///
/// The game is that of [`PathDependentGame`](crate::PathDependentGame): v(S) is what the trees expect of an explicand of which the features
/// in S are known, by the training cover of their branches. No background is needed. Shapley values are those of TreeSHAP
/// (Lundberg, Erion and Lee, *Consistent individualized feature attribution for tree ensembles*, 2018), which XGBoost calls
/// `pred_contribs`; here they are computed in `f64`, with an error that does not grow with the depth of the trees.
///
/// With D the most distinct features on a path of a tree, Shapley values take O(splits × ⌈D/2⌉) per row, (weighted) Banzhaf values
/// O(splits), weights by size O(leaves × D²). The oracle takes 84 bytes per split. Once asked for values of features in groups it keeps
/// some 260 bytes per split more, and 84 for values of the groups, for the partition that it was asked for last.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, PathDependentOracle};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
/// let oracle = PathDependentOracle::new(&model)?;
/// let explained = oracle.values(Semivalue::Shapley, Rows::new(&[0.0, 9.0], 2))?;
/// // 6 of 10 training rows were low in the first feature, and half of these in the second: 0.5 + 0.6 · 2 + 0.4 · 5 is expected.
/// assert!((explained.base[0] - 3.7).abs() < 1e-15 && explained.predictions[0] == 3.5);
/// // The first feature costs 1.2, or 0.8 if the second is known; the second gains 0.6, or 1 if the first is known.
/// assert!((explained.values[0] + 1.0).abs() < 1e-15 && (explained.values[1] - 0.8).abs() < 1e-15);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
#[derive(Debug)]
pub struct PathDependentOracle<'a> {
    ensemble: &'a Ensemble,
    settings: Settings,
    program: Program,
    /// Who is above whom in its trees.
    partners: OnceLock<Partners>,
    /// Of the groups of a partition.
    quotient: Kept<Program>,
    /// Of the features in these groups.
    coalitional: Kept<coalitional::Program>,
}

impl<'a> PathDependentOracle<'a> {
    /// The oracle of `ensemble`. Takes O(nodes) time, some 70 ns per split.
    ///
    /// # Errors
    ///
    /// [`ModelError::Cover`](crate::ModelError::Cover) and [`ModelError::LinearLeaves`](crate::ModelError::LinearLeaves) where the model does not define the game.
    pub fn new(ensemble: &'a Ensemble) -> Result<Self, TreeError> {
        ensemble.check_covers()?;
        let program = Program::new(ensemble, Players::Features);
        Ok(Self {
            ensemble,
            settings: Settings::default(),
            program,
            partners: OnceLock::new(),
            quotient: Kept::new(),
            coalitional: Kept::new(),
        })
    }

    /// v(∅) of every explicand, per output: what the trees expect of a row of which nothing is known.
    pub fn base(&self) -> &[f64] {
        &self.program.base
    }

    /// The `value` of every feature, for every output and each of the rows.
    ///
    /// Accurate to rounding: for efficient values, values and base add up to the prediction within 1e-12 of the largest, at any depth. A
    /// row's values are the same bits whatever the number of threads, the rows beside it and the instruction set of the machine.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`](apportion_games::GameError::Width) where rows have another number of columns than the model has features,
    /// [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) where a value is infinite,
    /// [`TreeError::Value`] for weights by size of another number of players than the model has features,
    /// [`TreeError::Unsupported`] for a kernel that was [asked for](Self::with_settings) and cannot be used.
    pub fn values(&self, value: Semivalue, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        value.check_players(self.ensemble.feature_count())?;
        self.explain(&self.program, &value, Players::Features, rows)
    }

    /// The coalitional `value` of every feature, for every output and each of the rows: features in the groups of `partition`, one
    /// semivalue between the groups and one within them.
    ///
    /// ```text
    /// g_i = Σ_{A ⊆ M∖j} Σ_{T ⊆ S_j∖i} w^(1)(A) w^(2)(T) [v(Q_A ∪ T ∪ i) − v(Q_A ∪ T)],     i ∈ S_j
    /// ```
    ///
    /// (Kotsiopoulos et al., *Approximation of group explainers with coalition structure using Monte Carlo sampling on the product space of
    /// coalitions and features*, 2023, equation 3.13): Owen, Banzhaf-Owen, and every other pair. As exact as [`values`](Self::values), to
    /// which groups of one and one group alone reduce it, and as independent of threads and of other rows.
    ///
    /// With G the most groups on a path and m the most features of one group on a path, a row takes
    /// O(splits × (⌈G/2⌉ (1 + g) + ⌈m/2⌉)), where g counts the groups that are tested above a split and again below it, on average: on 500
    /// trees of depth 8 with 100 features in 20 groups twice the time of Shapley values. (Weighted) Banzhaf values at a level have one node
    /// there; with weights by size it takes O(leaves × (G² + m²)). The first call with a partition takes some 300 ns per split more.
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values); [`GameError::PartitionOfOthers`](apportion_games::GameError::PartitionOfOthers) for a partition of
    /// another number of players than the model has features; [`TreeError::Value`] for weights by size of another number of
    /// groups, or of members of some group.
    ///
    /// # Example
    ///
    /// ```
    /// use apportion_games::{Partition, Rows};
    /// use apportion_trees::{Ensemble, PathDependentOracle};
    /// use apportion_values::CoalitionalValue;
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
    /// let oracle = PathDependentOracle::new(&model)?;
    /// let together = Partition::whole(2);
    /// let explained = oracle.coalitional_values(&CoalitionalValue::owen(), &together, Rows::new(&[0.0, 9.0], 2))?;
    /// // One group alone: the Shapley values.
    /// assert!((explained.values[0] + 1.0).abs() < 1e-15 && (explained.values[1] - 0.8).abs() < 1e-15);
    /// # Ok::<(), apportion_trees::TreeError>(())
    /// ```
    pub fn coalitional_values(
        &self,
        value: &CoalitionalValue,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let ensemble = self.ensemble;
        partition.check_players(ensemble.feature_count())?;
        value.check(partition)?;
        if partition.largest() <= 1 {
            return self.values(value.between.clone(), rows);
        }
        if partition.len() == 1 {
            return self.values(value.within.clone(), rows);
        }
        if self.takes_tables() {
            let features = ensemble.feature_count();
            let weights = Weights::Grouped(Coalitional::new(value, partition, features));
            return self.by_tables(Players::Features, features, &weights, rows);
        }
        let program = self.coalitional.get(partition, || coalitional::Program::new(ensemble, partition));
        let kernel = self.by_quadrature(coalitional::Kernel::new(&program, value))?;
        let predictions = ensemble.margins(rows)?;
        let mut values = vec![0.0; predictions.len() * ensemble.feature_count()];
        match kernel {
            Some(kernel) => block::explain(&kernel, ensemble, rows, &mut values),
            None => self.row_by_row(
                rows,
                &mut values,
                || coalitional::BySize::new(value, partition),
                |kernel, tree, row, phi| kernel.add(ensemble, tree, row, phi),
            ),
        }
        Attributions::new(values, self.program.base.clone(), predictions)
    }

    /// The `value` of every group of `partition` in the game among the groups, for every output and each of the rows:
    /// [`Attributions::values`] has rows × groups × outputs.
    ///
    /// In the quotient game `v^P(A) = v(∪_{j∈A} S_j)` (Kotsiopoulos et al. 2023, Definition 2.1) a group's features are known together or
    /// not at all, so that tests on features of one group are to it what tests on one feature are to that feature. Takes the time of
    /// [`values`](Self::values), or less where paths have fewer groups than features; the first call with a partition some 70 ns per split
    /// more.
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
        partition.check_players(self.ensemble.feature_count())?;
        value.check_players(partition.len())?;
        let players = Players::Groups(partition);
        let program = self.quotient.get(partition, || Program::new(self.ensemble, players));
        self.explain(&program, &value, players, rows)
    }

    /// The two-step Shapley value of every feature, for every output and each of the rows: the Shapley value among the members of its
    /// group alone, and an equal share of what the group gets beyond that.
    ///
    /// ```text
    /// TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − (v(S_j) − v(∅))) / |S_j|,     i ∈ S_j
    /// ```
    ///
    /// (Kotsiopoulos et al. 2023, equation 3.19, of the game less v(∅)). Takes the time of
    /// [`coalitional_values`](Self::coalitional_values) with one node between the groups, and that of
    /// [`quotient_values`](Self::quotient_values).
    ///
    /// # Errors
    ///
    /// As [`coalitional_values`](Self::coalitional_values).
    pub fn two_step_shapley(&self, partition: &Partition, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        let alone = self.coalitional_values(&members_alone()?, partition, rows)?;
        let groups = self.quotient_values(Semivalue::Shapley, partition, rows)?;
        two_step(partition, alone, &groups)
    }

    /// The values of the players for whom `program` was made.
    fn explain(
        &self,
        program: &Program,
        value: &Semivalue,
        players: Players<'_>,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let ensemble = self.ensemble;
        let count = match players {
            Players::Features => ensemble.feature_count(),
            Players::Groups(partition) => partition.len(),
        };
        if self.takes_tables() {
            return self.by_tables(players, count, &Weights::Alike(Moments::new(value.clone(), count)), rows);
        }
        let distinct = program.trees.iter().map(|tree| tree.distinct);
        let rules = self.by_quadrature(block::rules(distinct, value))?;
        let predictions = ensemble.margins(rows)?;
        let mut values = vec![0.0; predictions.len() * count];
        match rules {
            Some(rules) => {
                block::explain(&Kernel { program, rules }, ensemble, rows, &mut values);
            }
            None => self.row_by_row(
                rows,
                &mut values,
                || BySize::new(value, players),
                |kernel, tree, row, phi| kernel.add(ensemble, tree, row, phi),
            ),
        }
        Attributions::new(values, self.program.base.clone(), predictions)
    }

    /// The values of so many players by tables.
    fn by_tables(
        &self,
        players: Players<'_>,
        count: usize,
        weights: &Weights,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let ensemble = self.ensemble;
        let predictions = ensemble.margins(rows)?;
        let player_of: Vec<u32> =
            (0..ensemble.feature_count()).map(|feature| players.of(feature) as u32).collect();
        let precision = self.settings.precision;
        let values = tables::values(ensemble, (&player_of, count), weights, precision, rows)?;
        Attributions::new(values, self.program.base.clone(), predictions)
    }

    /// Adds up what a kernel says of one tree and one row, which is rounded: shares of the numbers of the row, by number.
    fn row_by_row<K>(
        &self,
        rows: Rows<'_>,
        values: &mut [f64],
        kernel: impl Fn() -> K + Sync + Send,
        add: impl Fn(&mut K, &Tree, &[f64], &mut dyn FnMut(usize, f64)) + Sync + Send,
    ) {
        let (features, outputs) = (self.ensemble.feature_count(), self.ensemble.output_count());
        if values.is_empty() {
            return;
        }
        let width = values.len() / rows.len();
        values.par_chunks_mut(width).zip(rows.values().par_chunks(features)).for_each_init(
            || (kernel(), Vec::with_capacity(features)),
            |(kernel, rounded), (values, row)| {
                rounded.clear();
                rounded.extend(row.iter().map(|&value| self.ensemble.width().round(value)));
                for tree in self.ensemble.trees() {
                    add(kernel, tree, rounded, &mut |player, share| {
                        values[player * outputs + tree.output] += share;
                    });
                }
            },
        );
    }
}
