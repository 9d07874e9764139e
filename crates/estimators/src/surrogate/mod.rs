//! Surrogates of games, whose values are known in closed form, and priors on a game's Walsh spectrum.

pub(crate) mod boosted_trees;
pub(crate) mod interface;
pub(crate) mod k_additive;
pub(crate) mod linear;
pub(crate) mod prior;
pub(crate) mod product;
pub(crate) mod trees;
pub(crate) mod walsh_process;
