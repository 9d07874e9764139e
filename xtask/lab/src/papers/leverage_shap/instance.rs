//! One run of the experiments on a dataset: the explained row and its exact Shapley values.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use apportion::games::TabulatedGame;
use apportion::trees::{Exact, MarginalTreeExplainer};
use apportion::{Background, Ensemble, Game, MarginalGame, Rows, Semivalue};

use super::contender::Contender;
use super::linear;
use crate::comparison::{self, Run};
use crate::reproduce::datasets::Dataset;
use crate::reproduce::explicand;
use crate::reproduce::store::derive_seed;

/// Maximum number of players for which all coalitions are evaluated.
pub(crate) const SMALL: usize = 12;

/// A dataset's model, an explicand, the column means as baseline, and the exact Shapley values.
pub(crate) struct Instance {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) run: usize,
    explicand: Vec<f64>,
    background: Background,
    /// φ, the exact Shapley values of the marginal game of the trees.
    pub(crate) truth: Vec<f64>,
    small: OnceLock<Small>,
}

/// Quantities that require the evaluation of all coalitions.
pub(crate) struct Small {
    /// The coalition values v(S), by mask.
    pub(crate) values: Vec<f64>,
    /// Minimum of the objective, `‖Aφ − b‖²`.
    pub(crate) residual: f64,
    /// Squared norm of the fitted values, `‖Aφ‖²`.
    pub(crate) span: f64,
}

impl Small {
    /// Returns whether the game is additive up to rounding: `‖Aφ − b‖²` is then a rounding error, and ratios
    /// to it are meaningless.
    pub(crate) fn is_additive(&self) -> bool {
        self.residual <= 1e-20 * (self.span + self.residual)
    }
}

impl Instance {
    /// Creates run `run` on `dataset` with the master seed `seed`.
    pub(crate) fn new(dataset: &Arc<Dataset>, run: usize, seed: u64) -> Result<Self> {
        let name = dataset.known.name;
        let explicand = explicand::draw(dataset, derive_seed(&("explicand", name, run, seed))?);
        let background = Background::baseline(dataset.means.clone())?;
        let truth = MarginalTreeExplainer::new(&dataset.model, background.as_rows(), None)
            .and_then(|tree_explainer| {
                tree_explainer.values(Semivalue::Shapley, Rows::new(&explicand, explicand.len()))
            })
            .with_context(|| format!("cannot compute exact values for {name}, run {run}"))?
            .values;
        Ok(Self { dataset: Arc::clone(dataset), run, explicand, background, truth, small: OnceLock::new() })
    }

    /// Returns the game `v(S) = f(x_S, baseline elsewhere)`.
    pub(crate) fn marginal(&self) -> Result<MarginalGame<'_, Ensemble>> {
        Ok(MarginalGame::new(&self.dataset.model, &self.explicand, &self.background)?)
    }

    /// Returns the error of the paper, `‖φ̃ − φ‖² / ‖φ‖²`.
    pub(crate) fn relative_error(&self, values: &[f64]) -> f64 {
        comparison::relative_error(values, &self.truth)
    }

    /// Returns the regression over all coalitions, for at most [`SMALL`] players.
    pub(crate) fn small(&self) -> Result<&Small> {
        if let Some(small) = self.small.get() {
            return Ok(small);
        }
        let values = TabulatedGame::from_game(&self.marginal()?)?.values_in_order().to_vec();
        let small = Small {
            residual: linear::objective(&values, &self.truth),
            span: comparison::squared_norm(&linear::times(&self.truth)),
            values,
        };
        Ok(self.small.get_or_init(|| small))
    }

    /// Returns `‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1`, or `None` if the game is additive up to rounding.
    pub(crate) fn objective_excess(&self, values: &[f64]) -> Result<Option<f64>> {
        let small = self.small()?;
        if small.is_additive() {
            return Ok(None);
        }
        Ok(Some(linear::objective_excess(values, &self.truth, small.residual)))
    }
}

impl Run for Instance {
    type Contender = Contender;

    const PROTOCOL: u32 = 1;

    fn number(&self) -> usize {
        self.run
    }

    fn explicand(&self) -> &[f64] {
        &self.explicand
    }

    fn game_name(_: Contender) -> &'static str {
        "interventional"
    }

    fn game(&self, _: Contender) -> Result<Box<dyn Game + '_>> {
        Ok(Box::new(self.marginal()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::datasets::{Library, known_dataset};
    use apportion::estimators::exact;

    fn instances(name: &str) -> Vec<Instance> {
        let dataset = Library::embedded().get(known_dataset(name)).unwrap();
        (0..3).map(|run| Instance::new(&dataset, run, 0).unwrap()).collect()
    }

    #[test]
    fn the_truth_is_the_shapley_value_of_the_game_by_enumeration() {
        for instance in ["iris", "diabetes"].into_iter().flat_map(instances) {
            let brute_force = exact(&instance.marginal().unwrap(), Semivalue::Shapley).unwrap().values;
            assert!(instance.relative_error(&brute_force) < 1e-24);
        }
    }

    #[test]
    fn the_excess_of_the_objective_is_the_one_computed_from_its_definition() {
        for instance in instances("diabetes") {
            let small = instance.small().unwrap();
            let away: Vec<f64> =
                instance.truth.iter().enumerate().map(|(i, p)| p + (i as f64).cos()).collect();
            let direct = linear::objective(&small.values, &away) / small.residual - 1.0;
            let got = instance.objective_excess(&away).unwrap().unwrap();
            assert!((got - direct).abs() < 1e-10 * direct, "{got} != {direct}");
        }
    }

    #[test]
    fn runs_explain_different_rows_and_no_entry_is_the_baseline() {
        let runs = instances("diabetes");
        assert_ne!(runs[0].explicand, runs[1].explicand);
        for instance in &runs {
            assert_eq!(instance.marginal().unwrap().null_players().view().size(), 0);
        }
    }
}
