//! Tables of the path-dependent game.
//!
//! On a leaf of value v, the game is v times a factor for each path feature. The factor of a present feature
//! is 1 or 0, depending on whether the row passes its tests. The factor of an absent feature j is c_j, the
//! product of the cover shares of its branches. Therefore the game is the expectation of the marginal game if
//! absent features pass their tests independently with probability c_j. It has the tables of the marginal
//! game with the distribution
//!
//! ```text
//! H[M] = Π_{j ∈ M} c_j · Π_{j ∉ M} (1 − c_j).
//! ```
//!
//! Filling the tables takes 2^d entries for a leaf with d path features, for any number of rows. Quadrature
//! does not require this preparation.

use std::sync::Arc;

use apportion_games::{Rows, parallel};
use apportion_models::Ensemble;
use apportion_models::tree::Node;

use crate::engine::bits::MAX_BITS;
use crate::engine::driver::{Job, Kernels, LoadedRows};
use crate::engine::paths::Paths;
use crate::engine::settings::{Kernel, Settings};
use crate::engine::tables::number::Number;
use crate::engine::tables::shape::{Layout, Shape, merged_bits, size};
use crate::engine::tables::table::{AbsentDistribution, Tables};
use crate::engine::weights::Weights;
use crate::error::TreeError;

/// Computes the values of the players, rows × players × outputs. `player_of` maps each feature to its player.
///
/// # Errors
///
/// [`TreeError::Kernel`] with the first tree whose paths are too long for tables.
pub(super) fn values(
    ensemble: &Ensemble,
    (player_of, players): (&[u32], usize),
    weights: &Weights,
    settings: Settings,
    rows: Rows<'_>,
) -> Result<Vec<f64>, TreeError> {
    let bits = merged_bits(settings.rows.unwrap_or(rows.len()));
    let (layout, precision) = (Layout::for_weights(weights, players), settings.precision);
    let shape = |tree| {
        let nodes = ensemble.nodes_of(tree);
        let paths = Paths::new(nodes, player_of)?;
        let shape = Shape::new(nodes, &paths, weights, layout, bits)?;
        Some((paths, Arc::new(shape)))
    };
    let shapes: Vec<Option<(Paths, Arc<Shape>)>> = parallel::map(ensemble.trees(), shape);
    if let Some(tree) = shapes.iter().position(Option::is_none) {
        return Err(too_long(tree));
    }
    let (paths, shapes) = shapes.into_iter().map(Option::unzip).unzip();
    let places: Vec<usize> = (0..players).collect();
    let job = Job {
        ensemble,
        layout,
        places: &places,
        shapes,
        precision,
        keep: false,
        in_sections: false,
        rows: settings.rows,
    };
    let mut values = vec![0.0; rows.len() * players * ensemble.output_count()];
    job.explain(&ByCover { ensemble, weights, paths }, rows, &mut values);
    Ok(values)
}

/// Returns the error for a tree whose paths are too long for tables.
fn too_long(tree: usize) -> TreeError {
    let problem = format!("a path has more than {} features", MAX_BITS - 1);
    TreeError::Kernel { kernel: Kernel::Tables, tree, problem, help: "leave the kernel unset" }
}

/// The kernels of a job that uses tables only.
struct ByCover<'a> {
    ensemble: &'a Ensemble,
    weights: &'a Weights,
    paths: Vec<Option<Paths>>,
}

impl Kernels for ByCover<'_> {
    type Memory = ();

    fn memory(&self) {}

    fn fill<N: Number>(&self, tree: usize, shape: Arc<Shape>, memory: Vec<N>) -> Option<Tables<N>> {
        let paths = self.paths[tree].as_ref()?;
        let tree = &self.ensemble.trees()[tree];
        let nodes = self.ensemble.nodes_of(tree);
        let distribution = &mut CoverDistribution::new(nodes, self.ensemble.cover_of(tree), paths);
        Some(Tables::new(nodes, paths, shape, self.weights, distribution, memory))
    }

    fn add(&self, (): &mut (), _: usize, _: &LoadedRows, _: &mut [f64]) {}
}

/// Returns the predicted time for some rows and a semivalue of the features, in nanoseconds on one core of a
/// 2023 server.
///
/// # Errors
///
/// The same as [`values`].
pub(super) fn nanoseconds(ensemble: &Ensemble, rows: usize) -> Result<f64, TreeError> {
    let player_of: Vec<u32> = (0..ensemble.feature_count() as u32).collect();
    let layout = Layout::new(player_of.len());
    let mut time = 0.0;
    for (number, tree) in ensemble.trees().iter().enumerate() {
        let nodes = ensemble.nodes_of(tree);
        let size = Paths::new(nodes, &player_of).and_then(|paths| size(nodes, &paths, layout));
        let (size, loads) = size.ok_or_else(|| too_long(number))?;
        let leaves = tree.leaves as f64;
        time += 2.0 * size as f64 + 100.0 * leaves + rows as f64 * (0.1 * leaves + 0.6 * loads as f64);
    }
    Ok(time)
}

/// The distribution of patterns if absent features pass their tests independently.
struct CoverDistribution {
    /// For each node, the offset of the probabilities of its path features.
    starts: Vec<usize>,
    chances: Vec<f64>,
    /// The patterns of the most recent leaf.
    patterns: Vec<(u64, f64)>,
}

impl CoverDistribution {
    fn new(nodes: &[Node], cover: &[f64], paths: &Paths) -> Self {
        let mut distribution =
            Self { starts: vec![0; nodes.len()], chances: Vec::new(), patterns: Vec::new() };
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let (start, count) = (distribution.starts[index], paths.features(index).len());
            for child in [node.left(), node.right()] {
                let share = cover[child] / cover[index];
                distribution.starts[child] = distribution.chances.len();
                distribution.chances.extend_from_within(start..start + count);
                if paths.is_first(index) {
                    distribution.chances.push(share);
                } else {
                    distribution.chances[distribution.starts[child] + paths.bit(index) as usize] *= share;
                }
            }
        }
        distribution
    }
}

impl AbsentDistribution for CoverDistribution {
    fn at(&mut self, leaf: usize, paths: &Paths) -> &[(u64, f64)] {
        let chances = &self.chances[self.starts[leaf]..][..paths.features(leaf).len()];
        self.patterns.clear();
        self.patterns.push((0, 1.0));
        for (bit, chance) in chances.iter().enumerate() {
            for index in 0..self.patterns.len() {
                let (pattern, weight) = &mut self.patterns[index];
                let passing = (*pattern | 1 << bit, *weight * chance);
                *weight *= 1.0 - chance;
                self.patterns.push(passing);
            }
        }
        &self.patterns
    }
}
