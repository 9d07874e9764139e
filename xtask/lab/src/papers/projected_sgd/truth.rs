//! Reference Shapley values from which errors are measured: by enumeration, or from a large number of random
//! permutations.

use anyhow::{Context, Result, ensure};
use apportion::Semivalue;
use apportion::estimators::exact;
use apportion::games::parallel;
use apportion::samplers::permutation;
use serde::{Deserialize, Serialize};

use super::method::Method;
use super::task::{PROTOCOL, PairGame, Pairs, Setting, Task, budget};
use crate::reproduce::cli::Preset;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Maximum number of players for which coalitions are enumerated.
const MAX_ENUMERATED_PLAYERS: usize = 20;

/// Shapley values of one pair.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Truth {
    pub(super) values: Vec<f64>,
    /// Sum of the squared standard errors, which is the expected squared error of the reference values
    /// themselves; 0 for enumeration.
    pub(super) variance: f64,
    /// Number of random permutations, each with its reverse, over which the values are averaged; `None` for
    /// enumeration.
    pub(super) orders: Option<usize>,
}

/// Checkpoint key of the reference values for one pair.
#[derive(Serialize)]
struct TruthKey {
    task: Task,
    players: usize,
    pairs: Pairs,
    pair: usize,
    orders: Option<usize>,
}

/// Returns digests of the games of the pairs, computed from the values of some coalitions.
pub(super) fn played(setting: Setting, seed: u64) -> Result<Vec<Digest>> {
    let of_pair = |pair| Digest::of_game(&setting.game(pair, seed)?);
    parallel::try_map(0..setting.count, of_pair)
}

/// Returns the number of random permutations, each with its reverse, over which the reference values are
/// averaged for more than 20 players.
pub(super) fn orders(preset: Preset) -> usize {
    match preset {
        Preset::Quick => 1 << 14,
        Preset::Paper => 1 << 18,
    }
}

/// Computes the reference values for each pair.
pub(super) fn truths(session: &Session, setting: Setting) -> Result<Vec<Truth>> {
    let Setting { task, players, pairs, .. } = setting;
    let orders = (players > MAX_ENUMERATED_PLAYERS).then(|| orders(session.preset));
    let played = played(setting, session.seed)?;
    let probe = PairGame::draw(task, PROBE, Pairs::Shown, 0, 1)?;
    let method = Digest::of_data(&truth(&probe, PROBE, orders.and(Some(PROBE)), 1)?)?;
    let cell = |(pair, played)| Cell {
        key: TruthKey { task, players, pairs, pair, orders },
        made_of: Ingredients::new("truth", PROTOCOL, session.seed, played, &method),
        with: (),
    };
    let cells: Vec<_> = played.iter().enumerate().map(cell).collect();
    session.results(&cells, |Cell { key: TruthKey { pair, orders, .. }, .. }| {
        let seed = derive_seed(&("truth", task, players, pairs, pair, session.seed))?;
        truth(&setting.game(*pair, session.seed)?, players, *orders, seed)
    })
}

/// Number of players, and number of permutations, of the small computation whose results identify the method
/// in checkpoints.
const PROBE: usize = 9;

/// Computes the reference values by enumeration, or from the given number of permutations.
fn truth(game: &PairGame, players: usize, orders: Option<usize>, seed: u64) -> Result<Truth> {
    match orders {
        Some(orders) => by_walks(game, players, orders, seed),
        None => {
            let values = exact(game, Semivalue::Shapley)?.values;
            Ok(Truth { values, variance: 0.0, orders: None })
        }
    }
}

/// Checkpoint key of the error of the reference values that the paper uses.
#[derive(Serialize)]
struct PaperKey {
    task: Task,
    players: usize,
    pairs: Pairs,
    pair: usize,
    iterations: usize,
}

/// Returns the expected squared error of the paper's reference values, averaged over the pairs. It is
/// computed from the standard errors of optimized Monte Carlo with `iterations` iterations.
pub(super) fn variance_of_paper(session: &Session, setting: Setting, iterations: usize) -> Result<f64> {
    let Setting { task, players, pairs, count } = setting;
    let method = Method::Optimized.digest()?;
    let played = played(setting, session.seed)?;
    let cell = |(pair, played)| Cell {
        key: PaperKey { task, players, pairs, pair, iterations },
        made_of: Ingredients::new("truth of the paper", PROTOCOL, session.seed, played, &method),
        with: (),
    };
    let cells: Vec<_> = played.iter().enumerate().map(cell).collect();
    let variances: Vec<f64> = session.results(&cells, |Cell { key: PaperKey { pair, .. }, .. }| {
        let game = setting.game(*pair, session.seed)?;
        let seed = derive_seed(&("truth of the paper", task, players, pairs, pair, session.seed))?;
        let explanation = Method::Optimized.estimator().estimate(&game, budget(players, iterations), seed)?;
        let errors = explanation.std_errors.context("the estimate has no standard errors")?;
        Ok(errors.iter().map(|error| error * error).sum())
    })?;
    Ok(variances.iter().sum::<f64>() / count as f64)
}

/// Averages marginal contributions over random permutations and their reverses.
fn by_walks(game: &PairGame, players: usize, orders: usize, seed: u64) -> Result<Truth> {
    ensure!(orders > 1, "a standard error requires at least two orders");
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
            // The mean of 20 ratios, each of a mean of squares, has a standard error below 0.2.
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            assert!((0.4..1.8).contains(&mean), "{task:?}: {mean}");
        }
    }
}
