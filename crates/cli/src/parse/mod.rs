//! The command line: the arguments of all commands, their values, and their help.

pub(crate) mod args;
pub(crate) mod columns;
pub(crate) mod command_line;
pub(crate) mod commands;
pub(crate) mod distribution_options;
pub(crate) mod format;
pub(crate) mod graph;
pub(crate) mod groups;
pub(crate) mod help;
pub(crate) mod manual;
#[cfg(feature = "networks")]
pub(crate) mod media;
pub(crate) mod methods;
mod options;
pub(crate) mod pictures;
pub(crate) mod program;
pub(crate) mod rounds;
pub(crate) mod select;
#[cfg(not(feature = "networks"))]
pub(crate) mod without_networks;
