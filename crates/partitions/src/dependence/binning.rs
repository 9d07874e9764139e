//! Mutual information of features in bins.

use super::ranks::Ordered;
use super::{Measure, informational_coefficient};

/// Mutual information in bins of equal frequency, as Linfoot's coefficient.
pub(super) struct Binning {
    /// Bins of a feature; chosen by the number of rows where there is none.
    pub(super) bins: Option<usize>,
}

/// The bins of a column.
pub(super) struct Binned {
    /// The bin of each row, below `bins`.
    bin: Vec<u32>,
    /// Rows in each bin.
    counts: Vec<u32>,
}

/// Bins of a feature by default: ⌊rows^(1/4)⌋ + 1.
pub(super) fn default_bins(rows: usize) -> usize {
    rows.isqrt().isqrt() + 1
}

impl Measure for Binning {
    type Prepared = Binned;

    fn prepare(&self, numbers: &[f64], _column: usize) -> Binned {
        let rows = numbers.len();
        let bins = self.bins.unwrap_or_else(|| default_bins(rows));
        // The bin of the mid-rank r is ⌊(r − ½) b / N⌋, and 2 r − 1 = start + end.
        let bin = Ordered::new(numbers).by_run(|start, end| ((start + end) * bins / (2 * rows)) as u32);
        let mut counts = vec![0; bins];
        for &bin in &bin {
            counts[bin as usize] += 1;
        }
        Binned { bin, counts }
    }

    fn between(&self, first: &Binned, second: &Binned) -> f64 {
        informational_coefficient(information(first, second))
    }
}

/// The estimate of mutual information in nats, bias taken off.
fn information(x: &Binned, y: &Binned) -> f64 {
    let across = y.counts.len();
    let mut cells = vec![0_u32; x.counts.len() * across];
    for (&a, &b) in x.bin.iter().zip(&y.bin) {
        cells[a as usize * across + b as usize] += 1;
    }
    let rows = x.bin.len() as f64;
    let mut sum = 0.0;
    for (a, cells) in cells.chunks_exact(across).enumerate() {
        for (b, &count) in cells.iter().enumerate() {
            if count > 0 {
                let count = f64::from(count);
                sum += count * (count * rows / (f64::from(x.counts[a]) * f64::from(y.counts[b]))).ln();
            }
        }
    }
    let filled = |counts: &[u32]| counts.iter().filter(|&&count| count > 0).count() as f64;
    (sum + 0.5 * (filled(&x.counts) + filled(&y.counts) - filled(&cells) - 1.0)) / rows
}
