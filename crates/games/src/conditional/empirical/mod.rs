//! The empirical distribution: rows of the data, weighted by their distance in the present features.

mod aicc;
mod kept;
mod law;

pub use aicc::AdaptedEmpiricalLaw;
pub use law::EmpiricalLaw;
