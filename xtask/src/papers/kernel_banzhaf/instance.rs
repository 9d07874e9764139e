//! One run of the experiments on a dataset: which row is explained, and what its values truly are.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use apportion::games::{ClosedForm, SumOfUnanimity, TabulatedGame};
use apportion::trees::{Exact, InterventionalOracle, PathDependentGame, PathDependentOracle};
use apportion::{Background, Game, MarginalGame, Rows, Semivalue};
use serde::Serialize;

use super::contender::Contender;
use super::linear;
use crate::comparison::{Run, Series};
use crate::reproduce::datasets::{Dataset, Known};
use crate::reproduce::explicand;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// The most players for which all coalitions are evaluated.
pub(crate) const SMALL: usize = 20;

/// A dataset's trees and an explicand. Banzhaf values are those of the path-dependent game, Shapley values those of the interventional
/// game with the column means as baseline.
pub(crate) struct Instance {
    dataset: Arc<Dataset>,
    run: usize,
    explicand: Vec<f64>,
    background: Background,
    /// Banzhaf values of the path-dependent game, exact.
    banzhaf: Vec<f64>,
    /// Shapley values of the interventional game, exact.
    shapley: OnceLock<Vec<f64>>,
    /// `‖Aφ − b‖²` of the path-dependent game.
    least_objective: OnceLock<f64>,
}

impl Instance {
    /// Run `run` on `dataset` under the master seed `seed`.
    pub(crate) fn new(dataset: &Arc<Dataset>, run: usize, seed: u64) -> Result<Self> {
        let name = dataset.known.name;
        let explicand = explicand::row(dataset, derive_seed(&("explicand", name, run, seed))?);
        let banzhaf = PathDependentOracle::new(&dataset.model)
            .and_then(|oracle| oracle.values(Semivalue::Banzhaf, Rows::new(&explicand, explicand.len())))
            .with_context(|| format!("{name}, run {run}: no exact Banzhaf values"))?
            .values;
        Ok(Self {
            dataset: Arc::clone(dataset),
            run,
            explicand,
            background: Background::baseline(dataset.means.clone())?,
            banzhaf,
            shapley: OnceLock::new(),
            least_objective: OnceLock::new(),
        })
    }

    fn path_dependent(&self) -> Result<PathDependentGame<'_>> {
        Ok(PathDependentGame::new(&self.dataset.model, &self.explicand)?)
    }

    /// The values that `contender` estimates, exactly.
    pub(crate) fn truth(&self, contender: Contender) -> Result<&[f64]> {
        if contender.value() == Semivalue::Banzhaf {
            return Ok(&self.banzhaf);
        }
        if let Some(shapley) = self.shapley.get() {
            return Ok(shapley);
        }
        let rows = Rows::new(&self.explicand, self.explicand.len());
        let shapley = InterventionalOracle::new(&self.dataset.model, self.background.as_rows(), None)
            .and_then(|oracle| oracle.values(Semivalue::Shapley, rows))
            .with_context(|| {
                format!("{}, run {}: no exact Shapley values", self.dataset.known.name, self.run)
            })?
            .values;
        Ok(self.shapley.get_or_init(|| shapley))
    }

    /// `‖Aφ − b‖²`, where [`least_objectives`] has found it.
    pub(crate) fn least_objective(&self) -> Result<f64> {
        self.least_objective.get().copied().context("the least objective was not computed")
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
        if contender.value() == Semivalue::Banzhaf { "path-dependent" } else { "interventional" }
    }

    fn game(&self, contender: Contender) -> Result<Box<dyn Game + '_>> {
        Ok(if contender.value() == Semivalue::Banzhaf {
            Box::new(self.path_dependent()?)
        } else {
            Box::new(MarginalGame::new(&self.dataset.model, &self.explicand, &self.background)?)
        })
    }
}

/// What tells an enumeration of the coalitions of one game from others.
#[derive(Serialize)]
pub(super) struct EnumerationKey {
    dataset: &'static str,
    data_sha256: &'static str,
    model_sha256: &'static str,
    run: usize,
}

impl EnumerationKey {
    /// Of a run on a dataset.
    pub(super) fn new(known: &Known, run: usize) -> Self {
        let (data_sha256, model_sha256) = (known.data_sha256(), known.model_sha256());
        Self { dataset: known.name, data_sha256, model_sha256, run }
    }
}

/// Computes the least objective of all runs on datasets of at most [`SMALL`] players, from all 2^n coalitions.
pub(crate) fn least_objectives(session: &Session, datasets: &[Series<Instance>]) -> Result<()> {
    let least = |game: &dyn Game, banzhaf: &[f64]| {
        let table = TabulatedGame::from_game(game)?;
        anyhow::Ok(linear::objective(table.values_in_order(), banzhaf))
    };
    let probe = SumOfUnanimity::random(5, 20, 3, 1);
    let method = Digest::of([least(&probe, &probe.banzhaf())?]);
    let mut cells = Vec::new();
    for series in datasets.iter().filter(|series| series.known.players <= SMALL) {
        for instance in &series.instances {
            let played = Digest::of_game(&instance.path_dependent()?)?;
            let made_of =
                Ingredients::new("least objective", Instance::PROTOCOL, session.seed, &played, &method);
            cells.push(Cell {
                key: EnumerationKey::new(series.known, instance.run),
                made_of: made_of.against(&Digest::of(instance.banzhaf.iter().copied())),
                with: instance,
            });
        }
    }
    let least: Vec<f64> =
        session.results(&cells, |cell| least(&cell.with.path_dependent()?, &cell.with.banzhaf))?;
    for (cell, least) in cells.iter().zip(least) {
        cell.with.least_objective.get_or_init(|| least);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::relative_error;
    use crate::reproduce::datasets::{Library, known};
    use apportion::estimators::exact;

    #[test]
    fn the_truths_are_the_values_of_the_games_by_enumeration() {
        for name in ["iris", "diabetes"] {
            let dataset = Library::embedded().get(known(name)).unwrap().unwrap();
            for run in 0..3 {
                let instance = Instance::new(&dataset, run, 0).unwrap();
                for contender in [Contender::KernelBanzhaf, Contender::LeverageShap] {
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
}
