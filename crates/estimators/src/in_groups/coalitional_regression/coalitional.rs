//! Coalitional values: one regression for the groups, and one for the members of each group.

use std::collections::HashSet;

use apportion_games::{Coalition, Game, Partition, QuotientGame};
use apportion_samplers::permutation;
use apportion_values::{LeastSquaresForm, MAX_PLAYERS, Semivalue, enumerate};

use super::estimate::{CombinedParts, Estimate};
use super::members::Members;
use super::parts::{Part, min_evaluations_of, seed_of_part, split};
use crate::error::Result;
use crate::run::Estimator;
use crate::sampling::permutation_shap::PermutationShap;
use crate::support::{FullBudget, StandardErrors};

/// The maximum fraction of the evaluations that tabulating the quotient game may take.
const TABLE_SHARE: f64 = 0.5;
/// The minimum number of evaluations per unknown of the members' regressions that must remain after
/// tabulating the quotient game.
const LEFT_PER_UNKNOWN: f64 = 3.0;
/// With few groups, the quotient game is also tabulated if the table takes no more evaluations than this
/// number of orders with their reverses, because orders of few groups repeat coalitions.
const TABLE_OF_FEW: f64 = 3.0;
/// Like [`LEFT_PER_UNKNOWN`], for few groups. Fewer evaluations are sufficient in this case.
const LEFT_OF_FEW: f64 = 2.0;

/// The estimator of a coalitional value for several groups, at least one of which has several members.
pub(super) struct Coalitional {
    pub(super) between: Semivalue,
    pub(super) within: LeastSquaresForm,
    /// The regression for the values of the groups.
    pub(super) of_groups: Box<dyn Estimator>,
    /// Whether the evaluations for a budget are a subset of those for every larger budget.
    pub(super) grows: bool,
}

/// The division of the evaluations among the parts.
pub(super) enum Plan {
    /// A table of all unions of groups. The other evaluations are for the members of each group, and include
    /// the coalitions along `orders`.
    Table { of_members: Vec<usize>, orders: Vec<Vec<usize>> },
    /// Orders of the groups and their reverses. In each of the first `with_members` orders, a pair of
    /// coalitions is evaluated for the members of each group.
    Orders { orders: Vec<Vec<usize>>, with_members: usize },
    /// Separate regressions for the groups' values, if required, and for the members of each group.
    Apart { of_quotient: usize, of_members: Vec<usize> },
}

impl Coalitional {
    pub(super) fn members<'a>(&'a self, partition: &'a Partition) -> Vec<Members<'a>> {
        (0..partition.len())
            .filter(|&group| partition.group(group).len() > 1)
            .map(|group| {
                let (between, within, grows) = (&self.between, self.within, self.grows);
                Members { partition, group, between, within, grows }
            })
            .collect()
    }

    /// Returns whether the groups' values are required, either as results or because members share them.
    pub(super) fn needs_quotient(&self, partition: &Partition) -> bool {
        self.within == LeastSquaresForm::SumConstrained
            || partition.groups().iter().any(|group| group.len() == 1)
    }

    /// Returns the regression for the groups, if required, followed by the regressions for the members of
    /// each group.
    pub(super) fn parts(&self, partition: &Partition, tabulates: bool) -> Vec<Part> {
        let quotient =
            (!tabulates && self.needs_quotient(partition)).then(|| Part::of_players(partition.len()));
        let members = self.members(partition);
        quotient.into_iter().chain(members.iter().map(|members| members.part(tabulates))).collect()
    }

    /// Returns the number of evaluations for an order of the groups and its reverse, with a pair of
    /// coalitions for each group of several members.
    fn evaluations_of_order(&self, partition: &Partition) -> usize {
        2 * (partition.len() - 1) + 2 * self.members(partition).len()
    }

    /// Returns whether the value is the Owen value. For the Owen value, members share the value of their
    /// group, and the set A of other groups can be drawn as the groups before the members' group in a random
    /// order.
    pub(super) fn is_of_orders(&self) -> bool {
        self.between == Semivalue::Shapley && self.within == LeastSquaresForm::SumConstrained
    }

    /// Returns the minimum number of evaluations in addition to v(∅) and v(N).
    pub(super) fn min_evaluations(&self, partition: &Partition) -> usize {
        let apart = min_evaluations_of(&self.parts(partition, false));
        if !self.is_of_orders() {
            return apart;
        }
        apart.min(partition.largest().div_ceil(2) * self.evaluations_of_order(partition))
    }

    /// Returns random orders of the groups, as many as the evaluations allow. Only the first
    /// `max_with_members` orders include coalitions of members. Unions of groups that several orders contain
    /// are evaluated once.
    pub(super) fn orders(
        &self,
        partition: &Partition,
        total: usize,
        max_with_members: usize,
        seed: u64,
    ) -> Vec<Vec<usize>> {
        let groups = partition.len();
        let of_members = 2 * self.members(partition).len();
        let (mut orders, mut spent) = (Vec::new(), 0);
        let mut unions: HashSet<Coalition> = HashSet::new();
        loop {
            let has_members = orders.len() < max_with_members;
            if !has_members && unions.len() as f64 == Part::of_players(groups).capacity {
                return orders;
            }
            let order = permutation(groups, seed, orders.len() as u64);
            let mut union = Coalition::empty(groups);
            let mut new = 0;
            for &group in &order[..groups - 1] {
                union.insert(group);
                new += usize::from(unions.insert(union.view().complement()));
                new += usize::from(unions.insert(union.clone()));
            }
            spent += new + if has_members { of_members } else { 0 };
            if spent > total {
                return orders;
            }
            orders.push(order);
        }
    }

    /// Returns whether all unions of groups are tabulated for `total` evaluations.
    pub(super) fn tabulates(&self, partition: &Partition, total: usize) -> bool {
        let groups = partition.len();
        let parts = self.parts(partition, false);
        let table = Part::of_players(groups).capacity;
        let unknowns = self.unknowns_of_members(partition);
        let left = total as f64 - table;
        let is_worth_it = table <= TABLE_SHARE * total as f64 && left >= LEFT_PER_UNKNOWN * unknowns as f64
            || table <= TABLE_OF_FEW * 2.0 * (groups - 1) as f64 && left >= LEFT_OF_FEW * unknowns as f64;
        let is_covered =
            self.needs_quotient(partition) && split(&parts, total)[0] as f64 == parts[0].capacity;
        groups <= MAX_PLAYERS && (is_covered || is_worth_it)
    }

    /// Returns the smallest number of evaluations for which unions are always tabulated, or `None` if there
    /// are too many groups.
    pub(super) fn tabulates_by(&self, partition: &Partition) -> Option<usize> {
        let groups = partition.len();
        let left = LEFT_PER_UNKNOWN * self.unknowns_of_members(partition) as f64;
        let table = Part::of_players(groups).capacity;
        (groups <= MAX_PLAYERS).then(|| (table / TABLE_SHARE).max(table + left).ceil() as usize)
    }

    /// Returns the total number of coefficients in the members' regressions when the values of all unions of
    /// groups are known.
    fn unknowns_of_members(&self, partition: &Partition) -> usize {
        self.parts(partition, true).iter().map(|part| part.unknowns).sum()
    }

    fn plan(&self, partition: &Partition, total: usize, seed: u64) -> Plan {
        if self.tabulates(partition, total) {
            let left = total - Part::of_players(partition.len()).capacity as usize;
            let of_members = split(&self.parts(partition, true), left);
            Plan::Table { of_members, orders: Vec::new() }
        } else if self.is_of_orders() && total >= self.evaluations_of_order(partition) {
            let orders = self.orders(partition, total, usize::MAX, seed);
            Plan::Orders { with_members: orders.len(), orders }
        } else {
            self.apart(partition, split(&self.parts(partition, false), total))
        }
    }

    /// Returns the plan of separate regressions, with the given number of evaluations for each part.
    pub(super) fn apart(&self, partition: &Partition, shares: Vec<usize>) -> Plan {
        if self.needs_quotient(partition) {
            Plan::Apart { of_quotient: shares[0], of_members: shares[1..].to_vec() }
        } else {
            Plan::Apart { of_quotient: 0, of_members: shares }
        }
    }

    /// Estimates the values of all players from `total` evaluations in addition to v(∅) and v(N). `game`
    /// caches evaluations.
    pub(super) fn estimate(
        &self,
        game: &dyn Game,
        partition: &Partition,
        total: usize,
        standard_errors: StandardErrors,
        seed: u64,
    ) -> Result<Estimate> {
        let of_groups = seed_of_part(seed, 0);
        let of_members = |members: &Members| seed_of_part(seed, 1 + members.group as u64);
        let plan = if self.grows {
            self.growing_plan(partition, total, of_groups, of_members)?
        } else {
            self.plan(partition, total, of_groups)
        };
        let quotient_game = QuotientGame::new(game, partition)?;
        let quotient = match &plan {
            Plan::Table { .. } => {
                Some(Estimate::exact(enumerate(&quotient_game, self.between.clone())?.values))
            }
            Plan::Orders { orders, .. } => {
                let along_orders = PermutationShap::default().with_full_budget(FullBudget::Sample);
                let evaluations = 2 + orders.len() * 2 * (partition.len() - 1);
                Some(along_orders.estimate(&quotient_game, evaluations, of_groups)?.into())
            }
            Plan::Apart { of_quotient, .. } if self.needs_quotient(partition) => {
                Some(self.of_groups.estimate_seen(&quotient_game, of_quotient + 2, of_groups)?.into())
            }
            Plan::Apart { .. } => None,
        };
        let outputs = game.outputs();
        let mut gathered = CombinedParts::new(partition.players(), outputs);
        if let Some(quotient) = &quotient {
            gathered.note(&quotient.diagnostics);
            let shares = self.within == LeastSquaresForm::SumConstrained;
            let groups = partition.groups().iter().map(Vec::as_slice).enumerate();
            let groups: Vec<(usize, &[usize])> =
                groups.filter(|(_, members)| shares || members.len() == 1).collect();
            gathered.share(quotient, &groups);
        }
        for (index, members) in self.members(partition).iter().enumerate() {
            let seed = of_members(members);
            let rows = match &plan {
                Plan::Table { of_members, orders } => members.draw(true, of_members[index], orders, seed)?,
                // Use the same orders as the estimate of the groups' values.
                Plan::Orders { orders, with_members } => {
                    members.draw_along(&orders[..*with_members], seed)?
                }
                Plan::Apart { of_members, .. } => members.draw(false, of_members[index], &[], seed)?,
            };
            let of_group = match (&plan, &quotient) {
                (Plan::Table { .. } | Plan::Orders { .. }, Some(quotient)) => {
                    Some(&quotient.values[members.group * outputs..(members.group + 1) * outputs])
                }
                _ => None,
            };
            let estimate = members.estimate(game, rows, of_group, standard_errors)?;
            gathered.note(&estimate.diagnostics);
            gathered.add(&estimate, partition.group(members.group));
        }
        Ok(gathered.finish())
    }
}
