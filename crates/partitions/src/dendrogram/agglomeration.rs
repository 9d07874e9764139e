//! Features join, the nearest first.

use super::{Dendrogram, Merge};
use crate::linkage::Linkage;
use crate::matrix::DependenceMatrix;

impl Dendrogram {
    /// Hierarchical clustering of features at distance 1 − dependence; leaves are named by their numbers.
    ///
    /// The algorithms are those of Müllner, *Modern hierarchical, agglomerative clustering algorithms*, 2011, as the crate kodama has them:
    /// O(n²) time. Where distances are equal, several dendrograms are right, and always the same one of them is returned.
    pub fn new(dependence: &DependenceMatrix, linkage: Linkage) -> Self {
        let features = dependence.features();
        let mut distances: Vec<f64> = dependence.values().iter().map(|value| 1.0 - value).collect();
        let steps = kodama::linkage(&mut distances, features, linkage.method());
        let merge = |step: &kodama::Step<f64>| Merge {
            children: [step.cluster1, step.cluster2],
            height: step.dissimilarity,
            size: step.size,
        };
        Self {
            leaves: (0..features).map(|feature| feature.to_string()).collect(),
            linkage,
            merges: steps.steps().iter().map(merge).collect(),
        }
    }
}
