//! The Shapley values that errors are measured against: by enumeration, or by very many random orders.

use anyhow::{Context, Result, ensure};
use apportion::Semivalue;
use apportion::estimators::exact;
use apportion::samplers::permutation;
use serde::{Deserialize, Serialize};

use super::method::Method;
use super::runs::{PROTOCOL, Setting, budget};
use super::task::{PairGame, Pairs, Task};
use crate::reproduce::cli::Preset;
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Above so many players coalitions are not enumerated.
const MOST_ENUMERATED: usize = 20;

/// Shapley values of one pair.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Truth {
    pub(super) values: Vec<f64>,
    /// Sum of the squared standard errors: what ‖φ̂ − φ‖² is expected to be of the truth itself; 0 by enumeration.
    pub(super) variance: f64,
    /// Random orders, each with its reverse, that it is the mean over; none by enumeration.
    pub(super) orders: Option<usize>,
}

/// The truth of one pair, and all that determines it.
#[derive(Serialize)]
struct TruthCell {
    kind: &'static str,
    protocol: u32,
    task: Task,
    players: usize,
    pairs: Pairs,
    pair: usize,
    orders: Option<usize>,
    seed: u64,
}

/// Random orders, each with its reverse, that the truth of more than 20 players is the mean over.
pub(super) fn orders(preset: Preset) -> usize {
    match preset {
        Preset::Quick => 1 << 14,
        Preset::Paper => 1 << 18,
    }
}

/// The truth of the first `count` pairs.
pub(super) fn truths(
    session: &Session,
    task: Task,
    players: usize,
    pairs: Pairs,
    count: usize,
) -> Result<Vec<Truth>> {
    let cell = |pair| TruthCell {
        kind: "truth",
        protocol: PROTOCOL,
        task,
        players,
        pairs,
        pair,
        orders: (players > MOST_ENUMERATED).then(|| orders(session.preset)),
        seed: session.seed,
    };
    let cells: Vec<TruthCell> = (0..count).map(cell).collect();
    session.results(&cells, |cell| {
        let game = PairGame::draw(task, players, pairs, cell.pair, cell.seed)?;
        let Some(orders) = cell.orders else {
            return Ok(Truth {
                values: exact(&game, Semivalue::Shapley)?.values,
                variance: 0.0,
                orders: None,
            });
        };
        by_walks(&game, players, orders, derive_seed(&("truth", task, players, pairs, cell.pair, cell.seed))?)
    })
}

/// What the paper takes for the truth, and all that determines it.
#[derive(Serialize)]
struct PaperCell<'a> {
    kind: &'static str,
    protocol: u32,
    task: Task,
    players: usize,
    pairs: Pairs,
    pair: usize,
    iterations: usize,
    fingerprint: &'a str,
    seed: u64,
}

/// The squared error of the paper's truth, `iterations` of optimized Monte Carlo, by its standard errors: the mean over the pairs.
pub(super) fn variance_of_paper(session: &Session, setting: Setting, iterations: usize) -> Result<f64> {
    let Setting { task, players, pairs, count } = setting;
    let fingerprint = Method::Optimized.fingerprint()?;
    let cell = |pair| PaperCell {
        kind: "truth of the paper",
        protocol: PROTOCOL,
        task,
        players,
        pairs,
        pair,
        iterations,
        fingerprint: &fingerprint,
        seed: session.seed,
    };
    let cells: Vec<PaperCell<'_>> = (0..count).map(cell).collect();
    let variances: Vec<f64> = session.results(&cells, |cell| {
        let game = PairGame::draw(task, players, pairs, cell.pair, cell.seed)?;
        let seed = derive_seed(&("truth of the paper", task, players, pairs, cell.pair, cell.seed))?;
        let explanation = Method::Optimized.estimator().estimate(&game, budget(players, iterations), seed)?;
        let errors = explanation.std_errors.context("an estimate without standard errors")?;
        Ok(errors.iter().map(|error| error * error).sum())
    })?;
    Ok(variances.iter().sum::<f64>() / count as f64)
}

/// The mean over random orders and their reverses.
fn by_walks(game: &PairGame, players: usize, orders: usize, seed: u64) -> Result<Truth> {
    ensure!(orders > 1, "a standard error takes two orders");
    let (mut sums, mut squares) = (vec![0.0; players], vec![0.0; players]);
    let mut contributions = vec![0.0; players];
    for unit in 0..orders {
        let order = permutation(players, seed, unit as u64);
        game.walk(order.iter().copied(), &mut contributions);
        game.walk(order.iter().rev().copied(), &mut contributions);
        for ((sum, square), contribution) in sums.iter_mut().zip(&mut squares).zip(&mut contributions) {
            let mean = 0.5 * *contribution;
            *sum += mean;
            *square += mean * mean;
            *contribution = 0.0;
        }
    }
    let count = orders as f64;
    let values: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
    let variances =
        values.iter().zip(squares).map(|(mean, square)| (square / count - mean * mean) / (count - 1.0));
    Ok(Truth { variance: variances.sum(), values, orders: Some(orders) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_orders_agree_with_enumeration_as_their_variance_says() {
        for task in [Task::Classification, Task::Regression] {
            let mut ratios = Vec::new();
            for pair in 0..20 {
                let game = PairGame::draw(task, 9, Pairs::Shown, pair, 1).unwrap();
                let walked = by_walks(&game, 9, 400, pair as u64).unwrap();
                let exact = exact(&game, Semivalue::Shapley).unwrap().values;
                let error: f64 = walked.values.iter().zip(exact).map(|(a, b)| (a - b).powi(2)).sum();
                ratios.push(error / walked.variance);
            }
            // A mean of 20 ratios, each of a mean of squares: its standard error is below 0.2.
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            assert!((0.4..1.8).contains(&mean), "{task:?}: {mean}");
        }
    }
}
