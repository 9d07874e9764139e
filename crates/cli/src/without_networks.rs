//! `explain-text` and `explain-image` in a build without networks: an error that says how to build with them.

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;

use crate::failure::Usage;

/// Any arguments.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Any {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    #[allow(dead_code, reason = "clap is to take them all, so that we can say what is missing")]
    arguments: Vec<OsString>,
}

pub(crate) fn explain_text(_: &Any) -> Result<()> {
    refuse("explain-text")
}

pub(crate) fn explain_image(_: &Any) -> Result<()> {
    refuse("explain-image")
}

fn refuse(command: &str) -> Result<()> {
    let says = format!(
        "{command} requires the build feature networks; install it with: cargo install --path crates/cli \
         --features networks"
    );
    Err(Usage(says).into())
}
