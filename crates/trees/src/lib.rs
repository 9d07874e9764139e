//! Tree ensembles.

mod ensemble;
mod error;
mod file;
mod oracle;
mod predict;
mod xgboost;

pub use ensemble::{Ensemble, Origin};
pub use error::TreeError;
pub use oracle::{Attributions, InterventionalOracle};
