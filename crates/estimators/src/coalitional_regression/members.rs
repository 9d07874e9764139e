//! The members of one group: a regression on coalitions of other groups and of fellow members.
//!
//! # Notation
//!
//! The group S_j with s members, r = m − 1 other groups; rows (T, A), T ⊆ S_j and A a set of other groups, t = |T|, a = |A|; `v(Q_A ∪ T)`
//! their worth, Q_A the union of the groups in A. D(A) = v(Q_A ∪ S_j) − v(Q_A), and φ_j its mean by the law `w^(1)` of A: the value of the
//! group in the quotient game.

use apportion_games::{Coalitions, Game, Partition, QuotientGame, TabulatedGame};
use apportion_samplers::{Pairing, SizeLaw, TwoBlocks};
use apportion_solvers::{Constraint, Design, least_squares};
use apportion_values::{LeastSquaresForm, Semivalue};

use super::estimate::Estimate;
use super::parts::Part;
use crate::error::EstimatorError;
use crate::explanation::Diagnostics;
use crate::kernel_banzhaf::leverage_law;
use crate::regression::{StandardErrors, certified};

/// What is known of the quotient game for certain.
#[derive(Clone, Copy)]
pub(super) struct KnownQuotient<'a> {
    /// v(Q_A) for all sets A of groups.
    pub(super) table: &'a TabulatedGame,
    /// φ_j of all groups: m × k.
    pub(super) values: &'a [f64],
}

/// The regression for the members of one group, of which there are at least two, besides at least one other group.
pub(super) struct Members<'a> {
    pub(super) partition: &'a Partition,
    pub(super) group: usize,
    /// The law of A.
    pub(super) between: &'a Semivalue,
    /// The law of T.
    pub(super) within: LeastSquaresForm,
}

impl Members<'_> {
    fn members(&self) -> usize {
        self.partition.group(self.group).len()
    }

    fn others(&self) -> usize {
        self.partition.len() - 1
    }

    /// What there is to find, and the coalitions that there are.
    pub(super) fn part(&self, quotient_is_known: bool) -> Part {
        let (s, r) = (self.members() as f64, self.others() as f64);
        let capacity = match self.within {
            LeastSquaresForm::Centred { .. } if !quotient_is_known => (s + r).exp2() - 2.0,
            _ => r.exp2() * (s.exp2() - 2.0),
        };
        Part { unknowns: self.unknowns(), capacity }
    }

    /// Members and other groups; but two members are together in all proper coalitions or none, so that only their difference counts.
    fn unknowns(&self) -> usize {
        let without_level = self.within == LeastSquaresForm::SumConstrained && self.members() == 2;
        self.members() + self.others() - usize::from(without_level)
    }

    /// Whether complements weigh alike, so that pairs act as one row.
    fn pairing(&self) -> Pairing {
        let half = |form: Option<LeastSquaresForm>| match form {
            Some(LeastSquaresForm::SumConstrained) => true,
            Some(LeastSquaresForm::Centred { p }) => p == 0.5,
            _ => false,
        };
        let is_symmetric = half(Some(self.within)) && half(self.between.least_squares());
        if is_symmetric { Pairing::Paired } else { Pairing::Unpaired }
    }

    fn sampler(&self, quotient_is_known: bool) -> Result<TwoBlocks, EstimatorError> {
        let s = self.members();
        let of_members = match self.within {
            LeastSquaresForm::Centred { p } if quotient_is_known => leverage_law(s, p, 1..=s - 1)?,
            LeastSquaresForm::Centred { p } => leverage_law(s, p, 0..=s)?,
            _ => SizeLaw::leverage(s)?,
        };
        let of_others = SizeLaw::custom(&self.between.size_law(self.partition.len()))?;
        Ok(TwoBlocks { laws: [of_members, of_others], pairing: self.pairing() })
    }

    /// Rows that need no drawing, in complementary pairs: where the law of T has weight on ∅ and S_j, those that are known.
    fn certain_rows(&self, quotient_is_known: bool, rows: &mut Coalitions) {
        let (s, r) = (self.members(), self.others());
        if self.within == LeastSquaresForm::SumConstrained {
            return;
        }
        // What is tabulated has few groups.
        let unions = if quotient_is_known { 1u64 << r } else { 1 };
        for union in 0..unions {
            rows.push_members((0..r).filter(|other| union >> other & 1 == 1).map(|other| s + other));
            rows.push_complement(rows.len() - 1);
        }
    }

    /// The values of the members from `evaluations` coalitions besides those that are known; where they share what the group gets
    /// ([`LeastSquaresForm::SumConstrained`]), what they get beyond equal shares.
    pub(super) fn estimate(
        &self,
        game: &dyn Game,
        known: Option<KnownQuotient<'_>>,
        evaluations: usize,
        standard_errors: StandardErrors,
        seed: u64,
    ) -> Result<Estimate, EstimatorError> {
        let (s, outputs) = (self.members(), game.outputs());
        let sample = self.sampler(known.is_some())?.sample(evaluations, seed)?;
        let drawn = sample.coalitions().len();
        let mut rows = sample.coalitions().clone();
        self.certain_rows(known.is_some(), &mut rows);
        let sizes = |row: usize| {
            let coalition = rows.row(row);
            let t = coalition.members().take_while(|&player| player < s).count();
            [t, coalition.size() - t]
        };

        let intermediate = self.intermediate_partition()?;
        let mut targets = vec![0.0; rows.len() * outputs];
        QuotientGame::new(game, &intermediate)?.values(&rows, &mut targets)?;
        if let Some(known) = known {
            self.take_off_known(known, &rows, &mut targets);
        }

        let step = if sample.pairing() == Pairing::Paired { 2 } else { 1 };
        let units = || (0..rows.len()).step_by(step);
        let ln_inclusion = |row: usize| {
            let [t, a] = sizes(row);
            if row < drawn { sample.ln_inclusion(t, a) } else { 0.0 }
        };
        let ln_weights: Vec<f64> =
            units().map(|row| self.ln_weight(sizes(row)) - ln_inclusion(row)).collect();
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = ln_weights.iter().map(|ln| (ln - largest).exp()).collect();
        let design = match sample.pairing() {
            Pairing::Paired => Design::paired(&rows, &weights)?,
            Pairing::Unpaired => Design::new(&rows, &weights)?,
        };
        let solution = least_squares(&design.with_intercept(), &targets, outputs, Constraint::None)?;

        let mut values = solution.coefficients()[..s * outputs].to_vec();
        let shares = self.within == LeastSquaresForm::SumConstrained;
        if shares {
            take_off_mean(&mut values, outputs);
        }
        let unknowns = self.unknowns();
        let free: Vec<f64> = units().map(|row| -ln_inclusion(row).exp_m1().min(0.0)).collect();
        let certificate = || {
            if shares { solution.certificate_of_deviations(0..s, &free) } else { solution.certificate(&free) }
        };
        let mut variances = certified(standard_errors, solution.rank() == unknowns, certificate)?;
        if let Some(variances) = &mut variances {
            variances.truncate(s * outputs);
        }
        let diagnostics = Diagnostics {
            exact: sample.is_complete(),
            rank: Some(solution.rank()),
            unknowns: Some(unknowns),
            condition_number: Some(solution.condition_number()),
            ..Diagnostics::default()
        };
        Ok(Estimate { values, variances, diagnostics })
    }

    /// `ln (w^(1)(A) · w^(2)(T))`, w^(2) being the weight of the regression among the members.
    fn ln_weight(&self, [t, a]: [usize; 2]) -> f64 {
        self.between.ln_moment(a, self.others() - a) + self.within.ln_weight(self.members(), t)
    }

    /// The players of the intermediate game: each member by itself, and the other groups as one player each.
    fn intermediate_partition(&self) -> Result<Partition, EstimatorError> {
        let members = self.partition.group(self.group).iter().map(|&member| vec![member]);
        let others = self.others_in_order().map(|other| self.partition.group(other).to_vec());
        Ok(Partition::new(self.partition.players(), members.chain(others).collect())?)
    }

    fn others_in_order(&self) -> impl Iterator<Item = usize> {
        (0..self.partition.len()).filter(|&other| other != self.group)
    }

    /// Takes `v(Q_A) + (t/s) (D(A) − φ_j)` off the worth of each row.
    fn take_off_known(&self, known: KnownQuotient<'_>, rows: &Coalitions, targets: &mut [f64]) {
        let outputs = known.table.outputs();
        let s = self.members();
        let others: Vec<usize> = self.others_in_order().collect();
        let of_group = &known.values[self.group * outputs..(self.group + 1) * outputs];
        for (row, targets) in rows.iter().zip(targets.chunks_exact_mut(outputs)) {
            let (mut t, mut union) = (0, 0u64);
            for player in row.members() {
                if player < s { t += 1 } else { union |= 1 << others[player - s] }
            }
            let share = t as f64 / s as f64;
            let without = known.table.value(union);
            let with = known.table.value(union | 1 << self.group);
            for (output, target) in targets.iter_mut().enumerate() {
                let beyond = with[output] - without[output] - of_group[output];
                *target -= without[output] + share * beyond;
            }
        }
    }
}

/// Takes the mean of the players off, for each output.
fn take_off_mean(values: &mut [f64], outputs: usize) {
    let players = values.len() / outputs;
    for output in 0..outputs {
        let mean = values.iter().skip(output).step_by(outputs).sum::<f64>() / players as f64;
        values.iter_mut().skip(output).step_by(outputs).for_each(|value| *value -= mean);
    }
}
