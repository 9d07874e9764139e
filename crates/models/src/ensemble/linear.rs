//! Leaves whose value is a linear model of the row.

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
