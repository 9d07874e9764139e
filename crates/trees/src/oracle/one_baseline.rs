//! Against one baseline the game is a path-dependent one, and quadrature computes its values: see [`AgainstBaseline`].

use apportion_games::Rows;
use apportion_values::Semivalue;

use super::kept::Asked;
use super::{Attributions, InterventionalOracle, cost};
use crate::error::TreeError;
use crate::kernel::{Kernel, Plan};
use crate::moments::Moments;
use crate::path_dependent::{AgainstBaseline, Cost};
use crate::tables::table::Weights;
use apportion_models::tree::Tree;

/// Nanoseconds to prepare a split.
const PREPARE: f64 = 70.0;
/// Fewer rows than this are walked without asking.
const FEW: usize = 12;
/// Rules for longer paths take their time to be made, and are not asked for.
const WIDEST: usize = 64;

impl InterventionalOracle<'_> {
    /// The values by quadrature, where there is one and it is asked for or takes less time than walks.
    pub(super) fn by_quadrature(
        &self,
        value: &Semivalue,
        rows: Rows<'_>,
    ) -> Result<Option<Attributions>, TreeError> {
        value.check_players(self.features.len())?;
        self.ensemble.check_rows(rows, "row")?;
        if self.quadrature_seconds(value, rows, rows.len()).is_none() {
            return Ok(None);
        }
        let ensemble = self.ensemble;
        let predictions = ensemble.margins(rows)?;
        let against = self.baseline.get_or_init(|| AgainstBaseline::new(ensemble, &self.background));
        let mut values = vec![0.0; predictions.len() * ensemble.feature_count()];
        against.explain(ensemble, value, rows, &mut values);
        Attributions::new(values, self.base.clone(), predictions).map(Some)
    }

    /// The plan of [`by_quadrature`](Self::by_quadrature).
    pub(super) fn plan_by_quadrature(
        &self,
        value: &Semivalue,
        sample: Rows<'_>,
        count: usize,
    ) -> Option<Plan> {
        let seconds = self.quadrature_seconds(value, sample, count)?;
        Some(Plan { kernels: vec![(Kernel::Quadrature, self.ensemble.tree_count())], seconds })
    }

    /// The predicted time of quadrature for `count` rows like those of `sample`; `None` where it is not to be taken.
    fn quadrature_seconds(&self, value: &Semivalue, sample: Rows<'_>, count: usize) -> Option<f64> {
        let is_asked = match self.settings.kernel {
            None => false,
            Some(Kernel::Quadrature) => true,
            Some(_) => return None,
        };
        if !is_asked && count < FEW {
            return None;
        }
        let ensemble = self.ensemble;
        let one =
            !self.compiled && self.weights.len() == 1 && !ensemble.trees().iter().any(|tree| tree.linear);
        let widest = ensemble.depth().min(ensemble.feature_count());
        if !one || self.settings.keep_tables || widest > WIDEST {
            return None;
        }
        let lengths = AgainstBaseline::rule_lengths(value, widest)?;
        let splits = ensemble.leaf_count() - ensemble.tree_count();
        let cost = Cost::new(count, splits, ensemble.depth());
        let of_tree = |tree: &Tree| {
            let nodes = tree.depth.min(widest).checked_sub(1).map_or(0, |others| lengths[others]);
            let splits = tree.leaves - 1;
            PREPARE * splits as f64 + cost.nanoseconds(splits, nodes)
        };
        let quadrature: f64 = ensemble.trees().iter().map(of_tree).sum();
        let walks = || -> f64 {
            let moments = Moments::new(value.clone(), 1);
            let question = self.of_features(Weights::Alike(moments), Asked::Values(value.clone()));
            let walk = |task: &cost::Task<'_>| cost::predict(task, cost::Kernel::Walk);
            self.for_each_tree(&question, sample, count, walk).iter().sum()
        };
        (is_asked || quadrature < walks()).then_some(quadrature * 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Case, semivalues};
    use super::*;
    use crate::common::{Random, TreeSpec};
    use crate::kernel::Settings;

    fn explain(case: &Case, kernel: Option<Kernel>, value: &Semivalue) -> Result<Attributions, TreeError> {
        let oracle = InterventionalOracle::new(&case.ensemble, case.background(), None).unwrap();
        oracle
            .with_settings(Settings { kernel, ..Settings::default() })
            .values(value.clone(), case.explicands())
    }

    #[test]
    fn quadrature_against_one_baseline_gives_the_values_of_walks() {
        let random = &mut Random(71);
        for (features, depth, outputs, rows) in
            [(1, 3, 1, 5), (2, 4, 1, 40), (5, 7, 2, 130), (16, 6, 1, 9), (70, 5, 3, 65)]
        {
            let all: Vec<usize> = (0..features).collect();
            let mut trees: Vec<TreeSpec> = (0..3 * outputs)
                .map(|tree| TreeSpec::random(random, &all, depth, true, tree % outputs))
                .collect();
            trees.push(TreeSpec::leaf(0.5));
            // Features tested again after all others.
            let some = &all[..features.min(20)];
            let chain: Vec<usize> = some.iter().chain(some).copied().collect();
            trees.push(TreeSpec::chain(random, &chain));
            let case = Case::new(random, trees, features, outputs, (rows, 1));
            let mut computed = 0;
            for value in semivalues(features) {
                let walked = explain(&case, Some(Kernel::Walk), &value).unwrap();
                let chosen = explain(&case, None, &value).unwrap();
                let results = match explain(&case, Some(Kernel::Quadrature), &value) {
                    Ok(results) => {
                        computed += 1;
                        vec![chosen, results]
                    }
                    Err(TreeError::Unsupported { .. }) => vec![chosen],
                    Err(error) => panic!("{error}"),
                };
                for got in results {
                    assert_eq!((&got.base, &got.predictions), (&walked.base, &walked.predictions));
                    for (got, wanted) in got.values.iter().zip(&walked.values) {
                        let close = (got - wanted).abs() < 1e-12;
                        assert!(close, "{features} features, {value}: {got} != {wanted}");
                    }
                }
            }
            assert!(computed >= 3, "{computed}");
        }
    }

    #[test]
    fn many_rows_of_a_large_model_take_quadrature_and_several_baselines_do_not() {
        let random = &mut Random(72);
        let all: Vec<usize> = (0..6).collect();
        let trees: Vec<TreeSpec> = (0..10).map(|_| TreeSpec::random(random, &all, 6, false, 0)).collect();
        let case = Case::new(random, trees, 6, 1, (3000, 2));
        let plan = |baselines: usize, rows: usize, value: Semivalue| {
            let background = Rows::new(&case.background[..6 * baselines], 6);
            let oracle = InterventionalOracle::new(&case.ensemble, background, None).unwrap();
            oracle.plan(&value, Rows::new(&case.explicands[..6 * rows], 6)).unwrap().kernels
        };
        assert_eq!(plan(1, 3000, Semivalue::Shapley), [(Kernel::Quadrature, 10)]);
        assert_eq!(plan(1, 1, Semivalue::Shapley), [(Kernel::Walk, 10)]);
        let absent = Semivalue::mixture(&[0.0], &[1.0]).unwrap();
        for kernels in [plan(2, 3000, Semivalue::Shapley), plan(1, 3000, absent)] {
            assert!(kernels.iter().all(|&(kernel, _)| kernel != Kernel::Quadrature), "{kernels:?}");
        }
    }
}
