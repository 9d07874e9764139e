//! A user's own weights for each size of coalition.

use std::sync::Arc;

use crate::error::{ValueError, WeightsProblem};
use crate::logarithms::ln_factorial;

/// How far a sum of weights may be from 1.
pub(crate) const SUM_TOLERANCE: f64 = 1e-9;

/// Weights by size for one number of players n, kept as the law P(s) of the size of the coalition that the player joins.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeWeights {
    law: Arc<[f64]>,
}

impl SizeWeights {
    /// From the weight of each single coalition.
    pub(crate) fn of_coalitions(weights: &[f64]) -> Result<Self, ValueError> {
        check_weights(weights)?;
        let others = weights.len() - 1;
        let ln_choose = |size: usize| ln_factorial(others) - ln_factorial(size) - ln_factorial(others - size);
        let choose = |size: usize| {
            // The product is exact as long as the coefficient is; logarithms serve where it overflows.
            let few = size.min(others - size);
            let product = (1..=few).fold(1.0, |choose, k| choose * (others - few + k) as f64 / k as f64);
            if product.is_finite() { Ok(product) } else { Err(ln_choose(size)) }
        };
        let law = weights.iter().enumerate().map(|(size, &weight)| match choose(size) {
            Ok(choose) => choose * weight,
            Err(ln_choose) => (ln_choose + weight.ln()).exp(),
        });
        Self::checked(law.collect())
    }

    /// From the probability of each size.
    pub(crate) fn of_sizes(law: &[f64]) -> Result<Self, ValueError> {
        check_weights(law)?;
        Self::checked(law.into())
    }

    fn checked(law: Arc<[f64]>) -> Result<Self, ValueError> {
        let sum: f64 = law.iter().sum();
        if (sum - 1.0).abs() <= SUM_TOLERANCE {
            Ok(Self { law })
        } else {
            Err(ValueError::Weights { problem: WeightsProblem::Sum { sum } })
        }
    }

    /// The number of players n that the weights are for.
    pub fn players(&self) -> usize {
        self.law.len()
    }

    /// P(s): the probability of each size `0..n`.
    pub fn law(&self) -> &[f64] {
        &self.law
    }

    /// Given that the coalition has s of the n − 1 others, the probability that it holds `a` given ones and lacks `b` given others is
    /// `C(n−1−a−b, s−a) / C(n−1, s) = Π_{k<a} (s − k)/(n − 1 − k) · Π_{k<b} (n − 1 − s − k)/(n − 1 − a − k)`.
    pub(crate) fn moment(&self, a: usize, b: usize) -> f64 {
        let others = self.players() - 1;
        assert!(a + b <= others, "a moment of {} others, weights for {others}", a + b);
        let given_size = |size: usize| -> f64 {
            let present = (0..a).map(|k| (size - k) as f64 / (others - k) as f64);
            let absent = (0..b).map(|k| (others - size - k) as f64 / (others - a - k) as f64);
            present.chain(absent).product()
        };
        (a..=others - b).map(|size| self.law[size] * given_size(size)).sum()
    }

    /// The weights for `players` of the n, the others being null players. One player less: each size s came from s or s + 1.
    pub(crate) fn for_players(&self, players: usize) -> Self {
        assert!(
            (1..=self.players()).contains(&players),
            "weights for {} players of {players}",
            self.players()
        );
        let mut law = self.law.to_vec();
        while law.len() > players {
            let others = (law.len() - 1) as f64;
            for size in 0..law.len() - 1 {
                law[size] =
                    law[size] * (others - size as f64) / others + law[size + 1] * (size + 1) as f64 / others;
            }
            law.pop();
        }
        Self { law: law.into() }
    }
}

fn check_weights(weights: &[f64]) -> Result<(), ValueError> {
    let problem = if weights.is_empty() {
        WeightsProblem::None
    } else {
        match weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
            Some(size) => WeightsProblem::Weight { size, weight: weights[size] },
            None => return Ok(()),
        }
    };
    Err(ValueError::Weights { problem })
}
