//! Number of evaluations of the reward function (section 3: the optimized algorithm "divides by two the use
//! of the reward function v").

use anyhow::Result;
use apportion::games::{Coalitions, Counted, Game};
use apportion::samplers::permutation;

use super::task::{Setting, budget};
use crate::reproduce::verdict::Claim;

/// Number of permutations T. Both algorithms average this number of marginal contributions for every player.
const ORDERS: usize = 50;

/// Computes Algorithm 1 with T permutations. v(r) = 0 by definition (section 2.1), so the reference is not
/// evaluated.
fn optimized(game: &dyn Game, orders: usize, seed: u64) -> Result<Vec<f64>> {
    let players = game.players();
    let mut values = vec![0.0; players];
    for unit in 0..orders {
        let (mut before, mut joined) = (0.0, Vec::new());
        for player in permutation(players, seed, unit as u64) {
            joined.push(player);
            let after = reward(game, &joined)?;
            values[player] += (after - before) / orders as f64;
            before = after;
        }
    }
    Ok(values)
}

/// Computes the algorithm of Štrumbelj and Kononenko with T permutations per player: evaluates the
/// predecessors of the player, with and without the player.
fn classical(game: &dyn Game, orders: usize, seed: u64) -> Result<Vec<f64>> {
    let players = game.players();
    let mut values = vec![0.0; players];
    for (player, value) in values.iter_mut().enumerate() {
        for unit in 0..orders {
            let order = permutation(players, seed, (player * orders + unit) as u64);
            let mut before: Vec<usize> = order.iter().copied().take_while(|&other| other != player).collect();
            let without = reward(game, &before)?;
            before.push(player);
            *value += (reward(game, &before)? - without) / orders as f64;
        }
    }
    Ok(values)
}

fn reward(game: &dyn Game, members: &[usize]) -> Result<f64> {
    let mut batch = Coalitions::new(game.players());
    batch.push_members(members.iter().copied());
    let mut value = [0.0];
    game.values(&batch, &mut value)?;
    Ok(value[0])
}

/// Judges the claim by counting evaluations on the first pair of each setting.
pub(super) fn divides_by_two(settings: &[Setting], seed: u64) -> Result<Claim> {
    let (mut is_half, mut seen) = (true, Vec::new());
    for setting in settings {
        let counted = |algorithm: fn(&dyn Game, usize, u64) -> Result<Vec<f64>>| -> Result<u64> {
            let game = Counted::new(setting.game(0, seed)?);
            algorithm(&game, ORDERS, seed)?;
            Ok(game.evaluations())
        };
        let (once, twice) = (counted(optimized)?, counted(classical)?);
        is_half &= 2 * once == twice;
        seen.push(format!(
            "{}, d = {}: {once} for {twice} ({} with v(r) evaluated anew in each order, as algorithm 1 \
             prints it; {} where v(M) is evaluated once, too)",
            setting.task.title(),
            setting.players,
            once + ORDERS as u64,
            budget(setting.players, ORDERS),
        ));
    }
    Ok(Claim::fact(
        "optimized Monte Carlo divides by two the use of the reward function",
        "section 3",
        &format!(
            "for {ORDERS} contributions of each player, algorithm 1, in which v(r) = 0 is known, requires \
             half as many evaluations as the classical algorithm, as counted"
        ),
        (!settings.is_empty()).then_some(is_half),
        seen.join("; "),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::task::{PairGame, Pairs, Task};
    use super::*;
    use crate::comparison::squared_distance;
    use apportion::Semivalue;
    use apportion::estimators::exact;

    #[test]
    fn both_algorithms_come_to_the_shapley_values() {
        let game = PairGame::draw(Task::Regression, 5, Pairs::Shown, 0, 1).unwrap();
        let truth = exact(&game, Semivalue::Shapley).unwrap().values;
        let square: f64 = truth.iter().map(|value| value * value).sum();
        for algorithm in [optimized, classical] {
            let few = squared_distance(&algorithm(&game, 20, 3).unwrap(), &truth);
            let many = squared_distance(&algorithm(&game, 5000, 3).unwrap(), &truth);
            assert!(many < 1e-2 * square && many < few, "{few} {many} {square}");
        }
    }
}
