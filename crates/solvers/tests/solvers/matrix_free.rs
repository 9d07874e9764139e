//! Compares conjugate gradients on the rows with the factored Gram matrix of the same designs.

use std::ops::Range;

use apportion_games::{Coalitions, Purpose, stream};
use apportion_solvers::{
    Certificate, Constraint, Design, Factorization, Kernel, LeastSquares, Options, SolverError,
    least_squares_with,
};
use rand::RngExt;

/// The kind of columns of a design.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Columns {
    Constrained,
    Centred(f64),
    Intercept,
}

/// Returns one of two kinds of sampled coalitions: with uniform sizes and the weights that correspond to
/// leverage scores, or with each player present independently and equal weights.
fn sampled(
    players: usize,
    rows: usize,
    columns: Columns,
    is_paired: bool,
    seed: u64,
) -> (Coalitions, Vec<f64>) {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let mut coalitions = Coalitions::with_capacity(players, rows);
    let mut weights = Vec::new();
    let mut order: Vec<usize> = (0..players).collect();
    while coalitions.len() < rows {
        if columns == Columns::Constrained && players > 1 {
            let size = rng.random_range(1..players);
            for position in 0..size {
                order.swap(position, rng.random_range(position..players));
            }
            coalitions.push_members(order[..size].iter().copied());
            weights.push(1.0 / (size * (players - size)) as f64);
        } else {
            coalitions.push_members((0..players).filter(|_| rng.random_bool(0.5)));
            weights.push(1.0);
        }
        if is_paired {
            coalitions.push_complement(coalitions.len() - 1);
        }
    }
    (coalitions, weights)
}

/// Returns the targets, m × k: the values of an additive game, with interactions of neighbours and noise.
fn targets(coalitions: &Coalitions, outputs: usize, offset: f64) -> Vec<f64> {
    let value = |row: usize, output: usize| {
        let members: Vec<usize> = coalitions.row(row).members().collect();
        let additive: f64 = members.iter().map(|&i| ((i * (output + 2)) % 13) as f64 - 5.0).sum();
        let pairs = members.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        offset + additive + (members.len() as f64 * 0.7 + output as f64).sin() * 3.0 + pairs as f64
    };
    (0..coalitions.len()).flat_map(|row| (0..outputs).map(move |output| value(row, output))).collect()
}

fn both(
    coalitions: &Coalitions,
    weights: &[f64],
    columns: Columns,
    is_paired: bool,
    outputs: usize,
    offset: f64,
) -> [LeastSquares; 2] {
    let design =
        if is_paired { Design::paired(coalitions, weights) } else { Design::new(coalitions, weights) };
    let sums: Vec<f64> = (0..outputs).map(|output| output as f64 - 1.0).collect();
    let (design, constraint) = match columns {
        Columns::Constrained => (design.unwrap(), Constraint::Sum(&sums)),
        Columns::Centred(p) => (design.unwrap().centred_at(p).unwrap(), Constraint::None),
        Columns::Intercept => (design.unwrap().with_intercept(), Constraint::None),
    };
    let values = targets(coalitions, outputs, offset);
    [Kernel::Auto, Kernel::MatrixFree].map(|kernel| {
        let fit = least_squares_with(&design, &values, outputs, constraint, &Options { kernel }).unwrap();
        // Pairs whose members are separate rows are always factored.
        let is_apart = is_paired && matches!(columns, Columns::Centred(p) if p != 0.5);
        let is_free = kernel == Kernel::MatrixFree && !is_apart;
        assert_eq!(fit.kernel() == Kernel::MatrixFree, is_free);
        assert_eq!(fit.factorization() == Factorization::None, is_free);
        fit
    })
}

/// Returns the largest difference, relative to the largest entry.
fn apart(got: &[f64], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len());
    let largest = want.iter().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    got.iter().zip(want).map(|(got, want)| (got - want).abs()).fold(0.0, f64::max) / largest
}

#[test]
fn coefficients_residuals_and_ranks_are_those_of_the_factored_matrix() {
    for columns in [
        Columns::Constrained,
        Columns::Centred(0.0),
        Columns::Centred(0.3),
        Columns::Centred(0.5),
        Columns::Intercept,
    ] {
        for is_paired in [false, true] {
            for players in [1, 2, 5, 64, 65, 130, 300] {
                // Use many more rows than players, and fewer rows than players.
                for rows in [6 * players, 12 * players + 1, players / 2] {
                    let rows = (rows & !1).max(2);
                    for outputs in [1, 3] {
                        let (coalitions, weights) = sampled(players, rows, columns, is_paired, 1);
                        let [want, got] = both(&coalitions, &weights, columns, is_paired, outputs, 0.0);
                        let name = format!("{columns:?}, pairs {is_paired}, {players} players, {rows} rows");
                        let error = apart(got.coefficients(), want.coefficients());
                        assert!(error < 1e-9, "{name}: coefficients are {error} apart");
                        let error = apart(&got.residuals(), &want.residuals());
                        let scale =
                            targets(&coalitions, outputs, 0.0).iter().fold(0.0_f64, |l, v| l.max(v.abs()));
                        let largest = want.residuals().iter().fold(0.0_f64, |l, v| l.max(v.abs()));
                        assert!(
                            error * largest < 1e-9 * scale.max(1.0),
                            "{name}: residuals are {error} apart"
                        );
                        if let Some(rank) = got.rank() {
                            assert_eq!(Some(rank), want.rank(), "{name}");
                            let ratio = got.condition_number() / want.condition_number();
                            assert!(ratio > 0.8 && ratio < 1.0 + 1e-6, "{name}: condition {ratio}");
                        } else {
                            // All numbers of rows are far from the number of players, so the rank must be
                            // known, except for up to 5 players.
                            assert!(players <= 5, "{name}: rank {:?}", want.rank());
                        }
                        if let Some(betas) = want.intercepts() {
                            let found = got.intercepts().unwrap().iter().zip(betas);
                            let error = found.map(|(got, want)| (got - want).abs()).fold(0.0, f64::max);
                            assert!(error <= 1e-9 * scale, "{name}: intercepts are {error} apart");
                        }
                    }
                }
            }
        }
    }
}

/// Compares the standard errors of some players by probes with the computed ones. Returns the square root of
/// the ratio of their sums of squares, and the smallest ratio of two standard errors.
fn compared(computed: &Certificate, probed: &Certificate, players: Range<usize>) -> (f64, f64) {
    // There are two outputs per player.
    let of =
        |certificate: &Certificate| certificate.standard_errors[2 * players.start..2 * players.end].to_vec();
    let (computed, probed) = (of(computed), of(probed));
    let sum = |errors: &[f64]| errors.iter().map(|error| error * error).sum::<f64>();
    let ratios = probed.iter().zip(&computed).map(|(got, want)| got / want);
    ((sum(&probed) / sum(&computed)).sqrt(), ratios.fold(f64::INFINITY, f64::min))
}

#[test]
fn the_certificate_by_probes_is_near_the_computed_one() {
    let columns = [
        Columns::Constrained,
        Columns::Centred(0.0),
        Columns::Centred(0.4),
        Columns::Centred(0.5),
        Columns::Intercept,
    ];
    for (columns, is_paired, per_player) in columns.into_iter().flat_map(|columns| {
        [(columns, false, 4), (columns, false, 10), (columns, true, 6), (columns, true, 20)]
    }) {
        if is_paired && matches!(columns, Columns::Centred(p) if p != 0.5) {
            continue;
        }
        let players = 200;
        let (coalitions, weights) = sampled(players, per_player * players, columns, is_paired, 7);
        let fits = both(&coalitions, &weights, columns, is_paired, 2, 0.0);
        let free: Vec<f64> = (0..weights.len()).map(|row| if row % 9 == 0 { 0.0 } else { 0.8 }).collect();
        let times: Vec<u32> = (0..weights.len()).map(|row| [1, 1, 1, 3][row % 4]).collect();
        for (what, covered, [computed, probed]) in [
            ("without replacement", 0..200, fits.each_ref().map(|fit| fit.certificate(&free).unwrap())),
            ("draws", 0..200, fits.each_ref().map(|fit| fit.certificate_of_draws(&times).unwrap())),
            (
                "deviations",
                20..170,
                fits.each_ref().map(|fit| fit.certificate_of_deviations(20..170, &free).unwrap()),
            ),
            ("of few", 3..5, fits.each_ref().map(|fit| fit.certificate_of_deviations(3..5, &free).unwrap())),
        ] {
            let name = format!("{columns:?}, pairs {is_paired}, {per_player} a player, {what}");
            let is_few = covered.len() <= 16;
            let (size, least) = compared(&computed, &probed, covered.clone());
            // If all rows have much in common, they favour one direction, and errors are overestimated.
            let most = if is_few {
                1.01
            } else if columns == Columns::Centred(0.0) {
                1.5
            } else {
                1.1
            };
            assert!(size > 0.97 && size < most, "{name}: errors are {size} of the computed ones");
            assert!(least > 0.6, "{name}: an error is {least} of the computed one");
            for others in [0..covered.start, covered.end..players] {
                let (size, _) = compared(&computed, &probed, others.clone());
                assert!(others.is_empty() || size > 0.7 && size < 1.6, "{name}: others' are {size}");
            }
            for output in 0..2 {
                let directions = probed.directions[output] / computed.directions[output];
                assert!(directions > 0.4 && directions < 1.5, "{name}: {directions} of the directions");
            }
            let freedom = probed.degrees_of_freedom / computed.degrees_of_freedom;
            assert!(freedom > 0.8 && freedom < 1.25, "{name}: {freedom} of the degrees of freedom");
        }
        let [computed, probed] = fits.each_ref().map(LeastSquares::hat_values);
        let sums = [&computed, &probed].map(|hats| hats.iter().sum::<f64>());
        assert!((sums[0] - sums[1]).abs() < 1e-6 * sums[0], "{columns:?}: hat values sum to {sums:?}");
        let off = probed.iter().zip(&computed).map(|(got, want)| (got / want - 1.0).abs());
        assert!(
            columns == Columns::Centred(0.0) || off.fold(0.0, f64::max) < 0.3,
            "{columns:?}, {is_paired}"
        );
    }
}

#[test]
fn outputs_of_any_scale_are_solved_side_by_side() {
    let (coalitions, weights) = sampled(70, 700, Columns::Constrained, true, 3);
    let values = targets(&coalitions, 1, 0.0);
    let scales = [1.0, 1e290, 1e-300, 0.0, -1.0, 1e-20, 3.0, 1e10, 7.0, 1e150, 1.0];
    let many: Vec<f64> = values.iter().flat_map(|value| scales.map(|scale| value * scale)).collect();
    let sums = scales.map(|scale| 2.0 * scale);
    let options = Options { kernel: Kernel::MatrixFree };
    let design = Design::paired(&coalitions, &weights).unwrap();
    let fit = least_squares_with(&design, &many, scales.len(), Constraint::Sum(&sums), &options).unwrap();
    let one = least_squares_with(&design, &values, 1, Constraint::Sum(&sums[..1]), &options).unwrap();
    let certificate = fit.certificate(&vec![1.0; weights.len()]).unwrap();
    for (output, scale) in scales.into_iter().enumerate() {
        for (player, want) in one.coefficients().iter().enumerate() {
            let got = fit.coefficients()[player * scales.len() + output];
            assert!((got - want * scale).abs() <= 1e-11 * scale.abs() * 20.0, "{scale}: {got}");
            let error = certificate.standard_errors[player * scales.len() + output];
            assert!(error.is_finite() && (error > 0.0) == (scale != 0.0), "{scale}: {error}");
        }
    }
}

#[test]
fn offsets_and_weights_of_many_decades_cost_no_more_digits_than_factored() {
    for is_paired in [false, true] {
        for columns in [Columns::Constrained, Columns::Centred(0.5), Columns::Intercept] {
            let (coalitions, mut weights) = sampled(40, 800, columns, is_paired, 9);
            weights
                .iter_mut()
                .enumerate()
                .for_each(|(row, weight)| *weight *= 10.0_f64.powi(row as i32 % 5 - 2));
            let [want, got] = both(&coalitions, &weights, columns, is_paired, 1, 1e7);
            let error = apart(got.coefficients(), want.coefficients());
            assert!(error < 1e-8, "{columns:?}, pairs {is_paired}: {error}");
            assert_eq!(got.rank(), want.rank(), "{columns:?}, pairs {is_paired}");
        }
    }
}

#[test]
fn players_who_are_always_together_leave_the_rank_unknown_and_share_alike() {
    let (players, rows) = (60, 600);
    let (some, weights) = sampled(players - 1, rows, Columns::Centred(0.5), false, 4);
    let mut coalitions = Coalitions::with_capacity(players, rows);
    for row in some.iter() {
        let members: Vec<usize> = row.members().collect();
        let twin = members.contains(&7).then_some(players - 1);
        coalitions.push_members(members.into_iter().chain(twin));
    }
    let [want, got] = both(&coalitions, &weights, Columns::Centred(0.5), false, 2, 0.0);
    assert_eq!((want.rank(), got.rank()), (Some(players - 1), None));
    assert!(apart(got.coefficients(), want.coefficients()) < 1e-9);
    assert!((got.coefficients()[2 * 7] - got.coefficients()[2 * (players - 1)]).abs() < 1e-9);
}

#[test]
fn rows_that_weigh_nothing_and_targets_that_are_nothing_are_legal() {
    let coalitions = Coalitions::from_masks(3, [1, 6, 2, 5]);
    let options = Options { kernel: Kernel::MatrixFree };
    let design = Design::paired(&coalitions, &[0.0, 0.0]).unwrap();
    let fit = least_squares_with(&design, &[1.0; 4], 1, Constraint::Sum(&[6.0]), &options).unwrap();
    assert_eq!((fit.coefficients(), fit.rank()), ([2.0; 3].as_slice(), Some(0)));
    let design = Design::paired(&coalitions, &[1.0, 2.0]).unwrap();
    let fit = least_squares_with(&design, &[0.0; 4], 1, Constraint::Sum(&[0.0]), &options).unwrap();
    assert_eq!((fit.coefficients(), fit.rank()), ([0.0; 3].as_slice(), Some(2)));
    let none = Coalitions::new(4);
    let design = Design::paired(&none, &[]).unwrap();
    let fit = least_squares_with(&design, &[], 1, Constraint::Sum(&[8.0]), &options).unwrap();
    assert_eq!((fit.coefficients(), fit.rank()), ([2.0; 4].as_slice(), Some(0)));
}

#[test]
fn the_matrix_is_left_out_beyond_two_thousand_players() {
    let players = 2001;
    // Each row contains a different pair of players.
    let mut coalitions = Coalitions::new(players);
    for first in 0..20 {
        coalitions.push_members([first, first + 500]);
    }
    let weights = [1.0; 20];
    let values: Vec<f64> = (0..20).map(f64::from).collect();
    let design = Design::new(&coalitions, &weights).unwrap();
    let fit = least_squares_with(&design, &values, 1, Constraint::None, &Options::default()).unwrap();
    assert_eq!((fit.kernel(), fit.rank()), (Kernel::MatrixFree, Some(20)));
    // The solution of minimum norm divides a value equally between the two players of a row.
    for (first, value) in values.iter().enumerate() {
        assert!((fit.coefficients()[first] - value / 2.0).abs() < 1e-12);
        assert!((fit.coefficients()[first + 500] - value / 2.0).abs() < 1e-12);
    }
    assert!(matches!(fit.certificate(&[1.0; 20]), Err(SolverError::Saturated { .. })));
}
