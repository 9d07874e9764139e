//! The papers whose figures and tables can be reproduced.

pub(crate) mod group_explainers;
pub(crate) mod kernel_banzhaf;
pub(crate) mod l_c_shapley;
pub(crate) mod leverage_shap;
pub(crate) mod projected_sgd;
