//! The arguments of `explain-text` and `explain-image` in a build without networks.

use std::ffi::OsString;

use clap::Args;

/// Any arguments.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Any {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    #[allow(dead_code, reason = "clap must accept all arguments, so that the error can be reported")]
    arguments: Vec<OsString>,
}
