//! CSV with a header. A UTF-8 byte order mark and CRLF line ends are accepted, and fields may be quoted. Only
//! the columns that are read must contain numbers or categories.

mod comments;
mod lines;
mod separator;

use std::collections::HashSet;
use std::io::BufRead;

use crate::cells::{Feature, weight};
use crate::columns::{ChosenColumns, MAX_COLUMNS};
use crate::encoding::not_utf_8;
use crate::error::{Result, RowsError};
use crate::number::number;
use crate::row_options::RowOptions;
use crate::table::{Block, Read, RowReceiver};
use crate::texts::Survey;

use lines::{BYTE_ORDER_MARK, Pieces, check_cells, line_ends, open_quote, split_header};

/// Reads a text in pieces. Memory use does not grow with the number of rows.
pub(crate) fn read(
    bytes: &mut dyn BufRead,
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<Read> {
    let mut pieces = Pieces::new(bytes);
    let comments = comments::find(pieces.beginning()?, options)?;
    pieces.skip(comments.bytes);
    let separator = separator::find(pieces.beginning()?, options)?;
    let mut reader: Option<Reader<'_>> = None;
    while let Some(piece) = pieces.next(separator)? {
        let (reader, rows) = match &mut reader {
            Some(reader) => (reader, &piece[..]),
            None => {
                let (header, rows) = split_header(&piece, separator);
                (reader.insert(Reader::new(header, separator, options, comments.lines)?), rows)
            }
        };
        // Only a piece with this many delimiters can contain a row with too many fields.
        if rows.iter().filter(|&&byte| byte == separator).count() >= MAX_COLUMNS {
            let mut start = 0;
            for end in line_ends(rows, separator).chain([rows.len()]) {
                check_cells(&rows[start..end], separator)?;
                start = end;
            }
        }
        reader.block.clear();
        if reader.rows == 0 {
            reader.survey(rows);
        }
        reader.read(rows)?;
        if !reader.block.values.is_empty() && !receive(&mut reader.block) {
            break;
        }
    }
    Ok(reader.ok_or(RowsError::Empty)?.finish())
}

/// A reader of rows from pieces of a text.
struct Reader<'a> {
    header: Vec<String>,
    separator: u8,
    decimal_comma: bool,
    chosen: ChosenColumns,
    features: Vec<Feature<'a>>,
    block: Block,
    /// The number of rows and the number of lines (including the header) read so far.
    rows: usize,
    lines: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader for the rows below `header`, which follows `comments` lines of comments.
    fn new(header: &[u8], separator: u8, options: &RowOptions<'a>, comments: usize) -> Result<Self> {
        let lines = comments + line_feeds(header);
        check_cells(header, separator)?;
        check_quotes(header, separator, comments)?;
        if std::str::from_utf8(header).is_err() {
            return Err(RowsError::damaged(format!("the header is {}", not_utf_8(header))));
        }
        check_line_end(header, separator)?;
        let header = separator::cells(header, separator);
        check_header(&header, options)?;
        let mut chosen = ChosenColumns::by_name(&header, options)?;
        if comments > 0 {
            let lines = if comments == 1 { "1 line".to_owned() } else { format!("{comments} lines") };
            let were = if comments == 1 { "was" } else { "were" };
            chosen.notes.insert(0, format!("{lines} above the header {were} skipped as comments (#)"));
        }
        let names = chosen.columns.iter().map(|&column| header[column].clone());
        let features = Feature::all(names, options);
        let block = chosen.block(Some(&header));
        let decimal_comma = options.decimal_comma;
        Ok(Self { header, separator, decimal_comma, chosen, features, block, rows: 0, lines })
    }

    /// Determines the kinds of the columns whose strings are stored, from the first rows.
    fn survey(&self, bytes: &[u8]) {
        let kept: Vec<usize> =
            (0..self.features.len()).filter(|&feature| self.features[feature].keeps_texts()).collect();
        if kept.is_empty() {
            return;
        }
        let mut surveys: Vec<Survey> = kept.iter().map(|_| Survey::default()).collect();
        let mut reader = ::csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.separator)
            .from_reader(bytes);
        // Errors in rows are reported when the rows are read.
        for record in reader.byte_records().map_while(::std::result::Result::ok) {
            for (&feature, survey) in kept.iter().zip(&mut surveys) {
                let cell = record.get(self.chosen.columns[feature]).unwrap_or_default();
                if let Ok(text) = std::str::from_utf8(cell) {
                    self.features[feature].survey(text, survey);
                }
            }
        }
        for (&feature, survey) in kept.iter().zip(&surveys) {
            self.features[feature].decide(survey);
        }
    }

    /// Appends the rows in `bytes` to the block.
    fn read(&mut self, bytes: &[u8]) -> Result<()> {
        // Let the CSV reader accept rows of any length, so that this crate reports the error.
        let mut reader = ::csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.separator)
            .from_reader(bytes);
        let (header, row_before, lines_before) = (&self.header, self.rows, self.lines);
        let decimal_comma = self.decimal_comma;
        let mut record = ::csv::ByteRecord::new();
        let mut row = row_before;
        let mut end = 0;
        loop {
            match reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(RowsError::row(format!("row {row}: {error}"))),
            }
            let start = std::mem::replace(&mut end, reader.position().byte() as usize);
            // An open quote extends to the end of the piece, so only the last row can contain an open quote.
            if end == bytes.len() {
                check_quotes(&bytes[start..], self.separator, lines_before + line_feeds(&bytes[..start]))?;
            }
            let place = || format!("row {row} (line {})", lines_before + last_line(&bytes[..end]));
            if header.len() == 1 && begins_with_empty_line(&bytes[..end], start) {
                // The CSV grammar skips empty lines, but in a file with one column they may be meant as
                // missing cells.
                return Err(RowsError::row(format!(
                    "empty line before {}; in a table with a single column, write \"\" for a missing cell",
                    place()
                )));
            }
            if record.len() != header.len() {
                let fields = if record.len() == 1 { "field" } else { "fields" };
                return Err(RowsError::row(format!(
                    "{} has {} {fields}, expected {} as in the header{}",
                    place(),
                    record.len(),
                    header.len(),
                    hint(&record, header.len(), self.separator)
                )));
            }
            for (&column, feature) in self.chosen.columns.iter().zip(&mut self.features) {
                let place = || format!("{}, column {column} {:?}", place(), header[column]);
                let value = match std::str::from_utf8(&record[column]) {
                    Ok(text) => feature.text(text).map_err(|error| feature.at(place(), &error)),
                    Err(_) => Err(other_encoding(&record[column], place())),
                };
                self.block.values.push(value?);
            }
            if let Some(id) = self.chosen.id {
                let place = || format!("{}, column {id} {:?}", place(), header[id]);
                let text =
                    std::str::from_utf8(&record[id]).map_err(|_| other_encoding(&record[id], place()))?;
                self.block.ids.push(text.to_owned());
            }
            if let Some(column) = self.chosen.weight {
                let place = || format!("{}, column {column} {:?}", place(), header[column]);
                let number = std::str::from_utf8(&record[column])
                    .ok()
                    .and_then(|text| number(text.trim(), decimal_comma));
                self.block.weights.push(weight(number, place)?);
            }
            row += 1;
        }
        self.rows = row;
        self.lines += line_feeds(bytes);
        Ok(())
    }

    /// Returns the information about all rows.
    fn finish(self) -> Read {
        self.chosen.summary(&self.header, &self.features)
    }
}

/// Returns advice for a row with too many or too few fields. `options` is the expected number of fields.
fn hint(record: &::csv::ByteRecord, options: usize, separator: u8) -> &'static str {
    match separator {
        _ if record.get(0).is_some_and(|cell| cell.starts_with(b"#")) => {
            "; if the line is a comment, remove it (only comments above the header are skipped)"
        }
        _ if options == 1 => "; if the first line is a title, remove it or start it with #",
        b',' if record.len() == 2 * options => {
            "; if numbers have decimal commas, write decimal points, or quote the fields and pass \
             --decimal-comma"
        }
        b',' => "; quote fields that contain the delimiter, or set the delimiter with --separator C",
        _ => "; if the delimiter is wrong, set it with --separator C",
    }
}

/// Returns the error for a cell that is not in UTF-8.
fn other_encoding(cell: &[u8], place: String) -> RowsError {
    RowsError::Cell { place, problem: not_utf_8(cell) }
}

fn line_feeds(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

/// Returns the line number of the last line of `text`, counted from 1.
fn last_line(text: &[u8]) -> usize {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(0);
    1 + line_feeds(&text[..end])
}

/// Returns whether the record at `start` follows an empty line. The reader counts the second byte of CRLF as
/// part of the next record.
fn begins_with_empty_line(text: &[u8], start: usize) -> bool {
    let record = &text[start..];
    let record =
        if text[..start].ends_with(b"\r") { record.strip_prefix(b"\n").unwrap_or(record) } else { record };
    matches!(record.first(), Some(b'\r' | b'\n'))
}

/// Rejects a text that ends within quotes; `lines_before` lines precede it.
fn check_quotes(text: &[u8], separator: u8, lines_before: usize) -> Result<()> {
    // The CSV reader removes a byte order mark before the first field.
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match open_quote(text, separator) {
        Some(quote) => Err(RowsError::row(format!(
            "line {}: unclosed quote; close it, or double it (\"\") if it is part of the text",
            lines_before + 1 + line_feeds(&text[..quote])
        ))),
        None => Ok(()),
    }
}

/// Rejects a header in which the CSV reader finds a second row, because it accepts a single carriage return
/// as the end of a line.
fn check_line_end(header: &[u8], separator: u8) -> Result<()> {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(header);
    if reader.byte_records().nth(1).is_some() {
        return Err(RowsError::row(
            "the header ends with a carriage return without a line feed; end lines with \\n or \\r\\n",
        ));
    }
    Ok(())
}

/// Rejects a first line that consists of numbers.
fn check_header(header: &[String], options: &RowOptions<'_>) -> Result<()> {
    let are_numbers = header.iter().all(|name| name.parse::<f64>().is_ok());
    // Data frames without column names are written with the header 0, 1, 2, …
    let are_counted = || header.iter().enumerate().all(|(index, name)| *name == index.to_string());
    let are_wanted = || {
        let cells: HashSet<&String> = header.iter().collect();
        options.names.is_some_and(|names| names.iter().all(|name| cells.contains(name)))
    };
    if are_numbers && !are_counted() && !are_wanted() {
        return Err(RowsError::row(
            "the first line contains numbers only; add a header with the column names",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two<'a>() -> RowOptions<'a> {
        RowOptions { named_by: "the model", count: Some(2), ..RowOptions::default() }
    }

    /// Returns the names and values of a whole text.
    fn table(text: &[u8], options: &RowOptions<'_>) -> Result<(Vec<String>, Vec<f64>)> {
        let mut values = Vec::new();
        let read = read(&mut &text[..], options, &mut |block| {
            values.append(&mut block.values);
            true
        })?;
        Ok((read.names.unwrap(), values))
    }

    fn refusal(text: &str) -> String {
        table(text.as_bytes(), &two()).unwrap_err().to_string()
    }

    #[test]
    fn marks_line_ends_quotes_and_missing_cells_are_understood() {
        let text = "\u{feff}\"a, first\",b,target\r\n1.5,,yes\r\n\"-2e3\", 7 ,no\r\nnan,0,\r\n";
        let (names, values) = table(text.as_bytes(), &two()).unwrap();
        assert_eq!(names, ["a, first", "b"]);
        assert_eq!(values.len(), 6);
        assert_eq!(values[2..4], [-2000.0, 7.0]);
        assert!(values[1].is_nan() && values[4].is_nan());
    }

    #[test]
    fn a_line_end_in_a_name_behind_the_mark_ends_no_header() {
        let (names, values) = table("\u{feff}\"a\nfirst\",b\n1,2\n".as_bytes(), &two()).unwrap();
        assert_eq!((names, values), (vec!["a\nfirst".to_owned(), "b".to_owned()], vec![1.0, 2.0]));
        assert!(refusal("\u{feff}").contains("empty"));
    }

    #[test]
    fn text_and_overflow_are_refused_by_row_line_and_column() {
        for (cell, says) in [
            ("abc", "\"abc\" is not numeric"),
            ("1e999", "\"1e999\" overflows float64"),
            ("71.2%", "\"71.2%\" is a percentage"),
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
        assert!(refusal("a,b\n1,2\n3\n").contains("row 1 (line 3) has 1 field, expected 2 as in the header"));
        assert!(refusal("a,b\n1,2,3\n").contains("row 0 (line 2) has 3 fields"));
    }

    #[test]
    fn a_file_without_header_or_with_a_name_twice_is_refused() {
        assert!(refusal("5.1,3.5\n4.9,3.0\n").contains("numbers only"));
        assert!(refusal("a,a\n1,2\n").contains("\"a\""));
        assert_eq!(table(b"0,1\n5,6\n", &two()).unwrap().1, [5.0, 6.0]);
    }

    #[test]
    fn numbers_are_a_header_where_all_names_that_are_wanted_are_among_them() {
        for (text, names, values) in [
            ("2018,2019\n5,6\n", ["2018", "2019"], [5.0, 6.0]),
            ("2019;2017;2018\n5;6;7\n", ["2018", "2019"], [7.0, 5.0]),
            ("1,0\n5,6\n", ["0", "1"], [6.0, 5.0]),
        ] {
            let names = names.map(str::to_owned);
            let options = RowOptions { names: Some(&names), ..two() };
            assert_eq!(table(text.as_bytes(), &options).unwrap().1, values, "{text}");
        }
        let names = ["2018", "2019"].map(str::to_owned);
        let message = table(b"2018,2020\n5,6\n", &RowOptions { names: Some(&names), ..two() }).unwrap_err();
        assert!(message.to_string().contains("numbers only"), "{message}");
    }

    #[test]
    fn a_quote_that_is_never_closed_is_refused_by_its_line() {
        let names = ["a".to_owned(), "b".to_owned()];
        let options = RowOptions { names: Some(&names), ..two() };
        for (text, line) in [
            ("a,b,note\n1,2,ok\n3,4,\"oops\n5,6,fine\n7,8,fine\n", 3),
            // The error must report the quote, not the resulting cell or short row.
            ("a,b\n1,\"2\n", 2),
            ("a,b\n1,\"2", 2),
            ("a,b\n1,2\n\"3,4\n5,6\n", 3),
            ("\u{feff}a,b,note\r\n1,2,\"x\r\ny\"\"\"\r\n3,4,\"oops\"\"\r\n", 4),
            ("a;b;note\n\n1;2;\"x;\ny\"\n3;4;5\" pipe\n3;4;\"\n", 6),
            ("\u{feff}\"a,b\n1,2\n", 1),
            ("\na,\"b\n1,2\n", 2),
            ("a,b\n\u{feff}\"1,2\n3,4\n", 2),
        ] {
            let message = table(text.as_bytes(), &options).unwrap_err().to_string();
            let place = format!("line {line}: unclosed quote");
            assert!(message.starts_with(&place), "{text:?}: {message}");
        }
        let text = "a,b,note\r\n1,2,\"x\r\ny\"\r\n3,4,5\" pipe\r\n5,6,\"\"\"\"";
        assert_eq!(table(text.as_bytes(), &options).unwrap().1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn lines_that_end_in_a_carriage_return_alone_are_refused() {
        for text in ["a,b\r1,2\r3,4\r", "a,b\r1,2\n3,4\n"] {
            assert!(refusal(text).contains("the header ends with a carriage return without a line feed"));
        }
        assert_eq!(table(b"\"a\rx\",b\r\r\n1,2\r\r\n", &two()).unwrap().1, [1.0, 2.0]);
        assert!(table(b"a,b\r", &two()).unwrap().1.is_empty());
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        assert!(table(b"\xff\xfea\0,\0b\0\n", &two()).unwrap_err().to_string().contains("UTF-8"));
        let refused = |text: &[u8], options: &RowOptions<'_>| table(text, options).unwrap_err().to_string();
        let message = refused(b"gr\xf6\xdfe,b\n1,2\n", &two());
        assert!(
            message.starts_with("the header is not encoded in UTF-8") && message.contains("größe"),
            "{message}"
        );
        let message = refused(b"a,b\n1,caf\xe9\n", &two());
        let place = "row 0 (line 2), column 1 \"b\": not encoded in UTF-8; if the text should read \"café\"";
        assert!(message.starts_with(place) && message.contains("iconv -f WINDOWS-1252"), "{message}");
        let with_id = RowOptions { id: Some("who"), ..two() };
        let message = refused(b"a,b,who\n1,2,Zo\xeb\n", &with_id);
        assert!(
            message.contains("column 2 \"who\": not encoded in UTF-8; if the text should read \"Zoë\""),
            "{message}"
        );
        // Columns that are not read may contain any text.
        let names = ["a", "b"].map(str::to_owned);
        let named = RowOptions { names: Some(&names), ..two() };
        assert_eq!(table(b"a,b,who\n1,2,Zo\xeb\n", &named).unwrap().1, [1.0, 2.0]);
    }

    #[test]
    fn comments_above_the_header_are_skipped_with_a_note_and_counted_as_lines() {
        let read_all = |text: &str| {
            let mut values = Vec::new();
            let read = read(&mut text.as_bytes(), &two(), &mut |block| {
                values.append(&mut block.values);
                true
            });
            read.map(|read| (read.names.unwrap(), values, read.notes))
        };
        for text in [
            "# exported 2026-01-01\na,b\n1,2\n",
            "\u{feff}# exported 2026-01-01\r\na,b\r\n1,2\r\n",
            "# one, two\na,b\n1,2\n",
            "# it's \"quoted\na;b\n1;2\n",
            "#a comment\na\tb\n1\t2\n",
        ] {
            let (names, values, notes) = read_all(text).unwrap();
            assert_eq!((names, values), (vec!["a".to_owned(), "b".to_owned()], vec![1.0, 2.0]), "{text:?}");
            assert!(notes[0].starts_with("1 line above the header"), "{notes:?}");
        }
        let (names, _, notes) = read_all("#id,age\n1,2\n").unwrap();
        assert_eq!((&names[0], notes.len()), (&"#id".to_owned(), 0));
        let message = read_all("# x\n# y\na,b\n1,2\n3,x\n").unwrap_err().to_string();
        assert!(message.contains("row 1 (line 5)"), "{message}");
        let message = read_all("a,b\n1,2\n# the end\n").unwrap_err().to_string();
        assert!(
            message.contains("row 1 (line 3) has 1 field") && message.contains("is a comment"),
            "{message}"
        );
        let one = RowOptions { count: Some(1), ..two() };
        let message = table(b"Report of 2026\na,b\n1,2\n", &one).unwrap_err().to_string();
        assert!(message.contains("if the first line is a title"), "{message}");
    }

    #[test]
    fn an_empty_line_in_a_single_column_is_refused_and_a_quoted_empty_cell_is_missing() {
        let one = RowOptions { count: Some(1), ..two() };
        for text in ["a\n1\n\n2\n", "a\r\n1\r\n\r\n2\r\n"] {
            let message = table(text.as_bytes(), &one).unwrap_err().to_string();
            assert!(message.contains("empty line before row 1 (line 4)"), "{message}");
        }
        assert_eq!(table(b"a\r\n1\r\n2", &one).unwrap().1, [1.0, 2.0]);
        let (_, values) = table(b"a\n1\n\"\"\n2\n\n", &one).unwrap();
        assert_eq!(values.len(), 3);
        assert!(values[1].is_nan());
    }
}
