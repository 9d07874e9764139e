//! Tests of weighted data. For every distribution, integer weights must be equivalent to repeated rows, and
//! zero weights to omitted rows.

use apportion_games::{
    Background, Coalitions, ConditionalDistribution, ConditionalGame, CopulaDistribution,
    EmpiricalDistribution, FrequencyDistribution, GameError, GaussianDistribution, Purpose, Rows, stream,
};
use rand::RngExt;

use crate::common::{all_coalitions, assert_close, values};

const DRAWS: usize = 60;

fn curved(row: &[f64]) -> f64 {
    row.iter().enumerate().map(|(i, x)| (x * (1.0 + i as f64 / 3.0)).sin()).sum::<f64>()
        + row[0] * row[row.len() - 1]
}

type BoxedDistribution = Box<dyn ConditionalDistribution>;

/// Returns one distribution of each kind, fitted to rows with or without weights.
fn distributions(rows: Rows<'_>, weights: Option<&[f64]>) -> Vec<(&'static str, BoxedDistribution)> {
    let boxed = |distribution: EmpiricalDistribution| Box::new(distribution) as BoxedDistribution;
    let (gaussian, copula, empirical, frequency) = match weights {
        None => (
            GaussianDistribution::fit(rows, DRAWS, 7),
            CopulaDistribution::fit(rows, DRAWS, 7),
            EmpiricalDistribution::fit(rows),
            FrequencyDistribution::fit(rows),
        ),
        Some(weights) => {
            let table =
                Background::rows(rows.values(), rows.columns()).unwrap().with_weights(weights).unwrap();
            (
                GaussianDistribution::fit_weighted(rows, weights, DRAWS, 7),
                CopulaDistribution::fit_weighted(rows, weights, DRAWS, 7),
                EmpiricalDistribution::fit_weighted(rows, weights),
                Ok(FrequencyDistribution::from_table(&table)),
            )
        }
    };
    let empirical = empirical.unwrap();
    let model = std::sync::Arc::new(curved);
    vec![
        ("gaussian", Box::new(gaussian.unwrap()) as BoxedDistribution),
        ("copula", Box::new(copula.unwrap()) as BoxedDistribution),
        ("adapted", Box::new(empirical.clone().with_bandwidths_by_aicc(model).unwrap()) as BoxedDistribution),
        ("wide", boxed(empirical.clone().with_bandwidth(2.0).unwrap().with_share(0.8).unwrap())),
        ("empirical", boxed(empirical)),
        ("frequency", Box::new(frequency.unwrap()) as BoxedDistribution),
    ]
}

/// Returns correlated columns with one decimal, so that values repeat.
fn data(n: usize, rows: usize, unit: u64) -> Vec<f64> {
    let mut rng = stream(2027, Purpose::Experiment, unit);
    let shared: Vec<f64> = (0..rows).map(|_| rng.random_range(-2.0..2.0)).collect();
    (0..n * rows).map(|i| (10.0 * (shared[i / n] + rng.random_range(-1.0..1.0))).round() / 10.0).collect()
}

fn played(distribution: &dyn ConditionalDistribution, explicand: &[f64], batch: &Coalitions) -> Vec<f64> {
    values(&ConditionalGame::new(&curved, explicand, distribution).unwrap(), batch)
}

#[test]
fn whole_weights_are_repeated_rows_in_every_law() {
    for (n, rows, unit) in [(1, 12, 0), (2, 25, 1), (3, 40, 2), (4, 31, 3)] {
        let data = data(n, rows, unit);
        let mut rng = stream(2027, Purpose::Experiment, 100 + unit);
        let weights: Vec<f64> =
            (0..rows).map(|row| if row == 0 { 2.0 } else { f64::from(rng.random_range(0..4)) }).collect();
        let repeated: Vec<f64> =
            data.chunks(n).zip(&weights).flat_map(|(row, &weight)| row.repeat(weight as usize)).collect();
        let explicand = data[..n].to_vec();
        let batch = all_coalitions(n);
        let weighted = distributions(Rows::new(&data, n), Some(&weights));
        let repeated = distributions(Rows::new(&repeated, n), None);
        for ((name, weighted), (_, repeated)) in weighted.iter().zip(&repeated) {
            let (got, expected) =
                (played(&**weighted, &explicand, &batch), played(&**repeated, &explicand, &batch));
            // Rounding errors of the sums limit the accuracy of the bandwidth that the golden-section search
            // finds.
            let tolerance = if *name == "adapted" { 1e-5 } else { 1e-10 };
            assert_close(&got, &expected, tolerance, &format!("{name}, {n} features"));
        }
    }
}

#[test]
fn equal_weights_of_any_size_are_none() {
    let (n, rows) = (3, 30);
    let data = data(n, rows, 10);
    let explicand = data[..n].to_vec();
    let batch = all_coalitions(n);
    let without = distributions(Rows::new(&data, n), None);
    for weight in [0.1, 1.0, 1e-300, 1e300] {
        let weighted = distributions(Rows::new(&data, n), Some(&vec![weight; rows]));
        for ((name, weighted), (_, without)) in weighted.iter().zip(&without) {
            let (got, expected) =
                (played(&**weighted, &explicand, &batch), played(&**without, &explicand, &batch));
            assert_close(&got, &expected, 1e-9, &format!("{name}, weight {weight}"));
        }
    }
}

#[test]
fn a_row_of_no_weight_is_no_row() {
    let (n, rows) = (2, 20);
    let mut data = data(n, rows, 20);
    let weights: Vec<f64> = (0..rows).map(|row| if row % 5 == 3 { 0.0 } else { 0.5 + row as f64 }).collect();
    let explicand = data[..n].to_vec();
    let batch = all_coalitions(n);
    let before: Vec<Vec<f64>> = distributions(Rows::new(&data, n), Some(&weights))
        .iter()
        .map(|(_, distribution)| played(&**distribution, &explicand, &batch))
        .collect();
    for row in (0..rows).filter(|row| row % 5 == 3) {
        data[row * n..(row + 1) * n].fill(1e6);
    }
    let after: Vec<Vec<f64>> = distributions(Rows::new(&data, n), Some(&weights))
        .iter()
        .map(|(_, distribution)| played(&**distribution, &explicand, &batch))
        .collect();
    assert_eq!(before, after);
}

#[test]
fn weights_that_are_none_are_refused_by_every_law() {
    let data = data(2, 10, 30);
    let rows = Rows::new(&data, 2);
    let mut negative = vec![1.0; 10];
    negative[4] = -1.0;
    for (weights, words) in [
        (vec![1.0; 9], "got 9 weights; expected one finite, non-negative weight per row (rows: 10)"),
        (vec![0.0; 10], "all weights are zero"),
        (negative, "the weight of row 4 is -1"),
    ] {
        for refused in [
            GaussianDistribution::fit_weighted(rows, &weights, 10, 0).map(drop),
            CopulaDistribution::fit_weighted(rows, &weights, 10, 0).map(drop),
            EmpiricalDistribution::fit_weighted(rows, &weights).map(drop),
        ] {
            let refused: GameError = refused.unwrap_err();
            assert!(refused.to_string().contains(words), "{refused}");
        }
    }
    // Two rows of weight one are too few for two features.
    let mut few = vec![0.0; 10];
    few[..2].fill(1.0);
    let refused = EmpiricalDistribution::fit_weighted(rows, &few).unwrap_err();
    assert!(matches!(refused, GameError::TooFewRows { actual: 2, min: 3, .. }), "{refused}");
}
