//! Sizes of the forest, chosen by the numbers of rows and features only, so that they do not depend on the
//! machine.

use super::boosting::Boosting;
use super::grow::TreeLimits;
use super::histogram::SplitLimits;

/// The number of features above which each tree uses only some of them.
const MANY_FEATURES: usize = 24;

/// Returns the parameters of the learner for this number of rows and features.
pub(crate) fn boosting_for(rows: usize, features: usize) -> Boosting {
    let trees = ((rows as f64).sqrt() * 1.6) as usize;
    let trees = trees.clamp(40, 200);
    let max_leaves = (rows / 60).clamp(6, 31);
    let features_of_tree = if features <= MANY_FEATURES { features } else { MANY_FEATURES.max(features / 4) };
    Boosting {
        trees,
        rate: (30.0 / trees as f64).clamp(0.08, 0.3),
        limits: TreeLimits {
            max_leaves,
            max_depth: 7,
            split: SplitLimits { penalty: 1.0, min_rows: 5.0, min_gain: 1e-4 },
        },
        features: features_of_tree,
        max_bins: if rows < 4000 { 64 } else { 255 },
        validation: 10,
    }
}
