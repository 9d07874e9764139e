//! Synthetic results, and checks that every figure must pass.

pub(crate) mod results;
pub(crate) mod scenes;
pub(crate) mod xml;
