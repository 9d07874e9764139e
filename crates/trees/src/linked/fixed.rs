//! Leaves in fixed point.
//!
//! The table of a game is summed up from signed terms many times over, which in floating point would lose digits to cancellation. Whole
//! numbers lose none: leaves are rounded once, to multiples of a power of two that leaves room for the largest sum of one leaf per
//! tree in 62 bits, and from there on everything is exact. Intermediate sums may wrap around; what they come to does not.
//!
//! The error is half a unit per tree: with T trees at most T · 2^−61 of the largest sum of leaves, less than that of adding
//! them in `f64`.

use crate::ensemble::Ensemble;

/// The leaves of an ensemble, in units of a power of two.
#[derive(Debug)]
pub(super) struct Fixed {
    /// Per node of the ensemble; 0 for splits.
    values: Vec<i64>,
    /// Where the nodes of each tree begin.
    starts: Vec<usize>,
    unit: f64,
}

impl Fixed {
    /// `None` where the largest sum of leaves is beyond `f64`.
    pub(super) fn new(ensemble: &Ensemble) -> Option<Self> {
        let leaves = |tree: usize| {
            let nodes = ensemble.nodes_of(&ensemble.trees()[tree]);
            nodes.iter().map(|node| if node.is_leaf() { node.value() } else { 0.0 })
        };
        let largest = |tree| leaves(tree).fold(0.0, |most: f64, value| most.max(value.abs()));
        let trees = 0..ensemble.tree_count();
        let most: f64 = trees.clone().map(largest).sum();
        if !most.is_finite() {
            return None;
        }
        // 2^exponent ≥ most, up to rounding of the logarithm, for which a bit is left.
        let exponent = most.max(f64::MIN_POSITIVE).log2().ceil() as i32;
        let (mut values, mut starts) = (Vec::with_capacity(ensemble.nodes.len()), Vec::new());
        let shift = (61 - exponent).min(1000);
        let scale = f64::from(shift).exp2();
        for tree in trees {
            starts.push(values.len());
            values.extend(leaves(tree).map(|value| (value * scale).round() as i64));
        }
        Some(Self { values, starts, unit: f64::from(-shift).exp2() })
    }

    /// Per node of a tree.
    pub(super) fn leaves_of(&self, tree: usize) -> &[i64] {
        &self.values[self.starts[tree]..]
    }

    /// What 1 stands for.
    pub(super) fn unit(&self) -> f64 {
        self.unit
    }
}
