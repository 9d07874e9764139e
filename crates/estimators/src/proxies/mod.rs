//! Methods that learn a model of the game from the evaluations. The model's residuals correct its values.

pub(crate) mod learned_spectrum;
pub(crate) mod odd_shap;
pub(crate) mod poly_shap;
pub(crate) mod proxy_residual;
pub(crate) mod proxy_shap;
pub(crate) mod regression_msr;
