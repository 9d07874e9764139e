//! Validation of dendrograms that are read from a file.

use serde::Deserialize;

use super::{Dendrogram, Merge};
use crate::error::PartitionsError;
use crate::linkage::Linkage;

/// The maximum height that is accepted. It is slightly above 1, because rounding may make a mean of
/// dependences slightly negative.
const HIGHEST: f64 = 1.0 + 1e-9;

/// A dendrogram before validation.
#[derive(Deserialize)]
pub(super) struct Stored {
    leaves: Vec<String>,
    linkage: Linkage,
    merges: Vec<Merge>,
}

impl TryFrom<Stored> for Dendrogram {
    type Error = PartitionsError;

    fn try_from(stored: Stored) -> Result<Self, PartitionsError> {
        let Stored { leaves, linkage, merges } = stored;
        let features = leaves.len();
        if merges.len() + 1 != features {
            let problem = if merges.len() < features {
                "is missing: expected one merge fewer than features"
            } else {
                "is superfluous: expected one merge fewer than features"
            };
            return Err(PartitionsError::Merge { merge: merges.len(), problem });
        }
        // The size of each cluster, or `None` after it is merged.
        let mut sizes = vec![Some(1); features];
        let mut below = 0.0;
        for (at, merge) in merges.iter().enumerate() {
            let refuse = |problem| Err(PartitionsError::Merge { merge: at, problem });
            let [first, second] = merge.children;
            if first >= second {
                return refuse("must list its children in ascending order");
            }
            let mut take = |child: usize| sizes.get_mut(child).and_then(Option::take);
            let (Some(one), Some(other)) = (take(first), take(second)) else {
                return refuse("has a child that does not exist yet, or was merged before");
            };
            if merge.size != one + other {
                return refuse("must have the sum of the sizes of its children as its size");
            }
            if !(below..=HIGHEST).contains(&merge.height) {
                return refuse("must have a height between that of the previous merge and 1");
            }
            below = merge.height;
            sizes.push(Some(merge.size));
        }
        Ok(Self { leaves, linkage, merges })
    }
}
