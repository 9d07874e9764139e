//! Reporting of failures: a line on standard error and an exit status.

use std::error::Error;
use std::fmt;

use apportion_files::FileError;

/// A request that is invalid regardless of the contents of files. The exit status is 2, as for an unknown
/// option.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Usage {}

/// Returns the exit status: 2 for an invalid request, 1 for any other error.
pub(crate) fn exit_status(error: &anyhow::Error) -> u8 {
    let is_usage = |cause: &(dyn Error + 'static)| {
        cause.is::<Usage>() || cause.downcast_ref::<FileError>().is_some_and(FileError::is_usage)
    };
    if error.chain().any(is_usage) { 2 } else { 1 }
}

/// Formats an error and its causes on one line, skipping causes that were already quoted.
pub(crate) fn line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let text = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if !line.contains(&text) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&text);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn causes_are_said_once_and_on_one_line() {
        let error = anyhow!("inner\n  cause").context("outer: inner cause").context("cannot do it");
        assert_eq!(line(&error), "cannot do it: outer: inner cause");
    }

    #[test]
    fn only_usage_is_status_2() {
        assert_eq!(exit_status(&anyhow!("a file is missing").context("cannot do it")), 1);
        assert_eq!(exit_status(&anyhow::Error::new(Usage("no".into())).context("cannot do it")), 2);
    }
}
