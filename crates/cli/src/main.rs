//! The `apportion` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    report_limits_of_file_sizes();
    ExitCode::from(apportion_cli::run(std::env::args_os()))
}

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail, so that the error is reported. By
/// default, the process is killed and leaves a partial file.
#[cfg(unix)]
fn report_limits_of_file_sizes() {
    // Without the handler, the default behaviour remains.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default());
}

#[cfg(not(unix))]
fn report_limits_of_file_sizes() {}
