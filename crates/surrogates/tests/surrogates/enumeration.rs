//! Comparisons with enumeration.

use apportion_games::{Background, MarginalGame, Partition, batch_model};
use apportion_surrogates::TableMethod;
use apportion_values::{Semivalue, Value};

use super::common::{as_rows, exact, smooth, table};

#[test]
fn a_budget_for_all_coalitions_is_exact() {
    let (background, rows) = table(5, 7, 3);
    let explanations = TableMethod::new(32 * 7).explain(&smooth, as_rows(&rows, 5), &background, 1).unwrap();
    for (row, explanation) in rows.chunks(5).zip(&explanations) {
        assert!(explanation.diagnostics.exact);
        for (value, expected) in explanation.values.iter().zip(exact(&smooth, row, &background)) {
            assert!((value - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn additive_models_are_exact() {
    let (background, rows) = table(8, 6, 30);
    let model = |row: &[f64]| row.iter().enumerate().map(|(at, x)| (at as f64 * x).sin()).sum::<f64>();
    for count in [1, 30] {
        let rows = &rows[..8 * count];
        let explanations = TableMethod::new(400).explain(&model, as_rows(rows, 8), &background, 1).unwrap();
        for (row, explanation) in rows.chunks(8).zip(&explanations) {
            for (value, expected) in explanation.values.iter().zip(exact(&model, row, &background)) {
                assert!((value - expected).abs() < 1e-6, "{count}: {value} {expected}");
            }
        }
    }
}

/// The mean over seeds approaches the exact values, for tables whose rows (24) and whose pairs (2) are
/// divided, and the squared errors agree with the reported variances.
#[test]
fn means_over_seeds_approach_enumeration() {
    for (features, count, budget) in [(3, 24, 40), (4, 24, 50), (5, 24, 60), (6, 2, 200), (8, 2, 600)] {
        approach_enumeration(Semivalue::Shapley.into(), features, count, budget);
    }
    for (features, count, budget) in [(4, 24, 50), (5, 24, 60), (6, 2, 200), (8, 2, 600)] {
        approach_enumeration(Semivalue::Banzhaf.into(), features, count, budget);
    }
    let groups = || Partition::new(8, vec![vec![0, 3], vec![7], vec![1, 2, 4], vec![5], vec![6]]).unwrap();
    for semivalue in [Semivalue::Shapley, Semivalue::Banzhaf] {
        approach_enumeration(Value::quotient(semivalue, groups()), 8, 24, 100);
    }
}

fn approach_enumeration(value: Value, features: usize, count: usize, budget: usize) {
    let (background, rows) = table(features, 12, count);
    let method = TableMethod::new(budget).with_value(value.clone());
    let exact = |row: &[f64]| {
        let game = MarginalGame::new(&smooth, row, &background).unwrap();
        value.enumerate(&game).unwrap().values
    };
    let expected: Vec<Vec<f64>> = rows.chunks(features).take(2).map(exact).collect();
    let is_efficient = value.concept().is_efficient();
    let features_or_groups = expected[0].len();
    let seeds = 60;
    let mut sums = vec![vec![(0.0, 0.0, 0.0); features_or_groups]; 2];
    for seed in 0..seeds {
        let found = method.explain(&smooth, as_rows(&rows, features), &background, seed).unwrap();
        for (row, sums) in sums.iter_mut().enumerate() {
            let std_errors = found[row].std_errors.as_ref().unwrap();
            for (at, sum) in sums.iter_mut().enumerate() {
                let error = found[row].values[at] - expected[row][at];
                *sum = (sum.0 + error, sum.1 + error * error, sum.2 + std_errors[at].powi(2));
            }
            assert!(!is_efficient || found[row].efficiency_gap() < 1e-9);
            assert_eq!(found[row].value, value.concept());
        }
    }
    let (mut biased, mut squares, mut variances) = (0.0, 0.0, 0.0);
    for (error, square, variance) in sums.into_iter().flatten() {
        biased += error * error / seeds as f64;
        squares += square;
        variances += variance;
    }
    // Without bias, the ratio is 1 on average, and the shrinkage adds some.
    let (bias, spread) = (biased / squares, squares / variances);
    assert!(bias < 0.1 * seeds as f64, "{value:?}: bias {bias}");
    assert!((0.5..1.7).contains(&spread), "{value:?}, {features} features: variances {spread}");
}

#[test]
fn all_outputs_sum_to_their_predictions() {
    let (background, rows) = table(6, 9, 25);
    let model = batch_model(2, |rows: apportion_games::Rows<'_>| {
        Ok(rows.iter().flat_map(|row| [smooth(row), row[0] - row[1] * row[2]]).collect())
    });
    let explanations = TableMethod::new(80).explain(&model, as_rows(&rows, 6), &background, 2).unwrap();
    for (row, explanation) in rows.chunks(6).zip(&explanations) {
        assert_eq!(explanation.values.len(), 12);
        assert!(explanation.efficiency_gap() < 1e-9);
        assert!((explanation.prediction[1] - (row[0] - row[1] * row[2])).abs() < 1e-12);
    }
}

#[test]
fn features_equal_to_the_background_have_no_value() {
    let (background, rows) = table(6, 5, 1);
    let mut numbers = background.as_rows().values().to_vec();
    numbers.iter_mut().skip(2).step_by(6).for_each(|number| *number = rows[2]);
    let background = Background::rows(numbers, 6).unwrap();
    let explanations = TableMethod::new(100).explain(&smooth, as_rows(&rows, 6), &background, 2).unwrap();
    assert_eq!(explanations[0].values[2], 0.0);
    assert_eq!(explanations[0].std_errors.as_ref().unwrap()[2], 0.0);
}
