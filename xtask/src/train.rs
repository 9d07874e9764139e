//! `cargo xtask train`: builds and runs the trainer, which is a package of its own outside the workspace (`xtask/train`).

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::reproduce::workspace;

/// Trains the networks of the papers; `cargo xtask train --list` says which. The first time it builds the trainer, which takes minutes
#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Names of networks and options, as the trainer takes them: cargo xtask train -- --help says which
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Train) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = workspace().join("xtask/train/Cargo.toml");
    let status = Command::new(cargo)
        .args(["run", "--release", "--quiet", "--locked", "--manifest-path"])
        .arg(&manifest)
        .arg("--")
        .args(&arguments.arguments)
        .status()
        .with_context(|| format!("cannot run cargo on {}", manifest.display()))?;
    // The trainer has said what is wrong.
    if !status.success() {
        bail!("the trainer ended with {status}");
    }
    Ok(())
}
