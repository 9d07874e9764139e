//! Figure 5: the condition number of the sampled regression.

use anyhow::{Context, Result};
use serde::Serialize;

use super::contender::Contender::{self, KernelBanzhaf, LeverageShap, OptimizedKernelShap};
use super::experiment::{Curves, Experiment, MANY, Metric, curves, datasets, experiment, judged, look};
use super::notes::shapley_notes;
use super::printed_k;
use crate::comparison::{
    Centre, Compete, FigureLayout, Noise, Point, Run, Step, by_sample_size, covers_all, estimate_seed,
};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::notes;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Claim};

/// Generates figure 5: median and quartiles of the condition number of K for the three regressions, for both
/// readings of K.
pub(crate) fn fig5(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session)?;
    let projected = curves(&experiment, &Contender::REGRESSIONS, &by_sample_size(), Metric::ConditionNumber)?;
    let printed = printed(session, &experiment)?;
    let look = FigureLayout {
        floor: 1e-3,
        columns: experiment.datasets.len().clamp(1, 4),
        ..look("Figure 5: condition number of K against sample size", "condition number")
    };
    let errors = errors(&experiment)?;
    let mut readings = Vec::new();
    let mut all = Vec::new();
    for (title, y, curves) in [
        ("K as section 4.2 prints it", "condition number, K as printed", &printed),
        ("equation 17, on Σx = 0 for Shapley", "condition number, equation 17", &projected),
    ] {
        let caption = format!("Median condition number by sample size: {title}");
        all.push(curves.artefact_output(["dataset", "m"], &FigureLayout { y, ..look }, &caption));
        readings.push((title.to_owned(), judged(curves, |curves| claims(&experiment, curves, &errors))));
    }
    let mut made =
        all.into_iter().reduce(ArtefactOutput::followed_by).context("the list of readings is empty")?;
    made.claims = Claim::over_readings(readings);
    made.notes = shapley_notes();
    made.notes.extend(notes![
        "two readings of K, which the paper prints in two ways. Section 4.2: K = (AᵀA)^{−½} ÃᵀÃ (AᵀA)^{½}, \
         on all of ℝⁿ, where A has the rows √w(z)·z for Shapley values. This matrix is similar to ÃᵀÃ and \
         thus does not measure how close Ã is to A: if every coalition is sampled, it has the condition \
         number of AᵀA, which is 1 for Banzhaf and n·H − n + 1 for Shapley values, H = 1 + ½ + … + 1/(n − 1) \
         (419 for n = 100)",
        "equation 17: K = (AᵀA)^{−½} ÃᵀÃ (AᵀA)^{−½}, which is the identity if every coalition is sampled. \
         Since AᵀA is a multiple of the identity (Banzhaf) or of the projection onto Σx = 0 (Shapley, whose \
         regression is restricted to this plane), K has the condition number of the Gram matrix of the \
         weighted sampled rows, restricted to Σx = 0 for Shapley",
        "the samples are the same as in figure 9",
        "no value where an estimator enumerates all coalitions (m ≥ 2^n) and so has no sampled regression",
    ]);
    made.datasets = datasets(|_| true);
    Ok(made)
}

/// Checkpoint key of the condition number of a sampled matrix.
#[derive(Serialize)]
struct SampleKey {
    dataset: &'static str,
    players: usize,
    estimator: &'static str,
    budget: usize,
    run: usize,
}

/// Computes the condition numbers of K as printed, for the same samples of coalitions as in the estimates.
fn printed(session: &Session, experiment: &Experiment<'_>) -> Result<Curves> {
    let steps = by_sample_size();
    let (mut cells, mut places) = (Vec::new(), Vec::new());
    for contender in Contender::REGRESSIONS {
        let probe = [(5, 20), (9, 60)].map(|(n, m)| printed_k::condition_number(contender, n, m, 1));
        let probe = probe.into_iter().collect::<Result<Vec<_>>>()?;
        let method = Digest::joined([&contender.digest()?, &Digest::from_numbers(probe)]);
        for (panel, series) in experiment.datasets.iter().enumerate() {
            let (dataset, players) = (series.known.name, series.known.players);
            for (level, step) in steps.iter().enumerate() {
                let Some(budget) = step.budget.evaluations(players) else { continue };
                if covers_all(budget, players) {
                    continue;
                }
                places.push((panel, contender, level));
                for instance in &series.instances {
                    let (estimator, run) = (contender.title(), instance.number());
                    let made_of =
                        Ingredients::new("K as printed", 1, session.seed, &Digest::from_numbers([]), &method);
                    let key = SampleKey { dataset, players, estimator, budget, run };
                    cells.push(Cell { key, made_of, with: contender });
                }
            }
        }
    }
    // JSON cannot represent infinity, the condition number of a singular matrix.
    let numbers: Vec<Option<f64>> = session.results(&cells, |cell| {
        let SampleKey { dataset, players, estimator, budget, run } = cell.key;
        let seed = estimate_seed(dataset, estimator, budget, Noise::NONE, run, session.seed)?;
        let number = printed_k::condition_number(cell.with, players, budget, seed)?;
        Ok(number.is_finite().then_some(number))
    })?;
    let mut rest = numbers.into_iter();
    let points = places.into_iter().filter_map(|(panel, contender, level)| {
        let runs = experiment.datasets[panel].instances.len();
        let numbers = rest.by_ref().take(runs).map(|number| number.unwrap_or(f64::INFINITY));
        Point::new(panel, contender, level, false, numbers.collect())
    });
    let points = points.collect();
    let level = |step: Step| {
        let mut level = step.level;
        level.label = format!("K as printed, {}", level.label);
        level
    };
    Ok(Curves {
        panels: experiment.datasets.iter().map(|series| series.known.heading()).collect(),
        levels: steps.into_iter().map(level).collect(),
        points,
        centre: Centre::Median,
    })
}

/// Returns the error curves of figure 9.
fn errors(experiment: &Experiment<'_>) -> Result<Curves> {
    curves(experiment, &Contender::REGRESSIONS, &by_sample_size(), Metric::NormalizedError)
}

fn claims(experiment: &Experiment<'_>, curves: &Curves, errors: &Curves) -> Vec<Claim> {
    let better = |rival: Contender| {
        curves.below(
            &format!("Kernel Banzhaf constructs a better subproblem than {} at all scales", rival.title()),
            "section 4.2; figure 5",
            (KernelBanzhaf, rival),
        )
    };
    vec![better(LeverageShap), better(OptimizedKernelShap), explains_the_error(experiment, curves, errors)]
}

/// Judges whether better conditioning accompanies the smaller errors of figure 9.
fn explains_the_error(experiment: &Experiment<'_>, conditions: &Curves, errors: &Curves) -> Claim {
    let pair = (KernelBanzhaf, LeverageShap);
    let wide = conditions.open_places().filter(|&(panel, _)| experiment.players(panel) >= MANY);
    let ahead = wide.filter(|&place| errors.ratio(place, pair).is_some_and(|ratio| ratio < 1.0));
    By::SignedRanks.in_all(
        "its better subproblem explains the superior performance of Kernel Banzhaf for large n",
        "section 4.2",
        &format!(
            "a dataset with n ≥ {MANY} and a sample size at which Kernel Banzhaf's median error is below \
             Leverage SHAP's (figure 9); it agrees if its condition number is lower by 5 % and more in the \
             same run"
        ),
        conditions.below_cases(ahead, pair, 0.95),
    )
}
