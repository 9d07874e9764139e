//! Values of a model of the game that is learned from the evaluations, corrected by its residuals.

pub(crate) mod learned_spectrum;
pub(crate) mod odd_shap;
pub(crate) mod poly_shap;
pub(crate) mod proxy_residual;
pub(crate) mod proxy_shap;
pub(crate) mod regression_msr;
