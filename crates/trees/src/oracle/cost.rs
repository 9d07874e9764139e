//! Which kernel a tree gets: by predicted time. The prediction is a function of the trees and the rows, never a
//! measurement, so that a result is a function of its inputs.

use super::histograms::Histograms;
use super::paths::Paths;
use super::tables;
use crate::ensemble::{Ensemble, Node};

/// A way to compute the values on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    Walk,
    Masks,
    /// With this many numbers in the tables.
    Tables {
        size: usize,
    },
}

/// What the choice of a tree's kernel may look at.
pub(crate) struct Task<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) leaves: usize,
    /// Numbers of explicands and of background rows.
    pub(crate) explicands: usize,
    pub(crate) background: usize,
    /// Whether features are in groups: each step takes longer.
    pub(crate) grouped: bool,
    /// Leaves that the mixtures of an explicand and a background row reach, on average over a sample.
    pub(crate) reached: &'a dyn Fn() -> f64,
    /// Paths and background, where the tree has few enough features per path; computed when asked for.
    pub(crate) sorted: &'a dyn Fn() -> Option<&'a (Paths, Histograms)>,
}

/// Chooses the kernel of a tree.
pub(crate) type Choose = fn(&Task<'_>) -> Kernel;

/// Up to this many pairs of rows nothing pays but walking them.
const FEW_PAIRS: usize = 10;

/// The kernel with the least predicted time. Constants are nanoseconds on one core of a 2023 server; only their ratios matter.
pub(crate) fn choose(task: &Task<'_>) -> Kernel {
    if task.explicands.saturating_mul(task.background) <= FEW_PAIRS {
        return Kernel::Walk;
    }
    let (explicands, background) = (task.explicands as f64, task.background as f64);
    let leaves = task.leaves as f64;
    let (per_leaf_reached, per_leaf, per_pattern) =
        if task.grouped { (20.0, 8.0, 2.5) } else { (15.0, 2.0, 1.5) };
    let walk = explicands * background * (10.0 + per_leaf_reached * (task.reached)());
    let sorting = leaves * (300.0 + 1.5 * background);
    if walk < sorting + explicands * leaves {
        return Kernel::Walk;
    }
    let Some((paths, histograms)) = (task.sorted)() else { return Kernel::Walk };
    let masks = explicands * (per_leaf * leaves + per_pattern * histograms.len() as f64);
    let lookups = explicands * leaves * (0.2 + 0.25 * paths.widest as f64);
    let filling = |size: usize| match task.grouped {
        false => 6.0 * size as f64,
        true => 2.5 * size as f64 + 10.0 * histograms.extensions(),
    };
    match tables::size(task.nodes, paths) {
        Some(size) if lookups + filling(size) < masks => Kernel::Tables { size },
        _ => Kernel::Masks,
    }
}

/// Leaves of a tree that mixtures of two rounded rows reach. Exact up to 64 players; beyond, players that share a bit are taken
/// for one.
pub(crate) fn leaves_reached(
    ensemble: &Ensemble,
    nodes: &[Node],
    players: &[u32],
    a: &[f64],
    b: &[f64],
) -> usize {
    // Nodes to visit, each with the features that are taken from either row on the way there.
    let (mut leaves, mut open) = (0, vec![(0, 0u64, 0u64)]);
    while let Some((at, from_a, from_b)) = open.pop() {
        let node = nodes[at];
        if node.is_leaf() {
            leaves += 1;
            continue;
        }
        let bit = 1 << (players[node.feature()] % 64);
        let child = |left: bool| if left { node.left() } else { node.right() };
        let a_left = ensemble.goes_left(node, a[node.feature()]);
        let b_left = ensemble.goes_left(node, b[node.feature()]);
        if a_left == b_left {
            open.push((child(a_left), from_a, from_b));
            continue;
        }
        if from_b & bit == 0 {
            open.push((child(a_left), from_a | bit, from_b));
        }
        if from_a & bit == 0 {
            open.push((child(b_left), from_a, from_b | bit));
        }
    }
    leaves
}
