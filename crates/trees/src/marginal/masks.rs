//! Combines a block of explicands with the background histograms, pattern by pattern.
//!
//! On a leaf with d path features, let P be the pattern of the explicand and M a background pattern. If
//! together they satisfy all features, the mixtures that reach the leaf take E = ¬M from the explicand and
//! R = ¬P from the background.
//!
//! The cost is one step per distinct pattern and explicand. This kernel serves leaves with too many features
//! for a table.

use apportion_models::Ensemble;
use apportion_models::tree::Node;

use super::shares::{LeafKernel, LeafView};
use crate::engine::histograms::Histograms;
use crate::engine::paths::{BLOCK, Columns, Paths, Patterns};

/// The working memory of the kernel, created once per thread.
pub(crate) struct Masks {
    patterns: Patterns<u64>,
}

impl Masks {
    pub(crate) fn new() -> Self {
        Self { patterns: Patterns::new() }
    }

    /// Adds the contributions of one tree to `phi`, which has a number for each target and row.
    pub(crate) fn add<S: LeafKernel>(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        (paths, histograms): &(Paths, Histograms),
        (share, weights): (&mut S, &S::Weights),
        columns: &Columns,
        phi: &mut [f64],
    ) {
        let rows = columns.rows();
        self.patterns.begin(nodes.len());
        let mut left = [0; BLOCK];
        for (index, &node) in nodes.iter().enumerate() {
            if !node.is_leaf() {
                columns.decide(ensemble, node, &mut left);
                self.patterns.descend(paths, index, node, &left, rows);
                continue;
            }
            let (features, background) = (paths.features(index), histograms.at(index));
            let view = LeafView { features, value: node.value(), background };
            if share.visit_leaf(weights, view) {
                for (row, &pattern) in self.patterns.at(index)[..rows].iter().enumerate() {
                    share.of_pattern(weights, view, pattern, |target, share| {
                        phi[target * rows + row] += share
                    });
                }
            }
        }
    }
}
