//! Values as solutions of weighted least squares over sampled coalitions.

pub(crate) mod kernel_banzhaf;
pub(crate) mod kernel_shap;
pub(crate) mod leverage_shap;
pub(crate) mod optimized_kernel_shap;
