//! The options of `cargo xtask laboratory`, parsed for a run requested by another command.

use anyhow::Result;
use clap::Parser;

use super::cli::Laboratory;
use xtask::Usage;

/// Parser of the options of a run, the same as on the command line.
#[derive(Debug, Parser)]
#[command(name = "options of cargo xtask laboratory", no_binary_name = true, disable_help_flag = true)]
struct Options {
    #[command(flatten)]
    laboratory: Laboratory,
}

/// Parses the options of a run.
///
/// # Errors
///
/// [`Usage`] with the message of the command line if the options are invalid.
pub(super) fn read(line: Vec<String>) -> Result<Laboratory> {
    let read = Options::try_parse_from(line).map_err(|error| Usage(error.to_string()))?;
    Ok(read.laboratory)
}
