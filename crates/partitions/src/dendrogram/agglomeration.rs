//! Agglomerative clustering.

use super::{Dendrogram, Merge};
use crate::linkage::Linkage;
use crate::matrix::DependenceMatrix;

impl Dendrogram {
    /// Clusters features hierarchically with distance 1 − dependence. Leaves are named by their indices.
    ///
    /// The algorithms follow Müllner, *Modern hierarchical, agglomerative clustering algorithms*, 2011, as
    /// implemented in the crate kodama, and take O(n²) time. If distances are equal, several dendrograms are
    /// valid; the choice is deterministic.
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
