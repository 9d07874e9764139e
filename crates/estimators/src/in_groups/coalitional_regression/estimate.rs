//! The estimate of one part, and the combination of all parts.
//!
//! # Directions
//!
//! Parts are independent, so the covariance matrices of their errors add up. The matrices for the members of
//! different groups are separate blocks. If members share the value of their group, their deviations from
//! equal shares sum to zero, and so do the rows of their covariance matrix. Products of matrices of different
//! parts therefore have zero trace, and `tr Σ²` is the sum over the parts. For the covariance matrix C of the
//! groups' values, and s_j members in group j, the trace for the members' equal shares is
//!
//! ```text
//! Σ_jk C_jk² / (s_j s_k) ≤ Σ_j C_jj² / s_j² + (tr C² − Σ_j C_jj²) max_{j≠k} 1 / (s_j s_k)
//! ```
//!
//! with equality for groups of equal size. The bound is used instead of the trace: it underestimates the
//! number of directions rather than overestimating it.

use apportion_values::Semivalue;

use crate::regression::kernel_banzhaf::KernelBanzhaf;
use crate::regression::leverage_shap::LeverageShap;
use crate::report::{Diagnostics, ErrorDistribution, Explanation};
use crate::run::Estimator;
use crate::support::StandardErrors;

/// Values of some players or groups.
pub(super) struct Estimate {
    /// The values, players × k (outputs), row-major.
    pub(super) values: Vec<f64>,
    /// The variances of the values, in the same layout; `None` if unknown.
    pub(super) variances: Option<Vec<f64>>,
    /// The allowance for unseen events, in the same layout; it is added to the variances.
    pub(super) unseen: Vec<f64>,
    pub(super) diagnostics: Diagnostics,
}

impl From<Explanation> for Estimate {
    fn from(explanation: Explanation) -> Self {
        let has_errors = explanation.std_errors.is_some() && !explanation.diagnostics.exact;
        let (unseen, nothing_varied) = match has_errors {
            true => explanation.unseen(),
            false => (vec![0.0; explanation.values.len()], false),
        };
        let square = |errors: Vec<f64>| errors.into_iter().map(|error| error * error).collect();
        Self {
            values: explanation.values,
            variances: explanation.std_errors.map(square),
            unseen,
            diagnostics: Diagnostics { nothing_varied, ..explanation.diagnostics },
        }
    }
}

impl Estimate {
    /// Creates an estimate from exact values.
    pub(super) fn exact(values: Vec<f64>) -> Self {
        let unseen = vec![0.0; values.len()];
        let diagnostics = Diagnostics { exact: true, ..Diagnostics::default() };
        Self { values, variances: Some(unseen.clone()), unseen, diagnostics }
    }
}

/// Values of all players, combined from independent parts whose variances add up.
pub(super) struct CombinedParts {
    outputs: usize,
    values: Vec<f64>,
    variances: Option<Vec<f64>>,
    unseen: Vec<f64>,
    /// The trace tr Σ² for each output; `None` if it is unknown for some part.
    square_traces: Option<Vec<f64>>,
    diagnostics: Diagnostics,
}

impl CombinedParts {
    pub(super) fn new(players: usize, outputs: usize) -> Self {
        let zeros = vec![0.0; players * outputs];
        Self {
            outputs,
            values: zeros.clone(),
            variances: Some(zeros.clone()),
            unseen: zeros,
            square_traces: Some(vec![0.0; outputs]),
            diagnostics: Diagnostics { exact: true, ..Diagnostics::default() },
        }
    }

    /// Adds the diagnostics of a part. The combination is exact if all parts are exact. Ranks, unknowns and
    /// permutations add up. The worst condition number and the fewest degrees of freedom are kept.
    pub(super) fn note(&mut self, part: &Diagnostics) {
        let whole = &mut self.diagnostics;
        let sum = |a: Option<usize>, b: Option<usize>| a.into_iter().chain(b).reduce(|a, b| a + b);
        whole.exact &= part.exact;
        whole.nothing_varied |= part.nothing_varied;
        whole.rank = sum(whole.rank, part.rank);
        whole.unknowns = sum(whole.unknowns, part.unknowns);
        whole.permutations = sum(whole.permutations, part.permutations);
        let degrees = |distribution: &ErrorDistribution| distribution.degrees_of_freedom;
        let distributions = whole.error_distribution.iter().chain(&part.error_distribution).map(degrees);
        whole.error_distribution = distributions.reduce(f64::min).map(|degrees_of_freedom| {
            ErrorDistribution { degrees_of_freedom, ..ErrorDistribution::default() }
        });
        whole.condition_number =
            whole.condition_number.into_iter().chain(part.condition_number).reduce(f64::max);
    }

    /// Adds to each member of the given groups an equal share of the group's value in `quotient`. Each group
    /// is given as a pair of its index and its members.
    pub(super) fn share(&mut self, quotient: &Estimate, groups: &[(usize, &[usize])]) {
        for &(group, members) in groups {
            let factor = 1.0 / members.len() as f64;
            members.iter().for_each(|&member| self.add_row(quotient, group, member, factor));
        }
        let mut factors: Vec<f64> = groups.iter().map(|(_, members)| 1.0 / members.len() as f64).collect();
        factors.sort_by(|a, b| b.total_cmp(a));
        let largest_product = if let [first, second, ..] = factors[..] { first * second } else { 0.0 };
        let of_shares = |variances: &[f64], square_trace: f64| {
            let shares = groups.iter().map(|&(group, members)| variances[group] / members.len() as f64);
            let (sum, squares) =
                shares.fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
            let beside = square_trace - variances.iter().map(|variance| variance * variance).sum::<f64>();
            squares + (beside.max(0.0) * largest_product).min(sum * sum - squares)
        };
        self.add_square_traces(quotient, of_shares);
    }

    /// Adds the rows of `estimate` to the values of `members`, in the same order.
    pub(super) fn add(&mut self, estimate: &Estimate, members: &[usize]) {
        members.iter().enumerate().for_each(|(row, &member)| self.add_row(estimate, row, member, 1.0));
        self.add_square_traces(estimate, |_, square_trace| square_trace);
    }

    /// Adds the result of `of_part` to tr Σ² of each output. The arguments of `of_part` are the variances and
    /// tr Σ² of a part.
    fn add_square_traces(&mut self, part: &Estimate, of_part: impl Fn(&[f64], f64) -> f64) {
        let Some(sums) = &mut self.square_traces else { return };
        for (output, sum) in sums.iter_mut().enumerate() {
            let variances: Vec<f64> = part
                .variances
                .iter()
                .flat_map(|all| all.iter().skip(output).step_by(self.outputs).copied())
                .collect();
            let trace: f64 = variances.iter().sum();
            let distribution = part.diagnostics.error_distribution.as_ref();
            match distribution.and_then(|distribution| distribution.directions.get(output)) {
                Some(directions) => *sum += of_part(&variances, trace * trace / directions),
                // Exact values have no errors.
                None if part.variances.is_some() && trace == 0.0 => {}
                None => {
                    self.square_traces = None;
                    return;
                }
            }
        }
    }

    fn add_row(&mut self, estimate: &Estimate, row: usize, player: usize, factor: f64) {
        let (from, to) = (row * self.outputs, player * self.outputs);
        for output in 0..self.outputs {
            self.values[to + output] += factor * estimate.values[from + output];
            self.unseen[to + output] += factor * factor * estimate.unseen[from + output];
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
        if let Some(distribution) = &mut diagnostics.error_distribution {
            distribution.one_draw = self.unseen.iter().map(|square| square.sqrt()).collect();
        }
        match (&self.variances, &mut diagnostics.error_distribution, &self.square_traces) {
            (None, distribution, _) => *distribution = None,
            (Some(variances), Some(distribution), Some(square_traces)) => {
                let players = (variances.len() / self.outputs) as f64;
                let of_output = |(output, square_trace): (usize, &f64)| {
                    let trace: f64 = variances.iter().skip(output).step_by(self.outputs).sum();
                    let directions = if trace > 0.0 { trace * trace / square_trace } else { 1.0 };
                    directions.clamp(1.0, players)
                };
                distribution.directions = square_traces.iter().enumerate().map(of_output).collect();
            }
            _ => {}
        }
        Estimate { values: self.values, variances: self.variances, unseen: self.unseen, diagnostics }
    }
}

/// Returns the regression on distinct coalitions for a semivalue of the players of a game, or `None` if there
/// is no such regression.
pub(super) fn regression(value: &Semivalue, standard_errors: StandardErrors) -> Option<Box<dyn Estimator>> {
    match value.simplified() {
        Semivalue::Shapley => Some(Box::new(LeverageShap::default().with_standard_errors(standard_errors))),
        value @ (Semivalue::Banzhaf | Semivalue::WeightedBanzhaf(_)) => Some(Box::new(
            KernelBanzhaf::without_replacement().with_value(value).with_standard_errors(standard_errors),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a covariance matrix of `n` values, from deterministic losses. Its rows sum to zero if
    /// `are_deviations` is set.
    fn covariance(n: usize, are_deviations: bool, seed: usize) -> Vec<Vec<f64>> {
        let loss = |k: usize| -> Vec<f64> {
            let raw: Vec<f64> = (0..n).map(|i| ((i * 7 + k * 13 + seed * 5) % 11) as f64 - 5.0).collect();
            let mean = if are_deviations { raw.iter().sum::<f64>() / n as f64 } else { 0.0 };
            raw.into_iter().map(|entry| entry - mean).collect()
        };
        let losses: Vec<Vec<f64>> = (0..2 * n).map(loss).collect();
        (0..n).map(|i| (0..n).map(|j| losses.iter().map(|loss| loss[i] * loss[j]).sum()).collect()).collect()
    }

    fn square_trace(matrix: &[Vec<f64>]) -> f64 {
        matrix.iter().flatten().map(|entry| entry * entry).sum()
    }

    fn estimate(matrix: &[Vec<f64>]) -> Estimate {
        let variances: Vec<f64> = (0..matrix.len()).map(|i| matrix[i][i]).collect();
        let trace: f64 = variances.iter().sum();
        let distribution = ErrorDistribution {
            degrees_of_freedom: 9.0,
            directions: vec![trace * trace / square_trace(matrix)],
            ..ErrorDistribution::default()
        };
        let diagnostics = Diagnostics { error_distribution: Some(distribution), ..Diagnostics::default() };
        Estimate {
            values: vec![0.0; matrix.len()],
            variances: Some(variances),
            unseen: vec![0.0; matrix.len()],
            diagnostics,
        }
    }

    /// Returns the number of directions ν, computed from the combined parts and from the full covariance
    /// matrix.
    fn both(groups: &[Vec<usize>]) -> (f64, f64) {
        let n = groups.iter().map(Vec::len).sum();
        let of_groups = covariance(groups.len(), false, 1);
        let mut gathered = CombinedParts::new(n, 1);
        let mut whole = vec![vec![0.0; n]; n];
        let quotient = estimate(&of_groups);
        gathered.note(&quotient.diagnostics);
        let all: Vec<(usize, &[usize])> = groups.iter().map(Vec::as_slice).enumerate().collect();
        gathered.share(&quotient, &all);
        for (j, first) in groups.iter().enumerate() {
            for (k, second) in groups.iter().enumerate() {
                let share = of_groups[j][k] / (first.len() * second.len()) as f64;
                first.iter().for_each(|&a| second.iter().for_each(|&b| whole[a][b] += share));
            }
        }
        for (j, group) in groups.iter().enumerate().filter(|(_, group)| group.len() > 1) {
            let of_members = covariance(group.len(), true, j);
            gathered.note(&estimate(&of_members).diagnostics);
            gathered.add(&estimate(&of_members), group);
            for (a, &first) in group.iter().enumerate() {
                group.iter().enumerate().for_each(|(b, &second)| whole[first][second] += of_members[a][b]);
            }
        }
        let trace: f64 = (0..n).map(|i| whole[i][i]).sum();
        let distribution = gathered.finish().diagnostics.error_distribution.expect("every part has errors");
        (distribution.directions[0], (trace * trace / square_trace(&whole)).clamp(1.0, n as f64))
    }

    #[test]
    fn directions_are_those_of_the_whole_covariance_matrix() {
        for (groups, size) in [(2, 2), (3, 4), (5, 3), (4, 1), (20, 7)] {
            let partition: Vec<Vec<usize>> =
                (0..groups).map(|group| (0..size).map(|member| member * groups + group).collect()).collect();
            let (got, expected) = both(&partition);
            assert!((got / expected - 1.0).abs() < 1e-12, "{groups} of {size}: {got}, {expected}");
        }
    }

    #[test]
    fn of_groups_of_several_sizes_directions_are_no_more_than_there_are() {
        for groups in [
            vec![vec![0], vec![1, 2, 3]],
            vec![vec![4], vec![0, 1, 2], vec![3, 5]],
            vec![vec![0, 1], vec![2, 3, 4, 5, 6, 7], vec![8], vec![9, 10, 11]],
        ] {
            let (got, actual) = both(&groups);
            assert!((0.3 * actual..=actual * (1.0 + 1e-12)).contains(&got), "{groups:?}: {got}, {actual}");
        }
    }

    #[test]
    fn a_part_that_does_not_tell_its_directions_leaves_them_untold() {
        let known = estimate(&covariance(2, true, 1));
        let mut unknown = estimate(&covariance(2, true, 2));
        let distribution = ErrorDistribution { degrees_of_freedom: 4.0, ..ErrorDistribution::default() };
        unknown.diagnostics.error_distribution = Some(distribution.clone());
        let mut gathered = CombinedParts::new(4, 1);
        for (part, members) in [(&known, [0, 1]), (&unknown, [2, 3])] {
            gathered.note(&part.diagnostics);
            gathered.add(part, &members);
        }
        assert_eq!(
            gathered.finish().diagnostics.error_distribution,
            Some(ErrorDistribution { one_draw: vec![0.0; 4], ..distribution })
        );

        // Exact parts must not change the number of directions.
        let mut gathered = CombinedParts::new(4, 1);
        for (part, members) in [(&known, [0, 1]), (&Estimate::exact(vec![1.0, 2.0]), [2, 3])] {
            gathered.note(&part.diagnostics);
            gathered.add(part, &members);
        }
        let distribution = gathered.finish().diagnostics.error_distribution.expect("one part has errors");
        let of_known = known.diagnostics.error_distribution.expect("a law").directions;
        assert!((distribution.directions[0] - of_known[0]).abs() < 1e-12);
    }
}
