//! The cells: one run until an accuracy, and the least budgets that reach it on average; computed once and kept.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use apportion::estimators::{Anytime, Checkpoint, Estimator, EstimatorError, Guarantee, StopRule};
use apportion::games::{GameError, SumOfUnanimity};
use apportion::values::ValueError;
use apportion::{Explanation, Game, Method, Semivalue, Until};
use serde::{Deserialize, Serialize};

use super::game::{Instance, Name, Series};
use crate::comparison::relative_error;
use crate::reproduce::cli::Preset;
use crate::reproduce::session::Session;
use crate::reproduce::store::{derive_seed, sha256};

/// Raised when the meaning of a cell changes (games, budgets, what is kept), so that old checkpoints are not taken up.
const PROTOCOL: u32 = 1;

/// Relative errors in the Euclidean norm that are asked for.
pub(super) const TOLERANCES: [f64; 3] = [0.1, 0.03, 0.01];

/// The method that the target is about: the default for Shapley values.
pub(super) const DEFAULT: Method = Method::LeverageShap;

/// All methods that are run.
pub(super) const METHODS: [Method; 8] = [
    DEFAULT,
    Method::KernelBanzhafWithoutReplacement,
    Method::KernelShapPaired,
    Method::OptimizedMonteCarlo,
    Method::Permutation,
    Method::MonteCarlo,
    Method::Stratified,
    Method::Sgd,
];

/// Games of more players are wide: their models take longest, so that there are fewer runs.
const WIDE: usize = 30;

/// One of so many runs is interrupted and resumed.
const INTERRUPTED: usize = 5;

/// Runs over which errors are averaged for the least budget.
const LEAST_RUNS: usize = 10;

/// The budgets between which the least one is found: each is so many times the one before.
const STEP: f64 = std::f64::consts::SQRT_2;

/// Runs on a game of `players`.
pub(super) fn runs_on(session: &Session, players: usize) -> usize {
    if players > WIDE { session.runs.div_ceil(5) } else { session.runs }
}

/// The value that `method` estimates.
fn value(method: Method) -> Semivalue {
    match method {
        Method::KernelBanzhafWithoutReplacement => Semivalue::Banzhaf,
        _ => Semivalue::Shapley,
    }
}

/// What `method` is asked for on a game of `players`: less where it would take the budget, and that long.
fn tolerances(session: &Session, method: Method, players: usize) -> &'static [f64] {
    let is_regression = matches!(method, DEFAULT | Method::KernelBanzhafWithoutReplacement);
    match (session.preset, method) {
        (_, Method::Stratified | Method::Sgd) if players > WIDE => &[],
        (_, Method::Stratified | Method::Sgd) => &TOLERANCES[..1],
        (_, _) if players <= WIDE => &TOLERANCES,
        (Preset::Paper, DEFAULT) => &TOLERANCES,
        (Preset::Paper, _) if is_regression => &TOLERANCES[..2],
        (Preset::Quick, DEFAULT) => &TOLERANCES[..2],
        _ => &TOLERANCES[..1],
    }
}

fn until(tolerance: f64) -> Until {
    Until::relative(tolerance)
}

/// The confidence that is asked for.
pub(super) fn confidence() -> f64 {
    until(1.0).confidence
}

/// One run until an accuracy, and all that determines it.
#[derive(Serialize)]
struct RunCell<'a> {
    kind: &'static str,
    protocol: u32,
    #[serde(flatten)]
    name: &'a Name,
    method: &'static str,
    fingerprint: &'a str,
    tolerance: f64,
    run: usize,
    is_interrupted: bool,
    seed: u64,
    #[serde(skip)]
    value: Semivalue,
    #[serde(skip)]
    estimator: &'a dyn Estimator,
    #[serde(skip)]
    instance: &'a Instance,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) stopped_by: StopRule,
    pub(super) guarantee: Guarantee,
    pub(super) evaluations: usize,
    pub(super) looks: usize,
    /// The true relative error over the tolerance.
    pub(super) error: f64,
    /// ν, the directions of the error as the method measured them.
    pub(super) directions: Option<f64>,
    /// Whether the run that was interrupted and resumed gave the same bytes; none where that was not tried.
    pub(super) same_bytes: Option<bool>,
}

/// The errors of one method by its budget, and all that determines them.
#[derive(Serialize)]
struct LeastCell<'a> {
    kind: &'static str,
    protocol: u32,
    #[serde(flatten)]
    name: &'a Name,
    method: &'static str,
    fingerprint: &'a str,
    /// The least error that is looked for.
    tolerance: f64,
    runs: usize,
    seed: u64,
    #[serde(skip)]
    value: Semivalue,
    #[serde(skip)]
    estimator: &'a dyn Estimator,
    #[serde(skip)]
    series: &'a Series,
}

/// The mean over the runs at one budget.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Level {
    evaluations: f64,
    error: f64,
}

/// All runs of one method on one game for one tolerance.
pub(super) struct Measured {
    pub(super) game: String,
    pub(super) method: Method,
    pub(super) tolerance: f64,
    pub(super) outcomes: Vec<Outcome>,
    /// The least evaluations at which the mean relative error is the tolerance; none within the budget.
    pub(super) least: Option<f64>,
}

impl Measured {
    /// The runs that stopped for the tolerance.
    pub(super) fn reached(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.stopped_by == StopRule::Tolerance)
    }

    /// Mean evaluations of the runs that stopped for the tolerance, if there is one.
    pub(super) fn spent(&self) -> Option<f64> {
        let count = self.reached().count();
        let sum: usize = self.reached().map(|outcome| outcome.evaluations).sum();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Evaluations spent over the least that reach the tolerance on average; none where runs were stopped by the budget, as those that
    /// were not are the cheap ones.
    pub(super) fn ratio(&self) -> Option<f64> {
        let are_all = self.reached().count() == self.outcomes.len();
        self.spent().zip(self.least).filter(|_| are_all).map(|(spent, least)| spent / least)
    }

    /// The mean of ν over the runs that stopped for the tolerance with an error.
    pub(super) fn directions(&self) -> Option<f64> {
        let known: Vec<f64> = self
            .reached()
            .filter(|outcome| outcome.guarantee != Guarantee::Exact)
            .filter_map(|outcome| outcome.directions)
            .collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    /// `leverage-shap on adult (n = 12) at 0.01`.
    pub(super) fn title(&self) -> String {
        format!("{} on {} at {}", self.method, self.game, self.tolerance)
    }
}

/// A method with its estimator and its [`fingerprint`].
struct Contender {
    method: Method,
    estimator: Box<dyn Estimator>,
    fingerprint: String,
}

impl Contender {
    fn new(method: Method) -> Result<Self> {
        let estimator = method
            .estimator(&value(method).into(), None)
            .with_context(|| format!("{method} does not estimate {}", value(method)))?;
        let fingerprint = fingerprint(&*estimator)?;
        Ok(Self { method, estimator, fingerprint })
    }
}

/// All methods on all games.
pub(super) fn measure(session: &Session, games: &[Series]) -> Result<Vec<Measured>> {
    let contenders = METHODS.into_iter().map(Contender::new).collect::<Result<Vec<_>>>()?;
    let settings: Vec<(&Series, &Contender, &'static [f64])> = games
        .iter()
        .flat_map(|series| contenders.iter().map(move |contender| (series, contender)))
        .map(|(series, contender)| (series, contender, tolerances(session, contender.method, series.players)))
        .filter(|(.., tolerances)| !tolerances.is_empty())
        .collect();
    let curves = least(session, &settings)?;
    let cells: Vec<RunCell<'_>> = settings
        .iter()
        .flat_map(|&(series, contender, tolerances)| {
            tolerances.iter().flat_map(move |&tolerance| {
                series.instances.iter().enumerate().map(move |(run, instance)| RunCell {
                    kind: "until",
                    protocol: PROTOCOL,
                    name: &series.name,
                    method: contender.method.name(),
                    fingerprint: &contender.fingerprint,
                    tolerance,
                    run,
                    is_interrupted: run % INTERRUPTED == 0,
                    seed: session.seed,
                    value: value(contender.method),
                    estimator: &*contender.estimator,
                    instance,
                })
            })
        })
        .collect();
    let mut outcomes = session
        .results(&cells, |cell| {
            run(cell).with_context(|| {
                format!("{} on {}, run {}, until {}", cell.method, cell.name.game, cell.run, cell.tolerance)
            })
        })?
        .into_iter();
    let mut measured = Vec::new();
    for ((series, contender, tolerances), curve) in settings.iter().zip(&curves) {
        for &tolerance in *tolerances {
            measured.push(Measured {
                game: series.title(),
                method: contender.method,
                tolerance,
                outcomes: outcomes.by_ref().take(series.instances.len()).collect(),
                least: least_evaluations(curve, tolerance),
            });
        }
    }
    Ok(measured)
}

/// Where the mean error comes down to `tolerance`: between two levels its square is taken as linear in 1/m, as it is for samples of m
/// with replacement, and without.
fn least_evaluations(levels: &[Level], tolerance: f64) -> Option<f64> {
    let at = levels.iter().position(|level| level.error <= tolerance)?;
    let above = levels[at];
    let Some(below) = at.checked_sub(1).map(|at| levels[at]) else { return Some(above.evaluations) };
    let share = (below.error.powi(2) - tolerance.powi(2)) / (below.error.powi(2) - above.error.powi(2));
    let inverse = (1.0 - share) / below.evaluations + share / above.evaluations;
    Some(1.0 / inverse)
}

fn least(session: &Session, settings: &[(&Series, &Contender, &'static [f64])]) -> Result<Vec<Vec<Level>>> {
    let cells: Vec<LeastCell<'_>> = settings
        .iter()
        .map(|&(series, contender, tolerances)| LeastCell {
            kind: "least",
            protocol: PROTOCOL,
            name: &series.name,
            method: contender.method.name(),
            fingerprint: &contender.fingerprint,
            tolerance: tolerances.iter().copied().fold(f64::INFINITY, f64::min),
            runs: series.instances.len().min(LEAST_RUNS),
            seed: session.seed,
            value: value(contender.method),
            estimator: &*contender.estimator,
            series,
        })
        .collect();
    session.results(&cells, |cell| {
        levels(cell).with_context(|| format!("least budgets of {} on {}", cell.method, cell.name.game))
    })
}

/// Mean evaluations and errors at growing budgets, up to one at which the tolerance is reached.
fn levels(cell: &LeastCell<'_>) -> Result<Vec<Level>> {
    let games = cell.series.instances[..cell.runs]
        .iter()
        .map(Instance::game)
        .collect::<Result<Vec<Box<dyn Game + '_>>>>()?;
    let mut runs = games
        .iter()
        .enumerate()
        .map(|(run, game)| {
            let seed = derive_seed(&("least", &cell.name.game, cell.method, run, cell.seed))?;
            Ok(Anytime::new(cell.estimator, &**game, seed)?)
        })
        .collect::<Result<Vec<Anytime<'_>>>>()?;
    let players = cell.series.players;
    let most = until(cell.tolerance).most_evaluations(players);
    let mut budget = cell.estimator.growing().minimum_budget(players).max(4).min(most);
    let mut levels = Vec::new();
    loop {
        let (mut evaluations, mut error) = (0.0, 0.0);
        for (run, instance) in runs.iter_mut().zip(&cell.series.instances) {
            let explanation = run.run(budget)?;
            evaluations += explanation.evaluations as f64;
            error += relative_error(&explanation.values, instance.truth(&cell.value)).sqrt();
        }
        let count = cell.runs as f64;
        levels.push(Level { evaluations: evaluations / count, error: error / count });
        if error / count <= cell.tolerance || budget >= most {
            return Ok(levels);
        }
        budget = ((budget as f64 * STEP).ceil() as usize).min(most);
    }
}

fn run(cell: &RunCell<'_>) -> Result<Outcome> {
    let game = cell.instance.game()?;
    // Tolerances are independent of each other: pooling them is then pooling runs.
    let seed = derive_seed(&("until", &cell.name.game, cell.method, cell.tolerance, cell.run, cell.seed))?;
    let until = until(cell.tolerance);
    let chunks = AtomicUsize::new(0);
    let mut straight = Anytime::new(cell.estimator, &*game, seed)?.watched(|_| {
        chunks.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    let explanation = straight.run_until(&until)?;
    let certificate =
        explanation.certificate.as_ref().context("a run until an accuracy says why it stopped")?;
    let law = explanation.diagnostics.error_law.as_ref();
    let same_bytes = if cell.is_interrupted {
        let stop_at = derive_seed(&("stop", seed))? as usize % chunks.load(Ordering::Relaxed).max(1);
        let resumed = interrupted(cell.estimator, &*game, seed, &until, stop_at)?;
        Some(serde_json::to_string(explanation)? == serde_json::to_string(&resumed)?)
    } else {
        None
    };
    Ok(Outcome {
        stopped_by: certificate.stopped_by,
        guarantee: certificate.guarantee,
        evaluations: explanation.evaluations,
        looks: certificate.looks.len(),
        error: relative_error(&explanation.values, cell.instance.truth(&cell.value)).sqrt() / cell.tolerance,
        directions: law.and_then(|law| law.directions.first().copied()),
        same_bytes,
    })
}

/// The same run, stopped after chunk `stop_at`, counted from 0, stored as JSON, read and resumed.
fn interrupted(
    estimator: &dyn Estimator,
    game: &dyn Game,
    seed: u64,
    until: &Until,
    stop_at: usize,
) -> Result<Explanation> {
    let chunks = AtomicUsize::new(0);
    let mut first = Anytime::new(estimator, game, seed)?.watched(|_| {
        if chunks.fetch_add(1, Ordering::Relaxed) < stop_at {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    match first.run_until(until) {
        Err(
            EstimatorError::Game(GameError::Interrupted { .. })
            | EstimatorError::Value(ValueError::Game(GameError::Interrupted { .. })),
        ) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => bail!("a run with a chunk {stop_at} was over before it"),
    }
    let stored = serde_json::to_string(&first.checkpoint())?;
    let checkpoint: Checkpoint = serde_json::from_str(&stored)?;
    Ok(Anytime::resume(&checkpoint, estimator, game, seed)?.run_until(until)?.clone())
}

/// A hash of what a run of the estimator answers once: it belongs to the key of every checkpoint, so that results of an estimator, or of
/// rules for looks, that have changed since are not taken up again.
fn fingerprint(estimator: &dyn Estimator) -> Result<String> {
    let game = SumOfUnanimity::random(12, 30, 3, 1);
    let mut run = Anytime::new(estimator, &game, 1)?;
    Ok(sha256(&serde_json::to_vec(run.run_until(&until(0.1))?)?)[..16].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_was_stopped_where_it_was_told_to_and_ends_with_the_same_bytes() {
        let game = SumOfUnanimity::random(16, 40, 3, 2);
        for method in METHODS {
            let contender = Contender::new(method).unwrap();
            let mut straight = Anytime::new(&*contender.estimator, &game, 5).unwrap();
            let wanted = straight.run_until(&until(0.1)).unwrap();
            let got = interrupted(&*contender.estimator, &game, 5, &until(0.1), 1).unwrap();
            assert_eq!(
                serde_json::to_string(&got).unwrap(),
                serde_json::to_string(wanted).unwrap(),
                "{method}"
            );
            let other = interrupted(&*contender.estimator, &game, 6, &until(0.1), 1).unwrap();
            assert_ne!(other.values, wanted.values, "{method}: another seed has other values");
            assert!(interrupted(&*contender.estimator, &game, 5, &until(0.1), usize::MAX).is_err());
        }
    }

    #[test]
    fn the_least_budget_is_where_errors_that_fall_with_the_root_of_the_budget_reach_the_tolerance() {
        let levels = |population: f64| -> Vec<Level> {
            let at = |&m: &f64| Level {
                evaluations: m,
                error: 3.0 * (1.0 / m - 1.0 / population).max(0.0).sqrt(),
            };
            [100.0, 141.0, 200.0, 283.0, 400.0].iter().map(at).collect()
        };
        // 9 / m = 0.04, and 9 (1/m − 1/400) = 0.04.
        assert!((least_evaluations(&levels(f64::INFINITY), 0.2).unwrap() - 225.0).abs() < 1e-9);
        assert!((least_evaluations(&levels(400.0), 0.2).unwrap() - 9.0 / 0.0625).abs() < 1e-9);
        assert_eq!(least_evaluations(&levels(f64::INFINITY), 0.3), Some(100.0));
        assert_eq!(least_evaluations(&levels(f64::INFINITY), 0.1), None);
    }

    #[test]
    fn a_cell_with_runs_stopped_by_the_budget_has_no_ratio() {
        let outcome = |stopped_by, evaluations| Outcome {
            stopped_by,
            guarantee: Guarantee::Asymptotic,
            evaluations,
            looks: 3,
            error: 0.5,
            directions: Some(2.0),
            same_bytes: None,
        };
        let mut measured = Measured {
            game: "g".to_owned(),
            method: DEFAULT,
            tolerance: 0.1,
            outcomes: vec![outcome(StopRule::Tolerance, 100), outcome(StopRule::Tolerance, 200)],
            least: Some(75.0),
        };
        assert_eq!(measured.ratio(), Some(2.0));
        measured.outcomes.push(outcome(StopRule::Budget, 1000));
        assert_eq!((measured.spent(), measured.ratio()), (Some(150.0), None));
    }
}
