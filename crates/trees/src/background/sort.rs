//! Rows sorted by pattern at every leaf: all that most kernels want of a background.

use apportion_games::{Cancellation, parallel};
use apportion_models::Ensemble;

use super::dense::Dense;
use crate::engine::histograms::{Histograms, Sorted};
use crate::engine::paths::{BLOCK, Columns, Paths};

/// The background as the leaves of every tree see it: rows of `background`, rounded and row-major, with
/// `weights`. `player_of` has the player of each feature.
pub(crate) fn sort(ensemble: &Ensemble, background: &[f64], weights: &[f64], player_of: &[u32]) -> Sorted {
    let paths: Vec<Option<Paths>> =
        parallel::map(ensemble.trees(), |tree| Paths::new(ensemble.nodes_of(tree), player_of));
    // Rows of one weight are counted, where that does not take longer than to look at each.
    let equal = weights.windows(2).all(|pair| pair[0] == pair[1]);
    let few_sets = |paths: &&Paths| equal && weights.len() >> paths.widest.min(63) >= 1;
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
