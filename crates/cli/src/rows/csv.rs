//! CSV with a header. A UTF-8 byte order mark and CRLF line ends are tolerated; fields may be quoted; a cell that is empty or reads
//! `nan` is missing. Only the columns that the model wants need be numbers.

use std::collections::HashSet;

use anyhow::{Context, Result, bail};

use super::columns::{self, Chosen, Wanted};
use super::table::{Table, finite};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A whole file.
pub(super) fn read(bytes: &[u8], wanted: &Wanted<'_>) -> Result<Table> {
    let (header, rest) = split_header(bytes);
    let mut reader = Reader::new(header, wanted)?;
    let mut values = Vec::new();
    reader.read(rest, &mut values)?;
    reader.finish()?;
    let (names, columns) = (Some(reader.names()), reader.columns());
    Ok(Table { names, columns, values, notes: reader.chosen.notes })
}

/// The first line that is not empty, and what follows it.
pub(super) fn split_header(bytes: &[u8]) -> (&[u8], &[u8]) {
    let empty = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let end = line_ends(&bytes[empty..]).next();
    bytes.split_at(end.map_or(bytes.len(), |end| empty + end))
}

/// Where lines end: behind each line feed outside of quotes. The text begins outside of them.
pub(super) fn line_ends(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = At::FieldStart;
    text.iter().enumerate().filter_map(move |(index, &byte)| {
        at = match (at, byte) {
            (At::FieldStart | At::QuoteInQuotes, b'"') => At::Quotes,
            (At::Quotes, b'"') => At::QuoteInQuotes,
            (At::Quotes, _) => At::Quotes,
            (_, b',' | b'\r' | b'\n') => At::FieldStart,
            // A quote inside of a bare field is a character as any other.
            _ => At::BareField,
        };
        (byte == b'\n' && at == At::FieldStart).then_some(index + 1)
    })
}

/// Where in a line of CSV a byte is.
#[derive(Clone, Copy, PartialEq)]
enum At {
    FieldStart,
    BareField,
    Quotes,
    /// Behind a quote that ends them, unless another follows.
    QuoteInQuotes,
}

/// Reads rows that come in pieces.
pub(super) struct Reader {
    header: Vec<String>,
    chosen: Chosen,
    /// Rows and lines read so far, the header among the lines.
    rows: usize,
    lines: usize,
}

impl Reader {
    /// For the rows below `header`.
    pub(super) fn new(header: &[u8], wanted: &Wanted<'_>) -> Result<Self> {
        let lines = line_feeds(header);
        let header = header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(header);
        let header: Vec<String> = ::csv::Reader::from_reader(header)
            .headers()
            .context("the header is not CSV in UTF-8")?
            .iter()
            .map(|name| name.trim().to_owned())
            .collect();
        check_header(&header)?;
        let chosen = columns::by_name(&header, wanted)?;
        Ok(Self { header, chosen, rows: 0, lines })
    }

    /// The names of the features.
    pub(super) fn names(&self) -> Vec<String> {
        self.chosen.columns.iter().map(|&column| self.header[column].clone()).collect()
    }

    /// Number of features.
    pub(super) fn columns(&self) -> usize {
        self.chosen.columns.len()
    }

    /// What the reader of the results should know.
    pub(super) fn notes(&self) -> &[String] {
        &self.chosen.notes
    }

    /// Appends the numbers of the next rows, which `bytes` hold whole.
    pub(super) fn read(&mut self, bytes: &[u8], values: &mut Vec<f64>) -> Result<()> {
        // Flexible, so that the message on a ragged row is ours.
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        let (header, row_before, lines_before) = (&self.header, self.rows, self.lines);
        let mut record = ::csv::ByteRecord::new();
        let mut row = row_before;
        let mut end = 0;
        while reader.read_byte_record(&mut record).with_context(|| format!("row {row}"))? {
            let start = std::mem::replace(&mut end, reader.position().byte() as usize);
            let place = || format!("row {row} (line {})", lines_before + last_line(&bytes[..end]));
            if header.len() == 1 && begins_with_empty_line(&bytes[..end], start) {
                // The CSV grammar skips an empty line; in a file of one column it may be meant as a missing cell.
                bail!(
                    "there is an empty line before {}; write a missing cell of a single column as \"\"",
                    place()
                );
            }
            if record.len() != header.len() {
                bail!("{} has {} cells, and the header has {}", place(), record.len(), header.len());
            }
            for &column in &self.chosen.columns {
                let place = || format!("{}, column {column} {:?}", place(), header[column]);
                values.push(number(&record[column], place)?);
            }
            row += 1;
        }
        self.rows = row;
        self.lines += line_feeds(bytes);
        Ok(())
    }

    /// Refuses a file without rows.
    pub(super) fn finish(&self) -> Result<()> {
        if self.rows == 0 {
            bail!("there are no rows below the header; give at least one");
        }
        Ok(())
    }
}

fn line_feeds(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

/// Number of the last line of `text`, from 1.
fn last_line(text: &[u8]) -> usize {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(0);
    1 + line_feeds(&text[..end])
}

/// Whether the record at `start` follows an empty line. The reader leaves the second byte of CRLF to the next record.
fn begins_with_empty_line(text: &[u8], start: usize) -> bool {
    let record = &text[start..];
    let record =
        if text[..start].ends_with(b"\r") { record.strip_prefix(b"\n").unwrap_or(record) } else { record };
    matches!(record.first(), Some(b'\r' | b'\n'))
}

/// A cell as a number; NaN where it is missing.
fn number(cell: &[u8], place: impl Fn() -> String) -> Result<f64> {
    let text = String::from_utf8_lossy(cell);
    let text = text.trim();
    if text.is_empty() {
        return Ok(f64::NAN);
    }
    match text.parse() {
        Ok(value) => finite(value, place),
        Err(_) => bail!(
            "{} is {text:?}, which is not a number; leave the cell empty where the value is missing",
            place()
        ),
    }
}

/// Refuses a header with a name twice, and a first line that looks like data.
fn check_header(header: &[String]) -> Result<()> {
    let mut seen = HashSet::new();
    let numbers = header.iter().filter(|name| name.parse::<f64>().is_ok()).count();
    // A data frame without names of columns is written with 0, 1, 2 … as the header.
    let counted = header.iter().enumerate().all(|(index, name)| *name == index.to_string());
    if numbers == header.len() && !counted {
        bail!("the first line holds numbers only; give a header with the names of the columns");
    }
    match header.iter().position(|name| !seen.insert(name)) {
        Some(column) => bail!(
            "column {column} has the name {:?}, as a column before it; give each its own",
            header[column]
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Wanted<'_> =
        Wanted { names: None, named_by: "the model", count: Some(2), target: None, target_required: false };

    fn refusal(text: &str) -> String {
        format!("{:#}", read(text.as_bytes(), &TWO).unwrap_err())
    }

    #[test]
    fn marks_line_ends_quotes_and_missing_cells_are_understood() {
        let text = "\u{feff}\"a, first\",b,target\r\n1.5,,yes\r\n\"-2e3\", 7 ,no\r\nnan,0,\r\n";
        let table = read(text.as_bytes(), &TWO).unwrap();
        assert_eq!(table.names, Some(vec!["a, first".to_owned(), "b".to_owned()]));
        assert_eq!(table.len(), 3);
        assert_eq!(table.row(1), [-2000.0, 7.0]);
        assert!(table.row(0)[1].is_nan() && table.row(2)[0].is_nan());
    }

    #[test]
    fn text_and_infinity_are_refused_by_row_line_and_column() {
        for (cell, says) in [
            ("abc", "\"abc\", which is not a number"),
            ("NA", "leave the cell empty"),
            ("-inf", "is -inf"),
            ("1e999", "is inf"),
        ] {
            for (end, line) in [("\n", 3), ("\r\n", 3), ("\n\n", 5)] {
                let message = refusal(&["a,b", "1,2", &format!("3,{cell}"), ""].join(end));
                let place = format!("row 1 (line {line}), column 1 \"b\"");
                assert!(message.contains(&place) && message.contains(says), "{message}");
            }
        }
    }

    #[test]
    fn ragged_rows_are_refused_by_row_and_line() {
        assert!(refusal("a,b\n1,2\n3\n").contains("row 1 (line 3) has 1 cells, and the header has 2"));
        assert!(refusal("a,b\n1,2,3\n").contains("row 0 (line 2) has 3 cells"));
    }

    #[test]
    fn a_file_without_header_or_rows_or_with_a_name_twice_is_refused() {
        assert!(refusal("5.1,3.5\n4.9,3.0\n").contains("numbers only"));
        assert!(refusal("a,b\n").contains("no rows"));
        assert!(refusal("a,a\n1,2\n").contains("\"a\""));
        assert_eq!(read(b"0,1\n5,6\n", &TWO).unwrap().values, [5.0, 6.0]);
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        assert!(format!("{:#}", read(b"\xff\xfea\0,\0b\0\n", &TWO).unwrap_err()).contains("UTF-8"));
        assert!(format!("{:#}", read(b"a,b\n1,\xff\n", &TWO).unwrap_err()).contains("not a number"));
    }

    #[test]
    fn an_empty_line_in_a_single_column_is_refused_and_a_quoted_empty_cell_is_missing() {
        let one = Wanted { count: Some(1), ..TWO };
        for text in ["a\n1\n\n2\n", "a\r\n1\r\n\r\n2\r\n"] {
            let message = read(text.as_bytes(), &one).unwrap_err().to_string();
            assert!(message.contains("empty line before row 1 (line 4)"), "{message}");
        }
        assert_eq!(read(b"a\r\n1\r\n2", &one).unwrap().values, [1.0, 2.0]);
        let table = read(b"a\n1\n\"\"\n2\n\n", &one).unwrap();
        assert_eq!(table.len(), 3);
        assert!(table.values[1].is_nan());
    }
}
