//! Sizes of coalitions: their distributions, allocations and numbers of coalitions.

pub(crate) mod allocation;
pub(crate) mod choose;
pub(crate) mod combinadic;
pub(crate) mod pairing;
pub(crate) mod size_class;
pub(crate) mod size_distribution;
pub(crate) mod water_filling;
