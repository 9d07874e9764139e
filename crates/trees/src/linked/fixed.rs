//! Leaf values in fixed point.
//!
//! The table of a game is a sum of many signed terms, which would lose digits to cancellation in floating
//! point. Integers do not lose digits. Leaf values are rounded once, to multiples of a power of two, for
//! which the largest sum of one leaf per tree fits in 62 bits. All further steps are exact. Intermediate sums
//! may wrap around; the final sums do not.
//!
//! The error is half a unit per tree. With T trees, the total error is at most T · 2^−61 of the largest sum
//! of leaves. This is less than the rounding error of adding the leaves in `f64`. However, the largest sum
//! may not be reached by any row. If the largest sum is so large that other leaves would lose digits that
//! affect the output of the link, an error is returned.

use apportion_models::{Ensemble, Link};

/// The maximum rounding error of the argument of the link's exponential (for example a log-rate or log-odds).
/// Larger errors are rejected.
const MAX_ERROR: f64 = 1e-9;

/// The leaf values of an ensemble, in units of a power of two.
#[derive(Debug)]
pub(super) struct FixedPointLeaves {
    /// The leaf value of each node of the ensemble; 0 for splits.
    values: Vec<i64>,
    /// The index of the first node of each tree.
    starts: Vec<usize>,
    unit: f64,
}

impl FixedPointLeaves {
    /// Converts the leaf values. Returns the largest sum of leaves as an error if it is so large that the
    /// rounding of other leaves would affect the output of `link`.
    pub(super) fn new(ensemble: &Ensemble, link: Link) -> Result<Self, f64> {
        let leaves = |tree: usize| {
            let nodes = ensemble.nodes_of(&ensemble.trees()[tree]);
            nodes.iter().map(|node| if node.is_leaf() { node.value() } else { 0.0 })
        };
        let largest = |tree| leaves(tree).fold(0.0, |most: f64, value| most.max(value.abs()));
        let trees = 0..ensemble.tree_count();
        let most: f64 = trees.clone().map(largest).sum();
        // 2^exponent ≥ most, up to rounding of the logarithm, for which one bit is reserved.
        let exponent = most.max(f64::MIN_POSITIVE).log2().ceil() as i32;
        let steepness = match link {
            Link::Logistic { steepness } | Link::LogLoss { steepness } => steepness.abs(),
            // The rounding error matters relative to the size of the margins.
            Link::SquaredError { .. } => 1.0 / most.max(f64::MIN_POSITIVE),
            Link::HalfPower { unit } => 1.0 / unit,
            _ => 1.0,
        };
        let error = 0.5 * ensemble.tree_count() as f64 * f64::from(exponent - 61).exp2() * steepness;
        if !(most.is_finite() && error < MAX_ERROR) {
            return Err(most);
        }
        let (mut values, mut starts) = (Vec::with_capacity(ensemble.nodes().len()), Vec::new());
        let shift = (61 - exponent).min(1000);
        let scale = f64::from(shift).exp2();
        for tree in trees {
            starts.push(values.len());
            values.extend(leaves(tree).map(|value| (value * scale).round() as i64));
        }
        Ok(Self { values, starts, unit: f64::from(-shift).exp2() })
    }

    /// Returns the leaf values of a tree by node (0 for splits), followed by those of later trees.
    pub(super) fn leaves_of(&self, tree: usize) -> &[i64] {
        &self.values[self.starts[tree]..]
    }

    /// Returns the leaf value that the integer 1 represents.
    pub(super) fn unit(&self) -> f64 {
        self.unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an ensemble of two leaves under one split.
    fn stump(leaves: [f64; 2]) -> Ensemble {
        let json = format!(
            concat!(
                r#"{{"format":"apportion-trees","version":1,"width":"single","features":1,"#,
                r#""base_margins":[0],"operator":"<","trees":[
            {{"left":[1,-1,-1],"right":[2,-1,-1],"feature":[0,0,0],"threshold":[1,0,0],"#,
                r#""value":[0,{:?},{:?}]}}]}}"#
            ),
            leaves[0], leaves[1]
        );
        Ensemble::from_bytes(json.as_bytes()).unwrap()
    }

    #[test]
    fn one_leaf_too_large_for_the_digits_of_others_is_refused() {
        for large in [9e299, 9.1e15, 1e10] {
            assert_eq!(FixedPointLeaves::new(&stump([0.5, -large]), Link::Softmax).unwrap_err(), large);
        }
        // The rounding error matters relative to the scale of the link.
        let odds = stump([0.5, 1e10]);
        assert!(FixedPointLeaves::new(&odds, Link::HalfPower { unit: 1e9 }).is_ok());
        assert!(FixedPointLeaves::new(&odds, Link::Logistic { steepness: 1e-3 }).is_ok());
        assert!(FixedPointLeaves::new(&odds, Link::Logistic { steepness: 1e-300 }).is_ok());
        assert!(FixedPointLeaves::new(&stump([0.5, 1.0]), Link::HalfPower { unit: 1e-300 }).is_err());
        for large in [1e9, 1.0, 0.0, 1e-310] {
            let fixed = FixedPointLeaves::new(&stump([0.25 * large, large]), Link::Exponential).unwrap();
            let leaves = fixed.leaves_of(0)[1..].iter().map(|&leaf| leaf as f64 * fixed.unit());
            let expected = [0.25 * large, large];
            assert!(
                leaves
                    .zip(expected)
                    .all(|(leaf, expected)| (leaf - expected).abs() < 1e-15 * large.max(1e-290))
            );
        }
    }
}
