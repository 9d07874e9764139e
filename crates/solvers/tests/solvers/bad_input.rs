//! Tests the errors for invalid input, and tests valid edge cases.

use apportion_games::Coalitions;
use apportion_solvers::{Constraint, Design, Factorization, LeastSquares, SolverError, least_squares};

fn three_rows() -> Coalitions {
    Coalitions::from_masks(3, [1, 2, 5])
}

#[test]
fn weights_must_be_one_for_each_row_finite_and_not_negative() {
    let rows = three_rows();
    let error = |weights: &[f64]| Design::new(&rows, weights).unwrap_err();
    assert_eq!(error(&[1.0; 2]), SolverError::WeightCount { actual: 2, expected: 3, unit: "row" });
    assert_eq!(error(&[1.0, -1.0, 1.0]), SolverError::Weight { index: 1, value: -1.0 });
    assert_eq!(error(&[1.0, 1.0, f64::INFINITY]), SolverError::Weight { index: 2, value: f64::INFINITY });
    assert!(matches!(error(&[f64::NAN, 1.0, 1.0]), SolverError::Weight { index: 0, .. }));
    assert_eq!(Design::new(&Coalitions::new(0), &[]).unwrap_err(), SolverError::NoPlayers);
}

#[test]
fn pairs_must_be_complements() {
    let paired = |masks: &[u64], weights: &[f64]| {
        let rows = Coalitions::from_masks(3, masks.iter().copied());
        Design::paired(&rows, weights).map(|_| ())
    };
    assert_eq!(paired(&[1, 6, 2], &[1.0]), Err(SolverError::OddRows { rows: 3 }));
    assert_eq!(paired(&[1, 6, 2, 4], &[1.0; 2]), Err(SolverError::BrokenPair { pair: 1 }));
    assert_eq!(
        paired(&[1, 6], &[1.0; 2]),
        Err(SolverError::WeightCount { actual: 2, expected: 1, unit: "pair of rows" })
    );
    assert_eq!(paired(&[1, 6, 7, 0], &[1.0; 2]), Ok(()));
    for players in [64, 65, 128, 130] {
        let mut rows = Coalitions::new(players);
        rows.push_members([0, players - 1]);
        rows.push_complement(0);
        assert!(Design::paired(&rows, &[1.0]).is_ok(), "{players} players");
        for wrong in [0, 1, players - 1] {
            let mut rows = Coalitions::new(players);
            rows.push_members([0, players - 1]);
            let mut second = rows.row(0).complement();
            if second.view().contains(wrong) {
                second.remove(wrong);
            } else {
                second.insert(wrong);
            }
            rows.push(second.view());
            assert_eq!(Design::paired(&rows, &[1.0]).unwrap_err(), SolverError::BrokenPair { pair: 0 });
        }
    }
}

#[test]
fn targets_and_sums_must_be_counted_and_finite() {
    let rows = three_rows();
    let design = Design::new(&rows, &[1.0; 3]).unwrap();
    let error = |targets: &[f64], outputs, constraint: Constraint<'_>| {
        least_squares(&design, targets, outputs, constraint).unwrap_err()
    };
    let none = Constraint::None;
    assert_eq!(error(&[1.0; 4], 1, none), SolverError::TargetCount { actual: 4, rows: 3, outputs: 1 });
    assert_eq!(error(&[1.0; 3], 2, none), SolverError::TargetCount { actual: 3, rows: 3, outputs: 2 });
    assert_eq!(error(&[], 0, none), SolverError::NoOutputs);
    assert_eq!(
        error(&[1.0; 3], usize::MAX, none),
        SolverError::TargetCount { actual: 3, rows: 3, outputs: usize::MAX }
    );
    let mut targets = [1.0; 6];
    targets[3] = f64::NEG_INFINITY;
    assert_eq!(error(&targets, 2, none), SolverError::Target { row: 1, output: 1, value: f64::NEG_INFINITY });
    assert_eq!(
        error(&[1.0; 3], 1, Constraint::Sum(&[1.0, 2.0])),
        SolverError::SumCount { actual: 2, outputs: 1 }
    );
    assert!(matches!(error(&[1.0; 3], 1, Constraint::Sum(&[f64::NAN])), SolverError::Sum { output: 0, .. }));
}

#[test]
fn columns_with_a_centre_or_an_intercept_take_no_constraint() {
    let rows = three_rows();
    let design = Design::new(&rows, &[1.0; 3]).unwrap();
    assert!(matches!(design.centred_at(f64::NAN).unwrap_err(), SolverError::Centre { .. }));
    assert_eq!(design.centred_at(f64::INFINITY).unwrap_err(), SolverError::Centre { value: f64::INFINITY });
    for design in [design.with_intercept(), design.centred_at(0.5).unwrap()] {
        let error = least_squares(&design, &[1.0; 3], 1, Constraint::Sum(&[1.0])).unwrap_err();
        assert_eq!(error, SolverError::ConstrainedColumns);
    }
}

#[test]
fn pairs_of_two_weights_are_checked_as_others_are() {
    let rows = Coalitions::from_masks(3, [1, 6, 2, 5]);
    assert!(Design::paired_apart(&rows, &[1.0, 2.0, 0.0, 1.0]).is_ok());
    let error = |weights: &[f64]| Design::paired_apart(&rows, weights).unwrap_err();
    assert_eq!(error(&[1.0; 2]), SolverError::WeightCount { actual: 2, expected: 4, unit: "row" });
    let broken = Coalitions::from_masks(3, [1, 6, 2, 4]);
    assert_eq!(Design::paired_apart(&broken, &[1.0; 4]).unwrap_err(), SolverError::BrokenPair { pair: 1 });
}

#[test]
fn one_row_and_an_intercept_say_nothing_of_the_players() {
    let rows = Coalitions::from_masks(3, [5]);
    let design = Design::new(&rows, &[2.0]).unwrap().with_intercept();
    let fit = least_squares(&design, &[7.0], 1, Constraint::None).unwrap();
    assert_eq!((fit.coefficients(), fit.rank()), ([0.0; 3].as_slice(), Some(0)));
    assert_eq!(fit.intercepts(), Some([7.0].as_slice()));
    assert_eq!((fit.residuals(), fit.hat_values()), (vec![0.0], vec![1.0]));
    assert!(matches!(fit.certificate(&[1.0]), Err(SolverError::Saturated { row: 0, .. })));
}

#[test]
fn rows_of_no_weight_give_nothing() {
    let rows = Coalitions::from_masks(2, [1, 2]);
    for (design, intercept) in [
        (Design::new(&rows, &[0.0; 2]).unwrap(), true),
        (Design::new(&rows, &[0.0; 2]).unwrap().centred_at(0.5).unwrap(), false),
        (Design::paired(&rows, &[0.0]).unwrap(), true),
    ] {
        let design = if intercept { design.with_intercept() } else { design };
        let fit = least_squares(&design, &[3.0, 4.0], 1, Constraint::None).unwrap();
        assert_eq!((fit.coefficients(), fit.rank()), ([0.0; 2].as_slice(), Some(0)));
        assert_eq!(fit.intercepts(), intercept.then_some([0.0].as_slice()));
        assert!(fit.hat_values().iter().all(|&hat| hat == 0.0));
    }
}

/// Returns a regression on all coalitions of three players.
fn fit_of_all() -> LeastSquares {
    let rows = Coalitions::from_masks(3, 0..8);
    let design = Design::new(&rows, &[1.0; 8]).unwrap();
    least_squares(&design, &[1.0; 8], 1, Constraint::None).unwrap()
}

#[test]
fn free_fractions_must_be_counted_and_between_zero_and_one() {
    let fit = fit_of_all();
    assert_eq!(fit.certificate(&[0.5; 7]), Err(SolverError::FreeCount { actual: 7, expected: 8 }));
    let mut free = [0.5; 8];
    free[5] = 1.5;
    assert_eq!(fit.certificate(&free), Err(SolverError::Free { index: 5, value: 1.5 }));
    free[5] = f64::NAN;
    assert!(matches!(fit.certificate(&free), Err(SolverError::Free { index: 5, .. })));
}

#[test]
fn deviations_are_among_players_that_exist() {
    let fit = fit_of_all();
    for among in [1..1, 2..4] {
        let (start, end) = (among.start, among.end);
        let error = fit.certificate_of_deviations(among, &[0.5; 8]);
        assert_eq!(error, Err(SolverError::Among { start, end, players: 3 }));
    }
    assert!(fit.certificate_of_deviations(0..3, &[0.5; 8]).is_ok());
}

#[test]
fn without_rows_the_constraint_alone_decides() {
    let rows = Coalitions::new(4);
    let design = Design::paired(&rows, &[]).unwrap();
    assert_eq!(least_squares(&design, &[], 1, Constraint::None).unwrap_err(), SolverError::NoRows);
    let fit = least_squares(&design, &[], 2, Constraint::Sum(&[2.0, -4.0])).unwrap();
    assert_eq!(fit.coefficients(), [0.5, -1.0].repeat(4));
    assert_eq!((fit.rank(), fit.condition_number()), (Some(0), 1.0));
    assert_eq!(fit.factorization(), Factorization::Eigen);
    assert!(fit.hat_values().is_empty() && fit.residuals().is_empty());
    assert_eq!(fit.residual_sum_of_squares(), [0.0, 0.0]);
    assert_eq!(fit.certificate(&[]).unwrap().variances, vec![0.0; 8]);
}

#[test]
fn rows_that_say_nothing_leave_equal_shares() {
    // The design contains the empty and the grand coalition, and rows of weight zero.
    let rows = Coalitions::from_masks(3, [0, 7, 1, 6]);
    let design = Design::paired(&rows, &[1.0, 0.0]).unwrap();
    let fit = least_squares(&design, &[0.0, 6.0, 5.0, 1.0], 1, Constraint::Sum(&[6.0])).unwrap();
    assert_eq!(fit.coefficients(), [2.0; 3]);
    assert_eq!(fit.rank(), Some(0));
    assert_eq!(fit.hat_values(), [0.0, 0.0]);
}

#[test]
fn one_player_gets_everything() {
    let rows = Coalitions::from_masks(1, [0, 1]);
    let design = Design::new(&rows, &[1.0, 1.0]).unwrap();
    let fit = least_squares(&design, &[3.0, 8.0], 1, Constraint::Sum(&[5.0])).unwrap();
    assert_eq!(fit.coefficients(), [5.0]);
    assert_eq!(fit.rank(), Some(0));
    // Without the constraint, the row that contains the player determines the coefficient.
    let fit = least_squares(&design, &[3.0, 8.0], 1, Constraint::None).unwrap();
    assert!((fit.coefficients()[0] - 8.0).abs() < 1e-14);
}

#[test]
fn weights_of_any_size_give_the_same_coefficients() {
    let rows = Coalitions::from_masks(5, 1..31);
    let weights: Vec<f64> = (1..31).map(|row| 1.0 + f64::from(row % 4)).collect();
    let targets: Vec<f64> = (1..31).map(|row| f64::from(row * row % 13)).collect();
    let solve = |scale: f64| {
        let weights: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
        let design = Design::new(&rows, &weights).unwrap();
        let fit = least_squares(&design, &targets, 1, Constraint::Sum(&[3.0])).unwrap();
        (
            fit.coefficients().to_vec(),
            fit.certificate(&[1.0; 30]).unwrap().variances,
            fit.residual_sum_of_squares()[0],
        )
    };
    let (coefficients, variances, sum) = solve(1.0);
    for exponent in [-1000, -300, 40, 900] {
        let scale = 2.0_f64.powi(exponent);
        let (got, got_variances, got_sum) = solve(scale);
        assert_eq!(got, coefficients, "2^{exponent}");
        assert_eq!(got_variances, variances, "2^{exponent}");
        assert_eq!(got_sum, sum * scale, "2^{exponent}");
    }
}

#[test]
fn a_design_tells_what_it_was_made_of() {
    let (rows, weights) = (Coalitions::from_masks(2, [1, 2]), [3.0, 4.0]);
    let plain = Design::new(&rows, &weights).unwrap();
    assert_eq!((plain.coalitions(), plain.weights()), (&rows, &weights[..]));
    assert!(!plain.is_paired() && !plain.has_intercept() && plain.with_intercept().has_intercept());
    for paired in [Design::paired(&rows, &weights[..1]), Design::paired_apart(&rows, &weights)] {
        assert!(paired.unwrap().is_paired());
    }
}
