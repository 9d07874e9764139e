//! Choice of the explained row.

use apportion::games::{Purpose, stream};
use rand::RngExt;

use super::datasets::Dataset;

/// Maximum number of random rows from which a replacement is taken for an entry that equals the baseline.
const ATTEMPTS: usize = 100;

/// Draws the index of a row with `seed`.
pub(crate) fn row_index(rows: usize, seed: u64) -> usize {
    stream(seed, Purpose::Experiment, 0).random_range(0..rows)
}

/// Draws a row of `dataset` with `seed`, following the protocol of the Leverage SHAP experiments. An entry
/// that equals the baseline would make its player a null player, so it is taken from another random row. If
/// the entries of 100 random rows all equal the baseline (as in a constant column), the entry is kept and the
/// player is a null player.
pub(crate) fn draw(dataset: &Dataset, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let mut explicand = dataset.row(rng.random_range(0..dataset.rows())).to_vec();
    for (player, (entry, &baseline)) in explicand.iter_mut().zip(&dataset.means).enumerate() {
        for _ in 0..ATTEMPTS {
            if *entry != baseline {
                break;
            }
            *entry = dataset.row(rng.random_range(0..dataset.rows()))[player];
        }
    }
    explicand
}
