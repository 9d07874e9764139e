//! Printing for the user, and running other programs.

use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};

/// Prints a line to standard output. Ignores a closed pipe (as with `| head`), so that the run is not
/// aborted.
#[macro_export]
macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($part)*);
    }};
}
/// Prints a line to standard error.
#[macro_export]
macro_rules! aside {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($part)*);
    }};
}
/// Maximum number of output lines in the error for a failed program.
const SHOWN: usize = 20;

/// Runs a program and returns its standard output without trailing whitespace.
///
/// # Errors
///
/// If it cannot be run, or fails.
pub fn line(program: &str, arguments: &[&str]) -> Result<String> {
    line_in(Path::new("."), program, arguments)
}

/// Same as [`line()`], but runs the program in the given directory.
///
/// # Errors
///
/// If it cannot be run, or fails.
pub fn line_in(folder: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    let output = run(Command::new(program).args(arguments).current_dir(folder))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Runs git in the repository.
///
/// # Errors
///
/// If it cannot be run, or fails.
pub fn git(root: &Path, arguments: &[&str]) -> Result<()> {
    line_in(root, "git", arguments).map(drop)
}

/// Runs a program to completion.
///
/// # Errors
///
/// If it cannot be started, or fails; the error contains the last lines of its output.
pub fn run(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let arguments: Vec<String> =
        command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let said = || format!("{name} {}", arguments.join(" "));
    let output = command.output().with_context(|| format!("cannot run {}; is it installed?", said()))?;
    if !output.status.success() {
        let all = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&all);
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
        bail!("{} failed ({}):\n{last}", said(), output.status);
    }
    Ok(output)
}

/// Checks that a program is installed, by running `command`; the error states how to install it.
///
/// # Errors
///
/// If it is not installed.
pub fn is_there(command: &mut Command, how_to_get_it: &str) -> Result<()> {
    let is_there = command.output().is_ok_and(|output| output.status.success());
    ensure!(
        is_there,
        "{} is not installed; install it with: {how_to_get_it}",
        command.get_program().to_string_lossy()
    );
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_is_told_with_its_last_words() {
        let error = line("sh", &["-c", "echo one; echo two >&2; exit 3"]).unwrap_err().to_string();
        assert!(error.contains("(exit status: 3)") && error.ends_with("one\ntwo"), "{error}");
        assert!(line("no-such-program", &[]).unwrap_err().to_string().contains("is it installed?"));
        assert_eq!(line("printf", &["a\\nb\\n"]).unwrap(), "a\nb");
    }

    #[test]
    fn a_program_that_is_not_there_is_named_with_how_to_get_it() {
        let error = is_there(&mut Command::new("no-such-program"), "some way").unwrap_err().to_string();
        assert_eq!(error, "no-such-program is not installed; install it with: some way");
    }
}
