//! The `apportion` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(apportion_cli::run(std::env::args_os()))
}
