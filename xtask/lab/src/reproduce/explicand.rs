//! Which row is explained.

use apportion::games::{Purpose, stream};
use rand::RngExt;

use super::datasets::Dataset;

/// Rows tried for an entry that equals the baseline, before it is left as it is.
const ATTEMPTS: usize = 100;

/// Which of so many rows is drawn with `seed`.
pub(crate) fn row_index(rows: usize, seed: u64) -> usize {
    stream(seed, Purpose::Experiment, 0).random_range(0..rows)
}

/// A row of `dataset` drawn with `seed`, by the protocol of the Leverage SHAP experiments. An entry that equals the baseline would make a null player, so it is taken from another random
/// row; where 100 rows do not help (a constant column), it stays and the player is null.
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
