//! Results that are made up, and what every figure is held to.

pub(crate) mod results;
pub(crate) mod scenes;
pub(crate) mod xml;
