//! Splits a text into lines.

use std::io::{BufRead, Read};

use crate::columns::MAX_COLUMNS;
use crate::error::{Result, RowsError};

/// The UTF-8 byte order mark, which is not part of the first column name.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The number of bytes that are read at a time and then split into rows.
const PIECE: usize = 1 << 20;

/// Splits a text after its first line that is not empty.
pub(super) fn split_header(text: &[u8], separator: u8) -> (&[u8], &[u8]) {
    let empty = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let end = line_ends(&text[empty..], separator).next();
    text.split_at(end.map_or(text.len(), |end| empty + end))
}

/// Returns the end of each line, i.e. the position after each line feed outside quotes. The text must begin
/// outside quotes.
pub(super) fn line_ends(text: &[u8], separator: u8) -> impl Iterator<Item = usize> {
    let mut at = At::FieldStart;
    text.iter().enumerate().filter_map(move |(index, &byte)| {
        at = at.behind(byte, separator);
        (byte == b'\n' && at == At::FieldStart).then_some(index + 1)
    })
}

/// Rejects a line with more fields than a table can have columns, before memory is allocated for each. The
/// line may end with a line feed.
pub(super) fn check_cells(line: &[u8], separator: u8) -> Result<()> {
    // Without quotes, a line has one more field than delimiters.
    if line.iter().filter(|&&byte| byte == separator).count() < MAX_COLUMNS {
        return Ok(());
    }
    let mut at = At::FieldStart;
    let ends_a_cell = |&&byte: &&u8| {
        at = at.behind(byte, separator);
        byte == separator && at == At::FieldStart
    };
    let cells = 1 + line.iter().filter(ends_a_cell).count();
    match cells > MAX_COLUMNS {
        true => Err(RowsError::columns(format!(
            "a line has {cells} fields; a table can have at most {MAX_COLUMNS} columns; if the delimiter \
             is wrong, set it with --separator C"
        ))),
        false => Ok(()),
    }
}

/// Returns the position of a quote that is still open at the end of a text, which begins outside quotes. The
/// CSV reader would end the field there without an error.
pub(super) fn open_quote(text: &[u8], separator: u8) -> Option<usize> {
    let (mut at, mut opened) = (At::FieldStart, 0);
    for (index, &byte) in text.iter().enumerate() {
        if at == At::FieldStart {
            opened = index;
        }
        at = at.behind(byte, separator);
    }
    (at == At::Quotes).then_some(opened)
}

/// The state of a parser within a CSV line.
#[derive(Clone, Copy, PartialEq)]
enum At {
    FieldStart,
    BareField,
    Quotes,
    /// After a quote within quotes. It ends the quotes unless another quote follows.
    QuoteInQuotes,
}

impl At {
    /// Returns the state after a byte.
    fn behind(self, byte: u8, separator: u8) -> Self {
        match (self, byte) {
            (Self::FieldStart | Self::QuoteInQuotes, b'"') => Self::Quotes,
            (Self::Quotes, b'"') => Self::QuoteInQuotes,
            (Self::Quotes, _) => Self::Quotes,
            (_, b'\r' | b'\n') => Self::FieldStart,
            (_, byte) if byte == separator => Self::FieldStart,
            // A quote within an unquoted field is an ordinary character.
            _ => Self::BareField,
        }
    }
}

/// Returns the end of the last complete line.
fn last_line_end(text: &[u8], separator: u8) -> Option<usize> {
    // Without quotes, every line feed ends a line.
    if text.contains(&b'"') {
        line_ends(text, separator).last()
    } else {
        text.iter().rposition(|&byte| byte == b'\n').map(|index| index + 1)
    }
}

/// Returns whether a text consists of line ends only, so that it does not contain a header.
fn is_empty_text(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// A reader that returns a text in pieces of whole lines.
pub(super) struct Pieces<'a> {
    bytes: &'a mut dyn BufRead,
    /// Bytes that were read but not returned yet.
    rest: Vec<u8>,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(bytes: &'a mut dyn BufRead) -> Self {
        Self { bytes, rest: Vec::new() }
    }

    /// Returns the start of the text without consuming it. The byte order mark is removed, so that a quote
    /// directly after it begins a field.
    pub(super) fn beginning(&mut self) -> Result<&[u8]> {
        if self.rest.is_empty() {
            (&mut *self.bytes).take(PIECE as u64).read_to_end(&mut self.rest)?;
            if self.rest.starts_with(BYTE_ORDER_MARK) {
                self.rest.drain(..BYTE_ORDER_MARK.len());
            }
        }
        Ok(&self.rest)
    }

    /// Skips bytes of the [start](Self::beginning).
    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest.drain(..bytes);
    }

    /// Returns the next piece, which consists of whole lines, or `None` at the end.
    pub(super) fn next(&mut self, separator: u8) -> Result<Option<Vec<u8>>> {
        let mut piece = std::mem::take(&mut self.rest);
        loop {
            let end = last_line_end(&piece, separator);
            if let Some(end) = end.filter(|&end| !is_empty_text(&piece[..end])) {
                self.rest = piece.split_off(end);
                return Ok(Some(piece));
            }
            // Double the size of the piece each time, so that a long line is scanned only a few times.
            let more = PIECE.max(piece.len()) as u64;
            if (&mut *self.bytes).take(more).read_to_end(&mut piece)? == 0 {
                return Ok((!piece.is_empty()).then_some(piece));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_outside_of_quotes_alone() {
        let text = b"a,\"x\ny\"\n1,2\"\n\"3\"\"\n\",4\r\n5";
        assert_eq!(line_ends(text, b',').collect::<Vec<_>>(), [8, 13, 23]);
        assert_eq!(last_line_end(text, b','), Some(23));
        // After a semicolon, a quote begins a field only if the semicolon is the delimiter.
        let text = b"a;\"x\n1;2\"\n";
        assert_eq!(last_line_end(text, b';'), Some(10));
        assert_eq!(line_ends(text, b',').collect::<Vec<_>>(), [5, 10]);
        assert_eq!(last_line_end(b"ab", b','), None);
    }

    #[test]
    fn lines_of_too_many_cells_are_refused() {
        let line = |separators: usize, separator: &str| separator.repeat(separators) + "\n";
        for (text, separator, is_refused) in [
            (line(MAX_COLUMNS - 1, ","), b',', false),
            (line(MAX_COLUMNS, ","), b',', true),
            (line(MAX_COLUMNS, ";"), b';', true),
            (line(MAX_COLUMNS, ","), b';', false),
            (format!("\"{}\"", line(MAX_COLUMNS, ",")), b',', false),
            ("a\t".repeat(MAX_COLUMNS + 7), b'\t', true),
        ] {
            let refused = check_cells(text.as_bytes(), separator).err().map(|error| error.to_string());
            assert_eq!(refused.is_some(), is_refused, "{:?}", &text[..10]);
            let says = "fields; a table can have at most 1048576 columns";
            assert!(refused.is_none_or(|refused| refused.contains(says)));
        }
    }

    #[test]
    fn a_quote_is_open_where_none_closes_it() {
        for (text, options) in [
            ("", None),
            ("a,\"b\"", None),
            ("a,\"b\"\"\"", None),
            ("5\" pipe,\"b\"x\"\r\n", None),
            ("\"", Some(0)),
            ("1,\"4\n", Some(2)),
            ("1,\"4\"\"\r\n5,\"", None),
            ("1,\"4\"\"\r\n5,6", Some(2)),
            ("\"a\"\n1,2\n\"\"\"", Some(8)),
            ("1;\"2", None),
        ] {
            assert_eq!(open_quote(text.as_bytes(), b','), options, "{text:?}");
        }
        assert_eq!(open_quote(b"1;\"2", b';'), Some(2));
    }

    #[test]
    fn pieces_put_together_are_the_text_and_end_where_lines_do() {
        let mut text = b"\r\n\n".to_vec();
        (0..300_000).for_each(|row| text.extend(format!("{row},\"a\n{row}\"\n").as_bytes()));
        text.extend(b"last");
        let mut bytes = &text[..];
        let mut pieces = Pieces::new(&mut bytes);
        let mut together: Vec<u8> = Vec::new();
        while let Some(piece) = pieces.next(b',').unwrap() {
            together.extend(&piece);
            assert!(piece.ends_with(b"\"\n") || together.len() == text.len());
        }
        assert_eq!(together, text);
    }
}
