//! `apportion plot` and `apportion report`: results to look at, from their file or as `explain` finds them.

mod args;
mod command_line;
mod gathered;
mod plot;
mod report;
mod results;
mod wanted;

pub(crate) use args::{Plot, Report, kind};
pub(crate) use command_line::{CommandLine, as_typed};
pub(crate) use plot::run as plot;
pub(crate) use report::run as report;
pub(crate) use wanted::Wanted;
