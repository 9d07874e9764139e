//! A Gaussian process on coalitions with a relevance ρ_i for each player: the variance of a product of
//! players is the product of their relevances.
//!
//! ```text
//! v(S) = Σ_T β_T χ_T(S),    Var β_T ∝ Π_{i ∈ T} ρ_i
//! Cov(v(S), v(S')) ∝ Π_i (1 + ρ_i x_i x'_i) ∝ exp(−Σ_{i ∈ S Δ S'} ℓ_i),    ρ_i = tanh(ℓ_i / 2)
//! ```
//!
//! The covariance is an exponential function of a weighted Hamming distance, with the weights ℓ_i. Products
//! of all orders have positive variances, but no product needs to be enumerated.
//!
//! # Values
//!
//! The covariance of a semivalue with the mixing measure μ is an integral of products with one factor for
//! each other player:
//!
//! ```text
//! Cov(φ_i(v), v(S)) = x_i (1 − e_i) ∫ Π_{j ≠ i} u_j(t) dμ(t),    e_j = exp(−ℓ_j)
//! u_j(t) = t + (1 − t) e_j for j ∈ S, and t e_j + (1 − t) for j ∉ S
//! ```
//!
//! A quadrature rule for polynomials of degree n − 1 computes the integral exactly.
//!
//! # Relevances
//!
//! The ℓ_i and the variance ν of the noise maximize the restricted likelihood of the sum of the process and a
//! free linear model, times a weak prior that keeps the ℓ_i similar: the `ln ℓ_i` have a standard deviation
//! of 2 around their mean.

use apportion_games::{Cancellation, Partition};
use apportion_solvers::{Kriging, add_cross_products, minimize};
use apportion_values::{Rule, Semivalue, SolutionConcept};

use super::prior::Signs;

/// The bounds of ln ℓ_i: relevances ρ_i from 0.001 to 0.82.
const LENGTHS: (f64, f64) = (-6.3, 0.84);
/// The bounds of ln ν, relative to the variance of the process.
const NOISE: (f64, f64) = (-14.0, 4.0);
/// The variance of the ln ℓ_i around their mean, and of this mean around the start, in the prior.
const SPREAD: f64 = 4.0;
/// The value of ln ν at the start.
const START_OF_NOISE: f64 = -4.0;
/// The maximum number of steps of the maximization.
const STEPS: usize = 30;

/// A process with given relevances.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WalshProcess {
    /// ℓ_i for each player.
    lengths: Vec<f64>,
}

impl WalshProcess {
    /// Creates a process with the lengths ℓ_i.
    pub(crate) fn new(lengths: Vec<f64>) -> Self {
        Self { lengths }
    }

    /// Learns a process and the variance of its noise from `targets` (rows × outputs) for the coalitions
    /// `signs`. All outputs have the same relevances.
    pub(crate) fn learn(signs: &Signs, targets: &[f64], outputs: usize) -> (Self, f64) {
        let columns = linear_columns(signs);
        let part = Part { parity: Parity::Both, columns: &columns, targets };
        let (process, noise) = Self::maximize(signs, &[part], outputs);
        (process, noise[0])
    }

    /// Learns a process from pairs of complementary coalitions. `signs` contains one coalition of each pair,
    /// and `odd` and `even` half the differences and half the sums of their values (pairs × outputs). Both
    /// parts have the same relevances, but separate variances, for each output. The even part is optional.
    pub(crate) fn learn_from_pairs(signs: &Signs, odd: &[f64], even: Option<&[f64]>, outputs: usize) -> Self {
        let ones = vec![1.0; signs.rows];
        let odd = Part { parity: Parity::Odd, columns: &signs.entries, targets: odd };
        let even = even.map(|even| Part { parity: Parity::Even, columns: &ones, targets: even });
        let parts: Vec<Part<'_>> = std::iter::once(odd).chain(even).collect();
        Self::maximize(signs, &parts, outputs).0
    }

    /// Maximizes the posterior of the relevances, and of the variance of the noise of each part.
    fn maximize(signs: &Signs, parts: &[Part<'_>], outputs: usize) -> (Self, Vec<f64>) {
        let n = signs.players;
        // At the start, the mean distance of two coalitions is at most 2, so they are still correlated.
        let mean = (4.0 / n as f64).min(0.25).ln();
        let mut start = vec![mean; n];
        start.resize(n + parts.len(), START_OF_NOISE);
        let mut bounds = vec![LENGTHS; n];
        bounds.resize(n + parts.len(), NOISE);
        let found = minimize(&start, &bounds, STEPS, |point| {
            Cancellation::check();
            negative_ln_posterior(signs, parts, outputs, point, mean)
        });
        let of = |range: std::ops::Range<usize>| found[range].iter().map(|ln| ln.exp()).collect();
        (Self { lengths: of(0..n) }, of(n..found.len()))
    }

    /// Returns the covariances between two sets of coalitions, row-major. The variance is 1.
    pub(crate) fn cross(&self, left: &Signs, right: &Signs) -> Vec<f64> {
        // The exponent is Σ_i (ℓ_i/2) (x_i x'_i − 1).
        let roots: Vec<f64> = self.lengths.iter().map(|length| (0.5 * length).sqrt()).collect();
        let columns = |rows: &Signs| -> Vec<f64> {
            roots
                .iter()
                .enumerate()
                .flat_map(|(i, root)| (0..rows.rows).map(move |row| root * rows.row(row)[i]))
                .collect()
        };
        let mut exponents = vec![-0.5 * self.lengths.iter().sum::<f64>(); left.rows * right.rows];
        add_cross_products(&columns(left), &columns(right), (left.rows, right.rows), &mut exponents);
        exponents.iter_mut().for_each(|exponent| *exponent = exponent.min(0.0).exp());
        exponents
    }

    /// Returns the covariances of the odd part `d(S) = (v(S) − v(S̄))/2` between two sets of coalitions,
    /// row-major.
    pub(crate) fn odd_cross(&self, left: &Signs, right: &Signs) -> Vec<f64> {
        let mut near = self.cross(left, right);
        let farthest = self.farthest();
        near.iter_mut().for_each(|near| *near = Parity::Odd.covariance(*near, farthest / *near));
        near
    }

    /// Returns the variance of the odd part.
    pub(crate) fn odd_variance(&self) -> f64 {
        Parity::Odd.covariance(1.0, self.farthest())
    }

    /// Returns the covariance of the values of two complementary coalitions. Divided by the covariance of two
    /// coalitions, it is the covariance of one of them with the complement of the other.
    fn farthest(&self) -> f64 {
        (-self.lengths.iter().sum::<f64>()).exp()
    }

    /// Returns the covariances of the `value` of each player with the values of the coalitions, players ×
    /// rows. Returns `None` for semivalues without a mixing measure.
    pub(crate) fn with_values(&self, rows: &Signs, value: &Semivalue) -> Option<Vec<f64>> {
        let (n, m) = (rows.players, rows.rows);
        let rule = value.rule(n.saturating_sub(1))?;
        let factors: Vec<f64> = self.lengths.iter().map(|length| (-length).exp()).collect();
        let mut out = vec![0.0; n * m];
        let (mut others, mut before) = (vec![0.0; n], vec![0.0; n]);
        for row in 0..m {
            Cancellation::check();
            let signs = rows.row(row);
            others.fill(0.0);
            for (present, absent, weight) in nodes(&rule) {
                let factor = |player: usize| match signs[player] > 0.0 {
                    true => present + absent * factors[player],
                    false => present * factors[player] + absent,
                };
                add_products_of_others(weight, factor, &mut before, &mut others);
            }
            for (player, others) in others.iter().enumerate() {
                out[player * m + row] = signs[player] * -(-self.lengths[player]).exp_m1() * others;
            }
        }
        Some(out)
    }

    /// Returns the covariances of the value of each player in groups with the values of the coalitions,
    /// players × rows. Returns `None` for quotient values, and for semivalues without a mixing measure.
    ///
    /// A group h is present or absent as a whole, with the factors H_h and L_h, the products of the factors
    /// of its members. For a player i of group j, with the mixing measures μ between and ν within groups:
    ///
    /// ```text
    /// Cov(g_i, v(S)) = x_i (1 − e_i) O_j I_i (coalitional)
    /// Cov(g_i, v(S)) = x_i (1 − e_i) A_j I_i + (H_j − L_j) (O_j − A_j) / |S_j| (two-step)
    /// O_j = ∫ Π_{h ≠ j} (t H_h + (1 − t) L_h) dμ(t),    A_j = Π_{h ≠ j} L_h
    /// I_i = ∫ Π_{k ∈ S_j∖i} u_k(t) dν(t)
    /// ```
    pub(crate) fn with_values_in_groups(
        &self,
        rows: &Signs,
        value: &SolutionConcept,
        groups: &Partition,
    ) -> Option<Vec<f64>> {
        let (n, m, count) = (rows.players, rows.rows, groups.len());
        let (between, within, is_two_step) = match value {
            SolutionConcept::Coalitional(value) => (&value.between, &value.within, false),
            SolutionConcept::TwoStepShapley => (&Semivalue::Shapley, &Semivalue::Shapley, true),
            _ => return None,
        };
        let outer = between.rule(count.saturating_sub(1))?;
        let inner = within.rule(groups.largest().saturating_sub(1))?;
        let factors: Vec<f64> = self.lengths.iter().map(|length| (-length).exp()).collect();
        let mut out = vec![0.0; n * m];
        let (mut of_groups, mut alone) = (vec![0.0; count], vec![0.0; count]);
        let (mut before, mut of_members) = (vec![0.0; n.max(count)], vec![0.0; groups.largest()]);
        for row in 0..m {
            Cancellation::check();
            let signs = rows.row(row);
            // The factors of a player that is present or absent.
            let present = |player: usize| if signs[player] > 0.0 { 1.0 } else { factors[player] };
            let absent = |player: usize| if signs[player] > 0.0 { factors[player] } else { 1.0 };
            let product = |group: usize, factor: &dyn Fn(usize) -> f64| -> f64 {
                groups.group(group).iter().map(|&player| factor(player)).product()
            };
            let high: Vec<f64> = (0..count).map(|group| product(group, &present)).collect();
            let low: Vec<f64> = (0..count).map(|group| product(group, &absent)).collect();
            of_groups.fill(0.0);
            for (t, rest, weight) in nodes(&outer) {
                let factor = |group: usize| t * high[group] + rest * low[group];
                add_products_of_others(weight, factor, &mut before[..count], &mut of_groups);
            }
            alone.fill(0.0);
            add_products_of_others(1.0, |group| low[group], &mut before[..count], &mut alone);
            for (group, members) in groups.groups().iter().enumerate() {
                let of_members = &mut of_members[..members.len()];
                of_members.fill(0.0);
                for (t, rest, weight) in nodes(&inner) {
                    let factor =
                        |member: usize| t * present(members[member]) + rest * absent(members[member]);
                    add_products_of_others(weight, factor, &mut before[..members.len()], of_members);
                }
                let (others, shared) = match is_two_step {
                    true => (alone[group], (high[group] - low[group]) * (of_groups[group] - alone[group])),
                    false => (of_groups[group], 0.0),
                };
                for (&player, of_member) in members.iter().zip(of_members.iter()) {
                    let own = signs[player] * -(-self.lengths[player]).exp_m1();
                    out[player * m + row] = own * others * of_member + shared / members.len() as f64;
                }
            }
        }
        Some(out)
    }
}

/// Returns the presence, the absence and the weight of each node of a rule.
fn nodes(rule: &Rule) -> impl Iterator<Item = (f64, f64, f64)> {
    let ends = rule.presence().iter().zip(rule.absence());
    ends.zip(rule.weights()).map(|((present, absent), weight)| (*present, *absent, *weight))
}

/// Adds to each of `sums` the product of `weight` and the factors of all others. `before` is overwritten.
fn add_products_of_others(weight: f64, factor: impl Fn(usize) -> f64, before: &mut [f64], sums: &mut [f64]) {
    // Multiply the products of all factors before and after each of them.
    let mut product = weight;
    for (at, before) in before.iter_mut().enumerate() {
        *before = product;
        product *= factor(at);
    }
    let mut after = 1.0;
    for at in (0..sums.len()).rev() {
        sums[at] += before[at] * after;
        after *= factor(at);
    }
}

/// Returns the free columns of the linear model, row-major: an intercept and the signs.
pub(crate) fn linear_columns(signs: &Signs) -> Vec<f64> {
    (0..signs.rows).flat_map(|row| std::iter::once(1.0).chain(signs.row(row).iter().copied())).collect()
}

/// The part of a game that products of an odd or an even number of players form, or both.
#[derive(Debug, Clone, Copy)]
enum Parity {
    Both,
    Odd,
    Even,
}

impl Parity {
    /// Returns the factor of the covariance with the complement.
    fn sign(self) -> f64 {
        match self {
            Self::Both => 0.0,
            Self::Odd => -1.0,
            Self::Even => 1.0,
        }
    }

    /// Returns the covariance of the part for two coalitions. `near` is the covariance of their values, and
    /// `far` that of one value with the value of the complement of the other coalition.
    fn covariance(self, near: f64, far: f64) -> f64 {
        match self {
            Self::Both => near,
            Self::Odd => 0.5 * (near - far),
            Self::Even => 0.5 * (near + far),
        }
    }
}

/// A part of a game, from which relevances are learned.
struct Part<'a> {
    parity: Parity,
    /// The columns of the free model, rows × columns.
    columns: &'a [f64],
    /// The values of the coalitions, rows × outputs.
    targets: &'a [f64],
}

/// Returns the negative logarithm of the posterior of the parameters (`ln ℓ_i`, and `ln ν` for each part),
/// and its gradient.
fn negative_ln_posterior(
    signs: &Signs,
    parts: &[Part<'_>],
    outputs: usize,
    point: &[f64],
    centre: f64,
) -> (f64, Vec<f64>) {
    let (n, m) = (signs.players, signs.rows);
    let process = WalshProcess::new(point[..n].iter().map(|length| length.exp()).collect());
    let (near, farthest) = (process.cross(signs, signs), process.farthest());
    let mut value = 0.0;
    let mut gradient = vec![0.0; point.len()];
    // The derivative of a covariance with respect to ln ℓ_i is −ℓ_i times the covariance if player i
    // distinguishes the two coalitions, otherwise 0. The factor is −ℓ_i (1 − x_i x'_i)/2, and for the
    // complement of one of them −ℓ_i (1 + x_i x'_i)/2.
    let (mut total, mut weights) = (0.0, vec![0.0; m * m]);
    for (at, part) in parts.iter().enumerate() {
        let noise = point[n + at].exp();
        let far = |near: f64| farthest / near;
        let mut covariance: Vec<f64> =
            near.iter().map(|&near| part.parity.covariance(near, far(near))).collect();
        covariance.iter_mut().step_by(m + 1).for_each(|entry| *entry += noise);
        let Some(kriging) = Kriging::new(&covariance, part.columns, m) else {
            return (f64::INFINITY, vec![0.0; point.len()]);
        };
        let likelihood = kriging.restricted_likelihood(part.targets, outputs);
        value += likelihood.negative_ln;
        gradient[n + at] = noise * likelihood.derivative.iter().step_by(m + 1).sum::<f64>();
        let share = part.parity.covariance(1.0, 0.0);
        for ((weight, derivative), &near) in weights.iter_mut().zip(&likelihood.derivative).zip(&near) {
            let (near, far) =
                (share * derivative * near, part.parity.sign() * share * derivative * far(near));
            total += near + far;
            *weight += near - far;
        }
    }
    let mut products = vec![0.0; m * n];
    add_cross_products(&weights, &signs.entries, (m, n), &mut products);
    for player in 0..n {
        let agreement: f64 = (0..m).map(|row| signs.row(row)[player] * products[row * n + player]).sum();
        gradient[player] = -0.5 * process.lengths[player] * (total - agreement);
    }
    let mean = point[..n].iter().sum::<f64>() / n as f64;
    value += 0.5 * (mean - centre).powi(2) / SPREAD;
    for (gradient, at) in gradient.iter_mut().zip(&point[..n]) {
        value += 0.5 * (at - mean).powi(2) / SPREAD;
        *gradient += (at - mean) / SPREAD + (mean - centre) / SPREAD / n as f64;
    }
    (value, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Coalitions, Game, SumOfUnanimity, TabulatedGame};
    use apportion_values::{CoalitionalValue, Value, enumerate};

    fn all_signs(players: usize) -> Signs {
        Signs::new(players, Coalitions::from_masks(players, 0..1 << players).iter())
    }

    fn lengths(players: usize) -> Vec<f64> {
        (0..players).map(|player| 0.02 + 0.3 * player as f64).collect()
    }

    #[test]
    fn covariances_are_those_of_products_with_relevances() {
        for players in [1, 2, 3, 6] {
            let process = WalshProcess::new(lengths(players));
            let signs = all_signs(players);
            let relevances: Vec<f64> = process.lengths.iter().map(|length| (0.5 * length).tanh()).collect();
            let scale: f64 = relevances.iter().map(|rho| 1.0 + rho).product();
            let found = process.cross(&signs, &signs.some(&[0, 1, (1 << players) - 1]));
            for (at, found) in found.iter().enumerate() {
                let (left, right) = (signs.row(at / 3), [0, 1, (1 << players) - 1][at % 3]);
                let right = signs.row(right);
                let products: f64 = (0..players).map(|i| 1.0 + relevances[i] * left[i] * right[i]).product();
                assert!((found - products / scale).abs() < 1e-14, "{players}: {found}");
            }
        }
    }

    #[test]
    fn covariances_of_values_are_the_values_of_covariances() {
        let values = [
            Semivalue::Shapley,
            Semivalue::Banzhaf,
            Semivalue::weighted_banzhaf(0.3).unwrap(),
            Semivalue::beta_shapley(4.0, 1.0).unwrap(),
            Semivalue::beta_shapley(1.0, 4.0).unwrap(),
            Semivalue::mixture(&[0.0, 0.2, 1.0], &[0.2, 0.5, 0.3]).unwrap(),
        ];
        for players in [1, 2, 5, 8] {
            let process = WalshProcess::new(lengths(players));
            let all = all_signs(players);
            let rows = all.some(&[0, 1, (1 << players) - 1]);
            for value in &values {
                let found = process.with_values(&rows, value).unwrap();
                for row in 0..rows.rows {
                    let table = process.cross(&all, &rows.some(&[row]));
                    let game = TabulatedGame::new(table, 1).unwrap();
                    let expected = enumerate(&game, value.clone()).unwrap().values;
                    for (player, expected) in expected.iter().enumerate() {
                        let found = found[player * rows.rows + row];
                        assert!((found - expected).abs() < 1e-13, "{value:?} {players}: {found} {expected}");
                    }
                }
            }
        }
        let by_size = Semivalue::from_size_distribution(&[0.5, 0.5]).unwrap();
        assert!(WalshProcess::new(vec![1.0; 2]).with_values(&all_signs(2), &by_size).is_none());
    }

    #[test]
    fn covariances_of_values_in_groups_are_the_values_of_covariances() {
        let weighted = CoalitionalValue {
            between: Semivalue::weighted_banzhaf(0.3).unwrap(),
            within: Semivalue::Shapley,
        };
        let values: [SolutionConcept; 5] = [
            CoalitionalValue::owen().into(),
            CoalitionalValue::banzhaf_owen().into(),
            CoalitionalValue::symmetric_coalitional_banzhaf().into(),
            weighted.into(),
            SolutionConcept::TwoStepShapley,
        ];
        let partitions = [
            vec![vec![0]],
            vec![vec![0, 1, 2]],
            vec![vec![1], vec![0]],
            vec![vec![0, 3], vec![1], vec![2, 4, 5]],
            vec![vec![6, 1], vec![3, 0, 5], vec![2, 4]],
        ];
        for groups in partitions {
            let players = groups.iter().map(Vec::len).sum();
            let partition = Partition::new(players, groups).unwrap();
            let process = WalshProcess::new(lengths(players));
            let all = all_signs(players);
            let rows = all.some(&[0, 1, (1 << players) - 1]);
            for concept in &values {
                let found = process.with_values_in_groups(&rows, concept, &partition).unwrap();
                let value = Value::from_concept(concept.clone(), Some(partition.clone()), None).unwrap();
                for row in 0..rows.rows {
                    let table = process.cross(&all, &rows.some(&[row]));
                    let game = TabulatedGame::new(table, 1).unwrap();
                    let expected = value.enumerate(&game).unwrap().values;
                    for (player, expected) in expected.iter().enumerate() {
                        let found = found[player * rows.rows + row];
                        assert!((found - expected).abs() < 1e-13, "{value:?}: {found} {expected}");
                    }
                }
            }
            let quotient = SolutionConcept::Quotient(Semivalue::Shapley);
            assert!(process.with_values_in_groups(&rows, &quotient, &partition).is_none());
        }
    }

    #[test]
    fn the_odd_part_is_half_the_difference_from_the_complement() {
        for players in [1, 2, 3, 6] {
            let process = WalshProcess::new(lengths(players));
            let signs = all_signs(players);
            let all = process.cross(&signs, &signs);
            let odd = process.odd_cross(&signs, &signs);
            let size = 1 << players;
            for (at, odd) in odd.iter().enumerate() {
                let (row, column) = (at / size, at % size);
                let expected = 0.5 * (all[at] - all[row * size + (size - 1 - column)]);
                assert!((odd - expected).abs() < 1e-14, "{players}: {odd} {expected}");
            }
            assert!((process.odd_variance() - odd[0]).abs() < 1e-14);
        }
    }

    /// Returns scattered values for the coalitions, rows × 2 outputs.
    fn targets(signs: &Signs) -> Vec<f64> {
        (0..2 * signs.rows).map(|at| ((at * at * 7) % 23) as f64).collect()
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let players = 6;
        let signs = all_signs(players).some(&(0..64).step_by(3).collect::<Vec<_>>());
        let (targets, columns, ones) = (targets(&signs), linear_columns(&signs), vec![1.0; signs.rows]);
        let part = |parity, columns| Part { parity, columns, targets: &targets };
        let of_pairs = [part(Parity::Odd, &signs.entries[..]), part(Parity::Even, &ones)];
        for parts in [&[part(Parity::Both, &columns[..])][..], &of_pairs[..1], &of_pairs[..]] {
            let count = players + parts.len();
            let point: Vec<f64> = (0..count).map(|at| -1.0 - 0.3 * at as f64).collect();
            let of = |point: &[f64]| negative_ln_posterior(&signs, parts, 2, point, -1.2);
            let (_, gradient) = of(&point);
            for at in 0..count {
                let moved = |step: f64| {
                    let mut moved = point.clone();
                    moved[at] += step;
                    of(&moved).0
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let difference = (gradient[at] - slope).abs();
                assert!(difference < 1e-5 * (1.0 + slope.abs()), "{at}: {slope} {gradient:?}");
            }
        }
    }

    #[test]
    fn likelihoods_of_both_parts_add_up_to_that_of_all_coalitions() {
        // With equal variances, the odd and the even part are independent: the likelihood of the values of
        // pairs is the product of the likelihoods of both parts.
        let players = 5;
        let process = WalshProcess::new(lengths(players));
        let signs = all_signs(players);
        let half = signs.some(&(0..16).collect::<Vec<_>>());
        let quadratic = |covariance: &[f64], rows: usize, targets: &[f64]| {
            let mut covariance = covariance.to_vec();
            covariance.iter_mut().step_by(rows + 1).for_each(|entry| *entry += 1e-3);
            let applied = Kriging::new(&covariance, &[], rows).unwrap();
            let functionals =
                apportion_solvers::Functionals { count: 1, of_columns: &[], covariances: targets };
            applied.estimate(&functionals, targets, 1).values[0]
        };
        let values: Vec<f64> = targets(&signs)[..32].to_vec();
        let part = |sign: f64| -> Vec<f64> {
            (0..16).map(|row| (values[row] + sign * values[31 - row]) * 0.5f64.sqrt()).collect()
        };
        let parted = |parity: Parity, targets: &[f64]| {
            let near = process.cross(&half, &half);
            let covariance: Vec<f64> =
                near.iter().map(|&near| 2.0 * parity.covariance(near, process.farthest() / near)).collect();
            quadratic(&covariance, 16, targets)
        };
        let whole = quadratic(&process.cross(&signs, &signs), 32, &values);
        let sum = parted(Parity::Odd, &part(-1.0)) + parted(Parity::Even, &part(1.0));
        assert!((whole - sum).abs() < 1e-9 * whole, "{whole} {sum}");
    }

    #[test]
    fn relevances_are_learned_from_pairs() {
        // Only the first three of eight players interact.
        let terms = [(vec![0, 1, 2], 3.0), (vec![0, 1], 1.0), (vec![5], 2.0)];
        let game = SumOfUnanimity::new(8, 0.0, terms).unwrap();
        let masks: Vec<u64> = (0..128).step_by(3).collect();
        let of = |masks: Vec<u64>| {
            let coalitions = Coalitions::from_masks(8, masks);
            let mut values = vec![0.0; coalitions.len()];
            game.values(&coalitions, &mut values).unwrap();
            values
        };
        let (own, other) = (of(masks.clone()), of(masks.iter().map(|mask| 255 - mask).collect()));
        let half = |sign: f64| -> Vec<f64> {
            own.iter().zip(&other).map(|(own, other)| 0.5 * (own + sign * other)).collect()
        };
        let signs = Signs::new(8, Coalitions::from_masks(8, masks).iter());
        let (odd, even) = (half(-1.0), half(1.0));
        for even in [None, Some(&even[..])] {
            let process = WalshProcess::learn_from_pairs(&signs, &odd, even, 1);
            let least = process.lengths[..3].iter().copied().fold(f64::INFINITY, f64::min);
            let most = process.lengths[3..].iter().copied().fold(0.0, f64::max);
            assert!(least > 2.0 * most, "{process:?}");
        }
    }

    #[test]
    fn players_without_interactions_have_small_relevances() {
        // Only the first three of eight players interact.
        let terms = [(vec![0, 1, 2], 3.0), (vec![0, 1], 1.0), (vec![5], 2.0)];
        let game = SumOfUnanimity::new(8, 0.0, terms).unwrap();
        let masks: Vec<u64> = (0..256).step_by(3).collect();
        let coalitions = Coalitions::from_masks(8, masks);
        let mut targets = vec![0.0; coalitions.len()];
        game.values(&coalitions, &mut targets).unwrap();
        let (process, _) = WalshProcess::learn(&Signs::new(8, coalitions.iter()), &targets, 1);
        let least = process.lengths[..3].iter().copied().fold(f64::INFINITY, f64::min);
        let most = process.lengths[3..].iter().copied().fold(0.0, f64::max);
        assert!(least > 3.0 * most, "{process:?}");
    }
}
