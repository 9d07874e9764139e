//! The empirical law: rows of the data, weighted by how near they are to what is present.

mod aicc;
mod kept;
mod law;

pub use aicc::AdaptedEmpiricalLaw;
pub use law::EmpiricalLaw;
