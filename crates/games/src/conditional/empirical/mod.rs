//! The empirical distribution: rows of the data, weighted by their distance in the present features.

mod aicc;
mod distribution;
mod weighted_rows;

pub use aicc::AdaptedEmpiricalDistribution;
pub use distribution::EmpiricalDistribution;
