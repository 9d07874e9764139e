//! The options of `cargo xtask laboratory` where another command asks for a run.

use anyhow::Result;
use clap::Parser;

use super::cli::Laboratory;
use xtask::Usage;

/// The options of a run as the command line has them.
#[derive(Debug, Parser)]
#[command(name = "options of cargo xtask laboratory", no_binary_name = true, disable_help_flag = true)]
struct Options {
    #[command(flatten)]
    laboratory: Laboratory,
}

/// A run as these options have it.
///
/// # Errors
///
/// [`Usage`] for what the command line would refuse, in its words.
pub(super) fn read(line: Vec<String>) -> Result<Laboratory> {
    let read = Options::try_parse_from(line).map_err(|error| Usage(error.to_string()))?;
    Ok(read.laboratory)
}
