//! A block of explicands against the histograms of the background, pattern by pattern.
//!
//! On a leaf with d path features, let P be the pattern of the explicand and M one of the background. If together they satisfy
//! all features, the mixtures that reach the leaf take E = ¬M from the explicand and R = ¬P from the background, so with value v
//! and weight w
//!
//! ```text
//! φ_i += w v · M(|E| − 1, |R|)   for i ∈ E,        φ_i −= w v · M(|E|, |R| − 1)   for i ∈ R.
//! ```
//!
//! Costs one step per distinct pattern and explicand: for leaves with too many features for a table.

use super::histograms::Histograms;
use super::paths::{BLOCK, Columns, Paths, Patterns, all_of};
use crate::moments::Moments;
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The memory of the kernel, made once per thread.
pub(crate) struct Masks {
    patterns: Patterns<u64>,
}

impl Masks {
    pub(crate) fn new() -> Self {
        Self { patterns: Patterns::new() }
    }

    /// Adds the values on one tree to `phi`, [`BLOCK`] numbers per feature.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        (paths, histograms): &(Paths, Histograms),
        moments: &Moments,
        columns: &Columns,
        phi: &mut [f64],
    ) {
        self.patterns.begin(nodes.len());
        let mut left = [0; BLOCK];
        for (index, &node) in nodes.iter().enumerate() {
            if !node.is_leaf() {
                columns.decide(ensemble, node, &mut left);
                self.patterns.descend(paths, index, node, &left, columns.rows());
                continue;
            }
            let features = paths.features(index);
            let all = all_of(features.len());
            for (row, &pattern) in self.patterns.at(index)[..columns.rows()].iter().enumerate() {
                let missing = all & !pattern;
                let rest = missing.count_ones() as usize;
                let mut lost = 0.0;
                for &(background, weight) in histograms.at(index) {
                    if missing & !background != 0 {
                        continue;
                    }
                    let own = all & !background;
                    let (gain, loss) = moments.shares(own.count_ones() as usize, rest);
                    let value = weight * node.value();
                    lost += value * loss;
                    for bit in ones(own) {
                        phi[features[bit] as usize * BLOCK + row] += value * gain;
                    }
                }
                if lost != 0.0 {
                    for bit in ones(missing) {
                        phi[features[bit] as usize * BLOCK + row] -= lost;
                    }
                }
            }
        }
    }
}

/// The numbers of the bits that are set.
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}
