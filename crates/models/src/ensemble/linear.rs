//! Leaves whose value is a linear model of the row, and linear models as trees of one leaf.

use super::Ensemble;

/// `constant + Σ coefficient · x̂_feature`; the leaf's plain value where one of these features is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearLeaf {
    /// The constant.
    pub constant: f64,
    /// Features, each once, and their coefficients.
    pub terms: Box<[(u32, f64)]>,
}

impl LinearLeaf {
    /// The value for a rounded row; `None` where a feature is missing.
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
    /// The model says nothing of rows in which one of these features is missing: a flag for each.
    pub(crate) fn refuse_missing(&mut self, features: Vec<bool>) {
        self.wanted = if features.contains(&true) { features } else { Vec::new() };
    }

    /// Which features linear models and leaves have a coefficient for; empty if there are no such models.
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

    /// Whether margins are affine functions of rows without missing values: all trees are leaves.
    pub(crate) fn has_affine_margins(&self) -> bool {
        self.joint.is_none() && self.trees.iter().all(|tree| tree.depth == 0)
    }
}
