//! Leaves whose value is a linear model of the row. Linear models are represented as trees with a single
//! leaf.

use super::Ensemble;

/// The linear model `constant + Σ coefficient · x̂_feature`. If one of its features is missing, the leaf has
/// its plain value instead.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearLeaf {
    /// The intercept of the linear model.
    pub constant: f64,
    /// Pairs of a feature and its coefficient. Each feature occurs once.
    pub terms: Box<[(u32, f64)]>,
}

impl LinearLeaf {
    /// Returns the value of the linear model for a rounded row, or `None` if one of its features is missing.
    #[inline]
    pub(super) fn value(&self, row: &[f64]) -> Option<f64> {
        let sum = self
            .terms
            .iter()
            .fold(self.constant, |sum, &(feature, coefficient)| sum + coefficient * row[feature as usize]);
        let missing = self.terms.iter().any(|&(feature, _)| row[feature as usize].is_nan());
        (!missing).then_some(sum)
    }
}

impl Ensemble {
    /// Makes the ensemble reject rows in which one of the marked features is missing, because the model
    /// cannot predict them. `features` has one flag per feature.
    pub(crate) fn refuse_missing(&mut self, features: Vec<bool>) {
        self.wanted = if features.contains(&true) { features } else { Vec::new() };
    }

    /// Returns whether each feature has a coefficient in a linear model or leaf. Empty if no leaf is linear.
    pub(crate) fn linear_features(&self) -> Vec<bool> {
        if self.linear_leaves.is_empty() {
            return Vec::new();
        }
        let mut features = vec![false; self.features];
        for (feature, _) in self.linear_leaves.iter().flat_map(|leaf| &leaf.terms) {
            features[*feature as usize] = true;
        }
        features
    }

    /// Returns whether margins are affine functions of rows without missing values, i.e. all trees are single
    /// leaves.
    pub(crate) fn has_affine_margins(&self) -> bool {
        self.joint.is_none() && self.trees.iter().all(|tree| tree.depth == 0)
    }
}
