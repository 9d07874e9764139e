//! The `apportion` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    report_limits_of_file_sizes();
    ExitCode::from(apportion_cli::run(std::env::args_os()))
}

/// Lets a write beyond the limit of file sizes (`ulimit -f`) fail, which is reported, instead of ending the process, which leaves a part of a file.
#[cfg(unix)]
fn report_limits_of_file_sizes() {
    // Without it the process ends as it would have.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default());
}

#[cfg(not(unix))]
fn report_limits_of_file_sizes() {}
