//! Compares all results of the solver with a textbook implementation (the twin).

use std::ops::Range;

use apportion_games::Coalitions;
use apportion_solvers::{Certificate, Factorization, Kernel, Options, SolverError, least_squares_with};

use crate::twin::{self, Problem, assert_close, largest};

const PLAYERS: [usize; 9] = [1, 2, 3, 7, 8, 63, 64, 65, 130];

/// Returns problems of all kinds: few and many rows; players that are always present together; few and many
/// distinct weights; with a constraint, a centre, an intercept or none of these; unpaired, or paired with
/// weights per pair or per row.
fn problems() -> impl Iterator<Item = (String, Problem)> {
    PLAYERS.into_iter().flat_map(|n| {
        let mut plain = vec![
            ("few rows", Problem::random(n, n.div_ceil(2), 3, n as u64)),
            ("many rows", Problem::random(n, 4 * n + 3, 2, n as u64 + 1)),
            ("many weights", Problem::random(n, 3 * n + 5, 1000, n as u64 + 2)),
        ];
        if n >= 2 {
            plain.push(("twins", Problem::random(n, 3 * n + 5, 4, n as u64 + 3).with_twins()));
        }
        plain.into_iter().flat_map(move |(kind, problem)| {
            let paired = problem.clone().with_complements();
            let apart = paired.clone().with_weights_apart();
            [("apart", problem), ("in pairs", paired), ("in pairs of two weights", apart)]
                .into_iter()
                .flat_map(move |(pairs, problem)| {
                    let three = problem.with_outputs(3);
                    let mut columns = vec![
                        ("bits", three.clone()),
                        ("constrained", three.clone().constrained()),
                        ("about a half", three.clone().with_columns(0.5, false)),
                        ("with an intercept", three.clone().with_columns(0.3, true)),
                    ];
                    // Omit this centre for many players, because it takes long and adds little.
                    if n < 63 {
                        columns.push(("about 0.3", three.with_columns(0.3, false)));
                    }
                    columns.into_iter().map(move |(columns, problem)| {
                        (format!("{n} players, {kind}, {pairs}, {columns}"), problem)
                    })
                })
        })
    })
}

#[test]
fn coefficients_rank_and_sums_of_squares_are_those_of_the_twin() {
    for (name, problem) in problems() {
        let (fit, want) = (problem.solve(), twin::solve(&problem));
        // Random square designs may be badly conditioned, so the tolerance grows with the condition number of
        // the Gram matrix.
        let tolerance = 1e-13 * (10.0 + want.condition) * (1.0 + largest(&want.coefficients));
        assert_close(fit.coefficients(), &want.coefficients, tolerance, &name);
        assert_eq!(fit.rank(), Some(want.rank), "{name}");
        let scale = 1.0 + largest(&want.sums_of_squares);
        assert_close(fit.residual_sum_of_squares(), &want.sums_of_squares, tolerance * scale, &name);
        if want.condition < 1e4 {
            // The results must agree to twelve digits.
            let tolerance = 1e-12 * largest(&want.coefficients);
            assert_close(fit.coefficients(), &want.coefficients, tolerance, &name);
        }
        let n = problem.coalitions.players();
        let full = n - usize::from(problem.sums.is_some());
        let ratio = fit.condition_number() / want.condition;
        if want.rank < full || full == 0 {
            assert_eq!(fit.factorization(), Factorization::Eigen, "{name}");
            assert!((ratio - 1.0).abs() < 1e-8 + 1e-14 * want.condition, "{name}: {ratio}");
        } else {
            assert_eq!(fit.factorization(), Factorization::Cholesky, "{name}");
            assert!(ratio > 0.99 && ratio < 1.0 + 1e-8, "{name}: {ratio}");
        }
        match fit.intercepts() {
            Some(intercepts) => assert_close(intercepts, &want.intercepts, tolerance * n as f64, &name),
            None => assert!(!problem.columns.intercept, "{name}"),
        }
    }
}

#[test]
fn residuals_and_hat_values_are_those_of_the_twin() {
    for (name, problem) in problems() {
        let (fit, want) = (problem.solve(), twin::solve(&problem));
        let tolerance = 1e-12 * (10.0 + want.condition) * (1.0 + largest(&want.coefficients));
        let (residuals, hat_values): (Vec<f64>, Vec<f64>) = if problem.pairs_act_as_one_row() {
            let k = problem.outputs;
            let residuals = (0..problem.weights.len() * k)
                .map(|index| {
                    let first = index / k * 2 * k + index % k;
                    0.5 * (want.residuals[first] - want.residuals[first + k])
                })
                .collect();
            (residuals, want.hat_values.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect())
        } else {
            let hats = want.hat_values.iter().zip(&want.intercept_shares).map(|(hat, share)| hat + share);
            (want.residuals, hats.collect())
        };
        assert_close(&fit.residuals(), &residuals, tolerance, &name);
        assert_close(&fit.hat_values(), &hat_values, tolerance, &name);
        let sum: f64 = fit.hat_values().iter().sum();
        let intercept = problem.columns.intercept && !problem.pairs_act_as_one_row();
        let rank = want.rank as f64 + f64::from(u8::from(intercept));
        assert!((sum - rank).abs() < tolerance * (1.0 + rank), "{name}: {sum}");
    }
}

#[test]
fn one_output_of_many_is_solved_as_if_alone() {
    for (name, problem) in problems().filter(|(name, _)| !name.contains("130")) {
        let all = problem.solve();
        for output in 0..3 {
            let alone = Problem {
                targets: problem.targets.iter().skip(output).step_by(3).copied().collect(),
                outputs: 1,
                sums: problem.sums.as_ref().map(|sums| vec![sums[output]]),
                ..problem.clone()
            };
            let column: Vec<f64> = all.coefficients().iter().skip(output).step_by(3).copied().collect();
            let tolerance = 1e-10 * (1.0 + largest(&column));
            assert_close(alone.solve().coefficients(), &column, tolerance, &name);
        }
    }
}

#[test]
fn both_kernels_give_the_same_solution() {
    for (name, problem) in problems() {
        let solve = |kernel| {
            let options = Options { kernel };
            least_squares_with(&problem.design(), &problem.targets, 3, problem.constraint(), &options)
                .unwrap()
        };
        let (popcount, panels) = (solve(Kernel::Popcount), solve(Kernel::Panels));
        assert_eq!((popcount.kernel(), panels.kernel()), (Kernel::Popcount, Kernel::Panels));
        let tolerance =
            1e-14 * (100.0 + popcount.condition_number()) * (1.0 + largest(popcount.coefficients()));
        assert_close(popcount.coefficients(), panels.coefficients(), tolerance, &name);
        assert_eq!(popcount.rank(), panels.rank(), "{name}");
    }
}

#[test]
fn pairs_declared_or_not_have_the_same_solution() {
    for (name, problem) in problems().filter(|(_, problem)| problem.paired && !problem.apart) {
        let apart = Problem {
            paired: false,
            weights: problem.weights.iter().flat_map(|&weight| [weight; 2]).collect(),
            ..problem.clone()
        };
        let (fit, want) = (problem.solve(), apart.solve());
        let tolerance = 1e-13 * (10.0 + want.condition_number()) * (1.0 + largest(want.coefficients()));
        assert_close(fit.coefficients(), want.coefficients(), tolerance, &name);
        assert_eq!(fit.rank(), want.rank(), "{name}");
    }
}

#[test]
fn coefficients_that_fit_exactly_are_found_although_the_weights_span_eight_decades() {
    for (n, rows) in [(10, 60), (65, 130), (65, 700)] {
        for constrained in [false, true] {
            let mut problem = Problem::random(n, rows, 1000, 12);
            // Use weights from 1 to 10⁸.
            problem.weights.iter_mut().for_each(|weight| *weight = 10_f64.powf((*weight - 0.2) * 8.0));
            let coefficients: Vec<f64> = (0..n).map(|i| ((i * 37 + 11) % 200) as f64 - 100.0).collect();
            let value =
                |row: apportion_games::CoalitionView<'_>| row.members().map(|i| coefficients[i]).sum();
            problem.targets = problem.coalitions.iter().map(value).collect();
            problem.sums = constrained.then(|| vec![coefficients.iter().sum()]);
            let fit = problem.solve();
            let name = format!("{n} players, {rows} rows, constrained {constrained}");
            assert_eq!(fit.factorization(), Factorization::Cholesky, "{name}");
            assert_close(fit.coefficients(), &coefficients, 1e-12, &name);
        }
    }
}

#[test]
fn the_certificate_has_of_each_unit_what_it_is_off_by() {
    for (name, problem) in problems() {
        if name.contains("few rows") {
            continue;
        }
        let (fit, dense) = (problem.solve(), twin::solve(&problem));
        let (rows, n, k) = (problem.units(), problem.coalitions.players(), problem.outputs);
        // Most rows are certain to be in the design (free fraction 0). The others have free fractions between
        // one half and one.
        let step = if n > 8 { 29 } else { 3 };
        let fraction = |row: usize| if row % step == 1 { 0.5 + 0.5 / (1 + row % 5) as f64 } else { 0.0 };
        let free: Vec<f64> = (0..rows).map(fraction).collect();
        let times: Vec<u32> =
            (0..rows).map(|row| if row % step == 1 { 1 + row as u32 % 3 } else { 0 }).collect();
        let (of_sizes, of_draws) = match (fit.certificate(&free), fit.certificate_of_draws(&times)) {
            (Err(SolverError::Saturated { .. }), _) if n <= 3 => continue,
            (of_sizes, of_draws) => (of_sizes.unwrap().variances, of_draws.unwrap().variances),
        };
        let (mut want_of_sizes, mut want_of_draws) = (vec![0.0; n * k], vec![0.0; n * k]);
        for unit in (0..rows).filter(|&row| free[row] > 0.0) {
            let once = dense.share_of(&problem, unit, 1.0);
            let times = f64::from(times[unit]);
            let each = dense.share_of(&problem, unit, times);
            for index in 0..n * k {
                want_of_sizes[index] += free[unit] * once[index].powi(2);
                want_of_draws[index] += times * (each[index] / times).powi(2);
            }
        }
        assert_close(&of_sizes, &want_of_sizes, 1e-8 * largest(&want_of_sizes).max(1e-9), &name);
        assert_close(&of_draws, &want_of_draws, 1e-8 * largest(&want_of_draws).max(1e-9), &name);
    }
}

#[test]
fn the_certificate_is_without_bias_where_all_rows_are_off_alike() {
    for (name, problem) in problems() {
        let (m, n) = (problem.coalitions.len(), problem.coalitions.players());
        if n > 8 {
            continue;
        }
        // In each output, only one row j has an error, of one standard deviation `1/√w_j`. The certificate is
        // quadratic in the errors, so its mean is the sum over the outputs.
        let entry = |index: usize| {
            if index / m == index % m { problem.row_weight(index / m).sqrt().recip() } else { 0.0 }
        };
        let problem = Problem {
            targets: (0..m * m).map(entry).collect(),
            outputs: m,
            sums: problem.sums.as_ref().map(|_| vec![0.0; m]),
            ..problem.clone()
        };
        let Ok(certificate) = problem.solve().certificate(&vec![1.0; problem.units()]) else {
            continue;
        };
        let got: Vec<f64> =
            certificate.variances.chunks_exact(m).map(|of_player| of_player.iter().sum()).collect();
        let inverse = twin::solve(&problem).inverse;
        let want: Vec<f64> = (0..n).map(|player| inverse[(player, player)]).collect();
        assert_close(&got, &want, 1e-9 * largest(&want).max(1e-9), &name);
    }
}

#[test]
fn the_certificate_is_its_formula_written_out() {
    for (name, problem) in problems() {
        let pairs = problem.pairs_act_as_one_row();
        if name.contains("few rows") || (problem.paired && !pairs) {
            continue;
        }
        let (fit, dense) = (problem.solve(), twin::solve(&problem));
        let (rows, n, k) = (fit.rows(), problem.coalitions.players(), problem.outputs);
        let (residuals, hat_values) = (fit.residuals(), fit.hat_values());
        if hat_values.iter().any(|&hat| hat > 1.0 - 1e-6) {
            continue;
        }
        let free: Vec<f64> = (0..rows).map(|row| (row % 7) as f64 / 6.0).collect();
        // Compute the variances of the coefficients, and of the coefficients of the middle players minus
        // their mean.
        let among = n / 3..n - n / 4;
        let (mut want, mut want_among) = (vec![0.0; n * k], vec![0.0; n * k]);
        // The contributions of each row to the coefficients, row by row for each output.
        let mut losses = vec![vec![vec![0.0; n]; rows]; k];
        let mut losses_among = losses.clone();
        for row in 0..rows {
            let first = if pairs { 2 * row } else { row };
            let weight = problem.weights[row] * if pairs { 2.0 } else { 1.0 };
            let image: Vec<f64> = (0..n)
                .map(|i| (0..n).map(|j| dense.inverse[(i, j)] * dense.rows[(first, j)]).sum())
                .collect();
            let mean = image[among.clone()].iter().sum::<f64>() / among.len() as f64;
            for i in 0..n {
                let deviation = image[i] - if among.contains(&i) { mean } else { 0.0 };
                for output in 0..k {
                    let change = weight * residuals[row * k + output] / (1.0 - hat_values[row]).sqrt();
                    want[i * k + output] += free[row] * (change * image[i]).powi(2);
                    want_among[i * k + output] += free[row] * (change * deviation).powi(2);
                    losses[output][row][i] = free[row].sqrt() * change * image[i];
                    losses_among[output][row][i] = free[row].sqrt() * change * deviation;
                }
            }
        }
        let got = fit.certificate(&free).unwrap();
        assert_close(&got.variances, &want, 1e-9 * largest(&want), &name);
        check_distribution(&got, &losses, 0..n, &hat_values, &free, &name);
        let got = fit.certificate_of_deviations(among.clone(), &free).unwrap();
        assert_close(&got.variances, &want_among, 1e-9 * largest(&want), &name);
        check_distribution(&got, &losses_among, among, &hat_values, &free, &name);
    }
}

/// Checks directions and degrees of freedom against their definition over all pairs of rows.
fn check_distribution(
    got: &Certificate,
    losses: &[Vec<Vec<f64>>],
    among: Range<usize>,
    hat_values: &[f64],
    free: &[f64],
    name: &str,
) {
    let left: f64 =
        hat_values.iter().zip(free).filter(|(_, free)| **free > 0.0).map(|(hat, _)| 1.0 - hat).sum();
    let draws = free.iter().filter(|&&free| free > 0.0).count() as f64;
    let mut degrees = left;
    for (output, (losses, got)) in losses.iter().zip(&got.directions).enumerate() {
        let dot = |a: &[f64], b: &[f64]| -> f64 {
            a[among.clone()].iter().zip(&b[among.clone()]).map(|(a, b)| a * b).sum()
        };
        // Mere rounding errors have no meaningful directions.
        if losses.iter().map(|loss| dot(loss, loss)).sum::<f64>() < 1e-20 {
            return;
        }
        // Comparing all pairs of rows takes long, so compare only the first output if there are many players.
        if output == 0 || among.len() <= 33 {
            let (mut traces, mut products) = (0.0, 0.0);
            for (k, first) in losses.iter().enumerate() {
                for (l, second) in losses.iter().enumerate() {
                    if k != l {
                        traces += dot(first, first) * dot(second, second);
                        products += dot(first, second).powi(2);
                    }
                }
            }
            let want = (traces / products).clamp(1.0, among.len() as f64);
            assert!(
                (got / want - 1.0).abs() < 1e-6 || among.len() > 32,
                "{name}: {got} directions, not {want}"
            );
        }
        let squares: Vec<f64> = losses.iter().map(|loss| dot(loss, loss)).collect();
        let (sum, fourths) = (squares.iter().sum::<f64>(), squares.iter().map(|x| x * x).sum::<f64>());
        degrees = degrees.min(2.0 * sum * sum / (fourths - sum * sum / draws));
    }
    let degrees = degrees.max(1.0);
    assert!(
        (got.degrees_of_freedom / degrees - 1.0).abs() < 1e-6,
        "{name}: {} degrees, not {degrees}",
        got.degrees_of_freedom
    );
}

#[test]
fn deviations_from_the_mean_of_all_have_the_certificate_of_coefficients_that_sum_to_a_constant() {
    for n in [2, 7, 33, 65] {
        let problem = Problem::random(n, 3 * n, 5, 4).constrained();
        let fit = problem.solve();
        let free = vec![0.4; 3 * n];
        let want = fit.certificate(&free).unwrap().variances;
        let got = fit.certificate_of_deviations(0..n, &free).unwrap().variances;
        assert_close(&got, &want, 1e-12 * largest(&want), &format!("{n} players"));
    }
}

#[test]
fn leaving_a_row_out_changes_its_residual_by_the_factor_that_its_hat_value_says() {
    for n in [5, 8, 65] {
        let problem = Problem::random(n, 4 * n, 5, 77).constrained();
        let fit = problem.solve();
        for row in [0, 1, n, 4 * n - 1] {
            assert!(fit.hat_values()[row] < 1.0 - 1e-6);
            let left_out = problem.without(row).solve();
            let predicted = fit.residuals()[row] / (1.0 - fit.hat_values()[row]);
            let got = left_out.residuals()[row];
            assert!(
                (got - predicted).abs() < 1e-10 * (1.0 + predicted.abs()),
                "{n} players: {got}, {predicted}"
            );
            assert_eq!(left_out.hat_values()[row], 0.0);
        }
    }
}

#[test]
fn rows_that_decide_alone_have_no_certificate_unless_enumerated() {
    let problem = Problem::random(20, 6, 2, 5).constrained();
    let fit = problem.solve();
    assert!(matches!(fit.certificate(&[1.0; 6]), Err(SolverError::Saturated { row: 0, .. })));
    assert_eq!(fit.certificate(&[0.0; 6]).unwrap().variances, vec![0.0; 20]);
}

#[test]
fn a_row_met_several_times_is_as_many_draws() {
    // Compare repeated rows with merged rows: sum, over all draws, the squared change that results from
    // omitting one of them.
    for (name, problem) in problems().filter(|(name, _)| name.contains("many rows")) {
        if problem.coalitions.players() > 65 || problem.coalitions.players() < 3 {
            continue;
        }
        let times: Vec<u32> = (0..problem.units() as u32).map(|unit| 1 + unit % 3 * (unit % 2)).collect();
        let times_of = |index: usize| times[index * problem.units() / problem.weights.len()];
        let mut merged = problem.clone();
        merged
            .weights
            .iter_mut()
            .enumerate()
            .for_each(|(index, weight)| *weight *= f64::from(times_of(index)));
        let mut repeated = problem.clone();
        (repeated.coalitions, repeated.weights, repeated.targets) =
            (Coalitions::new(problem.coalitions.players()), Vec::new(), Vec::new());
        for (unit, &times) in times.iter().enumerate() {
            for _ in 0..times {
                for row in problem.rows_of(unit) {
                    repeated.coalitions.push(problem.coalitions.row(row));
                    repeated.targets.extend_from_slice(&problem.targets[3 * row..3 * row + 3]);
                    if !problem.paired || problem.apart || row % 2 == 0 {
                        repeated.weights.push(problem.row_weight(row));
                    }
                }
            }
        }
        let want = repeated.solve().certificate(&vec![1.0; repeated.units()]).unwrap();
        let got = merged.solve().certificate_of_draws(&times).unwrap();
        assert_close(&got.variances, &want.variances, 1e-9 * largest(&want.variances), &name);
        assert_close(&got.directions, &want.directions, 1e-6, &name);
        assert!((got.degrees_of_freedom / want.degrees_of_freedom - 1.0).abs() < 1e-6, "{name}");
        let ones = vec![1; problem.units()];
        let free = vec![1.0; problem.units()];
        assert_eq!(problem.solve().certificate_of_draws(&ones), problem.solve().certificate(&free), "{name}");
    }
}
