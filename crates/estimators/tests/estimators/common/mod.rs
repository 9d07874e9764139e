//! What several test files need.

pub(crate) mod all;

/// Solves a square system by Gaussian elimination with partial pivoting; each row ends with its right-hand side.
pub(crate) fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for column in 0..n {
        let rest = rows[column..].iter().map(|row| row[column].abs()).enumerate();
        let pivot = column + rest.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(row, _)| row);
        rows.swap(column, pivot);
        let (upper, lower) = rows.split_at_mut(column + 1);
        let pivot = &upper[column];
        for row in lower {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(pivot).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut x = vec![0.0; n];
    for (index, row) in rows.iter().enumerate().rev() {
        let known: f64 = row[index + 1..n].iter().zip(&x[index + 1..]).map(|(a, b)| a * b).sum();
        x[index] = (row[n] - known) / row[index];
    }
    x
}
