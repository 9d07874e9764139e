//! The experiments of this paper: runs on datasets, and the two sweeps that most figures share.

use anyhow::Result;

use super::contender::Contender;
use super::instance::Instance;
use super::printed;
use crate::comparison::{self, Estimate, Noise, Series, Step};
use crate::reproduce::datasets::Known;
use crate::reproduce::session::Session;

pub(crate) type Curves = comparison::Curves<Contender>;
pub(crate) type Experiment<'a> = comparison::Experiment<'a, Instance>;
pub(crate) type Setting = comparison::Setting<Contender>;

/// The multiple of n at which noise, γ and tables 1 and 4 are measured.
pub(crate) const TABLE_MULTIPLE: usize = 10;

/// How far an estimate is from the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// `‖φ̃ − φ‖² / ‖φ‖²`.
    Error,
    /// `‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1`; for small n.
    ObjectiveExcess,
}

impl Metric {
    fn of(self, instance: &Instance, estimate: &Estimate) -> Result<Option<f64>> {
        match self {
            Self::Error => Ok(Some(instance.relative_error(&estimate.values))),
            Self::ObjectiveExcess => instance.objective_excess(&estimate.values),
        }
    }
}

/// The runs on the datasets of these names that are there.
pub(crate) fn experiment<'a>(session: &'a Session, names: &[&str]) -> Result<Experiment<'a>> {
    let datasets = session.datasets(names)?;
    let series = datasets.iter().map(|dataset| Series::new(session, dataset, Instance::new));
    Experiment::new(session, series.collect::<Result<Vec<_>>>()?)
}

/// Error against m = 5n … 160n, without noise.
pub(crate) fn by_sample_size(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    metric: Metric,
) -> Result<Curves> {
    sweep(experiment, contenders, metric, &comparison::by_sample_size())
}

/// Error against noise σ = 0 … 1 on v, at m = 10n.
pub(crate) fn by_noise(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    metric: Metric,
) -> Result<Curves> {
    sweep(experiment, contenders, metric, &comparison::by_noise(TABLE_MULTIPLE, Noise::absolute))
}

/// The curves that the paper's claims speak of: its datasets and estimators alone.
pub(crate) fn of_paper(experiment: &Experiment<'_>, curves: &Curves) -> Curves {
    curves.only(|panel| is_of_paper(experiment.datasets[panel].known), &Contender::OF_PAPER)
}

/// Whether the paper has the dataset.
pub(crate) fn is_of_paper(known: &Known) -> bool {
    printed::column(known.name).is_some()
}

fn sweep(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    metric: Metric,
    steps: &[Step],
) -> Result<Curves> {
    comparison::sweep(experiment, contenders, steps, |instance, _, estimate| metric.of(instance, estimate))
}
