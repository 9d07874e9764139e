//! The learner: predictions, missing values, categories, several outputs.

use apportion_games::{Background, Rows};
use apportion_surrogates::{LearningRows, Surrogate};
use apportion_values::Semivalue;

use super::common::{exact, numbers};

/// Rows of numbers, of which the third feature is missing at times, and the fourth a code from 0 to 6.
fn rows() -> Vec<f64> {
    let mut rows = numbers(4 * 3000, 3);
    for (at, row) in rows.chunks_mut(4).enumerate() {
        if at % 5 == 0 {
            row[2] = f64::NAN;
        }
        row[3] = (at * 31 % 7) as f64;
    }
    rows
}

fn targets(row: &[f64]) -> [f64; 2] {
    let third = if row[2].is_nan() { 2.0 } else { row[2] };
    let of_code = [1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0][row[3] as usize];
    [row[0] + of_code * row[1], third + of_code]
}

fn learned() -> (Surrogate, Background) {
    let all = rows();
    let background = Background::rows(all[..4 * 8].to_vec(), 4).unwrap();
    let of_all: Vec<f64> = all.chunks(4).flat_map(targets).collect();
    let learning = LearningRows {
        rows: Rows::new(&all, 4),
        targets: &of_all,
        outputs: 2,
        is_categorical: &[false, false, false, true],
    };
    (Surrogate::learn(learning, &background, &of_all[..16], 1).unwrap(), background)
}

#[test]
fn surrogates_learn_numbers_missing_values_and_categories() {
    let (surrogate, _) = learned();
    let fresh = numbers(4 * 400, 11);
    let fresh: Vec<f64> = fresh
        .chunks(4)
        .enumerate()
        .flat_map(|(at, row)| [row[0], row[1], if at % 3 == 0 { f64::NAN } else { row[2] }, (at % 7) as f64])
        .collect();
    let found = surrogate.predict(Rows::new(&fresh, 4)).unwrap();
    let expected: Vec<f64> = fresh.chunks(4).flat_map(targets).collect();
    for output in 0..2 {
        let column = |numbers: &[f64]| numbers.iter().skip(output).step_by(2).copied().collect::<Vec<_>>();
        let (found, expected) = (column(&found), column(&expected));
        let squares: f64 = found.iter().zip(&expected).map(|(a, b)| (a - b).powi(2)).sum();
        let total: f64 = expected.iter().map(|b| b * b).sum();
        assert!(squares < 0.05 * total, "output {output}: {squares} of {total}");
    }
}

#[test]
fn trees_and_the_linear_part_predict_without_values_outside_of_the_learning_rows() {
    let (surrogate, _) = learned();
    let mut rows = rows()[..4 * 200].to_vec();
    // Codes that were not seen, and values outside of the range.
    rows[3] = 99.0;
    rows[7] = f64::NAN;
    rows[8] = 1e300;
    rows[13] = f64::NEG_INFINITY;
    let rows = Rows::new(&rows, 4);
    let found = surrogate.predict(rows).unwrap();
    assert!(found.iter().all(|value| value.abs() < 10.0));
}

#[test]
fn values_equal_enumeration() {
    let (surrogate, background) = learned();
    let rows = rows();
    let rows = Rows::new(&rows[4 * 20..4 * 26], 4);
    let found = surrogate.values(Semivalue::Shapley, &background, rows).unwrap();
    for (row, values) in rows.iter().zip(found.values.chunks(8)) {
        for output in 0..2 {
            let model = |row: &[f64]| surrogate.predict(Rows::new(row, 4)).unwrap()[output];
            for (at, expected) in exact(&model, row, &background).into_iter().enumerate() {
                assert!((values[2 * at + output] - expected).abs() < 1e-10);
            }
        }
    }
}
