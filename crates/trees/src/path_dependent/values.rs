//! The values and plans of the path-dependent tree explainer.

use std::borrow::Cow;
use std::sync::Arc;

use apportion_games::{Cancellation, Hierarchy, Partition, Rows};
use apportion_models::tree::Tree;
use apportion_values::{Attributions, CoalitionalValue, InteractionIndex, Interactions, Semivalue, Value};

use super::by_size::BySize;
use super::kernel::PlayerKernel;
use super::lanes::rules;
use super::over_hierarchy::OverHierarchy;
use super::program::Program;
use super::tree_explainer::PathDependentTreeExplainer;
use super::{block, coalitional, tables};
use crate::engine::driver::in_tasks;
use crate::engine::finite::finite;
use crate::engine::groups::{Coalitional, group_of};
use crate::engine::interactions::Diagonal;
use crate::engine::levels::{GroupTree, Levels};
use crate::engine::moments::Moments;
use crate::engine::settings::Plan;
use crate::engine::two_step::{members_alone, two_step};
use crate::engine::value;
use crate::engine::weights::Weights;
use crate::error::TreeError;
use crate::exact::Exact;

impl PathDependentTreeExplainer<'_> {
    /// Returns the players, which are the features unless `groups` are given, and the program for these
    /// players.
    pub(super) fn players(&self, groups: Option<&Partition>) -> Players<'_> {
        match groups {
            None => Players {
                of: Cow::Borrowed(&self.features),
                count: self.features.len(),
                program: ProgramRef::Own(&self.program),
            },
            Some(groups) => {
                let of = group_of(groups);
                let make = || Arc::new(Program::new(&self.ensemble, &of));
                let program = self.quotient.get(groups, make);
                Players { count: groups.len(), program: ProgramRef::Shared(program), of: Cow::Owned(of) }
            }
        }
    }

    /// Computes a semivalue for all rows and players.
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
            Some(rules) => block::explain(&PlayerKernel { program, rules }, ensemble, rows, &mut values),
            None => self.row_by_row(
                rows,
                &mut values,
                || BySize::new(value, &players.of),
                |kernel, tree, row, phi| kernel.add(ensemble, tree, row, phi),
            ),
        }
        finite(Attributions::for_players(players.count, values, self.program.base.clone(), predictions))
    }

    /// Computes a coalitional value of features in groups, for all rows.
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
        let kernel = self.by_quadrature(coalitional::MemberKernel::new(&program, value))?;
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
        finite(Attributions::for_players(features.len(), values, self.program.base.clone(), predictions))
    }

    /// Computes a coalitional value of features in a hierarchy of groups, for all rows.
    fn over_hierarchy(
        &self,
        value: &CoalitionalValue,
        hierarchy: &Hierarchy,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let (ensemble, features) = (&*self.ensemble, &self.features);
        if self.takes_tables() {
            let weights = Weights::OverHierarchy(Levels::new(value, hierarchy, features.len()));
            return self.by_tables(features, features.len(), &weights, rows);
        }
        self.by_quadrature(None::<()>)?;
        let predictions = ensemble.margins(rows)?;
        let mut values = vec![0.0; predictions.len() * features.len()];
        let tree = GroupTree::new(hierarchy);
        self.row_by_row(
            rows,
            &mut values,
            || OverHierarchy::new(value, &tree, features),
            |kernel, tree, row, phi| kernel.add(ensemble, tree, row, phi),
        );
        finite(Attributions::for_players(features.len(), values, self.program.base.clone(), predictions))
    }

    /// Returns the program for features in these groups. It is computed unless the last call had the same
    /// groups.
    pub(super) fn in_these(&self, groups: &Partition) -> Arc<coalitional::Program> {
        self.coalitional.get(groups, || Arc::new(coalitional::Program::new(&self.ensemble, groups)))
    }

    /// Computes the values of `players` players with tables.
    fn by_tables(
        &self,
        player_of: &[u32],
        players: usize,
        weights: &Weights,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let predictions = self.ensemble.margins(rows)?;
        let values = tables::values(&self.ensemble, (player_of, players), weights, self.settings, rows)?;
        finite(Attributions::for_players(players, values, self.program.base.clone(), predictions))
    }

    /// Sums the results of a kernel over trees, row by row. `add` is called with one tree and one rounded
    /// row. It passes each contribution to a callback, with the index of the number to which the contribution
    /// is added.
    pub(super) fn row_by_row<K: Send>(
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
                Cancellation::check();
                add(kernel, tree, rounded, &mut |player, share| {
                    values[player * outputs + tree.output] += share;
                });
            }
        });
    }
}

/// The players of a game, with the program for them.
pub(super) struct Players<'a> {
    /// The player of each feature.
    pub(super) of: Cow<'a, [u32]>,
    pub(super) count: usize,
    program: ProgramRef<'a>,
}

/// The program of the tree explainer, or of the groups of the most recent call.
enum ProgramRef<'a> {
    Own(&'a Program),
    Shared(Arc<Program>),
}

impl Players<'_> {
    pub(super) fn program(&self) -> &Program {
        match &self.program {
            ProgramRef::Own(program) => program,
            ProgramRef::Shared(program) => program,
        }
    }
}

impl Exact for PathDependentTreeExplainer<'_> {
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
            Value::OverHierarchy(of, hierarchy) => match (value::flat(value), value::reduced(value)) {
                (Some(flat), _) => self.values(flat, rows),
                (None, Some(reduced)) => self.values(reduced.clone(), rows),
                (None, None) => self.over_hierarchy(of, hierarchy, rows),
            },
            Value::TwoStepShapley(groups) => {
                let alone = self.values(Value::Coalitional(members_alone()?, groups.clone()), rows)?;
                let of_groups = self.values(Value::quotient(Semivalue::Shapley, groups.clone()), rows)?;
                two_step(groups, alone, &of_groups)
            }
            _ => Err(value::unsupported(value)),
        }
    }

    fn interactions_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        self.pairs_of(value, diagonal, rows)
    }

    fn indices_of(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>, TreeError> {
        self.indices(index, order, groups, rows)
    }

    fn plan_of(&self, value: &Value, count: usize, _: Rows<'_>) -> Result<Plan, TreeError> {
        self.plan_for(value, count)
    }
}
