//! The coalitions of one draw of nested orders, and the resulting contributions of all players.

use std::ops::Range;

use apportion_games::{Coalition, Coalitions, Game, Hierarchy, Partition, Purpose, stream};
use apportion_samplers::{HierarchicalOrder, NestedOrder};
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::in_groups::nested_permutation::chain::Chain;
use crate::support::product_draws::{ProductDraws, ScenarioCoalitions, Scenarios, Strata};

/// The maximum number of draws. It is limited by the numbering of random streams.
pub(super) const MAX_DRAWS: usize = 1 << 48;

/// The path of coalitions along an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// From ∅ to N through all players, group after group.
    Players,
    /// From ∅ to N through the groups, and from ∅ to each group of several players through its members.
    TwoStep,
}

/// The structure of the orders.
#[derive(Debug, Clone)]
pub(crate) enum Structure {
    /// A partition: an order of the groups, and an order of the members in each group.
    Groups(Partition, Path),
    /// Nested groups, from ∅ to N through all players.
    Levels(Hierarchy),
}

impl Structure {
    fn players(&self) -> usize {
        match self {
            Self::Groups(partition, _) => partition.players(),
            Self::Levels(hierarchy) => hierarchy.players(),
        }
    }

    /// Returns the number of groups stored before the players in a drawn order.
    fn groups(&self) -> usize {
        match self {
            Self::Groups(partition, _) => partition.len(),
            Self::Levels(_) => 0,
        }
    }

    /// Returns the number of coalitions per draw, excluding ∅ and N.
    pub(crate) fn rows_between(&self, antithetic: bool) -> usize {
        let rows = |length| Chain { length, antithetic }.rows();
        match self {
            Self::Groups(partition, Path::TwoStep) => {
                let walked = partition.groups().iter().filter(|members| members.len() > 1);
                rows(partition.len()) + walked.map(|members| 1 + rows(members.len())).sum::<usize>()
            }
            _ => rows(self.players()),
        }
    }
}

/// The draws of all players. Each draw evaluates one nested order in one scenario.
pub(crate) struct Walk<'a> {
    structure: &'a Structure,
    antithetic: bool,
    scenarios: Scenarios,
    seed: u64,
    outputs: usize,
    /// v(∅) and v(N), if the game has only one scenario, so that they are not evaluated again.
    ends: Option<(Vec<f64>, Vec<f64>)>,
    full: Coalition,
    /// The players of each group.
    groups: Coalitions,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        game: &dyn Game,
        structure: &'a Structure,
        antithetic: bool,
        strata: Strata,
        seed: u64,
        ends: Option<(Vec<f64>, Vec<f64>)>,
    ) -> Result<Self> {
        let mut groups = Coalitions::with_capacity(structure.players(), structure.groups());
        if let Structure::Groups(partition, _) = structure {
            partition.groups().iter().for_each(|members| groups.push_members(members.iter().copied()));
        }
        Ok(Self {
            structure,
            antithetic,
            scenarios: Scenarios::stratified(game, strata)?,
            seed,
            outputs: game.outputs(),
            ends,
            full: Coalition::full(structure.players()),
            groups,
        })
    }

    fn chain(&self, length: usize) -> Chain {
        Chain { length, antithetic: self.antithetic }
    }

    /// Appends the coalitions of the chain through `players`, whose union is `full`.
    fn push_players(&self, players: &[usize], full: &[u64], asked: &mut ScenarioCoalitions) {
        let flip = |at: usize, words: &mut [u64]| words[players[at] / 64] ^= 1 << (players[at] % 64);
        self.chain(players.len()).coalitions(full, flip, |words| asked.push(words));
    }

    /// Splits `order` into the order of the groups and the players, group after group.
    fn split<'o>(&self, order: &'o [usize]) -> (&'o [usize], &'o [usize]) {
        order.split_at(self.structure.groups())
    }

    /// Computes the contributions of all players in one draw, n × k.
    fn contributions(&self, order: &[usize], values: &[f64], sample: &mut [f64]) {
        let k = self.outputs;
        let (groups, players) = self.split(order);
        let (empty, full, between) = match &self.ends {
            Some((empty, full)) => (&empty[..], &full[..], values),
            None => (&values[..k], &values[k..2 * k], &values[2 * k..]),
        };
        let Structure::Groups(partition, Path::TwoStep) = self.structure else {
            let chain = self.chain(players.len());
            chain.contributions(empty, full, between, |at, output, value| {
                sample[players[at] * k + output] = value;
            });
            return;
        };
        let chain = self.chain(groups.len());
        let (of_groups, mut rest) = between.split_at(chain.rows() * k);
        // This is the contribution of each group, in the order of `groups`.
        let mut gets = vec![0.0; groups.len() * k];
        chain.contributions(empty, full, of_groups, |at, output, value| gets[at * k + output] = value);
        let mut first = 0;
        for (&group, gets) in groups.iter().zip(gets.chunks_exact(k)) {
            let members = &players[first..first + partition.group(group).len()];
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

/// A reusable random order.
enum Order {
    Nested(NestedOrder, Path),
    Hierarchical(HierarchicalOrder),
}

impl Order {
    fn new(structure: &Structure) -> Self {
        match structure {
            Structure::Groups(partition, path) => Self::Nested(NestedOrder::new(partition), *path),
            Structure::Levels(hierarchy) => Self::Hierarchical(HierarchicalOrder::new(hierarchy)),
        }
    }

    /// Draws an order, and appends its groups and its players.
    fn draw(&mut self, rng: &mut ChaCha8Rng, orders: &mut Vec<usize>) {
        match self {
            Self::Nested(order, _) => {
                order.shuffle(rng);
                orders.extend(order.groups());
                order.groups().iter().for_each(|&group| orders.extend(order.members(group)));
            }
            Self::Hierarchical(order) => {
                order.shuffle(rng);
                orders.extend(order.players());
            }
        }
    }
}

impl ProductDraws for Walk<'_> {
    /// The orders in a block: for each draw, the groups, followed by the players, group after group.
    type BlockState = Vec<usize>;

    fn rows_per_draw(&self, _: usize) -> usize {
        let ends = if self.ends.is_some() { 0 } else { 2 };
        ends + self.structure.rows_between(self.antithetic)
    }

    fn stream(&self, _: usize, block: usize) -> ChaCha8Rng {
        stream(self.seed, Purpose::NestedPermutations, block as u64)
    }

    fn draw(
        &self,
        _: usize,
        draws: Range<usize>,
        rng: &mut ChaCha8Rng,
        asked: &mut ScenarioCoalitions,
    ) -> Vec<usize> {
        let all = self.structure.players();
        let mut orders = Vec::with_capacity(draws.len() * (self.structure.groups() + all));
        let mut order = Order::new(self.structure);
        let (full, empty) = (self.full.view(), Coalition::empty(all));
        for draw in draws {
            let start = orders.len();
            order.draw(rng, &mut orders);
            let (groups, players) = self.split(&orders[start..]);
            if self.ends.is_none() {
                asked.push(empty.view().words());
                asked.push(full.words());
            }
            match &order {
                Order::Nested(order, Path::TwoStep) => {
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
                _ => self.push_players(players, full.words(), asked),
            }
            asked.all_in(self.scenarios.scenario(draw, rng));
        }
        orders
    }

    fn samples(&self, unit: usize, orders: Vec<usize>, values: &[f64]) -> Vec<f64> {
        let (stride, width) =
            (self.structure.groups() + self.structure.players(), self.structure.players() * self.outputs);
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
