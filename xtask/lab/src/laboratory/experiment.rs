//! The runs: explicands with their exact values, and every estimator on each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use apportion::games::parallel;
use apportion::trees::{Exact, MarginalTreeExplainer};
use apportion::{Budget, Game, MarginalGame, Rows, Value};

use super::checkpoints::{Checkpoints, RunKey, RunResult};
use super::contestant::Contestant;
use super::dataset::OwnDataset;
use super::one_output::OneOutput;
use super::program::ProgramResult;
use super::record::{EstimateLine, RunLine, Skipped};
use crate::comparison::{squared_distance, squared_norm};
use crate::reproduce::explicand::row_index;
use crate::reproduce::session::progress;
use crate::reproduce::store::derive_seed;

/// Settings common to all runs.
pub(crate) struct Plan<'a> {
    pub(crate) datasets: &'a [OwnDataset],
    pub(crate) budgets: &'a [Budget],
    pub(crate) seeds: &'a [u64],
    pub(crate) value: &'a Value,
}

/// Results, in the order of estimators, datasets, budgets and runs.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) runs: Vec<RunLine>,
    pub(crate) estimates: Vec<EstimateLine>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Outcome {
    /// Adds the results of an estimator for these cells. If the estimator rejects a budget on a dataset in
    /// one run, all its runs on that dataset with that budget are skipped, with the first reason given.
    fn add(&mut self, plan: &Plan<'_>, contestant: &Contestant, cells: &[Cell], told: Vec<CellResult>) {
        let mut refused = BTreeMap::new();
        for (cell, told) in cells.iter().zip(&told) {
            if let CellResult::Refused(reason) = told {
                refused.entry((cell.dataset, cell.budget)).or_insert(reason);
            }
        }
        self.skipped.extend(refused.iter().map(|(&(dataset, budget), &reason)| Skipped {
            estimator: contestant.name.clone(),
            dataset: Some(plan.datasets[dataset].name.clone()),
            budget: Some(plan.budgets[budget].to_string()),
            reason: reason.clone(),
        }));
        let refused: BTreeSet<(usize, usize)> = refused.into_keys().collect();
        for (cell, told) in cells.iter().zip(told) {
            match told {
                CellResult::Numbers(line, estimates) if !refused.contains(&(cell.dataset, cell.budget)) => {
                    self.runs.push(line);
                    self.estimates.extend(estimates);
                }
                CellResult::Numbers(..) | CellResult::Refused(_) => {}
            }
        }
    }
}

/// Outcome of one estimate.
enum CellResult {
    Numbers(RunLine, Vec<EstimateLine>),
    /// Reason why the estimator rejects this budget.
    Refused(String),
}

/// An explained row with its exact values.
struct Explicand {
    row: usize,
    values: Vec<f64>,
    truth: Vec<f64>,
}

/// A requested estimate, identified by indices.
#[derive(Clone, Copy)]
struct Cell {
    dataset: usize,
    budget: usize,
    run: usize,
}

/// Runs every estimator on every dataset, budget and seed. An estimator that fails in any run is skipped
/// altogether, so that the numbers of an estimator cover all runs or none. Finished runs are read from the
/// checkpoints, and new ones are stored there.
///
/// # Errors
///
/// If exact values are not available.
pub(crate) fn run(plan: &Plan<'_>, contestants: &[Contestant], checkpoints: &Checkpoints) -> Result<Outcome> {
    let explicands: Vec<Vec<Explicand>> =
        plan.datasets.iter().map(|dataset| explicands(plan, dataset)).collect::<Result<_>>()?;
    let mut outcome = Outcome::default();
    let mut wanted = Vec::with_capacity(contestants.len());
    for contestant in contestants {
        let (cells, skipped) = cells(plan, contestant);
        outcome.skipped.extend(skipped);
        wanted.push((contestant, cells));
    }
    let progress = progress(wanted.iter().map(|(_, cells)| cells.len()).sum());
    for (contestant, cells) in wanted {
        let estimated = parallel::try_map(&cells, |&cell| {
            let explicand = &explicands[cell.dataset][cell.run];
            let told = ended(plan, contestant, cell, explicand, checkpoints)
                .and_then(|ended| against_truth(plan, contestant, cell, explicand, ended));
            progress.inc(1);
            told.map_err(|error| (cell, error))
        });
        match estimated {
            Ok(told) => outcome.add(plan, contestant, &cells, told),
            Err((cell, error)) => outcome.skipped.push(failed(plan, contestant, cell, &error)),
        }
    }
    progress.finish_and_clear();
    Ok(outcome)
}

/// Returns the explained rows with their exact values, one row for each seed. The values are computed row by
/// row, so that they do not depend on the other explained rows.
fn explicands(plan: &Plan<'_>, dataset: &OwnDataset) -> Result<Vec<Explicand>> {
    let tree_explainer = MarginalTreeExplainer::new(&dataset.model, dataset.background.as_rows(), None)
        .with_context(|| format!("cannot compute exact values for the dataset {:?}", dataset.name))?;
    parallel::try_map(plan.seeds, |&seed| {
        let row = row_index(dataset.table.len(), derive_seed(&("explicand", &dataset.name, seed))?);
        let values = dataset.table.row(row).to_vec();
        let exact =
            tree_explainer.values_of(plan.value, Rows::new(&values, values.len())).with_context(|| {
                format!("cannot compute exact values for row {row} of the dataset {:?}", dataset.name)
            })?;
        let ends = [exact.base[dataset.output], exact.predictions[dataset.output]];
        let truth = exact.values.into_iter().skip(dataset.output).step_by(dataset.model.output_count());
        Ok(Explicand { row, values, truth: without_rounding(truth.collect(), ends) })
    })
}

/// Returns the true values of a game, or zeros if all of them are rounding error compared with v(∅) and v(N):
/// relative errors must not be divided by the norm of rounding errors.
fn without_rounding(truth: Vec<f64>, [base, prediction]: [f64; 2]) -> Vec<f64> {
    /// Maximum rounding error of a value, in units of the rounding error of v(∅) or v(N).
    const ROUNDINGS: f64 = 16.0;
    let most = ROUNDINGS * f64::EPSILON * base.abs().max(prediction.abs());
    if truth.iter().all(|value| value.abs() <= most) { vec![0.0; truth.len()] } else { truth }
}

/// Returns the estimates to compute, and the combinations that are skipped because the estimator is known not
/// to support them.
fn cells(plan: &Plan<'_>, contestant: &Contestant) -> (Vec<Cell>, Vec<Skipped>) {
    let (mut cells, mut skipped) = (Vec::new(), Vec::new());
    for (dataset, own) in plan.datasets.iter().enumerate() {
        for (budget, asked) in plan.budgets.iter().enumerate() {
            let players = own.players();
            match contestant.refuses(plan.value, players, asked.evaluations(players)) {
                None => cells.extend((0..plan.seeds.len()).map(|run| Cell { dataset, budget, run })),
                Some(reason) => skipped.push(Skipped {
                    estimator: contestant.name.clone(),
                    dataset: Some(own.name.clone()),
                    budget: Some(asked.to_string()),
                    reason,
                }),
            }
        }
    }
    (cells, skipped)
}

/// Returns the result of a run, from a checkpoint if it exists, otherwise by running the estimator.
fn ended(
    plan: &Plan<'_>,
    contestant: &Contestant,
    cell: Cell,
    explicand: &Explicand,
    checkpoints: &Checkpoints,
) -> Result<RunResult> {
    let (dataset, budget) = (&plan.datasets[cell.dataset].name, plan.budgets[cell.budget].to_string());
    let run = RunKey { dataset, estimator: &contestant.name, budget, run: cell.run };
    if let Some(ended) = checkpoints.get(&run)? {
        return Ok(ended);
    }
    let ended = estimate(plan, contestant, cell, explicand)?;
    checkpoints.put(&run, &ended);
    Ok(ended)
}

fn estimate(
    plan: &Plan<'_>,
    contestant: &Contestant,
    cell: Cell,
    explicand: &Explicand,
) -> Result<RunResult> {
    let dataset = &plan.datasets[cell.dataset];
    let (budget, seed) = (plan.budgets[cell.budget], plan.seeds[cell.run]);
    let game = MarginalGame::new(&dataset.model, &explicand.values, &dataset.background)?;
    let game: Box<dyn Game> = match dataset.model.output_count() {
        1 => Box::new(game),
        _ => Box::new(OneOutput::new(game, dataset.output)),
    };
    let started = Instant::now();
    let answered = contestant.estimate(plan.value, &*game, budget.evaluations(dataset.players()), seed)?;
    Ok(RunResult { answered, seconds: started.elapsed().as_secs_f64() })
}

/// Compares the result of a run with the exact values.
fn against_truth(
    plan: &Plan<'_>,
    contestant: &Contestant,
    cell: Cell,
    explicand: &Explicand,
    RunResult { answered, seconds }: RunResult,
) -> Result<CellResult> {
    let dataset = &plan.datasets[cell.dataset];
    let (budget, seed) = (plan.budgets[cell.budget], plan.seeds[cell.run]);
    let (values, evaluations) = match answered {
        ProgramResult::Estimate(values, evaluations) => (values, evaluations),
        ProgramResult::Refused(reason) => return Ok(CellResult::Refused(reason)),
    };
    let (squared_error, norm) = (squared_distance(&values, &explicand.truth), squared_norm(&explicand.truth));
    let relative_squared_error = (norm > 0.0).then(|| squared_error / norm);
    if !relative_squared_error.unwrap_or(squared_error).is_finite() {
        let largest = |one: &usize, other: &usize| values[*one].abs().total_cmp(&values[*other].abs());
        let player = (0..values.len()).max_by(largest).unwrap_or_default();
        return Err(anyhow!(
            "the squared error for player {player} is not finite: the estimate is {:e}, the exact value {:e}",
            values[player],
            explicand.truth[player]
        ));
    }
    let line = RunLine {
        dataset: dataset.name.clone(),
        estimator: contestant.name.clone(),
        budget: budget.to_string(),
        run: cell.run,
        seed,
        explicand_row: explicand.row,
        evaluations,
        squared_error,
        relative_squared_error,
        seconds,
    };
    let players = values.iter().zip(&explicand.truth).enumerate();
    let estimates = players.map(|(player, (&estimate, &truth))| EstimateLine {
        dataset: line.dataset.clone(),
        estimator: line.estimator.clone(),
        budget: line.budget.clone(),
        run: line.run,
        player,
        estimate,
        truth,
    });
    let estimates = estimates.collect();
    Ok(CellResult::Numbers(line, estimates))
}

/// Creates a skip entry whose reason identifies the failed run.
fn failed(plan: &Plan<'_>, contestant: &Contestant, cell: Cell, error: &anyhow::Error) -> Skipped {
    let (dataset, budget) = (&plan.datasets[cell.dataset], plan.budgets[cell.budget]);
    Skipped {
        estimator: contestant.name.clone(),
        dataset: None,
        budget: None,
        reason: format!(
            "on {}, budget {budget} ({} evaluations), run {} (seed {}): {error:#}",
            dataset.name,
            budget.evaluations(dataset.players()),
            cell.run,
            plan.seeds[cell.run]
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_rounding_alone_are_zeros() {
        assert_eq!(without_rounding(vec![2e-14, -2e-14], [100.0, 100.0]), [0.0, 0.0]);
        // Small values are kept if one value is large, or if v(∅) and v(N) are equally small.
        assert_eq!(without_rounding(vec![2e-14, -4.0], [100.0, 96.0]), [2e-14, -4.0]);
        assert_eq!(without_rounding(vec![2e-14, -1e-14], [0.0, 1e-14]), [2e-14, -1e-14]);
        assert_eq!(without_rounding(vec![0.0, 0.0], [0.0, 0.0]), [0.0, 0.0]);
    }
}
