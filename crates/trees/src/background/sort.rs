//! Sorts rows by pattern at every leaf. Most kernels need no other information about the background.

use apportion_games::{Cancellation, parallel};
use apportion_models::Ensemble;

use super::dense::Dense;
use crate::engine::histograms::{Histograms, Sorted};
use crate::engine::paths::{BLOCK, Columns, Paths};

/// Returns the background patterns of every tree. The rows of `background` are rounded and row-major, with
/// `weights`; `player_of` maps each feature to its player.
pub(crate) fn sort(ensemble: &Ensemble, background: &[f64], weights: &[f64], player_of: &[u32]) -> Sorted {
    let paths: Vec<Option<Paths>> =
        parallel::map(ensemble.trees(), |tree| Paths::new(ensemble.nodes_of(tree), player_of));
    // Count rows of equal weight by sets if that is faster than processing each row.
    let equal = weights.windows(2).all(|pair| pair[0] == pair[1]);
    let few_sets = |paths: &&Paths| equal && weights.len() >> paths.max_width.min(63) >= 1;
    let mut dense = Dense::new(ensemble, paths.iter().map(|paths| paths.as_ref().filter(few_sets)));
    dense.add(background);
    let mut columns = Vec::new();
    if (0..paths.len()).any(|tree| !dense.counts(tree)) {
        let features = ensemble.feature_count();
        columns.extend(background.chunks(BLOCK * features).map(|rows| {
            Cancellation::check();
            let mut columns = Columns::new(ensemble);
            columns.fill(ensemble, rows);
            columns
        }));
    }
    let sort = |seen: &mut Vec<_>, (index, paths): (usize, Option<Paths>)| {
        let paths = paths?;
        let histograms = dense.histograms(index, &paths, weights[0], seen).unwrap_or_else(|| {
            let nodes = ensemble.nodes_of(&ensemble.trees()[index]);
            Histograms::new(ensemble, nodes, &paths, &columns, weights)
        });
        Some((paths, histograms))
    };
    parallel::map_with(paths.into_iter().enumerate(), Vec::new, sort)
}
