//! Solution concepts: what a player's share *is*, and its exact value by definition.

mod error;
mod semivalue;

pub use error::ValueError;
pub use semivalue::Semivalue;
