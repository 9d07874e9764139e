//! Which kernel an oracle takes, and how long it will take.

use apportion_values::{Rule, Semivalue};

use super::block::{self, block_counts};
use super::kernel::MOST_NODES;
use super::{PathDependentOracle, TreeError, tables};
use crate::kernel::{Kernel, Plan, Settings};

/// Nanoseconds that a split takes in a block of 64 rows, of 8, and with a single row: for each way through the tree, and for each node
/// of the rule.
const SPLIT: [(f64, f64); 3] = [(12.0, 22.0), (8.0, 4.0), (8.5, 0.5)];
/// The processor learns the ways through programs of fewer splits. Through others a block of 8 rows takes longer than two single rows.
const LEARNED: usize = 100_000;
/// Nanoseconds that a leaf takes row by row: at least, and for each level of the tree.
const LEAF: (f64, f64) = (50.0, 15.0);
/// Nanoseconds that a level of a tree takes in prediction.
const PREDICTION: f64 = 2.0;

/// What quadrature costs for some rows, tree by tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Wide blocks, narrow ones, and single rows.
    counts: [usize; 3],
}

impl Cost {
    /// For so many rows, and trees with so many splits together and on the longest path.
    pub(crate) fn new(rows: usize, splits: usize, levels: usize) -> Self {
        // Those of a task are whole blocks, but for the last.
        Self { counts: block_counts(rows, levels, Self::few(splits)) }
    }

    /// Up to so many rows are taken one by one through so many splits, rather than in a block of 8.
    pub(super) fn few(splits: usize) -> usize {
        if splits > LEARNED { 2 } else { 1 }
    }

    /// Of a tree with so many splits, by a rule of so many nodes.
    pub(crate) fn nanoseconds(self, splits: usize, nodes: usize) -> f64 {
        let ways = nodes.div_ceil(MOST_NODES) as f64;
        let of_block = |(way, node): (f64, f64)| way * ways + node * nodes as f64;
        let blocks = self.counts.iter().zip(SPLIT);
        splits as f64 * blocks.map(|(&count, costs)| count as f64 * of_block(costs)).sum::<f64>()
    }
}

impl PathDependentOracle<'_> {
    /// The same oracle, told how to compute. Without settings it takes quadrature for every value that has a rule, which is the faster for any
    /// number of rows, and walks for weights by size, which have none.
    ///
    /// Of the [kernels](Kernel) it has [`Quadrature`](Kernel::Quadrature), [`Walk`](Kernel::Walk), and, but for interactions,
    /// [`Tables`](Kernel::Tables), which take paths of few features, may be faster for many thousand rows and are never kept. Asked for
    /// another, or for a quadrature of weights by size, all methods refuse with [`TreeError::Unsupported`]; where a path is too long
    /// for tables, with [`TreeError::Kernel`]. The precision is that of tables.
    ///
    /// ```
    /// use apportion_games::Rows;
    /// use apportion_trees::{Ensemble, Kernel, PathDependentOracle, Settings};
    /// use apportion_values::Semivalue;
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
    /// let settings = Settings { kernel: Some(Kernel::Walk), ..Settings::default() };
    /// let oracle = PathDependentOracle::new(&model)?.with_settings(settings);
    /// assert_eq!(oracle.plan(&Semivalue::Shapley, 1)?.kernels, [(Kernel::Walk, 1)]);
    /// let walked = oracle.values(Semivalue::Shapley, Rows::new(&[0.0, 9.0], 2))?;
    /// assert!((walked.values[0] + 1.0).abs() < 1e-15);
    /// # Ok::<(), apportion_trees::TreeError>(())
    /// ```
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// What [`values`](Self::values) would do with so many rows, and how long it would take.
    ///
    /// # Errors
    ///
    /// [`TreeError::Value`] for weights by size of another number of players than the model has features,
    /// [`TreeError::Unsupported`] for a kernel that was [asked for](Self::with_settings) and cannot be used.
    pub fn plan(&self, value: &Semivalue, rows: usize) -> Result<Plan, TreeError> {
        let ensemble = self.ensemble;
        value.check_players(ensemble.feature_count())?;
        let levels: usize = ensemble.trees().iter().map(|tree| tree.depth).sum();
        let plan = |kernel, nanoseconds: f64| Plan {
            kernels: vec![(kernel, ensemble.tree_count())],
            seconds: (nanoseconds + PREDICTION * rows as f64 * levels as f64) * 1e-9,
        };
        if self.takes_tables() {
            return Ok(plan(Kernel::Tables, tables::nanoseconds(ensemble, rows)?));
        }
        let trees = &self.program.trees;
        let rules = self.by_quadrature(block::rules(trees.iter().map(|tree| tree.distinct), value))?;
        let (kernel, nanoseconds) = match &rules {
            Some(rules) => {
                let cost = Cost::new(rows, self.program.split_count(), self.program.levels());
                let of_tree = |tree: &super::program::TreeProgram| {
                    cost.nanoseconds(tree.splits.len(), rules[tree.distinct].as_ref().map_or(0, Rule::len))
                };
                (Kernel::Quadrature, trees.iter().map(of_tree).sum::<f64>())
            }
            None => {
                let (least, level) = LEAF;
                let of_tree = |tree: &apportion_models::tree::Tree| {
                    tree.leaves as f64 * (least + level * tree.depth as f64)
                };
                (Kernel::Walk, rows as f64 * ensemble.trees().iter().map(of_tree).sum::<f64>())
            }
        };
        Ok(plan(kernel, nanoseconds))
    }

    /// Whether settings ask for tables.
    pub(super) fn takes_tables(&self) -> bool {
        self.settings.kernel == Some(Kernel::Tables)
    }

    /// `quadrature`, where there is one, unless settings say to walk.
    ///
    /// # Errors
    ///
    /// [`TreeError::Unsupported`] where settings ask for what there is not.
    pub(super) fn by_quadrature<T>(&self, quadrature: Option<T>) -> Result<Option<T>, TreeError> {
        let refused = |what: String, wanted| Err(TreeError::Unsupported { what, wanted });
        match (self.settings.kernel, quadrature) {
            (None, quadrature) => Ok(quadrature),
            (Some(Kernel::Walk), _) => Ok(None),
            (Some(Kernel::Quadrature), Some(quadrature)) => Ok(Some(quadrature)),
            (Some(Kernel::Quadrature), None) => refused(
                "the kernel quadrature for a value that has no rule for it (weights by size, and interactions of a mixture with an atom at 1)"
                    .to_owned(),
                "leave the kernel to the oracle, or ask for walk",
            ),
            (Some(kernel), _) => refused(
                format!("the kernel {kernel} for these values in the path-dependent game"),
                "leave the kernel to the oracle, or ask for quadrature or walk",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use apportion_games::{Partition, Rows};
    use apportion_values::CoalitionalValue;

    use super::super::tests::{chain, check, ensemble, forest, semivalues};
    use super::*;
    use crate::common::Random;
    use crate::{Diagonal, Ensemble};

    fn by(model: &Ensemble, kernel: Option<Kernel>) -> PathDependentOracle<'_> {
        PathDependentOracle::new(model).unwrap().with_settings(Settings { kernel, ..Settings::default() })
    }

    #[test]
    fn kernels_that_are_told_agree() {
        let random = &mut Random(61);
        let trees = forest(random, &[0, 1, 2, 3, 4, 5], 6, true, 2);
        let model = ensemble(&trees, 6, 2);
        let [free, quadrature, walk, tables] =
            [None, Some(Kernel::Quadrature), Some(Kernel::Walk), Some(Kernel::Tables)]
                .map(|kernel| by(&model, kernel));
        let rows = random.row(6 * 9);
        let rows = Rows::new(&rows, 6);
        let partition = Partition::new(6, vec![vec![0, 3], vec![1, 2, 5], vec![4]]).unwrap();
        for value in semivalues() {
            let what = format!("{value}");
            let values =
                |oracle: &PathDependentOracle<'_>| oracle.values(value.clone(), rows).unwrap().values;
            assert_eq!(values(&free), values(&quadrature));
            check(&what, &values(&walk), &values(&free));
            check(&what, &values(&tables), &values(&free));
            let quotient = |oracle: &PathDependentOracle<'_>| {
                oracle.quotient_values(value.clone(), &partition, rows).unwrap().values
            };
            check(&what, &quotient(&walk), &quotient(&free));
            check(&what, &quotient(&tables), &quotient(&free));
            let coalitional = |oracle: &PathDependentOracle<'_>| {
                let value = CoalitionalValue { between: value.clone(), within: Semivalue::Shapley };
                oracle.coalitional_values(&value, &partition, rows).unwrap().values
            };
            check(&what, &coalitional(&walk), &coalitional(&free));
            check(&what, &coalitional(&tables), &coalitional(&free));
            let pairs = |oracle: &PathDependentOracle<'_>| {
                oracle.interactions(value.clone(), Diagonal::Value, rows).unwrap().values
            };
            check(&what, &pairs(&walk), &pairs(&free));
        }
    }

    #[test]
    fn plans_say_what_is_done() {
        let random = &mut Random(62);
        let model = ensemble(&forest(random, &[0, 1, 2], 4, false, 1), 3, 1);
        let by_size = Semivalue::by_size_law(&[0.5, 0.25, 0.25]).unwrap();
        let shapley = &Semivalue::Shapley;
        for (told, value, wanted) in [
            (None, shapley, Kernel::Quadrature),
            (None, &by_size, Kernel::Walk),
            (Some(Kernel::Quadrature), shapley, Kernel::Quadrature),
            (Some(Kernel::Walk), shapley, Kernel::Walk),
            (Some(Kernel::Walk), &by_size, Kernel::Walk),
            (Some(Kernel::Tables), &by_size, Kernel::Tables),
        ] {
            let oracle = by(&model, told);
            let plan = |rows| oracle.plan(value, rows).unwrap();
            assert_eq!(plan(10).kernels, [(wanted, model.tree_count())]);
            let seconds = [0, 1, 2, 8, 64, 65, 1000, 100_000].map(|rows| plan(rows).seconds);
            assert!(seconds.is_sorted() && seconds[1] < seconds[7], "{seconds:?}");
        }
        // More nodes of the rule take longer.
        let oracle = by(&model, None);
        let seconds = |value: &Semivalue| oracle.plan(value, 100).unwrap().seconds;
        assert!(seconds(&Semivalue::Banzhaf) < seconds(shapley));
    }

    #[test]
    fn kernels_that_there_are_not_are_refused() {
        let random = &mut Random(63);
        let model = ensemble(&forest(random, &[0, 1, 2], 4, false, 1), 3, 1);
        let row = random.row(3);
        let row = Rows::new(&row, 3);
        let by_size = Semivalue::by_size_law(&[0.5, 0.25, 0.25]).unwrap();
        for (kernel, value) in [(Kernel::Masks, Semivalue::Shapley), (Kernel::Quadrature, by_size)] {
            let oracle = by(&model, Some(kernel));
            let errors = [
                oracle.plan(&value, 1).unwrap_err(),
                oracle.values(value.clone(), row).unwrap_err(),
                oracle.interactions(value.clone(), Diagonal::Value, row).unwrap_err(),
            ];
            for error in errors {
                assert!(matches!(error, TreeError::Unsupported { .. }), "{error}");
                assert!(error.to_string().contains(kernel.name()), "{error}");
            }
        }
        let error = by(&model, Some(Kernel::Tables))
            .interactions(Semivalue::Shapley, Diagonal::Value, row)
            .unwrap_err();
        assert!(matches!(error, TreeError::Unsupported { .. }), "{error}");
        let long = chain(20, 0.5);
        let oracle = by(&long, Some(Kernel::Tables));
        let error = oracle.plan(&Semivalue::Shapley, 1).unwrap_err();
        assert!(matches!(error, TreeError::Kernel { kernel: Kernel::Tables, tree: 0, .. }), "{error}");
        let atom = Semivalue::mixture(&[1.0], &[1.0]).unwrap();
        let oracle = by(&model, Some(Kernel::Quadrature));
        assert!(oracle.values(atom.clone(), row).is_ok());
        let error = oracle.interactions(atom, Diagonal::Value, row).unwrap_err();
        assert!(matches!(error, TreeError::Unsupported { .. }), "{error}");
    }
}
