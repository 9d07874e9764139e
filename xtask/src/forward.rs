//! Commands implemented by other packages: the laboratory, and the trainer, which is outside the workspace.
//! These packages take minutes to build, so the quick checks do not depend on them.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use clap::Args;
use xtask::{aside, workspace};

/// Arguments forwarded to another program.
#[derive(Debug, Args)]
pub(crate) struct Forwarded {
    /// Arguments of the command; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Builds and runs a command of the laboratory, like `cargo run --release --package lab`.
pub(crate) fn laboratory(command: &str, arguments: &Forwarded) -> ExitCode {
    let manifest = workspace().join("Cargo.toml");
    let mut run = cargo();
    run.arg("--manifest-path").arg(manifest).args(["--package", "lab", "--", command]);
    status(run.args(&arguments.arguments))
}

/// Builds and runs the trainer.
pub(crate) fn trainer(arguments: &Forwarded) -> ExitCode {
    let manifest = workspace().join("xtask/lab/train/Cargo.toml");
    let mut run = cargo();
    run.args(["--quiet", "--locked", "--manifest-path"]).arg(manifest).arg("--");
    status(run.args(&arguments.arguments))
}

fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--release"]);
    cargo
}

/// Runs a program and returns its exit status; the program prints its own errors.
fn status(command: &mut Command) -> ExitCode {
    match command.status() {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            code.map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            aside!("error: cannot run cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
