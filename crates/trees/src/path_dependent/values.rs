//! What the oracle of the path-dependent game can be asked for: values and plans.

use std::borrow::Cow;
use std::sync::Arc;

use apportion_games::{Partition, Rows};
use apportion_models::tree::Tree;
use apportion_values::{CoalitionalValue, Semivalue, Value};

use super::by_size::BySize;
use super::kernel::OfPlayers;
use super::lanes::rules;
use super::oracle::PathDependentOracle;
use super::program::Program;
use super::{block, coalitional, tables};
use crate::engine::attributions::Attributions;
use crate::engine::driver::in_tasks;
use crate::engine::groups::{Coalitional, group_of};
use crate::engine::interactions::{Diagonal, Interactions};
use crate::engine::moments::Moments;
use crate::engine::settings::Plan;
use crate::engine::two_step::{members_alone, two_step};
use crate::engine::value;
use crate::engine::weights::Weights;
use crate::error::TreeError;
use crate::exact::Exact;

impl PathDependentOracle<'_> {
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
        self.values_of(&value.into(), rows)
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
        self.values_of(&Value::Coalitional(value.clone(), partition.clone()), rows)
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
        self.values_of(&Value::quotient(value, partition.clone()), rows)
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
        self.values_of(&Value::two_step(partition.clone()), rows)
    }

    /// The features as players, or groups of them, with their program.
    pub(super) fn players(&self, groups: Option<&Partition>) -> Players<'_> {
        match groups {
            None => Players {
                of: Cow::Borrowed(&self.features),
                count: self.features.len(),
                program: Held::Own(&self.program),
            },
            Some(groups) => {
                let of = group_of(groups);
                let make = || Arc::new(Program::new(&self.ensemble, &of));
                let program = self.quotient.get(groups, make);
                Players { count: groups.len(), program: Held::Shared(program), of: Cow::Owned(of) }
            }
        }
    }

    /// A semivalue of players.
    fn of_players(
        &self,
        value: &Semivalue,
        players: &Players<'_>,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let (ensemble, program) = (&*self.ensemble, players.program());
        if self.takes_tables() {
            let weights = Weights::Alike(Moments::new(value.clone(), players.count));
            return self.by_tables(&players.of, players.count, &weights, rows);
        }
        let rules = self.by_quadrature(rules(program.trees.iter().map(|tree| tree.distinct), value))?;
        let predictions = ensemble.margins(rows)?;
        let mut values = vec![0.0; predictions.len() * players.count];
        match rules {
            Some(rules) => block::explain(&OfPlayers { program, rules }, ensemble, rows, &mut values),
            None => self.row_by_row(
                rows,
                &mut values,
                || BySize::new(value, &players.of),
                |kernel, tree, row, phi| kernel.add(ensemble, tree, row, phi),
            ),
        }
        Attributions::new(values, self.program.base.clone(), predictions)
    }

    /// A coalitional value of features.
    fn in_groups(
        &self,
        value: &CoalitionalValue,
        groups: &Partition,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let (ensemble, features) = (&*self.ensemble, &self.features);
        if self.takes_tables() {
            let weights = Weights::Grouped(Coalitional::new(value, groups, features.len()));
            return self.by_tables(features, features.len(), &weights, rows);
        }
        let program = self.in_these(groups);
        let kernel = self.by_quadrature(coalitional::OfMembers::new(&program, value))?;
        let predictions = ensemble.margins(rows)?;
        let mut values = vec![0.0; predictions.len() * features.len()];
        match kernel {
            Some(kernel) => block::explain(&kernel, ensemble, rows, &mut values),
            None => self.row_by_row(
                rows,
                &mut values,
                || coalitional::BySize::new(value, groups, features),
                |kernel, tree, row, phi| kernel.add(ensemble, tree, row, phi),
            ),
        }
        Attributions::new(values, self.program.base.clone(), predictions)
    }

    /// The program of features in these groups.
    pub(super) fn in_these(&self, groups: &Partition) -> Arc<coalitional::Program> {
        self.coalitional.get(groups, || Arc::new(coalitional::Program::new(&self.ensemble, groups)))
    }

    /// The values of so many players by tables.
    fn by_tables(
        &self,
        player_of: &[u32],
        players: usize,
        weights: &Weights,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let predictions = self.ensemble.margins(rows)?;
        let precision = self.settings.precision;
        let values = tables::values(&self.ensemble, (player_of, players), weights, precision, rows)?;
        Attributions::new(values, self.program.base.clone(), predictions)
    }

    /// Adds up what a kernel says of one tree and one row, which is rounded: shares of the numbers of the row, by number.
    pub(super) fn row_by_row<K>(
        &self,
        rows: Rows<'_>,
        values: &mut [f64],
        kernel: impl Fn() -> K + Sync + Send,
        add: impl Fn(&mut K, &Tree, &[f64], &mut dyn FnMut(usize, f64)) + Sync + Send,
    ) {
        let (ensemble, outputs) = (&*self.ensemble, self.ensemble.output_count());
        let memory = || (kernel(), Vec::new());
        in_tasks(rows, 1, values, memory, |(kernel, rounded), values, row| {
            rounded.clear();
            rounded.extend(row.iter().map(|&value| ensemble.width().round(value)));
            for tree in ensemble.trees() {
                add(kernel, tree, rounded, &mut |player, share| {
                    values[player * outputs + tree.output] += share;
                });
            }
        });
    }
}

/// Who plays.
pub(super) struct Players<'a> {
    /// The player of each feature.
    pub(super) of: Cow<'a, [u32]>,
    pub(super) count: usize,
    program: Held<'a>,
}

/// A program of the oracle, or of the groups of the last call.
enum Held<'a> {
    Own(&'a Program),
    Shared(Arc<Program>),
}

impl Players<'_> {
    pub(super) fn program(&self) -> &Program {
        match &self.program {
            Held::Own(program) => program,
            Held::Shared(program) => program,
        }
    }
}

impl Exact for PathDependentOracle<'_> {
    fn base(&self) -> &[f64] {
        &self.program.base
    }

    fn values_of(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        value::check(value, self.features.len())?;
        match value {
            Value::Semivalue(value) => self.of_players(value, &self.players(None), rows),
            Value::Quotient(value, groups) => self.of_players(value, &self.players(Some(groups)), rows),
            Value::Coalitional(of, groups) => match value::reduced(value) {
                Some(reduced) => self.values(reduced.clone(), rows),
                None => self.in_groups(of, groups, rows),
            },
            Value::TwoStepShapley(groups) => {
                let alone = self.coalitional_values(&members_alone()?, groups, rows)?;
                two_step(groups, alone, &self.quotient_values(Semivalue::Shapley, groups, rows)?)
            }
            _ => Err(value::unsupported(value)),
        }
    }

    fn interactions_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        self.pairs_of(value, diagonal, rows)
    }

    fn plan_of(&self, value: &Value, count: usize, _: Rows<'_>) -> Result<Plan, TreeError> {
        self.plan_for(value, count)
    }
}
