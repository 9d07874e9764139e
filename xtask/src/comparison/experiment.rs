//! The cells of the experiments: one estimate of one contender in one run of one setting, computed once and kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::Game;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::contender::Compete;
use super::noise::Noise;
use crate::reproduce::datasets::{Dataset, Known};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// One run on a dataset: what is explained, and what the values truly are.
pub(crate) trait Run: Send + Sync {
    type Contender: Compete;

    /// Raised when the meaning of a cell changes (explicands, games), so that old checkpoints are not taken up.
    const PROTOCOL: u32;

    /// The number of the run.
    fn number(&self) -> usize;

    /// What the game that a contender is given is called.
    fn game_name(contender: Self::Contender) -> &'static str;

    /// The game that a contender is given.
    fn game(&self, contender: Self::Contender) -> Result<Box<dyn Game + '_>>;
}

/// The runs on some datasets.
pub(crate) struct Experiment<'a, R: Run> {
    session: &'a Session,
    pub(crate) datasets: Vec<Series<R>>,
    fingerprints: BTreeMap<R::Contender, String>,
}

/// A dataset with its runs.
pub(crate) struct Series<R> {
    pub(crate) known: &'static Known,
    pub(crate) instances: Vec<R>,
}

impl<R: Send> Series<R> {
    /// The runs of the session on a dataset, each made by `make` from its number and the master seed.
    pub(crate) fn new<M: Send + Sync>(
        session: &Session,
        dataset: &Arc<Dataset<M>>,
        make: impl Fn(&Arc<Dataset<M>>, usize, u64) -> Result<R> + Sync,
    ) -> Result<Self> {
        let runs = (0..session.runs).into_par_iter();
        let instances = runs.map(|run| make(dataset, run, session.seed)).collect::<Result<Vec<_>>>()?;
        Ok(Self { known: dataset.known, instances })
    }
}

/// What is estimated, over all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting<C> {
    /// Index into [`Experiment::datasets`].
    pub(crate) dataset: usize,
    pub(crate) contender: C,
    /// Evaluations m.
    pub(crate) budget: usize,
    pub(crate) noise: Noise,
}

/// One estimate, and all that determines it.
#[derive(Serialize)]
struct Cell<'a, R: Run> {
    kind: &'static str,
    protocol: u32,
    dataset: &'static str,
    data_sha256: &'static str,
    model_sha256: &'static str,
    game: &'static str,
    estimator: &'static str,
    fingerprint: &'a str,
    budget: usize,
    noise: Noise,
    run: usize,
    seed: u64,
    #[serde(skip)]
    contender: R::Contender,
    #[serde(skip)]
    instance: &'a R,
}

/// What a contender answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Estimate {
    /// φ̃.
    pub(crate) values: Vec<f64>,
    pub(crate) std_errors: Option<Vec<f64>>,
    pub(crate) evaluations: usize,
    /// Of the regression's Gram matrix, where there is a regression.
    pub(crate) condition_number: Option<f64>,
}

impl<'a, R: Run> Experiment<'a, R> {
    pub(crate) fn new(session: &'a Session, datasets: Vec<Series<R>>) -> Result<Self> {
        Ok(Self { session, datasets, fingerprints: fingerprints()? })
    }

    /// The estimates of each setting, run by run.
    pub(crate) fn estimates(&self, settings: &[Setting<R::Contender>]) -> Result<Vec<Vec<Estimate>>> {
        let cells: Vec<Cell<'_, R>> = settings.iter().flat_map(|&setting| self.cells(setting)).collect();
        let estimates = self.session.results(&cells, |cell| {
            estimate(cell).with_context(|| {
                format!("{} on {}, run {}, m = {}", cell.estimator, cell.dataset, cell.run, cell.budget)
            })
        })?;
        let mut rest = estimates.into_iter();
        Ok(settings
            .iter()
            .map(|setting| rest.by_ref().take(self.datasets[setting.dataset].instances.len()).collect())
            .collect())
    }

    fn cells(&self, setting: Setting<R::Contender>) -> impl Iterator<Item = Cell<'_, R>> {
        let series = &self.datasets[setting.dataset];
        series.instances.iter().map(move |instance| Cell {
            kind: "estimate",
            protocol: R::PROTOCOL,
            dataset: series.known.name,
            data_sha256: series.known.data_sha256(),
            model_sha256: series.known.model_sha256(),
            game: R::game_name(setting.contender),
            estimator: setting.contender.title(),
            fingerprint: &self.fingerprints[&setting.contender],
            budget: setting.budget,
            noise: setting.noise,
            run: instance.number(),
            seed: self.session.seed,
            contender: setting.contender,
            instance,
        })
    }
}

/// What each contender answers on the probe games.
pub(crate) fn fingerprints<C: Compete>() -> Result<BTreeMap<C, String>> {
    C::all().iter().map(|&contender| Ok((contender, contender.fingerprint()?))).collect()
}

/// The noise of a run is the same for all its contenders.
fn estimate<R: Run>(cell: &Cell<'_, R>) -> Result<Estimate> {
    let sigma = cell.noise.sigma;
    let noise = derive_seed(&("noise", cell.dataset, cell.run, sigma, cell.seed))?;
    let game = cell.noise.on(cell.instance.game(cell.contender)?, noise)?;
    let seed =
        derive_seed(&("estimate", cell.dataset, cell.estimator, cell.budget, sigma, cell.run, cell.seed))?;
    let explanation = cell.contender.estimator().estimate(&game, cell.budget, seed)?;
    Ok(Estimate {
        values: explanation.values,
        std_errors: explanation.std_errors.filter(|_| cell.contender.keeps_standard_errors()),
        evaluations: explanation.evaluations,
        condition_number: explanation.diagnostics.condition_number,
    })
}
