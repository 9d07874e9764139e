//! Figure 8: CPU time.

use anyhow::{Context, Result};
use cpu_time::ThreadTime;

use super::contender::Contender::{
    self, KernelBanzhaf, KernelBanzhafUnpaired, MonteCarlo, MonteCarloTwice, Msr,
};
use super::experiment::{Curves, Experiment, datasets, experiment, judged, look};
use super::instance::{BACKGROUND, Instance};
use super::notes::notes;
use crate::comparison::{
    Centre, Compete, FigureLayout, MULTIPLES, Point, Run, Step, by_sample_size, covers_all,
};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::cli::Preset;
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{By, Claim, Test};

/// Number of explicands for which estimates are timed.
const EXPLICANDS: usize = 12;

/// Largest sample size, as a multiple of n, timed with the quick preset.
const QUICK: usize = 20;

/// Cost of an estimate.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// CPU time in seconds.
    seconds: f64,
    /// Number of evaluations of the game.
    evaluations: f64,
}

/// Generates figure 8: median and quartiles of the CPU time of an estimate, including evaluations of the
/// game.
pub(crate) fn fig8(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session)?;
    let mut steps = by_sample_size();
    if session.preset == Preset::Quick {
        steps.truncate(MULTIPLES.iter().filter(|multiple| **multiple <= QUICK).count());
    }
    let [times, evaluations] = costs(&experiment, &steps)?;
    let look = FigureLayout {
        floor: 1e-7,
        ..look(
            "Figure 8: CPU time of an estimate against sample size, one thread (trees, predictions of 50 \
             background rows)",
            "seconds",
        )
    };
    let columns = ["dataset", "m"];
    let mut made = times.artefact_output(columns, &look, "Median CPU time in seconds by sample size");
    made.tables.extend(
        evaluations.artefact_output(columns, &look, "Median number of evaluations by sample size").tables,
    );
    made.claims = judged(&times, claims_of_times).into_iter().map(Claim::of_times).collect();
    made.claims.extend(judged(&evaluations, |evaluations| {
        vec![twice(
            evaluations,
            MonteCarloTwice,
            "number of evaluations",
            "2m evaluations, as in the paper's code",
        )]
    }));
    made.notes = notes();
    made.notes.push(format!(
        "times are measured on a different game than the errors: interventional, where each coalition value \
         requires predictions of the model for {BACKGROUND} background rows, as in the authors' code. In the \
         paper, coalition values take most of the time (appendix E); here, a value of the path-dependent \
         game takes well below a microsecond, so mainly drawing and solving would be timed"
    ));
    made.notes.push(format!(
        "times depend on the machine and are measured again in each run of the program: CPU time of one \
         thread, regardless of --threads, including evaluations of the game, without standard errors, for \
         each of {EXPLICANDS} explicands; with the quick preset up to m = {QUICK}n"
    ));
    made.datasets = datasets(|_| true);
    Ok(made)
}

/// Measures the CPU time and the number of evaluations of every estimator, on every dataset and at each
/// sample size.
fn costs(experiment: &Experiment<'_>, steps: &[Step]) -> Result<[Curves; 2]> {
    let one_thread =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().context("cannot start a thread")?;
    let curves = || Curves {
        panels: experiment.datasets.iter().map(|series| series.known.heading()).collect(),
        levels: steps.iter().map(|step| step.level.clone()).collect(),
        points: Vec::new(),
        centre: Centre::Median,
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
                let point = |of: fn(&Cost) -> f64| {
                    let costs = costs.iter().map(of).collect();
                    Point::new(panel, contender, level, covers_all(budget, players), costs)
                };
                times.points.extend(point(|cost| cost.seconds));
                evaluations.points.extend(point(|cost| cost.evaluations));
            }
        }
    }
    Ok([times, evaluations])
}

/// Measures the cost of one estimate in the current thread.
fn cost(instance: &Instance, contender: Contender, budget: usize) -> Result<Cost> {
    let game = instance.predicted()?;
    let estimator = contender.estimator();
    let started = ThreadTime::now();
    let explanation = estimator.estimate(&game, budget, instance.number() as u64)?;
    Ok(Cost { seconds: started.elapsed().as_secs_f64(), evaluations: explanation.evaluations as f64 })
}

fn claims_of_times(times: &Curves) -> Vec<Claim> {
    let comparable = [KernelBanzhafUnpaired, Msr].into_iter().flat_map(|other| {
        let cases = times.alike_cases(times.places(), (other, KernelBanzhaf), 1.5);
        cases.into_iter().map(move |case| case.prefixed(other.title()))
    });
    vec![
        By::SignedRanks.in_most(
            "Kernel Banzhaf with and without pairs and MSR take comparable times",
            "caption of figure 8; appendix E",
            "a dataset, a sample size and Kernel Banzhaf without pairs or MSR; it agrees if its time is \
             within a factor of 1.5 of that of Kernel Banzhaf for the same explicand",
            comparable,
        ),
        twice(times, MonteCarloTwice, "time", "2m evaluations, as in the paper's code"),
        twice(times, MonteCarlo, "time", "equal evaluations"),
    ]
}

/// Returns the claim that the Monte Carlo estimator `mc` costs about twice as much as the other estimators,
/// for the given kind of cost.
fn twice(costs: &Curves, mc: Contender, what: &str, how: &str) -> Claim {
    let pair = (mc, KernelBanzhaf);
    let cases = costs.cases(costs.places(), pair, |place| {
        let below = |factor| costs.is_below(place, pair, factor);
        Test::all([below(2.5), below(1.6).opposite()])
    });
    let claim = By::SignedRanks.in_most(
        &format!("MC consistently requires approximately twice the {what} of the others ({how})"),
        "caption of figure 8; appendix E",
        &format!(
            "a dataset and a sample size; it agrees if the {what} of {} is 1.6 to 2.5 times that of Kernel \
             Banzhaf for the same explicand",
            mc.title()
        ),
        cases,
    );
    let ratios: Vec<f64> = costs.places().into_iter().filter_map(|place| costs.ratio(place, pair)).collect();
    if ratios.is_empty() {
        return claim;
    }
    claim.and(&format!("median ratio {:.2} (paper: about 2)", Summary::from_sample(&ratios).median))
}
