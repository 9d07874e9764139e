//! Distributions of a few binary features and a binary label, small enough for exact computation.
//!
//! # Notation
//!
//! `P(x, y)` is the joint distribution of the features x in {−1, 1}^d and the label y in {−1, 1}. Sets of
//! features and their values are bit masks: bit j of x is set if `x_j = 1`.

use apportion::games::{Purpose, stream};
use rand_distr::{Distribution, StandardNormal};

/// Number of features.
pub(super) const FEATURES: usize = 7;

/// Number of sets of features, each represented by a mask.
pub(super) const MASKS: usize = 1 << FEATURES;

/// Strength of the couplings inside the block.
const STRENGTH: f64 = 0.7;

/// A joint distribution of features and label, stored as all its marginal distributions.
pub(super) struct JointDistribution {
    /// The feature in the middle of the block.
    pub(super) middle: usize,
    /// `P(x_S, y)` for each set S, each x (of which only x_S matters), and each label y.
    marginals: Vec<[f64; 2]>,
}

impl JointDistribution {
    /// Creates distribution number `run`. Up to a constant, `ln P(x, y)` is
    ///
    /// ```text
    /// 0.7 Σ_j [ a_j x_j x_{j+1} + y b_j x_j x_{j+1} + y h_j x_j ]
    /// ```
    ///
    /// with normal a, b and h. The coefficients within the block, which consists of three consecutive
    /// features, are used as drawn; all others are multiplied by `memory`. Without memory, the label depends
    /// on the block only, and the other features are fair coins.
    pub(super) fn new(run: usize, seed: u64, memory: f64) -> Self {
        let middle = 1 + run % (FEATURES - 2);
        let mut rng = stream(seed, Purpose::Experiment, run as u64);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let is_inside = |feature: usize| feature.abs_diff(middle) <= 1;
        let scale = |is_inside: bool| STRENGTH * if is_inside { 1.0 } else { memory };
        let of_pairs: Vec<[f64; 2]> = (0..FEATURES - 1)
            .map(|one| [normal(), normal()].map(|drawn| scale(is_inside(one) && is_inside(one + 1)) * drawn))
            .collect();
        let alone: Vec<f64> = (0..FEATURES).map(|one| scale(is_inside(one)) * normal()).collect();
        let log_density = |x: usize, label: f64| -> f64 {
            let sign = |feature: usize| if x >> feature & 1 == 1 { 1.0 } else { -1.0 };
            let pairs = of_pairs.iter().enumerate();
            pairs.map(|(one, [a, b])| (a + label * b) * sign(one) * sign(one + 1)).sum::<f64>()
                + alone.iter().enumerate().map(|(one, h)| label * h * sign(one)).sum::<f64>()
        };
        let mut joint: Vec<[f64; 2]> =
            (0..MASKS).map(|x| [-1.0, 1.0].map(|label| log_density(x, label).exp())).collect();
        let total: f64 = joint.iter().flatten().sum();
        joint.iter_mut().flatten().for_each(|density| *density /= total);
        let mut marginals = vec![[0.0; 2]; MASKS * MASKS];
        for set in 0..MASKS {
            for (x, density) in joint.iter().enumerate() {
                let sum = &mut marginals[set * MASKS + (x & set)];
                *sum = [sum[0] + density[0], sum[1] + density[1]];
            }
        }
        Self { middle, marginals }
    }

    /// Returns `P(x_S, y)`, by label.
    fn probabilities(&self, set: usize, x: usize) -> [f64; 2] {
        self.marginals[set * MASKS + (x & set)]
    }

    /// Returns `P(x)`.
    pub(super) fn probability(&self, x: usize) -> f64 {
        self.probabilities(MASKS - 1, x).iter().sum()
    }

    /// Returns `v_x(S) = Σ_y P(y | x) ln P(y | x_S)` for all S (section 2.1).
    pub(super) fn game(&self, x: usize) -> Vec<f64> {
        let shares = |set: usize| {
            let [no, yes] = self.probabilities(set, x);
            [no / (no + yes), yes / (no + yes)]
        };
        let whole = shares(MASKS - 1);
        (0..MASKS).map(|set| (0..2).map(|label| whole[label] * shares(set)[label].ln()).sum()).collect()
    }

    /// Returns the absolute mutual information of a feature and the features V (`far`), given the features U
    /// (`given`), and given the label if `with_label` (section 4.1):
    ///
    /// ```text
    /// I_a(X_i; X_V | X_U) = E | ln [ P(x_i, x_V | x_U) / (P(x_i | x_U) P(x_V | x_U)) ] |
    /// ```
    pub(super) fn dependence(&self, one: usize, far: usize, given: usize, with_label: bool) -> f64 {
        let one = 1 << one;
        let sets = [one | far | given, given, one | given, far | given];
        let mut mean = 0.0;
        for x in 0..MASKS {
            let density = self.probabilities(MASKS - 1, x);
            let ratio = |of: &dyn Fn(usize) -> f64| {
                let [all, given, of_one, of_far] = sets.map(of);
                (all * given / (of_one * of_far)).ln().abs()
            };
            mean += if with_label {
                (0..2)
                    .map(|label| density[label] * ratio(&|set| self.probabilities(set, x)[label]))
                    .sum::<f64>()
            } else {
                density.iter().sum::<f64>() * ratio(&|set| self.probabilities(set, x).iter().sum())
            };
        }
        mean
    }

    /// Returns the maximum dependence between a feature and any subset of `far`, given the features `given`,
    /// with or without the label.
    pub(super) fn most(&self, one: usize, far: usize, given: usize) -> f64 {
        let values = subsets(far).filter(|&far| far != 0);
        values
            .flat_map(|far| [false, true].map(|with_label| self.dependence(one, far, given, with_label)))
            .fold(0.0, f64::max)
    }
}

/// Returns all subsets of a set.
pub(super) fn subsets(of: usize) -> impl Iterator<Item = usize> {
    let mut next = Some(of);
    std::iter::from_fn(move || {
        let set = next?;
        next = set.checked_sub(1).map(|below| below & of);
        Some(set)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_are_all_there_once() {
        let mut found: Vec<usize> = subsets(0b10_1001).collect();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 8, 9, 32, 33, 40, 41]);
        assert_eq!(subsets(0).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn without_memory_the_block_is_independent_of_all_others() {
        let distribution = JointDistribution::new(3, 1, 0.0);
        assert!(((0..MASKS).map(|x| distribution.probability(x)).sum::<f64>() - 1.0).abs() < 1e-12);
        let block = 0b111 << (distribution.middle - 1);
        assert!(distribution.most(distribution.middle, (MASKS - 1) & !block, 0) < 1e-13);
        assert!(distribution.dependence(distribution.middle, 1 << (distribution.middle + 1), 0, true) > 0.1);
        // The marginal contributions of features without information are zero.
        let game = distribution.game(5);
        assert!((0..MASKS).all(|set| (game[set] - game[set & block]).abs() < 1e-13));
    }

    #[test]
    fn the_information_of_two_features_is_the_definition_written_out() {
        let distribution = JointDistribution::new(0, 2, 1.0);
        let of = |set: usize, x: usize| -> f64 {
            (0..MASKS).filter(|other| (other ^ x) & set == 0).map(|x| distribution.probability(x)).sum()
        };
        let mut expected = 0.0;
        for (a, b, c) in (0..8).map(|bits| (bits & 1, bits >> 1 & 1, bits >> 2)) {
            // Compute the dependence of features 0 and 4, given feature 2.
            let x = a | b << 4 | c << 2;
            let ratio = of(0b10101, x) * of(0b100, x) / (of(0b101, x) * of(0b10100, x));
            expected += of(0b10101, x) * ratio.ln().abs();
        }
        assert!((distribution.dependence(0, 1 << 4, 1 << 2, false) - expected).abs() < 1e-12);
    }
}
