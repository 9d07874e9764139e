//! The orders in a draw, and the contribution of each coalition to the players.

use apportion_games::{Coalition, Coalitions};
use serde::{Deserialize, Serialize};

/// The orders of the players in one independent draw.
///
/// | | orders of a draw | evaluations of a draw |
/// |---|---|---|
/// | `Independent` | one, uniformly random | n − 1 |
/// | `Antithetic` | one and its reverse | 2(n − 1) |
/// | `Balanced` | the n rotations of one, and their reverses | n(n − 1) |
///
/// The evaluations of v(∅) and v(N) are additional.
///
/// In a balanced draw, every player takes every position twice, once forwards and once in reverse.
/// Differences between positions, for example if contributions decrease with the size of the coalition,
/// therefore add nothing to the variance. A random order arranged in a circle has n(n − 1) proper arcs, which
/// are the coalitions in its n rotations. The complement of an arc is an arc, so the n reverses need no
/// additional evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Orders {
    /// Independent orders, as in the paper.
    Independent,
    /// Each order with its reverse. The default.
    #[default]
    Antithetic,
    /// All rotations of an order and their reverses.
    Balanced,
}

/// The coalitions that a draw evaluates, step by step, except ∅ and N.
///
/// A sample consists of n × k numbers: the players' mean contributions in the orders of the draw. The value
/// of every coalition between ∅ and N is multiplied by a factor, added for the players that just joined it,
/// and subtracted for those that join next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    pub(crate) orders: Orders,
    /// The number of players, at least 2.
    pub(crate) players: usize,
}

impl Pattern {
    /// Returns the number of steps in a draw.
    pub(crate) fn steps(self) -> usize {
        match self.orders {
            Orders::Independent | Orders::Antithetic => self.players - 1,
            Orders::Balanced => self.players.saturating_mul(self.players - 1),
        }
    }

    /// Returns the number of coalitions in a step.
    pub(crate) fn rows_per_step(self) -> usize {
        match self.orders {
            Orders::Independent | Orders::Balanced => 1,
            Orders::Antithetic => 2,
        }
    }

    /// Returns the number of coalitions in a draw.
    pub(crate) fn rows(self) -> usize {
        self.steps().saturating_mul(self.rows_per_step())
    }

    /// Returns the number of orders in a draw.
    pub(crate) fn walks(self) -> usize {
        match self.orders {
            Orders::Independent => 1,
            Orders::Antithetic => 2,
            Orders::Balanced => 2 * self.players,
        }
    }

    /// Appends the coalitions of `step` to the batch. `joined` is the coalition of the previous step, and is
    /// updated to the coalition of this step.
    pub(crate) fn push(self, order: &[usize], step: usize, joined: &mut Coalition, batch: &mut Coalitions) {
        let (start, at) = (step / (self.players - 1), step % (self.players - 1));
        if at == 0 {
            *joined = Coalition::empty(self.players);
        }
        joined.insert(order[(start + at) % self.players]);
        batch.push(joined.view());
        if self.orders == Orders::Antithetic {
            batch.push_complement(batch.len() - 1);
        }
    }

    /// Adds the contributions of the coalitions of `step` to the `sample`; `gains` contains v(S) − v(∅) for
    /// each of these coalitions.
    pub(crate) fn absorb(self, order: &[usize], step: usize, gains: &[f64], sample: &mut [f64]) {
        let n = self.players;
        match self.orders {
            Orders::Independent => {
                share(sample, order[step], gains, 1.0);
                share(sample, order[step + 1], gains, -1.0);
            }
            // In the reverse order, `order[step + 1]` is the last player to join the complement, and
            // `order[step]` joins it next.
            Orders::Antithetic => {
                let (prefix, others) = gains.split_at(gains.len() / 2);
                for (player, factor) in [(order[step], 0.5), (order[step + 1], -0.5)] {
                    share(sample, player, prefix, factor);
                    share(sample, player, others, -factor);
                }
            }
            // Depending on the direction, either end of the arc is the last to join it, and either neighbour
            // of the arc joins it next.
            Orders::Balanced => {
                let (first, length) = (step / (n - 1), step % (n - 1) + 1);
                let part = 0.5 / n as f64;
                share(sample, order[first], gains, part);
                share(sample, order[(first + length - 1) % n], gains, part);
                share(sample, order[(first + length) % n], gains, -part);
                share(sample, order[(first + n - 1) % n], gains, -part);
            }
        }
    }

    /// Adds `total`, v(N) − v(∅), for the players that join last.
    pub(crate) fn absorb_ends(self, order: &[usize], total: &[f64], sample: &mut [f64]) {
        match self.orders {
            Orders::Independent => share(sample, order[self.players - 1], total, 1.0),
            Orders::Antithetic => {
                share(sample, order[0], total, 0.5);
                share(sample, order[self.players - 1], total, 0.5);
            }
            Orders::Balanced => {
                let part = 1.0 / self.players as f64;
                order.iter().for_each(|&player| share(sample, player, total, part));
            }
        }
    }
}

/// Adds `factor` times `gains`, which are k numbers, to the contribution of `player`.
#[inline]
fn share(sample: &mut [f64], player: usize, gains: &[f64], factor: f64) {
    let own = &mut sample[player * gains.len()..(player + 1) * gains.len()];
    own.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += factor * gain);
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_samplers::permutation;
    use std::collections::BTreeSet;

    /// Lists the orders of a draw explicitly.
    fn walks(orders: Orders, order: &[usize]) -> Vec<Vec<usize>> {
        let reversed = |order: &Vec<usize>| order.iter().rev().copied().collect::<Vec<_>>();
        let rotations =
            |count: usize| (0..count).map(|by| [&order[by..], &order[..by]].concat()).collect::<Vec<_>>();
        let forwards = rotations(if orders == Orders::Balanced { order.len() } else { 1 });
        let backwards: Vec<_> = match orders {
            Orders::Independent => Vec::new(),
            _ => forwards.iter().map(reversed).collect(),
        };
        [forwards, backwards].concat()
    }

    fn evaluated(pattern: Pattern, order: &[usize]) -> Coalitions {
        let (mut batch, mut joined) = (Coalitions::new(pattern.players), Coalition::empty(pattern.players));
        (0..pattern.steps()).for_each(|step| pattern.push(order, step, &mut joined, &mut batch));
        batch
    }

    const ALL: [Orders; 3] = [Orders::Independent, Orders::Antithetic, Orders::Balanced];

    #[test]
    fn a_draw_asks_for_the_coalitions_of_its_orders_each_once() {
        for players in [2, 3, 8, 13, 66] {
            let order = permutation(players, 3, 0);
            for orders in ALL {
                let pattern = Pattern { orders, players };
                let walked: BTreeSet<Vec<u64>> = walks(orders, &order)
                    .iter()
                    .flat_map(|walk| (1..players).map(|count| walk[..count].to_vec()))
                    .map(|members| Coalition::from_members(players, members).view().words().to_vec())
                    .collect();
                let rows = evaluated(pattern, &order);
                assert_eq!(rows.len(), pattern.rows());
                assert_eq!(walks(orders, &order).len(), pattern.walks());
                let got: BTreeSet<Vec<u64>> = rows.iter().map(|row| row.words().to_vec()).collect();
                assert_eq!(got, walked, "{orders:?}");
                // No coalition is evaluated twice.
                assert_eq!(got.len(), rows.len(), "{orders:?}, {players}");
            }
        }
    }

    #[test]
    fn in_a_balanced_draw_every_player_takes_every_place_once_in_each_direction() {
        for players in [2, 3, 8, 13, 66] {
            let order = permutation(players, 5, 2);
            let walks = walks(Orders::Balanced, &order);
            for direction in walks.chunks_exact(players) {
                for place in 0..players {
                    let there: BTreeSet<usize> = direction.iter().map(|walk| walk[place]).collect();
                    assert_eq!(there.len(), players);
                }
            }
            // The evaluated coalitions contain n of each size, and every player occurs in the same number of
            // them.
            let rows = evaluated(Pattern { orders: Orders::Balanced, players }, &order);
            for size in 1..players {
                let of_size = || rows.iter().filter(|row| row.size() == size);
                assert_eq!(of_size().count(), players);
                assert!((0..players).all(|i| of_size().filter(|row| row.contains(i)).count() == size));
            }
        }
    }
}
