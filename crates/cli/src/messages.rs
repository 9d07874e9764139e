//! What the command says on standard error: a line each, in which nothing commands the terminal.

use std::fmt::Display;
use std::io::{self, Write};

use apportion_results::shown::shown;

/// Something that the user may want to know.
pub(crate) fn note(says: impl Display) {
    line("note", says);
}

/// Something that is less than what was asked for.
pub(crate) fn warning(says: impl Display) {
    line("warning", says);
}

/// Why there is no result.
pub(crate) fn error(says: impl Display) {
    line("error", says);
}

/// Where standard error is closed or full, nobody can be told: that is no failure of the work.
fn line(kind: &str, says: impl Display) {
    let _ = writeln!(io::stderr(), "{kind}: {}", shown(&says.to_string()));
}
