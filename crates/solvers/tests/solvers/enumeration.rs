//! Tests that regressions on all coalitions yield exact values. With Shapley kernel weights, these are
//! Shapley values (Leverage SHAP, Lemma 2.1). With equal weights and columns centred at ½, these are Banzhaf
//! values (Kernel Banzhaf, Theorem 3.2). With weights `p^s (1−p)^(n−s)` and columns centred at p, these are
//! weighted Banzhaf values.

use apportion_games::Coalitions;
use apportion_solvers::{Constraint, Design, Factorization, Kernel, Options, least_squares_with};

use crate::twin::{assert_close, largest, words};

fn choose(n: usize, size: usize) -> f64 {
    (0..size).fold(1.0, |choose, k| choose * (n - k) as f64 / (k + 1) as f64)
}

fn kernel_weight(n: usize, size: usize) -> f64 {
    1.0 / (choose(n, size) * (size * (n - size)) as f64)
}

/// Returns the value that weights coalitions of s other players by `weight(s)`:
/// `φ_i = Σ_S weight(s) [v(S ∪ i) − v(S)]`.
fn definition(n: usize, values: &[f64], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let term =
                |mask: usize| weight(mask.count_ones() as usize) * (values[mask | 1 << i] - values[mask]);
            (0..1_usize << n).filter(|mask| mask >> i & 1 == 0).map(term).sum()
        })
        .collect()
}

/// Returns the values of a random game. They are multiples of 1/1024, at most 1 in absolute value, so that an
/// offset of 2³⁰ costs no digits.
fn random_game(n: usize, offset: f64) -> Vec<f64> {
    let mut word = words(n as u64);
    (0..1 << n).map(|_| offset + (word() % 2048) as f64 / 1024.0 - 1.0).collect()
}

fn check(n: usize, offset: f64, kernel: Kernel, tolerance: f64) {
    let values = random_game(n, offset);
    let want = definition(n, &values, |size| 1.0 / (n as f64 * choose(n - 1, size)));
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
        // Do not subtract v(∅), because the offset must not matter.
        let targets: Vec<f64> = masks.iter().map(|&mask| values[mask as usize]).collect();
        let fit =
            least_squares_with(&design, &targets, 1, Constraint::Sum(&sum), &Options { kernel }).unwrap();
        assert_eq!((fit.rank(), fit.factorization()), (Some(n - 1), Factorization::Cholesky));
        // By Lemma 3.3, the Gram matrix is a multiple of P.
        assert!((fit.condition_number() - 1.0).abs() < 1e-12);
        let name = format!("{n} players, offset {offset}, {kernel:?}, paired {paired}");
        assert_close(fit.coefficients(), &want, tolerance * largest(&want), &name);
    };
    solve((1..full).collect(), false);
    solve((1..=full / 2).flat_map(|mask| [mask, full ^ mask]).collect(), true);
}

#[test]
fn full_enumeration_gives_shapley_values_to_twelve_digits_whatever_the_offset_of_all_targets() {
    for n in 2..=12 {
        for kernel in [Kernel::Popcount, Kernel::Panels] {
            check(n, 0.0, kernel, 1e-12);
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

/// Checks regressions on all coalitions, with columns centred at `p`: unpaired, in pairs with a weight for
/// each row, and for p = ½ also in pairs that share a weight. Each design is fitted with and without an
/// intercept, as listed in `intercepts`.
fn check_about(n: usize, p: f64, offset: f64, intercepts: &[bool], tolerance: f64) {
    let values = random_game(n, offset);
    let want = definition(n, &values, |size| p.powi(size as i32) * (1.0 - p).powi((n - 1 - size) as i32));
    let full = (1_u64 << n) - 1;
    let masks: Vec<u64> = (0..=full / 2).flat_map(|mask| [mask, full ^ mask]).collect();
    let coalitions = Coalitions::from_masks(n, masks.iter().copied());
    let targets: Vec<f64> = masks.iter().map(|&mask| values[mask as usize]).collect();
    let weight = |&size: &u32| p.powi(size as i32) * (1.0 - p).powi(n as i32 - size as i32);
    let weights: Vec<f64> = coalitions.sizes().iter().map(weight).collect();
    let of_pairs: Vec<f64> = weights.iter().copied().step_by(2).collect();
    let mut designs = vec![
        Design::new(&coalitions, &weights).unwrap(),
        Design::paired_apart(&coalitions, &weights).unwrap(),
    ];
    if p == 0.5 {
        designs.push(Design::paired(&coalitions, &of_pairs).unwrap());
    }
    for design in designs {
        for &intercept in intercepts {
            let centred = design.centred_at(p).unwrap();
            let design = if intercept { centred.with_intercept() } else { centred };
            for kernel in [Kernel::Popcount, Kernel::Panels] {
                let fit =
                    least_squares_with(&design, &targets, 1, Constraint::None, &Options { kernel }).unwrap();
                let name = format!("{n} players, {p}, offset {offset}, intercept {intercept}, {design:?}");
                assert_eq!((fit.rank(), fit.factorization()), (Some(n), Factorization::Cholesky), "{name}");
                // By Observation 3.1, the Gram matrix is a multiple of the identity.
                assert!((fit.condition_number() - 1.0).abs() < 1e-12, "{name}");
                assert_close(fit.coefficients(), &want, tolerance * largest(&want), &name);
                if let Some(&[intercept]) = fit.intercepts() {
                    let mean: f64 =
                        weights.iter().zip(&targets).map(|(weight, target)| weight * target).sum();
                    assert_close(&[intercept], &[mean], 1e-13 * (1.0 + mean.abs()), &name);
                }
            }
        }
    }
}

#[test]
fn full_enumeration_about_a_half_gives_banzhaf_values_to_twelve_digits_whatever_the_offset() {
    for n in 1..=12 {
        check_about(n, 0.5, 0.0, &[false, true], 1e-12);
        check_about(n, 0.5, f64::from(1 << 30), &[false, true], 1e-12);
    }
}

#[test]
fn full_enumeration_about_p_gives_weighted_banzhaf_values_to_twelve_digits() {
    for n in 1..=12 {
        for p in [0.1, 0.3, 0.45, 0.8] {
            check_about(n, p, 0.0, &[false, true], 1e-12);
            // Without an intercept, a common offset of the targets is part of the signal, because rows cancel
            // under the weights only up to rounding.
            check_about(n, p, f64::from(1 << 20), &[true], 1e-12);
        }
    }
}
