//! The writer of results in a format.

use std::io::{self, Write};

use apportion_results::{self as results, Writer};

use super::text::{Page, Text};
use crate::parse::format::Format;

/// Returns a writer for this format, which writes to `out`.
pub(crate) fn writer<'a, W: Write + Send + 'a>(
    format: Format,
    results: &'a dyn Text,
    out: W,
) -> io::Result<Box<dyn Writer + 'a>> {
    match format.for_programs() {
        Some(format) => results::writer(format, results, out),
        None => Ok(Box::new(Page::new(results, out))),
    }
}
