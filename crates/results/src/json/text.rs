//! JSON that is safe to print in a terminal.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::shown::is_hidden;

/// Serializes `value` like serde_json, but escapes all control characters and invisible formatting
/// characters. The JSON standard requires this only for some of them.
///
/// # Errors
///
/// The errors of serde_json.
pub fn write(out: impl Write, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Escaping))?)
}

/// Serializes `value` to a string, like [`write`].
pub(crate) fn text(value: &impl Serialize) -> io::Result<String> {
    let mut text = Vec::new();
    write(&mut text, value)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, letter)) = rest.char_indices().find(|&(_, letter)| is_hidden(letter)) {
            out.write_all(&rest.as_bytes()[..at])?;
            write!(out, "\\u{:04x}", u32::from(letter))?;
            rest = &rest[at + letter.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_an_escape_and_reads_back() {
        let texts = ["age", "naïve 😀 \\ \"", "\u{1b}[1m\n", "a\u{9b}31m\u{7f}b", "\u{202e}fed\u{2028}", ""];
        let written = text(&texts).unwrap();
        assert!(!written.contains(is_hidden), "{written}");
        assert!(written.contains("a\\u009b31m\\u007fb") && written.contains("naïve 😀"), "{written}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap(), texts);
        let numbers = (1.5, f64::MIN_POSITIVE, Some(-0.0), [u64::MAX]);
        assert_eq!(text(&numbers).unwrap(), serde_json::to_string(&numbers).unwrap());
    }
}
