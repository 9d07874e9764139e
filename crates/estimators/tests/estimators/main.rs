//! Compares estimators with enumeration and with their definitions, and tests their common guarantees.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod anytime;
mod c_shapley;
mod coalitional_regression;
mod common;
mod connected_regression;
mod growing;
mod kernel_banzhaf;
mod l_shapley;
mod learned_coalitional;
mod learned_spectrum;
mod levels;
mod methods;
mod on_graph;
mod optimized_monte_carlo;
mod product_space;
mod projected_gradient;
mod promises;
mod proxy_residual;
mod published;
mod rates;
mod sampling_twins;
mod semivalues;
mod settings;
mod stratified_monte_carlo;
mod textbook_twin;
