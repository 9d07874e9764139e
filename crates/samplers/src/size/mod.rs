//! Coalition sizes: their distributions, the allocation of samples to sizes, and the number of coalitions of
//! each size.

pub(crate) mod allocation;
pub(crate) mod choose;
pub(crate) mod combinadic;
pub(crate) mod pairing;
pub(crate) mod size_class;
pub(crate) mod size_distribution;
pub(crate) mod water_filling;
