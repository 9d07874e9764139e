//! Values of a model of the game, which is learned from the evaluations, and what corrects them by its residuals.

pub(crate) mod learned_spectrum;
pub(crate) mod odd_shap;
pub(crate) mod poly_shap;
pub(crate) mod proxy_residual;
pub(crate) mod proxy_shap;
pub(crate) mod regression_msr;
