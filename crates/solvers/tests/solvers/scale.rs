//! Tests that targets of any scale yield the same solution up to the factor.

use apportion_games::Coalitions;
use apportion_solvers::{
    Ball, Constraint, Cuboid, Design, HalfSpace, Hyperplane, SolverError, Stopping, dykstra, least_squares,
    project_on_hyperplane_and_ball, ridge,
};

const PLAYERS: usize = 6;

/// Returns factors with tolerances: powers of two preserve all bits; others cause rounding errors.
fn factors() -> Vec<(f64, f64)> {
    let powers = [-996, -700, -520, -3, 0, 1, 515, 700, 990].map(|power| (2.0_f64.powi(power), 0.0));
    let others = [1e-300, 1e-160, 1e-154, 1e-3, 1e3, 1e154, 1e160, 1e298].map(|factor| (factor, 1e-12));
    powers.into_iter().chain(others).collect()
}

fn assert_scaled(got: &[f64], expected: &[f64], (factor, tolerance): (f64, f64), what: &str) {
    let largest = expected.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
    for (got, expected) in got.iter().zip(expected) {
        assert!(
            (got / factor - expected).abs() <= tolerance * largest,
            "{what} · {factor:e}: {got:e}, {expected}"
        );
    }
}

fn targets(rows: usize) -> Vec<f64> {
    (0..2 * rows).map(|at| (at as f64 * 0.9).sin() + if at % 2 == 0 { 3.0 } else { 0.0 }).collect()
}

#[test]
fn least_squares_and_their_certificates_have_no_scale() {
    let coalitions = {
        let mut coalitions = Coalitions::new(PLAYERS);
        for row in 0..20 {
            coalitions.push_members((0..PLAYERS).filter(|&player| (row * 7 + 3) >> player & 1 == 1));
            coalitions.push_complement(2 * row);
        }
        coalitions
    };
    let weights: Vec<f64> = (0..40).map(|row| 1.0 + f64::from(row % 5)).collect();
    let apart = Design::paired_apart(&coalitions, &weights).unwrap();
    let designs = [
        Design::new(&coalitions, &weights).unwrap(),
        Design::new(&coalitions, &weights).unwrap().with_intercept(),
        Design::new(&coalitions, &weights).unwrap().centred_at(0.5).unwrap(),
        Design::paired(&coalitions, &weights[..20]).unwrap(),
        Design::paired(&coalitions, &weights[..20]).unwrap().with_intercept(),
        apart,
    ];
    let targets = targets(40);
    for (index, design) in designs.iter().enumerate() {
        let is_plain = !design.has_intercept() && index != 2;
        for constrained in [false, true].into_iter().filter(|&constrained| is_plain || !constrained) {
            // The outputs have two different scales.
            let solve = |factor: f64| {
                let targets: Vec<f64> = targets
                    .iter()
                    .enumerate()
                    .map(|(at, target)| if at % 2 == 0 { target * factor } else { *target })
                    .collect();
                let sums = [2.0 * factor, -1.0];
                let constraint = if constrained { Constraint::Sum(&sums) } else { Constraint::None };
                let fit = least_squares(design, &targets, 2, constraint).unwrap();
                let units = if design.is_paired() { 20 } else { 40 };
                let certificate = fit.certificate(&vec![0.5; units]).unwrap();
                let split = |numbers: &[f64]| -> [Vec<f64>; 2] {
                    [0, 1].map(|output| numbers.iter().skip(output).step_by(2).copied().collect())
                };
                let intercepts = fit.intercepts().map(<[f64]>::to_vec).unwrap_or_default();
                let scaled =
                    [fit.coefficients(), &intercepts, &fit.residuals(), &certificate.standard_errors]
                        .map(split);
                (scaled, certificate.directions, certificate.degrees_of_freedom)
            };
            let (expected, directions, degrees) = solve(1.0);
            for (factor, tolerance) in factors() {
                let (got, got_directions, got_degrees) = solve(factor);
                for (got, expected) in got.iter().zip(&expected) {
                    assert_scaled(&got[0], &expected[0], (factor, tolerance), &format!("design {index}"));
                    assert_eq!(got[1], expected[1], "the other output");
                }
                assert!((got_degrees / degrees - 1.0).abs() <= tolerance);
                assert_scaled(&got_directions, &directions, (1.0, tolerance), "directions");
            }
        }
    }
}

#[test]
fn variances_are_the_squares_of_standard_errors() {
    let coalitions = Coalitions::from_masks(PLAYERS, 1..63);
    let design = Design::new(&coalitions, &[1.0; 62]).unwrap();
    let fit = least_squares(&design, &targets(31), 1, Constraint::None).unwrap();
    let certificate = fit.certificate(&[1.0; 62]).unwrap();
    for (variance, error) in certificate.variances.iter().zip(&certificate.standard_errors) {
        assert!(*error > 0.0 && (error * error / variance - 1.0).abs() < 1e-14);
    }
}

#[test]
fn ridge_regressions_have_no_scale() {
    let coalitions = Coalitions::from_masks(PLAYERS, (0..50).map(|row| row * 37 % 64));
    let weights: Vec<f64> = (0..50).map(|row| 1.0 + f64::from(row % 3)).collect();
    let design = Design::new(&coalitions, &weights).unwrap();
    for design in [design, design.with_intercept()] {
        let solve = |factor: f64| {
            let targets: Vec<f64> = targets(25).iter().map(|target| target * factor).collect();
            ridge(&design, &targets, 1, 0.7).unwrap()
        };
        let expected = solve(1.0);
        for (factor, tolerance) in factors() {
            let got = solve(factor);
            assert_scaled(got.coefficients(), expected.coefficients(), (factor, tolerance), "ridge");
            let intercepts =
                (got.intercepts().unwrap_or_default(), expected.intercepts().unwrap_or_default());
            assert_scaled(intercepts.0, intercepts.1, (factor, tolerance), "intercept");
            assert_scaled(got.determination(), expected.determination(), (1.0, tolerance), "R²");
        }
    }
}

#[test]
fn solutions_beyond_all_numbers_are_refused() {
    // Use targets whose differences overflow although the solution is finite.
    let coalitions = Coalitions::from_masks(2, [1, 2]);
    let design = Design::new(&coalitions, &[1.0; 2]).unwrap();
    let fit = least_squares(&design, &[1.7e308, -1.7e308], 1, Constraint::None).unwrap();
    assert!((fit.coefficients()[0] / 1.7e308 - 1.0).abs() < 1e-14);
    let with_intercept = Coalitions::from_masks(1, [0, 1]);
    let design = Design::new(&with_intercept, &[1.0; 2]).unwrap().with_intercept();
    for refused in [
        least_squares(&design, &[1.7e308, -1.7e308], 1, Constraint::None).err(),
        ridge(&design, &[1.7e308, -1.7e308], 1, 0.0).err(),
    ] {
        assert!(matches!(refused, Some(SolverError::Overflow { output: 0 })), "{refused:?}");
    }
}

#[test]
fn projections_have_no_scale() {
    let point = [3.0, 2.0, -4.0, 1.0];
    let expected = |factor: f64| {
        let scaled = |numbers: [f64; 4]| numbers.map(|number| number * factor).to_vec();
        let plane = Hyperplane::with_sum(4, 1.5 * factor).unwrap();
        let ball = Ball::new(scaled([0.3, -0.2, 0.1, 0.0]), factor).unwrap();
        let half_space = HalfSpace::new(vec![1.0, -2.0, 0.5, 0.0], 0.5 * factor).unwrap();
        let cuboid = Cuboid::new(scaled([-1.0; 4]), scaled([0.8; 4])).unwrap();
        let point = scaled(point);
        let closed = project_on_hyperplane_and_ball(&plane, &ball, &point).unwrap();
        let found = dykstra(&[&plane, &ball, &half_space, &cuboid], &point, Stopping::default()).unwrap();
        (closed, found.point, found.iterations)
    };
    let (closed, found, iterations) = expected(1.0);
    for (factor, tolerance) in factors() {
        let got = expected(factor);
        // For another scale, square roots are taken of other numbers, which are rounded differently.
        assert_scaled(&got.0, &closed, (factor, 1e-12), "the closed form");
        assert_scaled(&got.1, &found, (factor, tolerance.max(1e-9)), "Dykstra's algorithm");
        assert!(got.2.abs_diff(iterations) <= 1, "{factor:e}: {} sweeps", got.2);
    }
}
