//! Tests properties that every regression must have.

use apportion_games::Coalitions;
use proptest::prelude::*;

use crate::twin::{Columns, Problem, words};

fn problems() -> impl Strategy<Value = Problem> {
    (1..80_usize, 0..60_usize, 1..40_usize, any::<u64>(), 0..3_usize, 0..5_usize, 1..4_usize).prop_map(
        |(players, rows, distinct, seed, pairs, columns, outputs)| {
            let rows = if columns == 0 { rows } else { rows + 1 };
            let problem = Problem::random(players, rows, distinct, seed);
            let problem = if pairs > 0 { problem.with_complements() } else { problem };
            let problem = if pairs > 1 { problem.with_weights_apart() } else { problem };
            let problem = problem.with_outputs(outputs);
            match columns {
                0 => problem.constrained(),
                1 => problem,
                2 => problem.with_columns(0.5, false),
                3 => problem.with_columns(0.2, false),
                _ => problem.with_columns(0.7, true),
            }
        },
    )
}

fn size(values: &[f64]) -> f64 {
    values.iter().fold(1.0, |size, value| value.abs().max(size))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The gradient of the objective vanishes, also for the intercept. Under the constraint, all its entries
    /// are equal, and the coefficients sum to c.
    #[test]
    fn solutions_satisfy_the_optimality_conditions(problem in problems()) {
        let fit = problem.solve();
        let (n, k) = (problem.coalitions.players(), problem.outputs);
        for output in 0..k {
            let phi: Vec<f64> = fit.coefficients().iter().skip(output).step_by(k).copied().collect();
            let mut gradient = vec![0.0; n];
            let (mut in_intercept, mut scale) = (0.0, 1.0);
            let constant = fit.intercepts().map_or(0.0, |intercepts| intercepts[output])
                - problem.columns.centre * phi.iter().sum::<f64>();
            for (row, coalition) in problem.coalitions.iter().enumerate() {
                let fitted: f64 = constant + coalition.members().map(|i| phi[i]).sum::<f64>();
                let error = problem.row_weight(row) * (fitted - problem.targets[row * k + output]);
                gradient.iter_mut().for_each(|entry| *entry -= problem.columns.centre * error);
                coalition.members().for_each(|i| gradient[i] += error);
                in_intercept += error;
                scale += error.abs();
            }
            let common = match &problem.sums {
                None => 0.0,
                Some(sums) => {
                    let sum: f64 = phi.iter().sum();
                    prop_assert!((sum - sums[output]).abs() < 1e-12 * size(&phi) * n as f64);
                    gradient.iter().sum::<f64>() / n as f64
                }
            };
            let tolerance = 1e-10 * scale * size(&phi);
            prop_assert!(fit.intercepts().is_none() || in_intercept.abs() < tolerance, "{}", in_intercept);
            prop_assert!(gradient.iter().all(|entry| (entry - common).abs() < tolerance), "{gradient:?}");
        }
    }

    /// Hat values are between 0 and 1 and sum to the rank.
    #[test]
    fn hat_values_share_the_rank(problem in problems()) {
        let fit = problem.solve();
        let hat_values = fit.hat_values();
        let tolerance = 1e-13 * (100.0 + fit.condition_number());
        prop_assert!(hat_values.iter().all(|hat| (-tolerance..1.0 + tolerance).contains(hat)));
        let sum: f64 = hat_values.iter().sum();
        let intercept = problem.columns.intercept && !problem.pairs_act_as_one_row();
        let rank = fit.rank().unwrap() + usize::from(intercept);
        prop_assert!((sum - rank as f64).abs() < tolerance * (1 + rank) as f64);
    }

    /// Renaming the players renames the coefficients.
    #[test]
    fn players_are_treated_alike(problem in problems(), seed in any::<u64>()) {
        let n = problem.coalitions.players();
        let mut word = words(seed);
        let mut names: Vec<(u64, usize)> = (0..n).map(|player| (word(), player)).collect();
        names.sort_unstable();
        let mut coalitions = Coalitions::new(n);
        for row in problem.coalitions.iter() {
            coalitions.push_members(row.members().map(|player| names[player].1));
        }
        let (fit, renamed) = (problem.solve(), Problem { coalitions, ..problem.clone() }.solve());
        prop_assert_eq!(fit.rank(), renamed.rank());
        let k = problem.outputs;
        let tolerance = 1e-13 * (100.0 + fit.condition_number()) * size(fit.coefficients());
        for (player, name) in names.iter().enumerate() {
            for output in 0..k {
                let got = renamed.coefficients()[name.1 * k + output];
                let want = fit.coefficients()[player * k + output];
                prop_assert!((got - want).abs() < tolerance, "{} instead of {}", got, want);
            }
        }
    }

    /// A repeated row is equivalent to a single row with the sum of the weights.
    #[test]
    fn repeated_rows_add_their_weights(problem in problems()) {
        let mut twice = problem.clone();
        twice.coalitions.extend(&problem.coalitions);
        twice.weights.extend(problem.weights.iter().map(|weight| 3.0 * weight));
        twice.targets.extend_from_slice(&problem.targets);
        let (fit, want) = (twice.solve(), problem.solve());
        prop_assert_eq!(fit.rank(), want.rank());
        let tolerance = 1e-13 * (100.0 + fit.condition_number()) * size(want.coefficients());
        for (got, want) in fit.coefficients().iter().zip(want.coefficients()) {
            prop_assert!((got - want).abs() < tolerance);
        }
    }
}

/// If there is an intercept, identical rows determine no other coefficient, even if rounding leaves a small
/// difference from their mean.
#[test]
fn equal_rows_beside_an_intercept_have_no_rank() {
    for players in [1, 2, 5, 22, 70] {
        for (seed, copies) in (0..40).zip([1, 2, 3, 7].into_iter().cycle()) {
            let mut word = words(seed);
            let members: Vec<usize> = (0..players).filter(|_| !word().is_multiple_of(4)).collect();
            let mut coalitions = Coalitions::new(players);
            (0..copies).for_each(|_| coalitions.push_members(members.iter().copied()));
            let problem = Problem {
                coalitions,
                weights: (0..copies).map(|_| (1 + word() % 1000) as f64 / 1021.0).collect(),
                paired: false,
                apart: false,
                columns: Columns { centre: [0.0, 0.3, 0.7][seed as usize % 3], intercept: true },
                targets: (0..copies).map(|copy| copy as f64 - 0.39).collect(),
                outputs: 1,
                sums: None,
            };
            let fit = problem.solve();
            assert_eq!(fit.rank(), Some(0), "{players} players, {copies} copies, seed {seed}");
            assert!(fit.coefficients().iter().all(|&coefficient| coefficient == 0.0));
        }
    }
}
