//! The cells of the experiments: one estimate of one contender in one run of one setting, computed once and kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::contender::Contender;
use super::instance::Instance;
use crate::reproduce::datasets::{Dataset, Known};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Raised when the meaning of a cell changes (explicands, games), so that old checkpoints are not taken up.
const PROTOCOL: u32 = 1;

/// The instances of all datasets that are there.
pub(crate) struct Experiment<'a> {
    session: &'a Session,
    pub(crate) datasets: Vec<Series>,
    fingerprints: BTreeMap<Contender, String>,
}

/// A dataset with its runs.
pub(crate) struct Series {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) instances: Vec<Instance>,
}

/// What is estimated, over all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting {
    /// Index into [`Experiment::datasets`].
    pub(crate) dataset: usize,
    pub(crate) contender: Contender,
    /// Evaluations m.
    pub(crate) budget: usize,
    /// Deviation of the noise on v.
    pub(crate) sigma: f64,
}

/// One estimate, and all that determines it.
#[derive(Serialize)]
struct Cell<'a> {
    kind: &'static str,
    protocol: u32,
    dataset: &'static str,
    data_sha256: &'static str,
    model_sha256: &'static str,
    estimator: &'static str,
    fingerprint: &'a str,
    budget: usize,
    sigma: f64,
    run: usize,
    seed: u64,
    #[serde(skip)]
    contender: Contender,
    #[serde(skip)]
    instance: &'a Instance,
}

/// What a contender answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Estimate {
    /// φ̃.
    pub(crate) values: Vec<f64>,
    pub(crate) std_errors: Option<Vec<f64>>,
    pub(crate) evaluations: usize,
}

impl<'a> Experiment<'a> {
    /// All datasets that `wanted` says and that are there.
    pub(crate) fn new(session: &'a Session, wanted: impl Fn(&Known) -> bool) -> Result<Self> {
        let mut datasets = Vec::new();
        for dataset in session.datasets(wanted)? {
            let instances = (0..session.runs)
                .into_par_iter()
                .map(|run| Instance::new(&dataset, run, session.seed))
                .collect::<Result<Vec<_>>>()?;
            datasets.push(Series { dataset, instances });
        }
        Ok(Self { session, datasets, fingerprints: fingerprints()? })
    }

    /// The estimates of each setting, run by run.
    pub(crate) fn estimates(&self, settings: &[Setting]) -> Result<Vec<Vec<Estimate>>> {
        let cells: Vec<Cell<'_>> = settings.iter().flat_map(|&setting| self.cells(setting)).collect();
        let estimates = self.session.results(&cells, |cell| {
            estimate(cell).with_context(|| {
                format!(
                    "{} on {}, run {}, m = {}",
                    cell.contender.title(),
                    cell.dataset,
                    cell.run,
                    cell.budget
                )
            })
        })?;
        let mut rest = estimates.into_iter();
        Ok(settings
            .iter()
            .map(|setting| rest.by_ref().take(self.datasets[setting.dataset].instances.len()).collect())
            .collect())
    }

    fn cells(&self, setting: Setting) -> impl Iterator<Item = Cell<'_>> {
        let series = &self.datasets[setting.dataset];
        let known = series.dataset.known;
        series.instances.iter().map(move |instance| Cell {
            kind: "estimate",
            protocol: PROTOCOL,
            dataset: known.name,
            data_sha256: known.data_sha256(),
            model_sha256: known.model_sha256(),
            estimator: setting.contender.title(),
            fingerprint: &self.fingerprints[&setting.contender],
            budget: setting.budget,
            sigma: setting.sigma,
            run: instance.run,
            seed: self.session.seed,
            contender: setting.contender,
            instance,
        })
    }
}

/// What each contender answers on the probe games.
pub(crate) fn fingerprints() -> Result<BTreeMap<Contender, String>> {
    Contender::ALL.into_iter().map(|contender| Ok((contender, contender.fingerprint()?))).collect()
}

fn estimate(cell: &Cell<'_>) -> Result<Estimate> {
    let game = cell.instance.noisy_game(cell.sigma)?;
    let seed = derive_seed(&(
        "estimate",
        cell.dataset,
        cell.estimator,
        cell.budget,
        cell.sigma,
        cell.run,
        cell.seed,
    ))?;
    let explanation = cell.contender.estimator().estimate(&game, cell.budget, seed)?;
    // Kept for Leverage SHAP alone, whose certificate is tested.
    let std_errors = explanation.std_errors.filter(|_| cell.contender == Contender::LeverageShap);
    Ok(Estimate { values: explanation.values, std_errors, evaluations: explanation.evaluations })
}
