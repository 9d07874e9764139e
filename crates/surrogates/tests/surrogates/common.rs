//! Rows and models for tests.

use apportion_games::{Background, MarginalGame, Model, Rows};
use apportion_values::{Semivalue, enumerate};

/// Returns pseudo-random numbers in [−1, 1).
pub(crate) fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(next).collect()
}

/// A background and rows of a table.
pub(crate) fn table(features: usize, background: usize, rows: usize) -> (Background, Vec<f64>) {
    let all = numbers((background + rows) * features, 7);
    let (first, rest) = all.split_at(background * features);
    (Background::rows(first.to_vec(), features).unwrap(), rest.to_vec())
}

/// A smooth model with interactions of high order.
pub(crate) fn smooth(row: &[f64]) -> f64 {
    let sum: f64 = row.iter().enumerate().map(|(at, x)| x * (at as f64 - 1.5)).sum();
    (1.5 * sum).tanh() + row[0] * row[1] * row[2] + row.iter().product::<f64>()
}

/// Returns the Shapley values of a row by enumeration.
pub(crate) fn exact<M: Model>(model: &M, row: &[f64], background: &Background) -> Vec<f64> {
    let game = MarginalGame::new(model, row, background).unwrap();
    enumerate(&game, Semivalue::Shapley).unwrap().values
}

pub(crate) fn as_rows(numbers: &[f64], features: usize) -> Rows<'_> {
    Rows::new(numbers, features)
}
