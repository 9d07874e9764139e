//! All coalitions with Shapley kernel weights: the regression is the Shapley value itself (Leverage SHAP, Lemma 2.1).

use apportion_games::Coalitions;
use apportion_solvers::{Constraint, Design, Factorization, Kernel, Options, least_squares_with};

use crate::twin::words;

fn choose(n: usize, size: usize) -> f64 {
    (0..size).fold(1.0, |choose, k| choose * (n - k) as f64 / (k + 1) as f64)
}

fn kernel_weight(n: usize, size: usize) -> f64 {
    1.0 / (choose(n, size) * (size * (n - size)) as f64)
}

/// `φ_i = (1/n) Σ_S [v(S ∪ i) − v(S)] / C(n − 1, s)`
fn definition(n: usize, values: &[f64]) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let term = |mask: usize| {
                let gain = values[mask | 1 << i] - values[mask];
                gain / (n as f64 * choose(n - 1, mask.count_ones() as usize))
            };
            (0..1_usize << n).filter(|mask| mask >> i & 1 == 0).map(term).sum()
        })
        .collect()
}

/// Values of a random game: multiples of 1/1024 up to 1 in size, so that an offset of 2³⁰ costs no digits.
fn random_game(n: usize, offset: f64) -> Vec<f64> {
    let mut word = words(n as u64);
    (0..1 << n).map(|_| offset + (word() % 2048) as f64 / 1024.0 - 1.0).collect()
}

fn check(n: usize, offset: f64, kernel: Kernel, tolerance: f64) {
    let values = random_game(n, offset);
    let want = definition(n, &values);
    let scale = want.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    let full = (1_u64 << n) - 1;
    let sum = [values[full as usize] - values[0]];
    let solve = |masks: Vec<u64>, paired: bool| {
        let coalitions = Coalitions::from_masks(n, masks.iter().copied());
        let weight = |mask: &u64| kernel_weight(n, mask.count_ones() as usize);
        let weights: Vec<f64> = masks.iter().step_by(1 + usize::from(paired)).map(weight).collect();
        let design = if paired {
            Design::paired(&coalitions, &weights).unwrap()
        } else {
            Design::new(&coalitions, &weights).unwrap()
        };
        // Not v(S) − v(∅): the offset must not matter.
        let targets: Vec<f64> = masks.iter().map(|&mask| values[mask as usize]).collect();
        let fit =
            least_squares_with(&design, &targets, 1, Constraint::Sum(&sum), &Options { kernel }).unwrap();
        assert_eq!((fit.rank(), fit.factorization()), (n - 1, Factorization::Cholesky));
        // Lemma 3.3: the Gram matrix is a multiple of P.
        assert!((fit.condition_number() - 1.0).abs() < 1e-12);
        for (i, (got, want)) in fit.coefficients().iter().zip(&want).enumerate() {
            assert!(
                (got - want).abs() < tolerance * scale,
                "{n} players, offset {offset}, {kernel:?}, paired {paired}, player {i}: {got} instead of {want}"
            );
        }
    };
    solve((1..full).collect(), false);
    solve((1..=full / 2).flat_map(|mask| [mask, full ^ mask]).collect(), true);
}

#[test]
fn full_enumeration_gives_shapley_values_to_twelve_digits() {
    for n in 2..=12 {
        for kernel in [Kernel::Popcount, Kernel::Panels] {
            check(n, 0.0, kernel, 1e-12);
        }
    }
}

#[test]
fn a_large_common_offset_of_all_targets_costs_nothing() {
    for n in 2..=12 {
        for kernel in [Kernel::Popcount, Kernel::Panels] {
            check(n, f64::from(1 << 30), kernel, 1e-12);
        }
    }
}

#[test]
fn the_leverage_score_of_a_coalition_is_one_over_the_number_of_its_size() {
    let n = 9;
    let coalitions = Coalitions::from_masks(n, 1..(1 << n) - 1);
    let weights: Vec<f64> = coalitions.sizes().iter().map(|&size| kernel_weight(n, size as usize)).collect();
    let targets = vec![1.0; weights.len()];
    let design = Design::new(&coalitions, &weights).unwrap();
    let options = Options::default();
    let fit = least_squares_with(&design, &targets, 1, Constraint::Sum(&[0.0]), &options).unwrap();
    for (hat, &size) in fit.hat_values().iter().zip(coalitions.sizes()) {
        let size = size as usize;
        let want = 1.0 / choose(n, size);
        assert!((hat - want).abs() < 1e-13, "size {size}: {hat} instead of {want}");
    }
}
