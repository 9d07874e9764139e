//! The data of experiment 2a of the group-explainer paper (Kotsiopoulos et al. 2023): six features in the
//! groups {1,2}, {3}, {4,5,6}.

#![allow(clippy::unwrap_used)]

use std::f64::consts::PI;

use apportion_games::{Partition, Purpose, stream};
use rand_distr::{Beta, Distribution, Gamma, Normal, Uniform};

/// Number of features.
pub(crate) const FEATURES: usize = 6;

/// Draws `rows` rows from the distribution, row-major.
pub(crate) fn draw(rows: usize, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let (normal, beta) = (Normal::new(5.0, 1.0).unwrap(), Beta::new(2.0, 5.0).unwrap());
    let uniform = Uniform::new(-1.0, 1.0).unwrap();
    let (small, smaller) = (Normal::new(0.0, 0.1).unwrap(), Normal::new(0.0, 0.05).unwrap());
    let mut values = Vec::with_capacity(rows * FEATURES);
    for _ in 0..rows {
        let x1: f64 = normal.sample(&mut rng);
        let x2: f64 = Gamma::new(3.0, x1.abs()).unwrap().sample(&mut rng);
        let x3: f64 = beta.sample(&mut rng);
        let x4: f64 = uniform.sample(&mut rng);
        let x5 = x4.exp() + small.sample(&mut rng);
        let x6 = x4 * x4 * (PI * x4).sin() + smaller.sample(&mut rng);
        values.extend([x1, x2, x3, x4, x5, x6]);
    }
    values
}

/// Returns the groups of the paper, with features numbered from 0.
pub(crate) fn groups() -> Partition {
    Partition::new(FEATURES, vec![vec![0, 1], vec![2], vec![3, 4, 5]]).unwrap()
}
