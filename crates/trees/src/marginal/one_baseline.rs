//! The marginal game with one baseline, which is a path-dependent game whose values quadrature computes: see
//! [`AgainstBaseline`].

use apportion_games::Rows;
use apportion_values::{Attributions, Semivalue};

use super::cost;
use super::tree_explainer::MarginalTreeExplainer;
use crate::engine::finite::finite;
use crate::engine::settings::{Kernel, Plan};
use crate::error::TreeError;
use crate::path_dependent::{AgainstBaseline, Cost};
use apportion_models::tree::Tree;

/// The time to prepare a split, in nanoseconds.
const PREPARE: f64 = 70.0;
/// Minimum number of rows for which quadrature may replace the walk.
const FEW: usize = 12;
/// The maximum path length: quadrature rules for longer paths take too long to compute.
const MAX_PATH_FEATURES: usize = 64;

impl MarginalTreeExplainer<'_> {
    /// Computes the values by quadrature, if quadrature is applicable and is either requested or faster than
    /// the walk; otherwise, returns `None`.
    pub(super) fn by_quadrature(
        &self,
        value: &Semivalue,
        rows: Rows<'_>,
    ) -> Result<Option<Attributions>, TreeError> {
        self.ensemble.check_rows(rows, "row")?;
        self.check_joint()?;
        if self.quadrature_seconds(value, rows, rows.len()).is_none() {
            return Ok(None);
        }
        let ensemble = &*self.ensemble;
        let predictions = ensemble.margins(rows)?;
        let against = self.baseline.get_or_init(|| AgainstBaseline::new(ensemble, &self.background));
        let mut values = vec![0.0; predictions.len() * ensemble.feature_count()];
        against.explain(ensemble, value, rows, &mut values);
        let places: Vec<usize> = (0..ensemble.feature_count()).collect();
        self.add_joint(&self.of_features(value), &places, rows, &mut values);
        finite(Attributions::for_players(places.len(), values, self.base.clone(), predictions)).map(Some)
    }

    /// Returns the plan of [`by_quadrature`](Self::by_quadrature), or `None` if quadrature is not used.
    pub(super) fn plan_by_quadrature(
        &self,
        value: &Semivalue,
        sample: Rows<'_>,
        count: usize,
    ) -> Option<Plan> {
        let seconds = self.quadrature_seconds(value, sample, count)?;
        let plan = Plan { kernels: vec![(Kernel::Quadrature, self.ensemble.trees().len())], seconds };
        Some(match self.joint_plan(&self.of_features(value), sample, count) {
            Some(joint) => plan.and(joint),
            None => plan,
        })
    }

    /// Returns the predicted time of quadrature for `count` rows similar to those in `sample`; `None` if
    /// quadrature is not used.
    fn quadrature_seconds(&self, value: &Semivalue, sample: Rows<'_>, count: usize) -> Option<f64> {
        let is_asked = match self.settings.kernel {
            None => false,
            Some(Kernel::Quadrature) => true,
            Some(_) => return None,
        };
        let chosen = self.settings.rows.unwrap_or(count);
        if !is_asked && chosen < FEW {
            return None;
        }
        let ensemble = &*self.ensemble;
        let one =
            !self.compiled && self.weights.len() == 1 && !ensemble.trees().iter().any(|tree| tree.linear);
        let max_width = ensemble.depth().min(ensemble.feature_count());
        if !one || self.settings.keep_tables || max_width > MAX_PATH_FEATURES {
            return None;
        }
        let lengths = AgainstBaseline::rule_lengths(value, max_width)?;
        let splits = ensemble.leaf_count() - ensemble.tree_count();
        let quadrature = |count: usize| -> f64 {
            let cost = Cost::new(count, splits, ensemble.depth());
            let of_tree = |tree: &Tree| {
                let nodes = tree.depth.min(max_width).checked_sub(1).map_or(0, |others| lengths[others]);
                let splits = tree.leaves - 1;
                PREPARE * splits as f64 + cost.nanoseconds(splits, nodes)
            };
            ensemble.trees().iter().map(of_tree).sum()
        };
        let walks = || -> f64 {
            let walk = |task: &cost::Task<'_>| cost::predict(task, cost::Algorithm::Walk);
            self.for_each_tree(&self.of_features(value), sample, count, walk).iter().sum()
        };
        (is_asked || quadrature(chosen) < walks()).then(|| quadrature(count) * 1e-9)
    }
}
