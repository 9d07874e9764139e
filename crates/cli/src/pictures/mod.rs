//! `apportion plot` and `apportion report`: figures and reports, from a results file or during `explain`.

mod args;
mod command_line;
mod gathered;
mod plot;
mod report;
mod request;
mod results;

pub(crate) use args::{Plot, Report, kind};
pub(crate) use command_line::{CommandLine, as_typed};
pub(crate) use plot::run as plot;
pub(crate) use report::run as report;
pub(crate) use request::PictureRequest;
