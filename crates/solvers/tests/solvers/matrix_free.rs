//! Conjugate gradients on the rows against the factored Gram matrix of the same designs.

use apportion_games::{Coalitions, Purpose, stream};
use apportion_solvers::{
    Constraint, Design, Factorization, Kernel, LeastSquares, Options, least_squares_with,
};
use rand::RngExt;

/// How a design is set up.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Columns {
    Constrained,
    Centred(f64),
    Intercept,
}

/// Coalitions of uniform sizes with the weights of their leverage scores, or of each player by itself with equal weights.
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

/// Values that are additive, with interactions of neighbours and noise beside; m × k.
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
        // Rows of pairs that are rows of their own are always factored.
        let is_apart = is_paired && matches!(columns, Columns::Centred(p) if p != 0.5);
        let is_free = kernel == Kernel::MatrixFree && !is_apart;
        assert_eq!(fit.kernel() == Kernel::MatrixFree, is_free);
        assert_eq!(fit.factorization() == Factorization::None, is_free);
        fit
    })
}

/// The largest difference over the largest entry.
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
                // With many rows to spare, and with less rows than players.
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
                            // Known wherever the rows are many or few.
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
