//! Mutual information of features discretized into bins.

use apportion_games::{Purpose, stream};
use rand::seq::SliceRandom;

use super::measure::{Measure, informational_coefficient};
use super::ranks::Ordered;

/// The seed of the draws that estimate the distribution under independence.
const SEED: u64 = 0;

/// Mutual information in bins of equal frequency, as Linfoot's coefficient.
pub(super) struct Binning {
    /// The number of bins of a feature, if set.
    pub(super) bins: Option<usize>,
}

/// A column discretized into bins.
pub(super) struct Binned {
    /// The bin of each row, less than the number of bins.
    bin: Vec<u32>,
    /// The number of rows in each bin.
    counts: Vec<u32>,
}

impl Binned {
    fn new(bin: Vec<u32>, bins: usize) -> Self {
        let mut counts = vec![0; bins];
        for &bin in &bin {
            counts[bin as usize] += 1;
        }
        Self { bin, counts }
    }
}

/// Returns the bin of tied rows. They are at the positions `start..end` of the sorted column. Their bin is
/// ⌊(r − ½) b / N⌋, where r is their mid-rank and 2r − 1 = `start` + `end`.
fn bin(start: usize, end: usize, rows: usize, bins: usize) -> u32 {
    ((start + end) * bins / (2 * rows)) as u32
}

impl Binning {
    /// Returns the number of bins that was set, or the default ⌊N^(1/4)⌋ + 1.
    fn bins(&self, rows: usize) -> usize {
        self.bins.unwrap_or_else(|| rows.isqrt().isqrt() + 1)
    }

    /// Estimates the mutual information of two independent features without ties, in nats, from draw number
    /// `unit`.
    pub(super) fn under_independence(&self, rows: usize, unit: u64) -> f64 {
        let bins = self.bins(rows);
        let ascending: Vec<u32> = (0..rows).map(|place| bin(place, place + 1, rows, bins)).collect();
        let mut shuffled = ascending.clone();
        shuffled.shuffle(&mut stream(SEED, Purpose::Permutations, unit));
        information(&Binned::new(ascending, bins), &Binned::new(shuffled, bins))
    }
}

impl Measure for Binning {
    type Prepared = Binned;

    fn prepare(&self, numbers: &[f64], _column: usize) -> Binned {
        let (rows, bins) = (numbers.len(), self.bins(numbers.len()));
        Binned::new(Ordered::new(numbers).by_run(|start, end| bin(start, end, rows, bins)), bins)
    }

    fn between(&self, first: &Binned, second: &Binned) -> f64 {
        informational_coefficient(information(first, second))
    }
}

/// Estimates the mutual information of two columns in nats, with bias correction.
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
