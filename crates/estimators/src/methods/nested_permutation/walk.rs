//! What one draw of nested orders asks the game, and the contributions of all players that come of it.

use std::ops::Range;

use apportion_games::{Coalition, Coalitions, Game, Partition, Purpose, stream};
use apportion_samplers::NestedOrder;
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::methods::nested_permutation::chain::Chain;
use crate::support::product_draws::{Asked, ProductDraws, Scenarios, Strata};

/// The most draws: what the numbers of streams have room for.
pub(super) const MOST_DRAWS: usize = 1 << 48;

/// How an order is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// From ∅ to N through all players, group after group.
    Players,
    /// From ∅ to N through the groups, and from ∅ to each group of several through its members.
    TwoStep,
}

/// Coalitions that a draw for the groups of `partition` asks for besides ∅ and N.
pub(crate) fn rows_between(partition: &Partition, path: Path, antithetic: bool) -> usize {
    let rows = |length| Chain { length, antithetic }.rows();
    match path {
        Path::Players => rows(partition.players()),
        Path::TwoStep => {
            let walked = partition.groups().iter().filter(|members| members.len() > 1);
            rows(partition.len()) + walked.map(|members| 1 + rows(members.len())).sum::<usize>()
        }
    }
}

/// Draws of one nested order and one scenario for all players.
pub(crate) struct Walk<'a> {
    partition: &'a Partition,
    path: Path,
    antithetic: bool,
    scenarios: Scenarios,
    seed: u64,
    outputs: usize,
    /// v(∅) and v(N), where the game has one scenario only and they need not be asked again.
    ends: Option<(Vec<f64>, Vec<f64>)>,
    full: Coalition,
    groups: Coalitions,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        game: &dyn Game,
        partition: &'a Partition,
        path: Path,
        antithetic: bool,
        strata: Strata,
        seed: u64,
        ends: Option<(Vec<f64>, Vec<f64>)>,
    ) -> Result<Self> {
        let mut groups = Coalitions::with_capacity(partition.players(), partition.len());
        partition.groups().iter().for_each(|members| groups.push_members(members.iter().copied()));
        Ok(Self {
            partition,
            path,
            antithetic,
            scenarios: Scenarios::stratified(game, strata)?,
            seed,
            outputs: game.outputs(),
            ends,
            full: Coalition::full(partition.players()),
            groups,
        })
    }

    fn chain(&self, length: usize) -> Chain {
        Chain { length, antithetic: self.antithetic }
    }

    /// Asks for the coalitions of the chain through `players`, who make up `full`.
    fn push_players(&self, players: &[usize], full: &[u64], asked: &mut Asked) {
        let flip = |at: usize, words: &mut [u64]| words[players[at] / 64] ^= 1 << (players[at] % 64);
        self.chain(players.len()).coalitions(full, flip, |words| asked.push(words));
    }

    /// The groups in the order in which they stand in `order`, and the players, group after group.
    fn split<'o>(&self, order: &'o [usize]) -> (&'o [usize], &'o [usize]) {
        order.split_at(self.partition.len())
    }

    /// The contributions of one draw, n × k.
    fn contributions(&self, order: &[usize], values: &[f64], sample: &mut [f64]) {
        let k = self.outputs;
        let (groups, players) = self.split(order);
        let (empty, full, between) = match &self.ends {
            Some((empty, full)) => (&empty[..], &full[..], values),
            None => (&values[..k], &values[k..2 * k], &values[2 * k..]),
        };
        if self.path == Path::Players {
            let chain = self.chain(players.len());
            chain.contributions(empty, full, between, |at, output, value| {
                sample[players[at] * k + output] = value;
            });
            return;
        }
        let chain = self.chain(groups.len());
        let (of_groups, mut rest) = between.split_at(chain.rows() * k);
        // What each group gets, in the order of `groups`.
        let mut gets = vec![0.0; groups.len() * k];
        chain.contributions(empty, full, of_groups, |at, output, value| gets[at * k + output] = value);
        let mut first = 0;
        for (&group, gets) in groups.iter().zip(gets.chunks_exact(k)) {
            let members = &players[first..first + self.partition.group(group).len()];
            first += members.len();
            if let &[alone] = members {
                sample[alone * k..(alone + 1) * k].copy_from_slice(gets);
                continue;
            }
            let chain = self.chain(members.len());
            let (worth, after) = rest.split_at(k);
            let (between, after) = after.split_at(chain.rows() * k);
            rest = after;
            chain.contributions(empty, worth, between, |at, output, value| {
                let beyond = gets[output] - (worth[output] - empty[output]);
                sample[members[at] * k + output] = value + beyond / members.len() as f64;
            });
        }
    }
}

impl ProductDraws for Walk<'_> {
    /// The orders: for each draw the groups, then the players, group after group.
    type Drawn = Vec<usize>;

    fn rows_per_draw(&self, _: usize) -> usize {
        let ends = if self.ends.is_some() { 0 } else { 2 };
        ends + rows_between(self.partition, self.path, self.antithetic)
    }

    fn stream(&self, _: usize, block: usize) -> ChaCha8Rng {
        stream(self.seed, Purpose::NestedPermutations, block as u64)
    }

    fn draw(&self, _: usize, draws: Range<usize>, rng: &mut ChaCha8Rng, asked: &mut Asked) -> Vec<usize> {
        let mut orders = Vec::with_capacity(draws.len() * (self.partition.len() + self.partition.players()));
        let mut order = NestedOrder::new(self.partition);
        let (full, empty) = (self.full.view(), Coalition::empty(self.partition.players()));
        for draw in draws {
            order.shuffle(rng);
            let start = orders.len();
            orders.extend(order.groups());
            order.groups().iter().for_each(|&group| orders.extend(order.members(group)));
            let (groups, players) = self.split(&orders[start..]);
            if self.ends.is_none() {
                asked.push(empty.view().words());
                asked.push(full.words());
            }
            match self.path {
                Path::Players => self.push_players(players, full.words(), asked),
                Path::TwoStep => {
                    let flip = |at: usize, words: &mut [u64]| {
                        let group = self.groups.row(groups[at]);
                        words.iter_mut().zip(group.words()).for_each(|(word, bits)| *word ^= bits);
                    };
                    self.chain(groups.len()).coalitions(full.words(), flip, |words| asked.push(words));
                    for &group in groups.iter().filter(|&&group| order.members(group).len() > 1) {
                        let whole = self.groups.row(group).words();
                        asked.push(whole);
                        self.push_players(order.members(group), whole, asked);
                    }
                }
            }
            asked.all_in(self.scenarios.of(draw, rng));
        }
        orders
    }

    fn samples(&self, unit: usize, orders: Vec<usize>, values: &[f64]) -> Vec<f64> {
        let (stride, width) =
            (self.partition.len() + self.partition.players(), self.partition.players() * self.outputs);
        let mut samples = vec![0.0; orders.len() / stride * width];
        let rows = self.rows_per_draw(unit) * self.outputs;
        for (at, (order, sample)) in
            orders.chunks_exact(stride).zip(samples.chunks_exact_mut(width)).enumerate()
        {
            self.contributions(order, &values[at * rows..(at + 1) * rows], sample);
        }
        samples
    }
}
