//! The least budgets that reach a tolerance on average: mean errors at growing budgets, kept as cells.

use anyhow::{Context, Result};
use apportion::estimators::{Anytime, Estimator};
use apportion::{Game, Semivalue};
use serde::{Deserialize, Serialize};

use super::asked::{until, value};
use super::game::{Instance, Name, Series};
use super::runs::{PROTOCOL, Setting};
use crate::comparison::relative_error;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// The budgets between which the least one is found: each is so many times the one before.
const STEP: f64 = std::f64::consts::SQRT_2;

/// The errors of one method by its budget.
#[derive(Serialize)]
struct LeastCell<'a> {
    #[serde(flatten)]
    name: &'a Name,
    method: &'static str,
    /// The least error that is looked for.
    tolerance: f64,
    runs: usize,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    value: Semivalue,
    #[serde(skip)]
    estimator: &'a dyn Estimator,
    #[serde(skip)]
    digest: &'a Digest,
    #[serde(skip)]
    series: &'a Series,
}

impl Cell for LeastCell<'_> {
    fn ingredients(&self) -> Ingredients<'_> {
        Ingredients {
            kind: "least",
            protocol: PROTOCOL,
            games: &self.series.played,
            method: self.digest,
            truth: Some(&self.series.truth),
            seed: self.seed,
        }
    }
}

/// The mean over the runs at one budget.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Level {
    pub(super) evaluations: f64,
    pub(super) error: f64,
}

/// Where the mean error comes down to `tolerance`: between two levels its square is taken as linear in 1/m, as it is for samples of m
/// with replacement, and without.
pub(super) fn least_evaluations(levels: &[Level], tolerance: f64) -> Option<f64> {
    let at = levels.iter().position(|level| level.error <= tolerance)?;
    let above = levels[at];
    let Some(below) = at.checked_sub(1).map(|at| levels[at]) else { return Some(above.evaluations) };
    let share = (below.error.powi(2) - tolerance.powi(2)) / (below.error.powi(2) - above.error.powi(2));
    let inverse = (1.0 - share) / below.evaluations + share / above.evaluations;
    Some(1.0 / inverse)
}

pub(super) fn least(session: &Session, settings: &[Setting<'_>]) -> Result<Vec<Vec<Level>>> {
    let cells: Vec<LeastCell<'_>> = settings
        .iter()
        .map(|&(series, contender, tolerances)| LeastCell {
            name: &series.name,
            method: contender.method.name(),
            tolerance: tolerances.iter().copied().fold(f64::INFINITY, f64::min),
            runs: series.instances.len(),
            seed: session.seed,
            value: value(contender.method),
            estimator: &*contender.estimator,
            digest: &contender.digest,
            series,
        })
        .collect();
    session.results(&cells, |cell| {
        levels(cell).with_context(|| format!("least budgets of {} on {}", cell.method, cell.name.game))
    })
}

/// Mean evaluations and errors at growing budgets, up to one at which the tolerance is reached.
fn levels(cell: &LeastCell<'_>) -> Result<Vec<Level>> {
    let games =
        cell.series.instances.iter().map(Instance::game).collect::<Result<Vec<Box<dyn Game + '_>>>>()?;
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(least_evaluations(&levels(f64::INFINITY), 0.35), Some(100.0));
        assert_eq!(least_evaluations(&levels(f64::INFINITY), 0.1), None);
    }
}
