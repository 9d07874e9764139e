//! Figure 8: CPU time.

use anyhow::{Context, Result};
use cpu_time::ThreadTime;

use super::contender::Contender::{
    self, KernelBanzhaf, KernelBanzhafUnpaired, MonteCarlo, MonteCarloTwice, Msr,
};
use super::experiment::{Curves, Experiment, datasets, experiment};
use super::instance::Instance;
use super::notes;
use crate::comparison::{Centre, Compete, Look, Point, Run, Step, by_sample_size, covers_all};
use crate::reproduce::catalogue::Made;
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{Claim, Needed};

/// Explicands that are timed.
const EXPLICANDS: usize = 3;

/// Times that each is timed; the least counts, the others were disturbed.
const REPETITIONS: usize = 3;

/// What an estimate costs.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Of CPU time.
    seconds: f64,
    /// Of the game.
    evaluations: f64,
}

/// Figure 8: median and quartiles of the CPU time of an estimate, evaluations of the game included.
pub(crate) fn fig8(session: &Session) -> Result<Made> {
    let experiment = experiment(session)?;
    let [times, evaluations] = costs(&experiment, &by_sample_size())?;
    let look = Look {
        title: "Figure 8: CPU time of an estimate against sample size, one thread (trees, path-dependent game)",
        x: "evaluations m",
        y: "seconds",
        floor: 1e-7,
        centre: Centre::Median,
        columns: 4,
    };
    let columns = ["dataset", "m"];
    let mut made = times.made(columns, &look, "Median CPU time in seconds by sample size");
    made.tables
        .extend(evaluations.made(columns, &look, "Median number of evaluations by sample size").tables);
    made.claims = claims(&times, &evaluations);
    made.notes = notes(&experiment);
    made.notes.push(format!(
        "times depend on the machine, and are measured anew each time: CPU time of one thread, whatever --threads says, evaluations of \
         the game included, standard errors left out; the least of {REPETITIONS} repetitions for each of {EXPLICANDS} explicands"
    ));
    made.notes.push(
        "a value of these trees takes well below a microsecond, so that drawing and solving show; where a value is slow, times are in \
         the ratio of the evaluations"
            .to_owned(),
    );
    made.datasets = datasets(&experiment, |_| true);
    Ok(made)
}

/// Seconds and evaluations of every estimator on every dataset at each step.
fn costs(experiment: &Experiment<'_>, steps: &[Step]) -> Result<[Curves; 2]> {
    let one_thread =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().context("cannot start a thread")?;
    let curves = || Curves {
        panels: experiment.datasets.iter().map(|series| series.known.heading()).collect(),
        levels: steps.iter().map(|step| step.level.clone()).collect(),
        points: Vec::new(),
    };
    let (mut times, mut evaluations) = (curves(), curves());
    for (panel, series) in experiment.datasets.iter().enumerate() {
        let players = series.known.players;
        for contender in Contender::BANZHAF_AND_MC_TWICE {
            for (level, step) in steps.iter().enumerate() {
                let Some(budget) = step.budget.evaluations(players) else { continue };
                let explicands = series.instances.iter().take(EXPLICANDS);
                let costs: Vec<Cost> = explicands
                    .map(|instance| one_thread.install(|| cost(instance, contender, budget)))
                    .collect::<Result<_>>()?;
                let point = |of: fn(&Cost) -> f64| Point {
                    panel,
                    contender,
                    level,
                    exact: covers_all(budget, players),
                    summary: Summary::of(&costs.iter().map(of).collect::<Vec<_>>()),
                    runs: costs.len(),
                };
                times.points.push(point(|cost| cost.seconds));
                evaluations.points.push(point(|cost| cost.evaluations));
            }
        }
    }
    Ok([times, evaluations])
}

/// The least cost of one estimate, in this thread.
fn cost(instance: &Instance, contender: Contender, budget: usize) -> Result<Cost> {
    let game = instance.game(contender)?;
    let estimator = contender.estimator();
    let mut least = Cost { seconds: f64::INFINITY, evaluations: 0.0 };
    for _ in 0..REPETITIONS {
        let started = ThreadTime::now();
        let explanation = estimator.estimate(&game, budget, instance.number() as u64)?;
        least.seconds = least.seconds.min(started.elapsed().as_secs_f64());
        least.evaluations = explanation.evaluations as f64;
    }
    Ok(least)
}

/// All places, whether m covers all coalitions or not.
fn places(curves: &Curves) -> impl Iterator<Item = (usize, usize)> {
    let levels = curves.levels.len();
    (0..curves.panels.len()).flat_map(move |panel| (0..levels).map(move |level| (panel, level)))
}

fn claims(times: &Curves, evaluations: &Curves) -> Vec<Claim> {
    let comparable = [KernelBanzhafUnpaired, Msr].into_iter().flat_map(|other| {
        let cases = times.ratio_cases(places(times), (other, KernelBanzhaf), Centre::Median, |ratio| {
            (2.0 / 3.0..=1.5).contains(&ratio)
        });
        cases.into_iter().map(move |(name, agrees)| (format!("{}, {name}", other.title()), agrees))
    });
    vec![
        Claim::over_cases(
            "Kernel Banzhaf with and without pairs and MSR take comparable times",
            "caption of figure 8; appendix E",
            "a dataset, a sample size and Kernel Banzhaf without pairs or MSR; it agrees if its time is within a factor of 1.5 of that \
             of Kernel Banzhaf",
            Needed::Most,
            comparable,
        ),
        twice(times, MonteCarloTwice, "time", "2m evaluations, as in the paper's code"),
        twice(times, MonteCarlo, "time", "equal evaluations"),
        twice(
            evaluations,
            MonteCarloTwice,
            "number of evaluations",
            "2m evaluations, as in the paper's code",
        ),
    ]
}

/// The claim that MC takes twice of what `costs` counts.
fn twice(costs: &Curves, mc: Contender, what: &str, how: &str) -> Claim {
    let pair = (mc, KernelBanzhaf);
    let cases = costs.ratio_cases(places(costs), pair, Centre::Median, |ratio| (1.6..=2.5).contains(&ratio));
    let mut claim = Claim::over_cases(
        &format!("MC consistently requires approximately twice the {what} of the others ({how})"),
        "caption of figure 8; appendix E",
        &format!(
            "a dataset and a sample size; it agrees if the {what} of {} is 1.6 to 2.5 times that of Kernel Banzhaf",
            mc.title()
        ),
        Needed::Most,
        cases,
    );
    let ratios: Vec<f64> =
        places(costs).filter_map(|place| costs.ratio(place, pair, Centre::Median)).collect();
    if !ratios.is_empty() {
        claim.evidence =
            format!("median ratio {:.2} (paper: about 2); {}", Summary::of(&ratios).median, claim.evidence);
    }
    claim
}
