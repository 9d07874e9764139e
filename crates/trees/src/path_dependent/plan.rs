//! The choice of the kernel and its predicted time.

use apportion_models::tree::Tree;
use apportion_values::{Rule, Semivalue, Value};

use super::cost::Cost;
use super::lanes::rules;
use super::program::TreeProgram;
use super::tree_explainer::PathDependentTreeExplainer;
use super::{coalitional, tables};
use crate::engine::settings::{Kernel, Plan, Settings};
use crate::engine::two_step::members_alone;
use crate::engine::value;
use crate::error::TreeError;

/// The time per leaf and row in nanoseconds: a constant, and a term per level of the tree.
const LEAF: (f64, f64) = (50.0, 15.0);
/// The time of a prediction per level of a tree, in nanoseconds.
const PREDICTION: f64 = 2.0;

impl PathDependentTreeExplainer<'_> {
    /// Sets the kernel and the precision. By default, the tree explainer uses quadrature for every value that
    /// has a rule, because it is faster for any number of rows. It uses the walk for values without a rule:
    /// values of hierarchies of three levels or more, and weights by coalition size.
    ///
    /// The supported [kernels](Kernel) are [`Quadrature`](Kernel::Quadrature), [`Walk`](Kernel::Walk), and,
    /// except for interactions, [`Tables`](Kernel::Tables). Tables only support paths of few features, may be
    /// faster for many thousand rows, and are never kept. For other kernels, and for quadrature with a value
    /// that does not have a rule, all methods return [`TreeError::Unsupported`]. If a path is too long for
    /// tables, they return [`TreeError::Kernel`]. The precision in the settings only applies to tables.
    ///
    /// ```
    /// use apportion_games::Rows;
    /// use apportion_trees::{Ensemble, Exact, Kernel, PathDependentTreeExplainer, Settings};
    /// use apportion_values::Semivalue;
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
    /// let settings = Settings::default().with_kernel(Kernel::Walk);
    /// let tree_explainer = PathDependentTreeExplainer::new(&model)?.with_settings(settings);
    /// let row = Rows::new(&[0.0, 9.0], 2);
    /// assert_eq!(tree_explainer.plan(Semivalue::Shapley, row)?.kernels, [(Kernel::Walk, 1)]);
    /// let walked = tree_explainer.values(Semivalue::Shapley, row)?;
    /// assert!((walked.values[0] + 1.0).abs() < 1e-15);
    /// # Ok::<(), apportion_trees::TreeError>(())
    /// ```
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Returns the plan for `rows` rows and any supported value.
    pub(super) fn plan_for(&self, value: &Value, rows: usize) -> Result<Plan, TreeError> {
        let ensemble = &*self.ensemble;
        value::check(value, self.features.len())?;
        let levels: usize = ensemble.trees().iter().map(|tree| tree.depth).sum();
        let plan = |kernel, nanoseconds: f64| Plan {
            kernels: vec![(kernel, ensemble.tree_count())],
            seconds: (nanoseconds + PREDICTION * rows as f64 * levels as f64) * 1e-9,
        };
        // Returns the plan for quadrature, which takes `nanoseconds` for all trees, or for the walk, row by
        // row, if there is no rule.
        let of_rules = |nanoseconds: Option<f64>| match nanoseconds {
            Some(nanoseconds) => plan(Kernel::Quadrature, nanoseconds),
            None => {
                let (least, level) = LEAF;
                let of_tree = |tree: &Tree| tree.leaves as f64 * (least + level * tree.depth as f64);
                plan(Kernel::Walk, rows as f64 * ensemble.trees().iter().map(of_tree).sum::<f64>())
            }
        };
        let length = |rule: &Option<Rule>| rule.as_ref().map_or(0, Rule::len);
        if let Some(flat) = value::flat(value) {
            return self.plan_for(&flat, rows);
        }
        if let Some(reduced) = value::reduced(value) {
            return self.plan_for(&reduced.clone().into(), rows);
        }
        match value {
            Value::TwoStepShapley(groups) => {
                let alone = self.plan_for(&Value::Coalitional(members_alone()?, groups.clone()), rows)?;
                let of_groups = Value::quotient(Semivalue::Shapley, groups.clone());
                Ok(alone.and(self.plan_for(&of_groups, rows)?))
            }
            _ if self.takes_tables() => Ok(plan(Kernel::Tables, tables::nanoseconds(ensemble, rows)?)),
            Value::Coalitional(value, groups) => {
                // Each tree is traversed once between the groups, and once within them.
                let program = self.in_these(groups);
                let kernel = self.by_quadrature(coalitional::MemberKernel::new(&program, value))?;
                let cost = Cost::new(rows, self.program.split_count(), self.program.levels());
                let of_tree = |kernel: &coalitional::MemberKernel<'_>, tree| {
                    let ((between, within), splits) = (kernel.rules(tree), program.splits_of(tree));
                    cost.nanoseconds(splits, between.len()) + cost.nanoseconds(splits, within.len())
                };
                Ok(of_rules(
                    kernel.map(|kernel| program.trees.iter().map(|tree| of_tree(&kernel, tree)).sum()),
                ))
            }
            Value::OverHierarchy(..) => {
                self.by_quadrature(None::<()>)?;
                Ok(of_rules(None))
            }
            Value::Semivalue(semivalue) | Value::Quotient(semivalue, _) => {
                let players = self.players(value.groups());
                let program = players.program();
                let rules =
                    self.by_quadrature(rules(program.trees.iter().map(|tree| tree.distinct), semivalue))?;
                let cost = Cost::new(rows, program.split_count(), program.levels());
                let of_tree = |rules: &[Option<Rule>], tree: &TreeProgram| {
                    cost.nanoseconds(tree.splits.len(), length(&rules[tree.distinct]))
                };
                let of_trees = |rules: Vec<_>| program.trees.iter().map(|tree| of_tree(&rules, tree)).sum();
                Ok(of_rules(rules.map(of_trees)))
            }
            _ => Err(value::unsupported(value)),
        }
    }

    /// Returns whether the settings specify tables.
    pub(super) fn takes_tables(&self) -> bool {
        self.settings.kernel == Some(Kernel::Tables)
    }

    /// Returns `quadrature`, or `None` if the settings specify the walk.
    ///
    /// # Errors
    ///
    /// [`TreeError::Unsupported`] if the settings specify a kernel that is not available.
    pub(super) fn by_quadrature<T>(&self, quadrature: Option<T>) -> Result<Option<T>, TreeError> {
        let refused = |what: String, help| Err(TreeError::Unsupported { what, help });
        match (self.settings.kernel, quadrature) {
            (None, quadrature) => Ok(quadrature),
            (Some(Kernel::Walk), _) => Ok(None),
            (Some(Kernel::Quadrature), Some(quadrature)) => Ok(Some(quadrature)),
            (Some(Kernel::Quadrature), None) => refused(
                "kernel quadrature for a value without a quadrature rule (weights by size, nested groups, \
                 and interactions of a mixture with an atom at 1)"
                    .to_owned(),
                "leave the kernel unset, or use walk",
            ),
            (Some(kernel), _) => refused(
                format!("kernel {kernel} for these values in the path-dependent game"),
                "leave the kernel unset, or use quadrature or walk",
            ),
        }
    }
}
