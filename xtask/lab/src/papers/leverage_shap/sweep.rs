//! The experiments of this paper: runs on datasets, and the two sweeps shared by most figures.

use anyhow::Result;

use super::authors::{self, authors};
use super::axes::{Along, Curves, Metric, TABLE_MULTIPLE};
use super::beside::{self, beside};
use super::contender::Contender;
use super::instance::Instance;
use super::notes::{NOISE_NOTE, NOTES, OBJECTIVE_NOTE, all_datasets, small_datasets};
use super::printed;
use crate::comparison::{self, Centre, FigureLayout, Noise, Series, Step};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::datasets::KnownDataset;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::Claim;

pub(crate) type Experiment<'a> = comparison::Experiment<'a, Instance>;

/// Creates the runs on the named datasets.
pub(crate) fn experiment<'a>(session: &'a Session, names: &[&str]) -> Result<Experiment<'a>> {
    let datasets = session.datasets(names)?;
    let series = datasets.iter().map(|dataset| Series::new(session, dataset, Instance::new));
    Experiment::new(session, series.collect::<Result<Vec<_>>>()?)
}

/// A figure that shows a sweep.
pub(crate) struct Sweep {
    pub(crate) title: &'static str,
    pub(crate) along: Along,
    pub(crate) metric: Metric,
    pub(crate) contenders: &'static [Contender],
    pub(crate) centre: Centre,
}

/// Curves on which claims are judged: the paper's datasets and estimators, in our runs or in the authors'
/// runs.
pub(crate) struct JudgedCurves {
    pub(crate) curves: Curves,
    /// Number of players by panel.
    pub(crate) players: Vec<usize>,
}

impl Sweep {
    /// Creates the figure on all datasets for which its metric is available, with the authors' runs next to
    /// ours.
    ///
    /// `of_paper` returns the claims of the paper, judged on its datasets and estimators: first on our runs,
    /// then on the authors'. `own` returns claims about all our curves.
    pub(crate) fn artefact_output(
        &self,
        session: &Session,
        of_paper: impl Fn(&JudgedCurves) -> Vec<Claim>,
        own: impl FnOnce(&Experiment<'_>, &Curves) -> Result<Vec<Claim>>,
    ) -> Result<ArtefactOutput> {
        let (datasets, y, what) = match self.metric {
            Metric::Error => (all_datasets(), "relative squared error", "error"),
            Metric::ObjectiveExcess => (small_datasets(), "objective / least − 1", "excess of the objective"),
        };
        let (steps, x, column, by) = match self.along {
            Along::SampleSize => (comparison::by_sample_size(), "evaluations m", "m", "sample size"),
            Along::Noise => {
                let steps = comparison::by_noise(TABLE_MULTIPLE, Noise::absolute);
                (steps, "standard deviation σ", "sigma", "noise")
            }
        };
        let experiment = experiment(session, &datasets)?;
        let curves = sweep(&experiment, self.contenders, self.metric, &steps, self.centre)?;
        let authors = authors()?;
        let theirs = JudgedCurves {
            curves: authors.curves(self.along, self.metric, self.contenders, self.centre),
            players: beside::their_players(authors, &authors::columns(authors, self.metric)),
        };
        let ours = JudgedCurves {
            curves: self::of_paper(&experiment, &curves),
            players: experiment.datasets.iter().map(|series| series.known.players).collect(),
        };
        let mut claims = of_paper(&ours);
        claims.extend(of_paper(&theirs).into_iter().map(on_the_authors_runs));
        claims.extend(own(&experiment, &curves)?);
        let look = FigureLayout { title: self.title, x, y, floor: 1e-8, columns: 4 };
        let centre = if self.centre == Centre::Median { "Median" } else { "Mean" };
        let caption = format!("{centre} {what} by {by}");
        let made = |curves: &Curves| curves.artefact_output(["dataset", column], &look, &caption);
        let columns: Vec<Option<usize>> =
            experiment.datasets.iter().map(|series| printed::column(series.known.name)).collect();
        let their_columns = authors::columns(authors, self.metric);
        let made = beside(made(&curves), made(&theirs.curves), (&columns, &their_columns), 2);
        let mut notes = NOTES.map(str::to_owned).to_vec();
        notes.push(beside::NOTE.to_owned());
        notes.extend((self.along == Along::Noise).then(|| NOISE_NOTE.to_owned()));
        notes.extend((self.metric == Metric::ObjectiveExcess).then(|| OBJECTIVE_NOTE.to_owned()));
        Ok(ArtefactOutput { claims, notes, datasets, ..made })
    }
}

/// Marks a claim as judged on the runs of the authors.
pub(crate) fn on_the_authors_runs(claim: Claim) -> Claim {
    claim.read_as("on the authors' runs")
}

/// Computes the error against m = 5n … 160n, without noise.
pub(crate) fn by_sample_size(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    metric: Metric,
) -> Result<Curves> {
    sweep(experiment, contenders, metric, &comparison::by_sample_size(), Centre::Mean)
}

/// Restricts curves to the paper's datasets and estimators, to which its claims are limited.
pub(crate) fn of_paper(experiment: &Experiment<'_>, curves: &Curves) -> Curves {
    curves.only(|panel| is_of_paper(experiment.datasets[panel].known), &Contender::OF_PAPER)
}

/// Returns whether the paper uses the dataset.
pub(crate) fn is_of_paper(known: &KnownDataset) -> bool {
    printed::column(known.name).is_some()
}

fn sweep(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    metric: Metric,
    steps: &[Step],
    centre: Centre,
) -> Result<Curves> {
    comparison::sweep(experiment, contenders, steps, centre, |instance, _, estimate| {
        metric.measure(instance, estimate)
    })
}
