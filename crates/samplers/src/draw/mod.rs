//! Draws of single objects: numbers, subsets, orders, and outcomes of a distribution.

pub(crate) mod binomial_count;
pub(crate) mod discrete;
pub(crate) mod hierarchical_order;
pub(crate) mod joined_coalitions;
pub(crate) mod joined_over_hierarchy;
pub(crate) mod nested_order;
pub(crate) mod permutations;
pub(crate) mod random;
pub(crate) mod stratified;
pub(crate) mod subset;
