//! Reading of the input: models, programs, rows, backgrounds, groups, graphs and results.

pub(crate) mod background;
pub(crate) mod digest;
mod feed;
mod graph;
pub(crate) mod groups;
mod groups_file;
pub(crate) mod input;
pub(crate) mod model;
#[cfg(feature = "networks")]
pub(crate) mod network;
mod program;
pub(crate) mod results;
pub(crate) mod rows;
