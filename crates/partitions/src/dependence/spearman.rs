//! Spearman's rank correlation.

use super::measure::Measure;
use super::ranks::Ordered;

/// |ρ|, the absolute correlation of mid-ranks.
pub(super) struct Spearman;

/// Twice the mid-rank of each row, minus the mean N + 1. These numbers are integers, so sums of products are
/// exact up to N = 2·10^5.
pub(super) struct CentredRanks {
    ranks: Vec<f64>,
    square: f64,
}

impl Measure for Spearman {
    type Prepared = CentredRanks;

    fn prepare(&self, numbers: &[f64], _column: usize) -> CentredRanks {
        let rows = numbers.len() as f64;
        // The mean of the ranks start + 1 … end is (start + 1 + end) / 2.
        let ranks = Ordered::new(numbers).by_run(|start, end| (start + end) as f64 - rows);
        CentredRanks { square: product(&ranks, &ranks), ranks }
    }

    fn between(&self, first: &CentredRanks, second: &CentredRanks) -> f64 {
        (product(&first.ranks, &second.ranks).abs() / (first.square.sqrt() * second.square.sqrt())).min(1.0)
    }
}

/// Returns Σ a_i b_i, summed in blocks.
fn product(a: &[f64], b: &[f64]) -> f64 {
    const BLOCK: usize = 1024;
    let block = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    a.chunks(BLOCK).zip(b.chunks(BLOCK)).map(block).sum()
}
