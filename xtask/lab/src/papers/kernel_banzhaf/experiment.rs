//! The experiments of this paper: runs on datasets, and the errors of the estimates.

use anyhow::Result;

use super::contender::Contender;
use super::instance::{Instance, SMALL, min_objectives};
use super::linear::relative_objective_error;
use crate::comparison::{
    self, Centre, Estimate, FigureLayout, Series, Step, relative_error, squared_distance,
};
use crate::reproduce::datasets::{KnownDataset, known_dataset};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::Claim;

pub(crate) type Curves = comparison::Curves<Contender>;
pub(crate) type Experiment<'a> = comparison::Experiment<'a, Instance>;

impl Experiment<'_> {
    /// Returns the number of features in the dataset that a panel shows.
    pub(crate) fn players(&self, panel: usize) -> usize {
        self.datasets[panel].known.players
    }
}

/// Our names for the paper's datasets, in the order of the paper. The paper's Census Income dataset is adult.
const DATASETS: [&str; 8] =
    ["pima", "adult", "bank_full", "german", "nhanes18", "brca", "communities", "tuandromd"];

/// Sample size, as a multiple of n, used for noise and in figure 1.
pub(crate) const MULTIPLE: usize = 20;

/// Minimum number of features of the datasets that the paper describes as having "a large number of
/// features".
pub(crate) const MANY: usize = 79;

/// A measure of the distance between an estimate and the exact values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Squared error, `‖φ̃ − φ‖²`.
    SquaredError,
    /// Squared error relative to the truth, `‖φ̃ − φ‖² / ‖φ‖²`.
    NormalizedError,
    /// Relative error of the objective, `‖Aφ̃ − b‖ / ‖Aφ − b‖ − 1`, which is only available for small n.
    ObjectiveError,
    /// The condition number of K (equation 17).
    ConditionNumber,
}

impl Metric {
    fn measure(self, instance: &Instance, contender: Contender, estimate: &Estimate) -> Result<Option<f64>> {
        let truth = instance.truth(contender)?;
        Ok(match self {
            Self::SquaredError => Some(squared_distance(&estimate.values, truth)),
            Self::NormalizedError => Some(relative_error(&estimate.values, truth)),
            Self::ObjectiveError => {
                Some(relative_objective_error(&estimate.values, truth, instance.min_objective()?))
            }
            Self::ConditionNumber => estimate.condition_number,
        })
    }
}

/// Creates the runs on the paper's datasets.
pub(crate) fn experiment(session: &Session) -> Result<Experiment<'_>> {
    experiment_over(session, |_| true)
}

/// Returns whether a dataset is one of the four that the paper calls small. NHANES is not, because it has
/// more features in the paper than here.
pub(crate) fn is_small(known: &KnownDataset) -> bool {
    known.players <= SMALL && known.name != "nhanes18"
}

/// Creates the runs on the small datasets only, with the minimum of the objective in each run.
pub(crate) fn small_experiment(session: &Session) -> Result<Experiment<'_>> {
    let experiment = experiment_over(session, is_small)?;
    min_objectives(session, &experiment.datasets)?;
    Ok(experiment)
}

/// Creates the runs on the datasets that `wanted` accepts.
pub(crate) fn experiment_over(
    session: &Session,
    wanted: impl Fn(&KnownDataset) -> bool,
) -> Result<Experiment<'_>> {
    let datasets = session.datasets(&datasets(wanted))?;
    let series = datasets.iter().map(|dataset| Series::new(session, dataset, Instance::new));
    Experiment::new(session, series.collect::<Result<Vec<_>>>()?)
}

/// Judges claims on the curves of the paper's estimators only.
pub(crate) fn judged(curves: &Curves, judge: impl Fn(&Curves) -> Vec<Claim>) -> Vec<Claim> {
    judge(&curves.only(|_| true, Contender::ALL))
}

/// Returns the layout of figures that show errors against sample size, with four panels per row.
pub(crate) fn look<'a>(title: &'a str, y: &'a str) -> FigureLayout<'a> {
    FigureLayout { title, x: "evaluations m", y, floor: 1e-14, columns: 4 }
}

/// Returns the names of the datasets that `wanted` accepts.
pub(crate) fn datasets(wanted: impl Fn(&KnownDataset) -> bool) -> Vec<&'static str> {
    DATASETS.into_iter().filter(|name| wanted(known_dataset(name))).collect()
}

/// Computes the estimates of `contenders` at each step, measured by `metric`.
pub(crate) fn curves(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    steps: &[Step],
    metric: Metric,
) -> Result<Curves> {
    comparison::sweep(experiment, contenders, steps, Centre::Median, |instance, contender, estimate| {
        metric.measure(instance, contender, estimate)
    })
}
