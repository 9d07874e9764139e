//! The arguments of `apportion completions` and `apportion man`.

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Command to document, e.g. explain [default: apportion itself]
    pub(crate) command: Option<String>,
}
