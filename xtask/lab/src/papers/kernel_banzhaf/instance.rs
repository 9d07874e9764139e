//! One run of the experiments on a dataset: the explained row and its exact values.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, bail};
use apportion::games::{ClosedForm, Purpose, SumOfUnanimity, TabulatedGame, stream};
use apportion::samplers::{Pairing, Sampler, SizeDistribution, WithReplacement};
use apportion::trees::{Exact, MarginalTreeExplainer, PathDependentGame, PathDependentTreeExplainer};
use apportion::{Background, Ensemble, Game, MarginalGame, Rows, Semivalue};
use rand::seq::index;
use serde::Serialize;

use super::contender::{Contender, GameOf};
use super::linear;
use super::trees_on_rows::TreesOnRows;
use crate::comparison::{Run, Series, Times};
use crate::reproduce::datasets::{Dataset, KnownDataset};
use crate::reproduce::explicand;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Maximum number of players for which all coalitions are evaluated.
pub(crate) const SMALL: usize = 20;

/// Number of background rows in the marginal game with background rows instead of a baseline.
pub(crate) const BACKGROUND: usize = 50;

/// A dataset's trees and an explicand. Banzhaf values are computed for the path-dependent game, and Shapley
/// values for the marginal game, with the column means as baseline or with 50 other rows as background.
pub(crate) struct Instance {
    dataset: Arc<Dataset>,
    run: usize,
    explicand: Vec<f64>,
    baseline: Background,
    /// Random rows other than the explicand.
    background: Background,
    /// Exact Banzhaf values of the path-dependent game.
    banzhaf: Vec<f64>,
    /// Exact Shapley values of the marginal game with the baseline.
    shapley: OnceLock<Vec<f64>>,
    /// Exact Shapley values of the marginal game with the background rows.
    shapley_on_rows: OnceLock<Vec<f64>>,
    /// `‖Aφ − b‖²` for the path-dependent game, the minimum of the objective.
    min_objective: OnceLock<f64>,
}

impl Instance {
    /// Creates run `run` on `dataset` with the master seed `seed`.
    pub(crate) fn new(dataset: &Arc<Dataset>, run: usize, seed: u64) -> Result<Self> {
        let name = dataset.known.name;
        let explained = explicand::row_index(dataset.rows(), derive_seed(&("explicand", name, run, seed))?);
        let explicand = dataset.row(explained).to_vec();
        let mut rng = stream(derive_seed(&("background", name, run, seed))?, Purpose::Experiment, 0);
        let others = index::sample(&mut rng, dataset.rows() - 1, BACKGROUND).into_iter();
        let background: Vec<f64> = others
            .flat_map(|row| dataset.row(if row < explained { row } else { row + 1 }))
            .copied()
            .collect();
        let banzhaf = PathDependentTreeExplainer::new(&dataset.model)
            .and_then(|tree_explainer| {
                tree_explainer.values(Semivalue::Banzhaf, Rows::new(&explicand, explicand.len()))
            })
            .with_context(|| format!("cannot compute exact Banzhaf values for {name}, run {run}"))?
            .values;
        Ok(Self {
            dataset: Arc::clone(dataset),
            run,
            explicand,
            baseline: Background::baseline(dataset.means.clone())?,
            background: Background::rows(background, dataset.known.players)?,
            banzhaf,
            shapley: OnceLock::new(),
            shapley_on_rows: OnceLock::new(),
            min_objective: OnceLock::new(),
        })
    }

    fn path_dependent(&self) -> Result<PathDependentGame<'_>> {
        Ok(PathDependentGame::new(&self.dataset.model, &self.explicand)?)
    }

    /// Returns the exact values that `contender` estimates.
    pub(crate) fn truth(&self, contender: Contender) -> Result<&[f64]> {
        let (background, shapley) = match contender.game() {
            GameOf::PathDependent => return Ok(&self.banzhaf),
            GameOf::Baseline => (&self.baseline, &self.shapley),
            GameOf::Rows => (&self.background, &self.shapley_on_rows),
        };
        if let Some(shapley) = shapley.get() {
            return Ok(shapley);
        }
        let rows = Rows::new(&self.explicand, self.explicand.len());
        let values = MarginalTreeExplainer::new(&self.dataset.model, background.as_rows(), None)
            .and_then(|tree_explainer| tree_explainer.values(Semivalue::Shapley, rows))
            .with_context(|| {
                format!(
                    "cannot compute exact Shapley values for {}, run {}",
                    self.dataset.known.name, self.run
                )
            })?
            .values;
        Ok(shapley.get_or_init(|| values))
    }

    /// Returns the marginal game with the background rows; each coalition value requires predictions for all
    /// of them.
    pub(crate) fn predicted(&self) -> Result<MarginalGame<'_, Ensemble>> {
        Ok(MarginalGame::new(&self.dataset.model, &self.explicand, &self.background)?)
    }

    /// Returns `‖Aφ − b‖²`, after [`min_objectives`] has computed it.
    pub(crate) fn min_objective(&self) -> Result<f64> {
        self.min_objective.get().copied().context("the minimum of the objective was not computed")
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

    fn game_name(contender: Contender) -> &'static str {
        match contender.game() {
            GameOf::PathDependent => "path-dependent",
            GameOf::Baseline => "interventional",
            GameOf::Rows => "interventional, 50 rows",
        }
    }

    fn game(&self, contender: Contender) -> Result<Box<dyn Game + '_>> {
        let (model, explicand) = (&self.dataset.model, &self.explicand);
        Ok(match contender.game() {
            GameOf::PathDependent => Box::new(self.path_dependent()?),
            GameOf::Baseline => Box::new(MarginalGame::new(model, explicand, &self.baseline)?),
            GameOf::Rows => Box::new(TreesOnRows::new(model, explicand, &self.background)?),
        })
    }

    /// Counts the evaluations of each coalition. The authors' Kernel Banzhaf evaluates a coalition once for
    /// each time it is drawn. Optimized Kernel SHAP merges repeated draws first, and Leverage SHAP draws no
    /// coalition twice.
    fn times_evaluated(contender: Contender, players: usize, budget: usize, seed: u64) -> Result<Times> {
        if contender.value() == Semivalue::Shapley {
            return Ok(Times::new());
        }
        if contender != Contender::KernelBanzhaf {
            bail!("evaluations are only counted for the three regressions of figure 4");
        }
        let sampler =
            WithReplacement { distribution: SizeDistribution::binomial(players)?, pairing: Pairing::Paired };
        let mut times = Times::new();
        for row in sampler.sample(budget - 2, seed)?.coalitions().iter() {
            *times.entry(row.words().to_vec()).or_default() += 1;
        }
        Ok(times)
    }
}

/// Checkpoint key of a result that requires the enumeration of all coalitions of one game.
#[derive(Serialize)]
pub(super) struct EnumerationKey {
    dataset: &'static str,
    data_sha256: &'static str,
    model_sha256: &'static str,
    run: usize,
}

impl EnumerationKey {
    /// Creates the key of a run on a dataset.
    pub(super) fn new(known: &KnownDataset, run: usize) -> Self {
        let (data_sha256, model_sha256) = (known.data_sha256(), known.model_sha256());
        Self { dataset: known.name, data_sha256, model_sha256, run }
    }
}

/// Computes the minimum of the objective for all runs on datasets with at most [`SMALL`] players, from all
/// 2^n coalitions.
pub(crate) fn min_objectives(session: &Session, datasets: &[Series<Instance>]) -> Result<()> {
    let least = |game: &dyn Game, banzhaf: &[f64]| {
        let table = TabulatedGame::from_game(game)?;
        anyhow::Ok(linear::objective(table.values_in_order(), banzhaf))
    };
    let probe = SumOfUnanimity::random(5, 20, 3, 1);
    let method = Digest::from_numbers([least(&probe, &probe.banzhaf())?]);
    let mut cells = Vec::new();
    for series in datasets.iter().filter(|series| series.known.players <= SMALL) {
        for instance in &series.instances {
            let played = Digest::of_game(&instance.path_dependent()?)?;
            let made_of =
                Ingredients::new("least objective", Instance::PROTOCOL, session.seed, &played, &method);
            cells.push(Cell {
                key: EnumerationKey::new(series.known, instance.run),
                made_of: made_of.against(&Digest::from_numbers(instance.banzhaf.iter().copied())),
                with: instance,
            });
        }
    }
    let least: Vec<f64> =
        session.results(&cells, |cell| least(&cell.with.path_dependent()?, &cell.with.banzhaf))?;
    for (cell, least) in cells.iter().zip(least) {
        cell.with.min_objective.get_or_init(|| least);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Compete;
    use crate::comparison::relative_error;
    use crate::reproduce::datasets::{Library, known_dataset};
    use apportion::estimators::exact;

    #[test]
    fn the_truths_are_the_values_of_the_games_by_enumeration() {
        for name in ["iris", "diabetes"] {
            let dataset = Library::embedded().get(known_dataset(name)).unwrap();
            for run in 0..3 {
                let instance = Instance::new(&dataset, run, 0).unwrap();
                for contender in
                    [Contender::KernelBanzhaf, Contender::LeverageShap, Contender::LeverageShapOnRows]
                {
                    let game = instance.game(contender).unwrap();
                    let brute_force = exact(&game, contender.value()).unwrap().values;
                    assert!(
                        relative_error(&brute_force, instance.truth(contender).unwrap()) < 1e-24,
                        "{name}"
                    );
                }
            }
        }
    }
    #[test]
    fn kernel_banzhaf_evaluates_the_coalitions_that_are_counted() {
        let game = SumOfUnanimity::random(6, 20, 3, 1);
        for seed in 0..20 {
            let times = Instance::times_evaluated(Contender::KernelBanzhaf, 6, 50, seed).unwrap();
            assert_eq!(times.values().sum::<u32>(), 48);
            let ends = [0, 63].into_iter().filter(|&mask| times.contains_key(&vec![mask])).count();
            let got = Contender::KernelBanzhaf.estimator().estimate(&game, 50, seed).unwrap();
            assert_eq!(got.evaluations, 2 + times.len() - ends, "∅ and N are always evaluated");
        }
        assert!(Instance::times_evaluated(Contender::Msr, 6, 50, 0).is_err());
    }
}
