//! The division of evaluations for coalitional values if samples grow.
//!
//! # How samples grow
//!
//! Parts grow independently, and no part's number of evaluations decreases as the budget grows
//! ([`split_growing`]). The exception is the switch to tabulated unions of groups, at a number of evaluations
//! F that depends on the partition only. At F, all of the 2^m − 2 unions that are not evaluated yet are
//! evaluated at once, so enough evaluations must be reserved for them before. Just below F, the evaluations
//! for members are limited to those that F leaves for them, and only those for the groups' values still
//! increase. From F on,
//!
//! - if orders of the groups were drawn below F, the members' samples begin with the coalitions along these
//!   orders;
//! - if separate regressions were used below F, the strata of (T, A) in which T is neither ∅ nor S_j continue
//!   in their orders; all other rows are unions.
//!
//! Owen values never use separate regressions, because these never cost less than an order. Separate
//! regressions take at least a pair for every two unknowns, and there are `s + m − 1` unknowns for the
//! members of each group and m for the groups.

use apportion_games::Partition;

use super::coalitional::{Coalitional, Plan};
use super::members::Members;
use super::parts::{Part, split_growing};
use crate::error::Result;

impl Coalitional {
    /// Returns a plan whose evaluations are among those of the plan for every larger `total`.
    pub(super) fn growing_plan(
        &self,
        partition: &Partition,
        total: usize,
        seed: u64,
        seed_of_members: impl Fn(&Members) -> u64,
    ) -> Result<Plan> {
        let least = self.min_evaluations(partition);
        let table = Part::of_players(partition.len()).capacity;
        let from = self.tabulates_from(partition, least);
        let before = |from: usize| from > least;
        if self.is_of_orders() {
            let Some(from) = from else {
                let orders = self.orders(partition, total, usize::MAX, seed);
                return Ok(Plan::Orders { with_members: orders.len(), orders });
            };
            let most = (from - table as usize) / (2 * self.members(partition).len());
            if total < from {
                let orders = self.orders(partition, total, most, seed);
                return Ok(Plan::Orders { with_members: most.min(orders.len()), orders });
            }
            let mut orders =
                if before(from) { self.orders(partition, from - 1, most, seed) } else { Vec::new() };
            orders.truncate(most);
            let of_first: Result<Vec<usize>> = self
                .members(partition)
                .iter()
                .map(|members| Ok(members.first_units(&orders, seed_of_members(members))?.coalitions.len()))
                .collect();
            let left = total - table as usize;
            let of_members = split_growing(&self.parts(partition, true), &of_first?, left);
            return Ok(Plan::Table { of_members, orders });
        }

        let parts = self.parts(partition, false);
        let shares = |total: usize| split_growing(&parts, &vec![0; parts.len()], total);
        let Some(from) = from else {
            return Ok(self.apart(partition, shares(total)));
        };
        let (of_table, quotients) =
            (self.parts(partition, true), usize::from(self.needs_quotient(partition)));
        let room = from - table as usize;
        // Find the largest total whose evaluations for members do not exceed those that remain after
        // tabulating the unions.
        let of_members = |total: usize| shares(total)[quotients..].iter().sum::<usize>();
        let last = if before(from) { first_of(least..from, |total| of_members(total) > room) - 1 } else { 0 };
        if total >= from {
            let mut at_least =
                if before(from) { shares(last)[quotients..].to_vec() } else { vec![0; of_table.len()] };
            at_least.iter_mut().zip(&of_table).for_each(|(share, part)| {
                *share = (*share as f64).min(part.capacity) as usize;
            });
            let of_members = split_growing(&of_table, &at_least, total - table as usize);
            return Ok(Plan::Table { of_members, orders: Vec::new() });
        }
        let mut shares = shares(total.min(last));
        if total > last && quotients == 1 {
            let left = total - of_members(last);
            shares[0] = table.min((left - left % 2) as f64) as usize;
        }
        Ok(self.apart(partition, shares))
    }

    /// Returns F, the smallest number of evaluations for which unions are tabulated; at most `least` if they
    /// are tabulated from the start. F is the corresponding number for samples that do not grow, or larger if
    /// the members' minimum would not fit below it.
    fn tabulates_from(&self, partition: &Partition, least: usize) -> Option<usize> {
        let by = self.tabulates_by(partition)?;
        let from = first_of(0..by, |total| self.tabulates(partition, total));
        if from <= least {
            return Some(from);
        }
        let of_members = if self.is_of_orders() {
            2 * self.members(partition).len()
        } else {
            let parts = self.parts(partition, false);
            let shares = split_growing(&parts, &vec![0; parts.len()], least);
            shares[usize::from(self.needs_quotient(partition))..].iter().sum()
        };
        Some(from.max(Part::of_players(partition.len()).capacity as usize + of_members))
    }
}

/// Returns the smallest number in `range` for which `holds` is true, or the end of `range`. `holds` must
/// remain true for larger numbers.
fn first_of(range: std::ops::Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut end) = (range.start, range.end);
    while start < end {
        let middle = start + (end - start) / 2;
        if holds(middle) { end = middle } else { start = middle + 1 }
    }
    end
}
