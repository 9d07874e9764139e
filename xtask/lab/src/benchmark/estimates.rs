//! Cells of the benchmark: the results of one method on the games of one run, computed once and stored.

use anyhow::{Context, Result};
use apportion::estimators::{Anytime, Estimator, Guarantee, MethodSpec, StopRule};
use apportion::{Explanation, Game, Until};
use serde::{Deserialize, Serialize};

use super::problems::Problem;
use crate::comparison::relative_error;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Increased when the meaning of a cell changes in a way that the digests of games and methods do not detect,
/// so that old checkpoints are not reused.
const PROTOCOL: u32 = 1;

/// Half-width of a 95% interval, as a multiple of the standard error.
const HALF_WIDTH: f64 = 1.96;

/// Standard errors up to this are rounding error: the value is exact.
const MIN_WIDTH: f64 = 1e-9;

/// A request to a method: a budget or a tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Effort {
    /// An estimate with this number of evaluations.
    Budget(usize),
    /// An estimate with this number of evaluations, from a growing sample as in runs with a tolerance.
    Grown(usize),
    /// A run with this relative error in the Euclidean norm as tolerance, with confidence 0.95.
    Until(f64),
}

impl Effort {
    fn run(self, estimator: &dyn Estimator, game: &dyn Game, seed: u64) -> Result<Explanation> {
        Ok(match self {
            Self::Budget(budget) => estimator.estimate(game, budget, seed)?,
            Self::Grown(budget) => Anytime::new(estimator, game, seed)?.run(budget)?.clone(),
            Self::Until(tolerance) => {
                Anytime::new(estimator, game, seed)?.run_until(&Until::relative(tolerance))?.clone()
            }
        })
    }
}

/// A method, and the value and the problem that it is applied to.
pub(super) struct Setting<'a> {
    pub(super) problem: &'a Problem,
    /// Index of the value in [`Problem::values`].
    value: usize,
    pub(super) method: &'static MethodSpec,
    pub(super) estimator: Box<dyn Estimator>,
}

impl<'a> Setting<'a> {
    /// Creates the setting, or returns `None` if the method does not support the value.
    pub(super) fn new(problem: &'a Problem, value: usize, method: &'static MethodSpec) -> Option<Self> {
        let estimator = method.build(problem.values.get(value)?)?;
        Some(Self { problem, value, method, estimator })
    }

    pub(super) fn value(&self) -> String {
        self.problem.values[self.value].concept().to_string()
    }

    /// Formats a title, e.g. `leverage-shap on adult (n = 12)`.
    pub(super) fn title(&self) -> String {
        format!("{} on {} (n = {})", self.method.name(), self.problem.name, self.problem.players())
    }
}

/// Checkpoint key of the results of one run.
#[derive(Serialize)]
struct EstimateKey<'a> {
    problem: &'a str,
    value: String,
    method: &'static str,
    asked: Effort,
    run: usize,
}

/// Result of a method on one game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Estimate {
    /// Errors `φ̃ − φ`, by player.
    pub(super) deviations: Vec<f64>,
    /// Relative squared error, `‖φ̃ − φ‖² / ‖φ‖²`.
    pub(super) error: f64,
    pub(super) evaluations: usize,
    /// Number of rows that the model was evaluated on.
    pub(super) rows: usize,
    /// Number of intervals φ̃ ± 1.96 standard errors with positive width (`intervals`), and how many of them
    /// contain the true value.
    pub(super) intervals: usize,
    pub(super) covered: usize,
    /// Stopping reason of a run with a tolerance, and the guarantee of its error bound.
    pub(super) stopped: Option<(StopRule, Guarantee)>,
}

impl Estimate {
    fn new(explanation: &Explanation, truth: &[f64]) -> Self {
        let pairs = || explanation.values.iter().zip(truth);
        let deviations: Vec<f64> = pairs().map(|(value, truth)| value - truth).collect();
        let errors = explanation.std_errors.as_deref().unwrap_or_default();
        let has_width = |error: f64| error > MIN_WIDTH;
        let holds = |(deviation, &error): (&f64, &f64)| deviation.abs() <= HALF_WIDTH * error;
        Self {
            error: relative_error(&explanation.values, truth),
            evaluations: explanation.evaluations,
            rows: explanation.model_rows,
            intervals: errors.iter().filter(|&&error| has_width(error)).count(),
            covered: deviations.iter().zip(errors).filter(|&pair| has_width(*pair.1) && holds(pair)).count(),
            stopped: explanation.certificate.as_ref().map(|known| (known.stopped_by, known.guarantee)),
            deviations,
        }
    }
}

/// Computes the results of the settings for the requests, indexed by the position in `asked`, then by run,
/// then by game.
pub(super) fn estimates(
    session: &Session,
    asked: &[(&Setting<'_>, Effort)],
    runs: impl Fn(&Setting<'_>) -> usize,
) -> Result<Vec<Vec<Vec<Estimate>>>> {
    let mut cells = Vec::new();
    for &(setting, asked) in asked {
        let digest = digest(setting)?;
        for run in 0..runs(setting) {
            let games = setting.problem.of_run(run);
            let played = Digest::joined(games.iter().map(|game| &game.played));
            let truth = Digest::from_numbers(
                games.iter().flat_map(|game| game.truths[setting.value].iter().copied()),
            );
            cells.push(Cell {
                key: EstimateKey {
                    problem: &setting.problem.name,
                    value: setting.value(),
                    method: setting.method.name(),
                    asked,
                    run,
                },
                made_of: Ingredients::new("benchmark", PROTOCOL, session.seed, &played, &digest)
                    .against(&truth),
                with: setting,
            });
        }
    }
    let mut rest = session
        .results(&cells, |cell| {
            let EstimateKey { run, asked, .. } = cell.key;
            answers(cell).with_context(|| format!("{}, run {run}, {asked:?}", cell.with.title()))
        })?
        .into_iter();
    Ok(asked.iter().map(|&(setting, _)| rest.by_ref().take(runs(setting)).collect()).collect())
}

fn answers(cell: &Cell<EstimateKey<'_>, &Setting<'_>>) -> Result<Vec<Estimate>> {
    let (EstimateKey { problem, value, method, asked, run }, setting) = (&cell.key, cell.with);
    let answer = |(at, game): (usize, &super::problems::Instance)| {
        // The request is part of the seed, so that runs pooled over tolerances are independent.
        let seed = derive_seed(&(problem, value, method, asked, run, at, cell.made_of.seed))?;
        let explanation = game.play(|game| asked.run(&*setting.estimator, game, seed))?;
        Ok(Estimate::new(&explanation, &game.truths[setting.value]))
    };
    setting.problem.of_run(*run).iter().enumerate().map(answer).collect()
}

/// Returns a digest of the method, computed from its results for a small budget and a loose tolerance.
fn digest(setting: &Setting<'_>) -> Result<Digest> {
    let (estimator, players) = (&*setting.estimator, setting.problem.players());
    let budget = estimator.minimum_budget(players).max(4 * players);
    let mut asked = vec![Effort::Budget(budget)];
    if setting.problem.is_by_run {
        asked.extend([Effort::Grown(budget), Effort::Until(0.5)]);
    }
    let answers = asked
        .into_iter()
        .map(|asked| setting.problem.instances[0].play(|game| asked.run(estimator, game, 1)));
    Digest::of_data(&(estimator.name(), estimator.settings(), answers.collect::<Result<Vec<_>>>()?))
}
