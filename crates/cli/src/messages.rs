//! Messages on standard error, one line each. Control characters are escaped, so that they cannot control the
//! terminal.

use std::fmt::Display;
use std::io::{self, Write};

use apportion_results::shown::shown;

/// Prints a note: information that may be of interest.
pub(crate) fn note(says: impl Display) {
    line("note", says);
}

/// Prints a warning: a result that falls short of the request.
pub(crate) fn warning(says: impl Display) {
    line("warning", says);
}

/// Prints an error: the reason why there is no result.
pub(crate) fn error(says: impl Display) {
    line("error", says);
}

/// Prints a line. Errors are ignored: if standard error is closed or full, the work itself has not failed.
fn line(kind: &str, says: impl Display) {
    let _ = writeln!(io::stderr(), "{kind}: {}", shown(&says.to_string()));
}

/// Returns a number with its noun, such as 1 row or 3 rows.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
