//! The members of one group: a regression on coalitions of other groups and of members of the same group.
//!
//! # Notation
//!
//! The group S_j has s members, and there are r = m − 1 other groups. Rows are pairs (T, A) with T ⊆ S_j and
//! A a set of other groups, t = |T|, a = |A|, and values `v(Q_A ∪ T)`, where Q_A is the union of the groups
//! in A. D(A) = v(Q_A ∪ S_j) − v(Q_A), and φ_j is its mean over the distribution `w^(1)` of A: the value of
//! the group in the quotient game.

use std::collections::HashSet;

use apportion_games::{Coalitions, Game, Partition, QuotientGame};
use apportion_samplers::{
    FirstUnits, FixedCounts, Order, Pairing, Sample, Sampler, SizeDistribution, TwoBlocks,
};
use apportion_solvers::{Certificate, Constraint, Design, least_squares};
use apportion_values::{LeastSquaresForm, Semivalue};

use super::estimate::Estimate;
use super::parts::{Part, seed_of_part};
use crate::error::Result;
use crate::report::{Diagnostics, ErrorDistribution, unseen};
use crate::support::leverage_distribution;
use crate::support::{StandardErrors, certified};

/// If v(Q_A) and v(Q_A ∪ S_j) are known, the other groups only have columns if there are at least this number
/// of rows per unknown.
const ROWS_PER_UNKNOWN: usize = 6;

/// The regression for the members of a group with several members, in a partition with at least one other
/// group.
pub(super) struct Members<'a> {
    pub(super) partition: &'a Partition,
    pub(super) group: usize,
    /// The distribution of the set A of other groups.
    pub(super) between: &'a Semivalue,
    /// The distribution of the set T of members, as a form of least squares.
    pub(super) within: LeastSquaresForm,
    /// Whether samples grow: a larger budget only adds coalitions.
    pub(super) grows: bool,
}

/// The rows of the regression.
pub(super) struct Rows {
    /// The players are the members, followed by the other groups if they have columns.
    coalitions: Coalitions,
    pairing: Pairing,
    /// The log weight of each row, or pair of rows, up to a common constant.
    ln_weights: Vec<f64>,
    /// For each row, or pair of rows, 1 minus its inclusion probability; 1 if it was drawn along random
    /// orders.
    free: Vec<f64>,
    /// Whether the other groups have columns.
    has_columns_of_others: bool,
    is_complete: bool,
}

impl Members<'_> {
    fn members(&self) -> usize {
        self.partition.group(self.group).len()
    }

    fn others(&self) -> usize {
        self.partition.len() - 1
    }

    /// Returns the number of unknowns of the regression, and the number of evaluations that makes it exact.
    pub(super) fn part(&self, quotient_is_known: bool) -> Part {
        let (s, r) = (self.members() as f64, self.others() as f64);
        let capacity = match self.within {
            LeastSquaresForm::Centred { .. } if !quotient_is_known => (s + r).exp2() - 2.0,
            _ => r.exp2() * (s.exp2() - 2.0),
        };
        let unknowns = self.members() + if quotient_is_known { 0 } else { self.others() };
        Part { unknowns, capacity }
    }

    /// Returns the pairing of rows. Complements in pairs have equal weights, and a pair acts as one row.
    fn pairing(&self) -> Pairing {
        let half = |form: Option<LeastSquaresForm>| match form {
            Some(LeastSquaresForm::SumConstrained) => true,
            Some(LeastSquaresForm::Centred { p }) => p == 0.5,
            _ => false,
        };
        let is_symmetric = half(Some(self.within)) && half(self.between.least_squares());
        if is_symmetric { Pairing::Paired } else { Pairing::Unpaired }
    }

    fn sampler(&self, quotient_is_known: bool) -> Result<TwoBlocks> {
        let s = self.members();
        let of_members = match self.within {
            LeastSquaresForm::Centred { p } if quotient_is_known => leverage_distribution(s, p, 1..=s - 1)?,
            LeastSquaresForm::Centred { p } => leverage_distribution(s, p, 0..=s)?,
            _ => SizeDistribution::leverage(s)?,
        };
        let of_others = SizeDistribution::custom(&self.between.size_distribution(self.partition.len()))?;
        Ok(TwoBlocks { distributions: [of_members, of_others], pairing: self.pairing(), order: self.order() })
    }

    fn order(&self) -> Order {
        if self.grows { Order::Nested } else { Order::Fixed }
    }

    /// Appends the rows that are always in the sample, in complementary pairs: those with T = ∅ and T = S_j,
    /// if the distribution of T includes them. Without columns for the other groups, these rows are the same
    /// for all A, so one row represents all of them.
    fn push_certain_rows(&self, quotient_is_known: bool, has_columns_of_others: bool, rows: &mut Coalitions) {
        let (s, r) = (self.members(), self.others());
        if self.within == LeastSquaresForm::SumConstrained {
            return;
        }
        // If the quotient game is tabulated, there are few groups, so the first shift does not overflow.
        let unions = if quotient_is_known && has_columns_of_others { 1u64 << r } else { 1 };
        for union in 0..unions {
            let contains = |other: usize| union.checked_shr(other as u32).is_some_and(|bits| bits & 1 == 1);
            rows.push_members((0..r).filter(|&other| contains(other)).map(|other| s + other));
            rows.push_complement(rows.len() - 1);
        }
    }

    /// Draws the given number of rows without replacement, stratified by (t, a), in addition to the rows with
    /// known values. Growing samples begin with the rows along `orders`.
    pub(super) fn draw(
        &self,
        quotient_is_known: bool,
        evaluations: usize,
        orders: &[Vec<usize>],
        seed: u64,
    ) -> Result<Rows> {
        let (s, r) = (self.members(), self.others());
        let sampler = self.sampler(quotient_is_known)?;
        let sample = if self.grows {
            sampler.sample_after(&self.first_units(orders, seed)?, evaluations, seed)?
        } else {
            sampler.sample(evaluations, seed)?
        };
        let drawn = sample.coalitions().len();
        let has_columns_of_others = !quotient_is_known || drawn >= ROWS_PER_UNKNOWN * (s + r);
        let mut coalitions = sample.coalitions().clone();
        self.push_certain_rows(quotient_is_known, has_columns_of_others, &mut coalitions);

        let (mut ln_weights, mut free) = (Vec::new(), Vec::new());
        let step = if sample.pairing() == Pairing::Paired { 2 } else { 1 };
        for row in (0..coalitions.len()).step_by(step) {
            let t = self.members_of(&coalitions, row).count();
            let a = coalitions.row(row).size() - t;
            let ln_inclusion = if row < drawn { sample.ln_inclusion(t, a) } else { 0.0 };
            let stands_for_all = row >= drawn && !has_columns_of_others;
            let of_others = if stands_for_all { 0.0 } else { self.between.ln_moment(a, r - a) };
            ln_weights.push(of_others + self.within.ln_weight(s, t) - ln_inclusion);
            free.push((-ln_inclusion.exp_m1()).max(0.0));
        }
        let (pairing, is_complete) = (sample.pairing(), sample.is_complete());
        Ok(Rows { coalitions, pairing, ln_weights, free, has_columns_of_others, is_complete })
    }

    /// Returns a pair of rows for each of the independent `orders` of the groups. In the first row, A
    /// contains the groups before this group, and T is a coalition of members. In the complement, A contains
    /// the groups after it. All T occur equally often, except for a remainder that is drawn by leverage
    /// scores.
    pub(super) fn draw_along(&self, orders: &[Vec<usize>], seed: u64) -> Result<Rows> {
        let (s, r) = (self.members(), self.others());
        let pairs_of_members = if s < 32 { (1 << (s - 1)) - 1 } else { usize::MAX };
        let (rounds, rest) = (orders.len() / pairs_of_members, orders.len() % pairs_of_members);
        let remainder = self.pairs_within(rest, seed)?;
        let mut of_members = Coalitions::with_capacity(s, 2 * orders.len());
        if rounds > 0 {
            let all = self.pairs_within(pairs_of_members, seed)?.into_coalitions();
            (0..rounds).for_each(|_| of_members.extend(&all));
        }
        of_members.extend(remainder.coalitions());

        let mut coalitions = Coalitions::with_capacity(s + r, of_members.len());
        let mut ln_weights = Vec::with_capacity(orders.len());
        for (pair, order) in orders.iter().enumerate() {
            let before = order.iter().take_while(|&&group| group != self.group);
            let before = before.map(|&group| s + group - usize::from(group > self.group));
            let members = of_members.row(2 * pair);
            coalitions.push_members(members.members().chain(before));
            coalitions.push_complement(coalitions.len() - 1);
            // A is drawn from its own distribution. For T, the expected number of occurrences is required.
            let t = members.size();
            let ln_inclusion = remainder.strata()[t].ln_inclusion();
            let ln_times = if rounds > 0 { (rounds as f64 + ln_inclusion.exp()).ln() } else { ln_inclusion };
            ln_weights.push(self.within.ln_weight(s, t) - ln_times);
        }
        Ok(Rows {
            has_columns_of_others: coalitions.len() >= ROWS_PER_UNKNOWN * (s + r),
            coalitions,
            pairing: Pairing::Paired,
            free: vec![1.0; ln_weights.len()],
            ln_weights,
            is_complete: false,
        })
    }

    /// Draws the given number of pairs of coalitions T by leverage scores. If samples grow, a smaller sample
    /// is a prefix of every larger one.
    fn pairs_within(&self, pairs: usize, seed: u64) -> Result<Sample> {
        let (distribution, pairing) = (SizeDistribution::leverage(self.members())?, Pairing::Paired);
        let sampler = FixedCounts { distribution, pairing, order: self.order() };
        Ok(if self.grows {
            // Use separate streams, because strata of (T, A) grow, too.
            sampler.sample_in_order(2 * pairs, seed_of_part(seed, 0))?
        } else {
            sampler.sample(2 * pairs, seed)?
        })
    }

    /// Returns the distinct rows along `orders`, as drawn by [`draw_along`](Self::draw_along).
    pub(super) fn first_units(&self, orders: &[Vec<usize>], seed: u64) -> Result<FirstUnits> {
        let mut first = FirstUnits::none(self.members() + self.others());
        if orders.is_empty() {
            return Ok(first);
        }
        let rows = self.draw_along(orders, seed)?.coalitions;
        let mut met: HashSet<&[u64]> = HashSet::new();
        for pair in (0..rows.len()).step_by(2) {
            // The pair may have occurred before in the opposite order.
            let is_new = met.insert(rows.row(pair).words());
            if met.insert(rows.row(pair + 1).words()) && is_new {
                (pair..pair + 2).for_each(|row| first.coalitions.push(rows.row(row)));
            }
        }
        first.draws = orders.len();
        Ok(first)
    }

    /// Estimates the values of the members or, if they share the value of the group
    /// ([`LeastSquaresForm::SumConstrained`]), their deviations from equal shares.
    ///
    /// If `game` caches v(Q_A) and v(Q_A ∪ S_j) for all rows, `of_group` is φ_j.
    pub(super) fn estimate(
        &self,
        game: &dyn Game,
        rows: Rows,
        of_group: Option<&[f64]>,
        standard_errors: StandardErrors,
    ) -> Result<Estimate> {
        let (s, outputs) = (self.members(), game.outputs());
        let mut targets = vec![0.0; rows.coalitions.len() * outputs];
        QuotientGame::new(game, &self.intermediate_partition()?)?.values(&rows.coalitions, &mut targets)?;
        let shares = self.within == LeastSquaresForm::SumConstrained;
        let nothing = vec![0.0; outputs];
        if let Some(of_group) = of_group {
            let of_group = if shares { &nothing } else { of_group };
            self.take_off_known(game, of_group, &rows.coalitions, &mut targets)?;
        }
        let columns =
            if rows.has_columns_of_others { rows.coalitions } else { self.without_others(&rows.coalitions) };
        let largest = rows.ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = rows.ln_weights.iter().map(|ln| (ln - largest).exp()).collect();
        let design = match rows.pairing {
            Pairing::Paired => Design::paired(&columns, &weights)?,
            Pairing::Unpaired => Design::new(&columns, &weights)?,
        };
        // If members share the group's value, only their deviations from equal shares are estimated. Then
        // paired rows without columns for other groups have no common level.
        let has_level = !shares || rows.has_columns_of_others || rows.pairing == Pairing::Unpaired;
        let solution = if has_level {
            least_squares(&design.with_intercept(), &targets, outputs, Constraint::None)?
        } else {
            least_squares(&design, &targets, outputs, Constraint::Sum(&nothing))?
        };

        let mut values = solution.coefficients()[..s * outputs].to_vec();
        if shares {
            take_off_mean(&mut values, outputs);
        }
        // With two members, every proper coalition contains exactly one of them, so only their difference is
        // unknown.
        let unknowns = columns.players() - usize::from(shares && (s == 2 || !has_level));
        let free = &rows.free;
        let certificate = || {
            if shares { solution.certificate_of_deviations(0..s, free) } else { solution.certificate(free) }
        };
        let certificate = certified(standard_errors, solution.rank() == Some(unknowns), certificate)?;
        let mut error_distribution = certificate.as_ref().map(ErrorDistribution::of_regression);
        // Except for deviations, the directions would also refer to the coefficients of other groups. They
        // are discarded if other groups have columns.
        if !shares && columns.players() > s {
            error_distribution = error_distribution
                .map(|distribution| ErrorDistribution { directions: Vec::new(), ..distribution });
        }
        let mut diagnostics = Diagnostics {
            error_distribution,
            exact: rows.is_complete,
            rank: solution.rank(),
            unknowns: Some(unknowns),
            condition_number: Some(solution.condition_number()),
            ..Diagnostics::default()
        };
        let of_members = |certificate: &Certificate| certificate.variances[..s * outputs].to_vec();
        let variances = certificate.as_ref().map(of_members);
        let mut unseen = vec![0.0; values.len()];
        if let (Some(variances), Some(certificate), false) = (&variances, &certificate, rows.is_complete) {
            (unseen, diagnostics.nothing_varied) =
                unseen::of_regression(&values, variances, certificate.degrees_of_freedom, outputs);
        }
        Ok(Estimate { values, variances, unseen, diagnostics })
    }

    /// Returns T of a row, as the positions of its members in the group.
    fn members_of<'c>(&self, rows: &'c Coalitions, row: usize) -> impl Iterator<Item = usize> + 'c {
        let members = self.members();
        rows.row(row).members().take_while(move |&player| player < members)
    }

    /// Returns the coalitions restricted to the members of the group.
    fn without_others(&self, rows: &Coalitions) -> Coalitions {
        let mut alone = Coalitions::with_capacity(self.members(), rows.len());
        (0..rows.len()).for_each(|row| alone.push_members(self.members_of(rows, row)));
        alone
    }

    /// Returns the players of the intermediate game: each member of the group by itself, and each other group
    /// as one player.
    fn intermediate_partition(&self) -> Result<Partition> {
        let members = self.partition.group(self.group).iter().map(|&member| vec![member]);
        let others = self.others_in_order().map(|other| self.partition.group(other).to_vec());
        Ok(Partition::new(self.partition.players(), members.chain(others).collect())?)
    }

    fn others_in_order(&self) -> impl Iterator<Item = usize> {
        (0..self.partition.len()).filter(|&other| other != self.group)
    }

    /// Subtracts `v(Q_A) + (t/s) (D(A) − φ_j)` from the value of each row.
    fn take_off_known(
        &self,
        game: &dyn Game,
        of_group: &[f64],
        rows: &Coalitions,
        targets: &mut [f64],
    ) -> Result<()> {
        let (s, outputs) = (self.members(), game.outputs());
        let others: Vec<usize> = self.others_in_order().collect();
        // Evaluate two coalitions per row: Q_A without the group and with it.
        let mut unions = Coalitions::with_capacity(self.partition.len(), 2 * rows.len());
        for row in rows.iter() {
            let union = || row.members().skip_while(|&player| player < s).map(|player| others[player - s]);
            unions.push_members(union());
            unions.push_members(union().chain([self.group]));
        }
        let mut known = vec![0.0; unions.len() * outputs];
        QuotientGame::new(game, self.partition)?.values(&unions, &mut known)?;
        let known = known.chunks_exact(2 * outputs);
        for (row, (targets, known)) in targets.chunks_exact_mut(outputs).zip(known).enumerate() {
            let share = self.members_of(rows, row).count() as f64 / s as f64;
            let (without, with) = known.split_at(outputs);
            for (output, target) in targets.iter_mut().enumerate() {
                let beyond = with[output] - without[output] - of_group[output];
                *target -= without[output] + share * beyond;
            }
        }
        Ok(())
    }
}

/// Subtracts the mean over the players, for each output.
fn take_off_mean(values: &mut [f64], outputs: usize) {
    let players = values.len() / outputs;
    for output in 0..outputs {
        let mean = values.iter().skip(output).step_by(outputs).sum::<f64>() / players as f64;
        values.iter_mut().skip(output).step_by(outputs).for_each(|value| *value -= mean);
    }
}
