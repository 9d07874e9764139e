//! Compares ridge regression with explicit normal equations.

use apportion_games::Coalitions;
use apportion_solvers::{Constraint, Design, Ridge, SolverError, least_squares, ridge};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::twin::assert_close;

/// Solves a square system by Gaussian elimination with partial pivoting; each row ends with its right-hand
/// side.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
        rows.swap(column, pivot.unwrap_or(column));
        let (upper, lower) = rows.split_at_mut(column + 1);
        for row in lower {
            let factor = row[column] / upper[column][column];
            row.iter_mut().zip(&upper[column]).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut x = vec![0.0; n];
    for (index, row) in rows.iter().enumerate().rev() {
        let known: f64 = row[index + 1..n].iter().zip(&x[index + 1..]).map(|(a, b)| a * b).sum();
        x[index] = (row[n] - known) / row[index];
    }
    x
}

/// Returns the coefficients, the intercept and R² from the normal equations of the dense columns `z − p 1`
/// and, with an intercept, of a constant column without a penalty.
fn twin(
    coalitions: &Coalitions,
    weights: &[f64],
    targets: &[f64],
    penalty: f64,
    centre: f64,
    intercept: bool,
) -> (Vec<f64>, f64, f64) {
    let n = coalitions.players();
    let columns = n + usize::from(intercept);
    let dense: Vec<Vec<f64>> = coalitions
        .iter()
        .map(|row| {
            let mut dense: Vec<f64> = (0..n).map(|i| f64::from(u8::from(row.contains(i))) - centre).collect();
            dense.resize(columns, 1.0);
            dense
        })
        .collect();
    let mut system = vec![vec![0.0; columns + 1]; columns];
    for (i, equation) in system.iter_mut().enumerate() {
        for ((row, weight), target) in dense.iter().zip(weights).zip(targets) {
            (0..columns).for_each(|j| equation[j] += weight * row[i] * row[j]);
            equation[columns] += weight * row[i] * target;
        }
        equation[i] += if i < n { penalty } else { 0.0 };
    }
    let mut solution = eliminate(system);
    let total: f64 = weights.iter().sum();
    let sum: f64 = weights.iter().zip(targets).map(|(weight, target)| weight * target).sum();
    let mean = if intercept { sum / total } else { 0.0 };
    let (mut left, mut all) = (0.0, 0.0);
    for ((row, weight), target) in dense.iter().zip(weights).zip(targets) {
        let fitted: f64 = row.iter().zip(&solution).map(|(x, value)| x * value).sum();
        left += weight * (target - fitted).powi(2);
        all += weight * (target - mean).powi(2);
    }
    let beta = if intercept { solution.remove(n) } else { 0.0 };
    (solution, beta, 1.0 - left / all)
}

/// Returns random rows that contain each player with probability `member`, their weights, and targets for
/// each output.
fn random(
    rng: &mut ChaCha8Rng,
    (players, rows, outputs): (usize, usize, usize),
    member: f64,
) -> (Coalitions, Vec<f64>, Vec<f64>) {
    let mut coalitions = Coalitions::new(players);
    (0..rows).for_each(|_| coalitions.push_members((0..players).filter(|_| rng.random_bool(member))));
    let weights = (0..rows).map(|_| rng.random_range(1e-3..2.0)).collect();
    let targets = (0..rows * outputs).map(|_| rng.random_range(-2.0..5.0)).collect();
    (coalitions, weights, targets)
}

/// Returns the design with its columns centred at `centre`, with or without an intercept.
fn with_columns(design: Design<'_>, (centre, intercept): (f64, bool)) -> Design<'_> {
    let design = design.centred_at(centre).unwrap();
    if intercept { design.with_intercept() } else { design }
}

fn assert_twin(
    fit: &Ridge,
    coalitions: &Coalitions,
    weights: &[f64],
    targets: &[f64],
    penalty: f64,
    columns: (f64, bool),
) {
    let (centre, intercept) = columns;
    let outputs = fit.outputs();
    for output in 0..outputs {
        let own: Vec<f64> = targets.iter().skip(output).step_by(outputs).copied().collect();
        let (coefficients, beta, determination) = twin(coalitions, weights, &own, penalty, centre, intercept);
        let what =
            format!("{} players, {} rows, α = {penalty}, {columns:?}", coalitions.players(), own.len());
        let scale = coefficients.iter().fold(1e-3, |largest: f64, value| largest.max(value.abs()));
        let got: Vec<f64> = fit.coefficients().iter().skip(output).step_by(outputs).copied().collect();
        assert_close(&got, &coefficients, 1e-10 * scale, &what);
        match fit.intercepts() {
            Some(intercepts) => {
                assert_close(&[intercepts[output]], &[beta], 1e-10 * (1.0 + beta.abs()), &what);
            }
            None => assert!(!intercept),
        }
        assert_close(&[fit.determination()[output]], &[determination], 1e-10, &what);
    }
}

#[test]
fn the_solution_is_that_of_the_normal_equations_written_out() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (players, rows) in [(1, 2), (1, 9), (2, 5), (3, 2), (7, 40), (8, 4), (65, 30), (65, 300), (130, 200)]
    {
        let (coalitions, weights, targets) = random(&mut rng, (players, rows, 2), 0.6);
        for (penalty, columns) in [
            (1e-3, (0.0, true)),
            (1.0, (0.0, true)),
            (1e3, (0.3, true)),
            (1.0, (0.0, false)),
            (0.1, (0.4, false)),
        ] {
            let design = with_columns(Design::new(&coalitions, &weights).unwrap(), columns);
            let fit = ridge(&design, &targets, 2, penalty).unwrap();
            assert_eq!(fit.rank(), Some(players));
            assert_twin(&fit, &coalitions, &weights, &targets, penalty, columns);
        }
    }
}

#[test]
fn pairs_that_share_a_weight_are_rows_with_that_weight_each() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for (players, pairs) in [(1, 1), (6, 20), (70, 50)] {
        let mut coalitions = Coalitions::new(players);
        for pair in 0..pairs {
            coalitions.push_members((0..players).filter(|_| rng.random_bool(0.6)));
            coalitions.push_complement(2 * pair);
        }
        let weights: Vec<f64> = (0..pairs).map(|_| rng.random_range(0.1..20.0)).collect();
        let each: Vec<f64> = weights.iter().flat_map(|&weight| [weight; 2]).collect();
        let targets: Vec<f64> = (0..2 * pairs).map(|_| rng.random_range(-2.0..5.0)).collect();
        for columns in [(0.0, true), (0.5, false), (0.0, false)] {
            let design = with_columns(Design::paired(&coalitions, &weights).unwrap(), columns);
            let fit = ridge(&design, &targets, 1, 0.7).unwrap();
            assert_twin(&fit, &coalitions, &each, &targets, 0.7, columns);
        }
    }
}

#[test]
fn without_a_penalty_it_is_least_squares() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    // With 4 or 5 rows, the coefficients of 8 players are not unique.
    for rows in [4, 5, 60] {
        let (coalitions, weights, targets) = random(&mut rng, (8, rows, 1), 0.5);
        let design = Design::new(&coalitions, &weights).unwrap().with_intercept();
        let fit = ridge(&design, &targets, 1, 0.0).unwrap();
        let want = least_squares(&design, &targets, 1, Constraint::None).unwrap();
        assert_eq!(fit.rank(), want.rank());
        assert_close(fit.coefficients(), want.coefficients(), 1e-12, &format!("{rows} rows"));
    }
}

#[test]
fn a_common_factor_of_the_weights_divides_the_penalty() {
    let coalitions = Coalitions::from_masks(3, [1, 2, 5, 7, 0]);
    let targets = [1.0, -2.0, 3.0, 0.5, 0.25];
    let fit = |factor: f64, penalty: f64| {
        let weights: Vec<f64> = [1.0, 2.0, 0.5, 1.0, 3.0].iter().map(|weight| factor * weight).collect();
        let design = Design::new(&coalitions, &weights).unwrap().with_intercept();
        ridge(&design, &targets, 1, penalty).unwrap()
    };
    for (factor, penalty) in [(1e-250, 1e-250), (1e250, 1e250), (6.0, 6.0)] {
        let (got, want) = (fit(factor, penalty), fit(1.0, 1.0));
        assert_close(got.coefficients(), want.coefficients(), 1e-13, &format!("factor {factor}"));
    }
}

#[test]
fn equal_targets_are_explained_by_the_intercept() {
    let coalitions = Coalitions::from_masks(3, [1, 2, 5, 7]);
    // The last target has weight zero.
    let design = Design::new(&coalitions, &[0.1, 0.7, 0.3, 0.0]).unwrap().with_intercept();
    let fit = ridge(&design, &[0.1, 0.1, 0.1, 9.0], 1, 1.0).unwrap();
    assert_eq!(fit.determination(), [1.0]);
    assert!(fit.coefficients().iter().all(|value| value.abs() < 1e-15));
    assert!((fit.intercepts().unwrap()[0] - 0.1).abs() < 1e-15);
}

#[test]
fn bad_parameters_are_refused() {
    let coalitions = Coalitions::from_masks(3, [1, 2, 5]);
    let design = Design::new(&coalitions, &[1.0; 3]).unwrap();
    for penalty in [-1e-300, f64::INFINITY, f64::NEG_INFINITY] {
        let error = ridge(&design, &[1.0; 3], 1, penalty).unwrap_err();
        assert_eq!(error, SolverError::Penalty { value: penalty });
    }
    assert!(matches!(ridge(&design, &[1.0; 3], 1, f64::NAN), Err(SolverError::Penalty { .. })));
    assert!(matches!(ridge(&design, &[1.0; 3], 0, 1.0), Err(SolverError::NoOutputs)));
    assert!(matches!(ridge(&design, &[1.0; 2], 1, 1.0), Err(SolverError::TargetCount { .. })));
    assert!(matches!(ridge(&design, &[f64::NAN; 3], 1, 1.0), Err(SolverError::Target { .. })));
    let none = Coalitions::new(3);
    let design = Design::new(&none, &[]).unwrap();
    assert!(matches!(ridge(&design, &[], 1, 1.0), Err(SolverError::NoRows)));
}
