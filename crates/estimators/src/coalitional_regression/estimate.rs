//! What one part answers.

use apportion_values::Semivalue;

use crate::error_law::ErrorLaw;
use crate::estimator::Estimator;
use crate::explanation::{Diagnostics, Explanation};
use crate::kernel_banzhaf::KernelBanzhaf;
use crate::leverage_shap::LeverageShap;
use crate::regression::StandardErrors;

/// Values of some players or groups.
pub(super) struct Estimate {
    /// Players × k, row-major.
    pub(super) values: Vec<f64>,
    /// As many; none where they cannot be told.
    pub(super) variances: Option<Vec<f64>>,
    pub(super) diagnostics: Diagnostics,
}

impl From<Explanation> for Estimate {
    fn from(explanation: Explanation) -> Self {
        let square = |errors: Vec<f64>| errors.into_iter().map(|error| error * error).collect();
        Self {
            values: explanation.values,
            variances: explanation.std_errors.map(square),
            diagnostics: explanation.diagnostics,
        }
    }
}

impl Estimate {
    /// Values that are known.
    pub(super) fn exact(values: Vec<f64>) -> Self {
        let variances = Some(vec![0.0; values.len()]);
        Self { values, variances, diagnostics: Diagnostics { exact: true, ..Diagnostics::default() } }
    }
}

/// Values of all players, put together from independent parts: their variances add up.
pub(super) struct Gathered {
    outputs: usize,
    values: Vec<f64>,
    variances: Option<Vec<f64>>,
    diagnostics: Diagnostics,
}

impl Gathered {
    pub(super) fn new(players: usize, outputs: usize) -> Self {
        let zeros = vec![0.0; players * outputs];
        Self {
            outputs,
            values: zeros.clone(),
            variances: Some(zeros),
            diagnostics: Diagnostics { exact: true, ..Diagnostics::default() },
        }
    }

    /// Adds the diagnostics of a part: all are exact or the whole is not, ranks and unknowns add up, the worst condition number and the
    /// fewest degrees of freedom count.
    pub(super) fn note(&mut self, part: &Diagnostics) {
        let whole = &mut self.diagnostics;
        let sum = |a: Option<usize>, b: Option<usize>| a.into_iter().chain(b).reduce(|a, b| a + b);
        whole.exact &= part.exact;
        whole.rank = sum(whole.rank, part.rank);
        whole.unknowns = sum(whole.unknowns, part.unknowns);
        whole.permutations = sum(whole.permutations, part.permutations);
        // The parts are independent; how the errors of all players go together is not put together from them.
        let degrees = |law: &ErrorLaw| law.degrees_of_freedom;
        let laws = whole.error_law.iter().chain(&part.error_law).map(degrees);
        whole.error_law = laws
            .reduce(f64::min)
            .map(|degrees_of_freedom| ErrorLaw { degrees_of_freedom, ..ErrorLaw::default() });
        whole.condition_number =
            whole.condition_number.into_iter().chain(part.condition_number).reduce(f64::max);
    }

    /// Adds to each of `members` an equal share of the value of `group`.
    pub(super) fn share(&mut self, quotient: &Estimate, group: usize, members: &[usize]) {
        let size = members.len() as f64;
        members.iter().for_each(|&member| self.add_row(quotient, group, member, 1.0 / size));
    }

    /// Adds to each of `members` its row of `estimate`, in order.
    pub(super) fn add(&mut self, estimate: &Estimate, members: &[usize]) {
        members.iter().enumerate().for_each(|(row, &member)| self.add_row(estimate, row, member, 1.0));
    }

    fn add_row(&mut self, estimate: &Estimate, row: usize, player: usize, factor: f64) {
        let (from, to) = (row * self.outputs, player * self.outputs);
        for output in 0..self.outputs {
            self.values[to + output] += factor * estimate.values[from + output];
        }
        match (&mut self.variances, &estimate.variances) {
            (Some(sums), Some(variances)) => {
                for output in 0..self.outputs {
                    sums[to + output] += factor * factor * variances[from + output];
                }
            }
            _ => self.variances = None,
        }
    }

    pub(super) fn finish(self) -> Estimate {
        let mut diagnostics = self.diagnostics;
        if self.variances.is_none() {
            diagnostics.error_law = None;
        }
        Estimate { values: self.values, variances: self.variances, diagnostics }
    }
}

/// The regression for a semivalue of the players of a game, with different coalitions. `None` where there is none.
pub(super) fn regression(value: &Semivalue, standard_errors: StandardErrors) -> Option<Box<dyn Estimator>> {
    match value.simplified() {
        Semivalue::Shapley => Some(Box::new(LeverageShap { standard_errors, ..LeverageShap::default() })),
        value @ (Semivalue::Banzhaf | Semivalue::WeightedBanzhaf(_)) => {
            Some(Box::new(KernelBanzhaf { value, standard_errors, ..KernelBanzhaf::without_replacement() }))
        }
        _ => None,
    }
}
