//! Values as means over draws of marginal contributions of single players, of permutations, or of coalitions
//! with and without a player.

pub(crate) mod maximum_sample_reuse;
pub(crate) mod monte_carlo;
pub(crate) mod optimized_monte_carlo;
pub(crate) mod permutation_shap;
pub(crate) mod stratified_monte_carlo;
