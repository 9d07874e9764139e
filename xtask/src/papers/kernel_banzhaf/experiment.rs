//! The experiments of this paper: runs on datasets, and how far estimates are from the truth.

use anyhow::Result;

use super::contender::Contender;
use super::instance::{Instance, SMALL, least_objectives};
use super::linear::relative_objective_error;
use crate::comparison::{self, Centre, Estimate, Look, Series, Step, relative_error, squared_distance};
use crate::reproduce::datasets::{Known, known};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::Claim;

pub(crate) type Curves = comparison::Curves<Contender>;
pub(crate) type Experiment<'a> = comparison::Experiment<'a, Instance>;

impl Experiment<'_> {
    /// Features of the dataset of a panel.
    pub(crate) fn players(&self, panel: usize) -> usize {
        self.datasets[panel].known.players
    }
}

/// Our names of the paper's datasets, in its order. Its Census Income is adult.
const DATASETS: [&str; 8] =
    ["pima", "adult", "bank", "german", "nhanes18", "brca", "communities", "tuandromd"];

/// What stands in where none of the paper's datasets is there.
const STAND_INS: [&str; 4] = ["iris", "diabetes", "correlated60", "independent60"];

/// The multiple of n at which noise is measured, and figure 1.
pub(crate) const MULTIPLE: usize = 20;

/// The datasets of at least so many features are those of which the paper says "a large number of features".
pub(crate) const MANY: usize = 79;

/// How far an estimate is from the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// `‖φ̃ − φ‖²`.
    SquaredError,
    /// `‖φ̃ − φ‖² / ‖φ‖²`.
    NormalizedError,
    /// `‖Aφ̃ − b‖ / ‖Aφ − b‖ − 1`; for small n.
    ObjectiveError,
    /// The condition number of K (equation 17).
    ConditionNumber,
}

impl Metric {
    fn of(self, instance: &Instance, contender: Contender, estimate: &Estimate) -> Result<Option<f64>> {
        let truth = instance.truth(contender)?;
        Ok(match self {
            Self::SquaredError => Some(squared_distance(&estimate.values, truth)),
            Self::NormalizedError => Some(relative_error(&estimate.values, truth)),
            Self::ObjectiveError => {
                Some(relative_objective_error(&estimate.values, truth, instance.least_objective()?))
            }
            Self::ConditionNumber => estimate.condition_number,
        })
    }
}

/// The runs on the paper's datasets, or on those that stand in for them.
pub(crate) fn experiment(session: &Session) -> Result<Experiment<'_>> {
    experiment_over(session, |_| true)
}

/// Whether a dataset is one of the four that the paper calls small (its NHANES is wide), or may stand in for them.
pub(crate) fn is_small(known: &Known) -> bool {
    known.players <= SMALL && known.name != "nhanes18"
}

/// The runs on the small datasets alone, and the least objective of each run.
pub(crate) fn small_experiment(session: &Session) -> Result<Experiment<'_>> {
    let experiment = experiment_over(session, is_small)?;
    least_objectives(session, &experiment.datasets)?;
    Ok(experiment)
}

/// The runs on those of the datasets that are wanted.
pub(crate) fn experiment_over(session: &Session, wanted: impl Fn(&Known) -> bool) -> Result<Experiment<'_>> {
    let there = |names: &[&'static str]| {
        let names: Vec<&str> = names.iter().copied().filter(|name| wanted(known(name))).collect();
        session.datasets(&names)
    };
    let mut datasets = there(&DATASETS)?;
    if datasets.is_empty() {
        datasets = there(&STAND_INS)?;
    }
    let series = datasets.iter().map(|dataset| Series::new(session, dataset, Instance::new));
    Experiment::new(session, series.collect::<Result<Vec<_>>>()?)
}

/// The claims about the paper's datasets and estimators. Where none of its datasets is there they are not tested, and are judged on those
/// that stand in for them, as claims of this project.
pub(crate) fn judged(
    experiment: &Experiment<'_>,
    curves: &Curves,
    judge: impl Fn(&Curves) -> Vec<Claim>,
) -> Vec<Claim> {
    let only = |names: &[&str]| {
        curves.only(|panel| names.contains(&experiment.datasets[panel].known.name), Contender::ALL)
    };
    let mut claims = judge(&only(&DATASETS));
    if stands_in(experiment) {
        claims.extend(judge(&only(&STAND_INS)).into_iter().map(Claim::on_stand_ins));
    }
    claims
}

/// How the figures look: medians against sample size, four panels in a row.
pub(crate) fn look<'a>(title: &'a str, y: &'a str) -> Look<'a> {
    Look { title, x: "evaluations m", y, floor: 1e-14, columns: 4 }
}

/// Whether the paper has the dataset of this name.
pub(crate) fn is_of_paper(name: &str) -> bool {
    DATASETS.contains(&name)
}

/// Whether the datasets stand in for those of the paper.
pub(crate) fn stands_in(experiment: &Experiment<'_>) -> bool {
    experiment.datasets.iter().all(|series| STAND_INS.contains(&series.known.name))
}

/// The names of the datasets that `experiment` has, and of those that it lacks.
pub(crate) fn datasets(experiment: &Experiment<'_>, wanted: impl Fn(&Known) -> bool) -> Vec<&'static str> {
    let there: Vec<&str> = experiment.datasets.iter().map(|series| series.known.name).collect();
    let names = DATASETS.into_iter().filter(|name| wanted(known(name)));
    let stand_ins = STAND_INS.into_iter().filter(|name| there.contains(name));
    names.chain(stand_ins).collect()
}

/// The estimates of `contenders` at each step, measured by `metric`.
pub(crate) fn curves(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    steps: &[Step],
    metric: Metric,
) -> Result<Curves> {
    comparison::sweep(experiment, contenders, steps, Centre::Median, |instance, contender, estimate| {
        metric.of(instance, contender, estimate)
    })
}
