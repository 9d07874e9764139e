//! The exact values, and the exact variance of the terms that the estimators average.
//!
//! # Method
//!
//! f = √6 / (1 + exp η) with η linear, so if entries of the explicand replace entries of a background row b,
//! the odds `exp η` are multiplied: `v_b(S) = √6 / (1 + exp η(b) · Π_{i ∈ S} r_i)`,
//! `r_i = exp(a_i (x_i − b_i))`. The value of one player requires one product and one division for each
//! subset. The computation visits all subsets, like an enumeration of coalition values; the tests compare the
//! two.

use apportion::Background;
use apportion::games::Partition;
use apportion::values::Semivalue;
use serde::{Deserialize, Serialize};

use super::experiment::Kind;
use super::logistic::{Logistic, SCALE};

/// The exact value for a background, and the variance of one draw of its estimator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Truth {
    /// The exact value.
    pub(super) value: f64,
    /// Variance σ² of one draw Δ from coalitions × background; the mean of K draws has variance σ²/K
    /// (Theorems 3.1 to 3.3).
    pub(super) variance: f64,
}

/// Means of Δ and Δ² over the coalitions, in the game of one background row.
#[derive(Debug, Clone, Copy)]
struct Moments {
    first: f64,
    second: f64,
}

/// Computes the value of `subject` (for quotient values, a group) in the marginal game of `explicand`.
pub(super) fn truth(
    model: &Logistic,
    partition: &Partition,
    kind: Kind,
    subject: usize,
    explicand: &[f64],
    background: &Background,
) -> Truth {
    let structure = Structure::new(partition, kind, subject);
    let mut scratch = Scratch::default();
    // Sum blocks of rows first, to avoid loss of precision with a million rows.
    let (mut first, mut second) = (0.0, 0.0);
    let rows = background.len();
    for start in (0..rows).step_by(BLOCK) {
        let mut sums = [0.0; 2];
        for row in start..rows.min(start + BLOCK) {
            let row = background.row(row);
            let ratios = model.slopes.iter().zip(explicand.iter().zip(row));
            scratch.ratios.clear();
            scratch.ratios.extend(ratios.map(|(slope, (x, b))| (slope * (x - b)).exp()));
            let moments = structure.moments(model.exponent(row).exp(), &mut scratch);
            sums[0] += moments.first;
            sums[1] += moments.second;
        }
        first += sums[0];
        second += sums[1];
    }
    let rows = rows as f64;
    let value = first / rows;
    Truth { value, variance: second / rows - value * value }
}

/// Number of rows in a block.
const BLOCK: usize = 1024;

/// The coalitions that the value of the subject averages over: unions of the other groups, joined with
/// members of the subject's group.
struct Structure {
    kind: Kind,
    /// The group of the subject, or the subject itself if there are no groups.
    group: Vec<usize>,
    /// The other groups.
    others: Vec<Vec<usize>>,
    subject: usize,
    /// The other members of the subject's group; for Shapley values, all other players.
    fellows: Vec<usize>,
    /// Weights of unions of the other groups.
    between: Weights,
    /// Weights of coalitions of `fellows`.
    within: Weights,
}

/// Shapley weights of all coalitions of some players, by mask.
struct Weights(Vec<f64>);

impl Weights {
    fn new(players: usize) -> Self {
        let by_size: Vec<f64> =
            (0..=players).map(|size| Semivalue::Shapley.coefficient(players + 1, size)).collect();
        Self((0..1usize << players).map(|mask| by_size[mask.count_ones() as usize]).collect())
    }
}

/// Reusable buffers for the products over subsets.
#[derive(Default)]
struct Scratch {
    ratios: Vec<f64>,
    products: Vec<f64>,
    unions: Vec<f64>,
}

impl Structure {
    fn new(partition: &Partition, kind: Kind, subject: usize) -> Self {
        let own = match kind {
            Kind::QuotientShapley => subject,
            _ => partition.group_of(subject),
        };
        let group = partition.group(own).to_vec();
        let others: Vec<Vec<usize>> = match kind {
            Kind::Shapley => Vec::new(),
            _ => (0..partition.len())
                .filter(|&other| other != own)
                .map(|other| partition.group(other).to_vec())
                .collect(),
        };
        let fellows: Vec<usize> = match kind {
            Kind::Shapley => (0..partition.players()).filter(|&player| player != subject).collect(),
            Kind::QuotientShapley => Vec::new(),
            Kind::Owen | Kind::TwoStep => group.iter().copied().filter(|&player| player != subject).collect(),
        };
        let (between, within) = (Weights::new(others.len()), Weights::new(fellows.len()));
        Self { kind, group, others, subject, fellows, between, within }
    }

    /// Returns the moments in the game of a background row with the odds `exp η`.
    fn moments(&self, odds: f64, scratch: &mut Scratch) -> Moments {
        let Scratch { ratios, products, unions } = scratch;
        let joint = |players: &[usize]| players.iter().map(|&player| ratios[player]).product::<f64>();
        subset_products(odds, self.others.iter().map(|other| joint(other)), unions);
        match self.kind {
            Kind::QuotientShapley => contributions(unions, &self.between, joint(&self.group)),
            Kind::Shapley | Kind::Owen => {
                let mut sums = Moments { first: 0.0, second: 0.0 };
                for (union, weight) in unions.iter().zip(&self.between.0) {
                    subset_products(*union, self.fellows.iter().map(|&fellow| ratios[fellow]), products);
                    let within = contributions(products, &self.within, ratios[self.subject]);
                    sums.first += weight * within.first;
                    sums.second += weight * within.second;
                }
                sums
            }
            Kind::TwoStep if self.fellows.is_empty() => {
                contributions(unions, &self.between, joint(&self.group))
            }
            Kind::TwoStep => {
                // Δ = Δ_i(T) + (Δ_j(A) − w) / s, where T and A are independent.
                subset_products(odds, self.fellows.iter().map(|&fellow| ratios[fellow]), products);
                let alone = contributions(products, &self.within, ratios[self.subject]);
                let group = contributions(unions, &self.between, joint(&self.group));
                let worth = SCALE / (1.0 + odds * joint(&self.group)) - SCALE / (1.0 + odds);
                let members = self.group.len() as f64;
                let share = (group.first - worth) / members;
                let share_squared =
                    (group.second - 2.0 * worth * group.first + worth * worth) / (members * members);
                Moments {
                    first: alone.first + share,
                    second: alone.second + 2.0 * alone.first * share + share_squared,
                }
            }
        }
    }
}

/// Computes `start · Π_{i ∈ T} r_i` for all subsets T, by mask.
fn subset_products(start: f64, ratios: impl Iterator<Item = f64>, products: &mut Vec<f64>) {
    products.clear();
    products.push(start);
    for ratio in ratios {
        let half = products.len();
        products.extend_from_within(..);
        products[half..].iter_mut().for_each(|product| *product *= ratio);
    }
}

/// Returns the moments of `√6 / (1 + o r) − √6 / (1 + o)` over the odds o of the coalitions, where r is the
/// ratio of the joining player or group.
fn contributions(odds: &[f64], weights: &Weights, ratio: f64) -> Moments {
    let mut sums = Moments { first: 0.0, second: 0.0 };
    for (odds, weight) in odds.iter().zip(&weights.0) {
        let delta = SCALE * odds * (1.0 - ratio) / ((1.0 + odds) * (1.0 + odds * ratio));
        sums.first += weight * delta;
        sums.second += weight * delta * delta;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::experiment::{ALL, Setting};
    use super::*;
    use apportion::games::Game;
    use apportion::{MarginalGame, Value};

    #[test]
    fn values_are_those_of_the_enumerated_marginal_game() {
        for experiment in &ALL {
            for &predictors in experiment.sizes.iter().filter(|&&predictors| predictors <= 10) {
                let setting = Setting::new(experiment, predictors, 5).unwrap();
                let few =
                    Background::rows(setting.background.as_rows().slice(0..7).values(), predictors).unwrap();
                let explicand = setting.background.row(60);
                let game = MarginalGame::new(&setting.model, explicand, &few).unwrap();
                for kind in Kind::ALL {
                    let groups = (kind != Kind::Shapley).then(|| setting.partition.clone());
                    let value = Value::from_concept(kind.concept(), groups, None).unwrap();
                    let expected = value.enumerate(&game).unwrap().values;
                    for (subject, expected) in expected.iter().enumerate() {
                        let got =
                            truth(&setting.model, &setting.partition, kind, subject, explicand, &few).value;
                        assert!(
                            (got - expected).abs() < 1e-12,
                            "{} {kind:?} {subject}: {got} {expected}",
                            experiment.name
                        );
                    }
                }
            }
        }
    }

    /// The test compares the variance with the definition of σ², a sum over background rows and coalitions.
    #[test]
    fn the_variance_is_that_of_a_draw() {
        let setting = Setting::new(&ALL[2], 6, 5).unwrap();
        let few = Background::rows(setting.background.as_rows().slice(0..3).values(), 6).unwrap();
        let explicand = setting.background.row(50);
        let game = MarginalGame::new(&setting.model, explicand, &few).unwrap();
        let value = |mask: u64, row: usize| {
            let mut out = [0.0];
            let batch = apportion::games::Coalitions::from_masks(6, [mask]);
            game.values_in_scenarios(&batch, &[row], &mut out).unwrap();
            out[0]
        };
        let weight = |players, size: u32| Semivalue::Shapley.coefficient(players, size as usize);
        // The subject X4 is in the group S3 = {4, 5, 6}; the other groups are S1 = {1, 2} and S2 = {3}.
        let (mut owen, mut two_step) = ([0.0; 2], [0.0; 2]);
        for row in 0..3 {
            for (others, union) in [(0, 0), (1, 0b11), (1, 0b100), (2, 0b111)] {
                for fellows in 0..4u64 {
                    let with = union | fellows << 4;
                    let weight = weight(3, others) * weight(3, fellows.count_ones()) / 3.0;
                    let delta = value(with | 1 << 3, row) - value(with, row);
                    owen[0] += weight * delta;
                    owen[1] += weight * delta * delta;
                    let alone = value(fellows << 4 | 1 << 3, row) - value(fellows << 4, row);
                    let group = value(union | 0b111000, row) - value(union, row);
                    let delta = alone + (group - value(0b111000, row) + value(0, row)) / 3.0;
                    two_step[0] += weight * delta;
                    two_step[1] += weight * delta * delta;
                }
            }
        }
        for (kind, [first, second]) in [(Kind::Owen, owen), (Kind::TwoStep, two_step)] {
            let truth = truth(&setting.model, &setting.partition, kind, 3, explicand, &few);
            assert!((truth.value - first).abs() < 1e-13);
            assert!((truth.variance - (second - first * first)).abs() < 1e-13, "{kind:?}");
        }
    }
}
