//! Formatting of a program's input: the names of the columns once, then batches of rows.

use std::io::Write;

use apportion_games::{GameError, Rows};

use crate::column::Column;
use crate::error::ProgramError;
use crate::options::Format;

/// A writer of rows in the input format of a program.
#[derive(Debug)]
pub(crate) struct Requests {
    format: Format,
    columns: Vec<Column>,
    /// The bytes before the first batch.
    head: Vec<u8>,
}

impl Requests {
    pub(crate) fn new(format: Format, columns: &[Column]) -> Result<Self, ProgramError> {
        if columns.is_empty() {
            return Err(ProgramError::options("a program requires rows with at least one column, got 0"));
        }
        let head = match format {
            Format::Csv => header(columns)?,
            #[cfg(feature = "arrow")]
            Format::Arrow => arrow::head(columns)?,
        };
        Ok(Self { format, columns: columns.to_vec(), head })
    }

    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns an error for rows that cannot be written.
    pub(crate) fn check(&self, rows: Rows<'_>) -> Result<(), ProgramError> {
        if rows.columns() != self.columns.len() {
            let (given, wanted) = (rows.columns(), self.columns.len());
            return Err(GameError::Width {
                what: "a row for the program".to_owned(),
                actual: given,
                expected: wanted,
            }
            .into());
        }
        for (row, values) in rows.iter().enumerate() {
            for (column, &value) in self.columns.iter().zip(values) {
                if value.is_nan() {
                    continue;
                }
                let mut broken = None;
                let has_text = column.with_text(value, &mut |text| {
                    if self.format == Format::Csv && text.contains(['\n', '\r']) {
                        broken = Some(breaks_a_line(column, text));
                    }
                });
                if let Some(error) = broken {
                    return Err(error);
                }
                if column.is_text() && !has_text {
                    let (categories, column) = (column.categories().len(), column.name().to_owned());
                    return Err(ProgramError::NoCategory { row, column, value, categories });
                }
            }
        }
        Ok(())
    }

    /// Returns the cells of a row as a line of CSV.
    pub(crate) fn cells(&self, row: Rows<'_>) -> String {
        let text = lines(&self.columns, row);
        let text = String::from_utf8_lossy(&text);
        text.split_once('\n').map_or("", |(_, cells)| cells).trim_end_matches('\n').to_owned()
    }

    /// Formats a batch of validated rows.
    pub(crate) fn batch(&self, rows: Rows<'_>) -> Result<Vec<u8>, ProgramError> {
        match self.format {
            Format::Csv => Ok(lines(&self.columns, rows)),
            #[cfg(feature = "arrow")]
            Format::Arrow => arrow::batch(&self.columns, rows),
        }
    }
}

/// Returns the error for a string with line breaks.
fn breaks_a_line(column: &Column, text: &str) -> ProgramError {
    ProgramError::options(format!(
        "column {:?} contains {text:?}, which has a line break; rename it, or use the Arrow format",
        column.name()
    ))
}

/// Formats the line with the names of the columns.
fn header(columns: &[Column]) -> Result<Vec<u8>, ProgramError> {
    let mut line = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        if let Some(text) = [column.name()]
            .into_iter()
            .chain(column.categories().iter().map(String::as_str))
            .find(|text| text.contains(['\n', '\r']))
        {
            return Err(breaks_a_line(column, text));
        }
        if index > 0 {
            line.push(b',');
        }
        text(&mut line, column.name());
    }
    line.push(b'\n');
    Ok(line)
}

/// Formats the line with the number of rows, and one line per row.
fn lines(columns: &[Column], rows: Rows<'_>) -> Vec<u8> {
    let mut lines = Vec::with_capacity(8 * rows.values().len() + 16);
    lines.extend(format!("{}\n", rows.len()).as_bytes());
    for row in rows.iter() {
        for (index, (column, &value)) in columns.iter().zip(row).enumerate() {
            if index > 0 {
                lines.push(b',');
            }
            if value.is_nan() {
                // Write `""`: CSV readers skip empty lines.
                lines.extend(if columns.len() == 1 { &b"\"\""[..] } else { b"" });
            } else if !column.with_text(value, &mut |word| text(&mut lines, word)) {
                number(&mut lines, value);
            }
        }
        lines.push(b'\n');
    }
    lines
}

/// Writes a number with the fewest digits that read back to the same bits.
fn number(line: &mut Vec<u8>, value: f64) {
    let whole = value as i64;
    // Below 2^53, the shortest form of an integer consists of all its digits. Zero is handled separately,
    // because it may be negative.
    let written = if whole as f64 == value && whole.unsigned_abs() < 1 << 53 && whole != 0 {
        write!(line, "{whole}")
    } else if value == 0.0 {
        write!(line, "{value}")
    } else {
        write!(line, "{value:?}")
    };
    debug_assert!(written.is_ok(), "there is always room");
}

/// Writes a string, quoted if necessary.
fn text(line: &mut Vec<u8>, text: &str) {
    let blank_ends = text.trim().len() < text.len();
    if text.is_empty() || blank_ends || text.contains(['"', ',', ';', '\t', '\'', '#']) {
        line.push(b'"');
        line.extend(text.replace('"', "\"\"").as_bytes());
        line.push(b'"');
    } else {
        line.extend(text.as_bytes());
    }
}

#[cfg(feature = "arrow")]
mod arrow {
    //! Formatting of rows as an Arrow stream.

    use apportion_games::Rows;
    use apportion_rows::{ArrowColumn, ArrowKind, ArrowWriter};

    use crate::column::Column;
    use crate::error::ProgramError;

    fn writer(columns: &[Column]) -> std::io::Result<ArrowWriter<Vec<u8>>> {
        let kind = |column: &Column| if column.is_text() { ArrowKind::Text } else { ArrowKind::Float64 };
        ArrowWriter::stream(Vec::new(), columns.iter().map(|column| (column.name(), kind(column))), &[])
    }

    /// Formats the schema.
    pub(super) fn head(columns: &[Column]) -> Result<Vec<u8>, ProgramError> {
        let mut writer = writer(columns).map_err(|error| ProgramError::options(error.to_string()))?;
        Ok(std::mem::take(writer.sink()))
    }

    /// Formats a record batch.
    pub(super) fn batch(columns: &[Column], rows: Rows<'_>) -> Result<Vec<u8>, ProgramError> {
        let cells = |(index, column): (usize, &Column)| {
            let numbers = rows.iter().map(|row| row[index]);
            if !column.is_text() {
                return ArrowColumn::float64(numbers);
            }
            let texts: Vec<Option<String>> = numbers
                .map(|number| {
                    let mut text = None;
                    column.with_text(number, &mut |found| text = Some(found.to_owned()));
                    text
                })
                .collect();
            ArrowColumn::text(texts.iter().map(Option::as_deref))
        };
        let cells: Vec<ArrowColumn> = columns.iter().enumerate().map(cells).collect();
        let write = || {
            let mut writer = writer(columns)?;
            writer.sink().clear();
            writer.write(&cells)?;
            Ok(std::mem::take(writer.sink()))
        };
        // The strings may be too long for a record batch.
        write().map_err(|error: std::io::Error| ProgramError::options(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(columns: &[Column], rows: &[f64]) -> String {
        let requests = Requests::new(Format::Csv, columns).unwrap();
        let rows = Rows::new(rows, columns.len());
        requests.check(rows).unwrap();
        String::from_utf8([requests.head(), &requests.batch(rows).unwrap()].concat()).unwrap()
    }

    #[test]
    fn rows_are_lines_after_their_number() {
        let categories = ["red, or so".to_owned(), "blue".to_owned()].to_vec();
        let columns = [Column::new("age"), Column::with_categories("the \"colour\"", categories)];
        let text = written(&columns, &[41.0, 1.0, -0.5, 0.0, f64::NAN, f64::NAN]);
        assert_eq!(text, "age,\"the \"\"colour\"\"\"\n3\n41,blue\n-0.5,\"red, or so\"\n,\n");
    }

    #[test]
    fn a_missing_value_alone_is_still_a_row() {
        assert_eq!(written(&[Column::new("x")], &[f64::NAN, 1.0]), "x\n2\n\"\"\n1\n");
    }

    #[test]
    fn what_would_break_a_line_is_refused() {
        let bad =
            [Column::new("a\nb"), Column::with_categories("a", vec!["fine".into(), "not\rfine".into()])];
        for column in bad {
            let error = Requests::new(Format::Csv, &[column]).unwrap_err();
            assert!(error.to_string().contains("has a line break"), "{error}");
        }
        assert!(Requests::new(Format::Csv, &[]).is_err());
    }

    #[test]
    fn rows_that_no_program_could_read_are_refused() {
        let columns = [Column::new("x"), Column::with_categories("w", vec!["a".into(), "b".into()])];
        let requests = Requests::new(Format::Csv, &columns).unwrap();
        let check = |row: &[f64], columns| requests.check(Rows::new(row, columns)).unwrap_err();
        assert!(matches!(
            check(&[1.0], 1),
            ProgramError::Game(GameError::Width { actual: 1, expected: 2, .. })
        ));
        for value in [2.0, -1.0, 0.5, f64::INFINITY] {
            assert!(matches!(
                check(&[0.0, value], 2),
                ProgramError::NoCategory { row: 0, categories: 2, .. }
            ));
        }
    }

    /// A column for tests: a column of strings if `true`, otherwise a column of numbers, one of which is
    /// written as "1.50".
    #[derive(Debug)]
    struct Cells(bool);

    impl crate::column::Texts for Cells {
        fn is_text(&self) -> bool {
            self.0
        }

        fn with_text(&self, number: f64, with: &mut dyn FnMut(&str)) -> bool {
            let text = match (self.0, number) {
                (true, 0.0) => "007",
                (true, 1.0) => "x, y",
                (true, 2.0) => "two\nlines",
                (false, 1.5) => "1.50",
                _ => return false,
            };
            with(text);
            true
        }
    }

    #[test]
    fn cells_are_written_as_the_file_has_them() {
        let column = |name: &str, is_text| Column::with_texts(name, std::sync::Arc::new(Cells(is_text)));
        let columns = [column("code", true), column("price", false)];
        let rows = [0.0, 1.5, 1.0, f64::INFINITY, f64::NAN, -2.25];
        assert_eq!(written(&columns, &rows), "code,price\n3\n007,1.50\n\"x, y\",inf\n,-2.25\n");
        let requests = Requests::new(Format::Csv, &columns).unwrap();
        let refused = |row: &[f64]| requests.check(Rows::new(row, 2)).unwrap_err();
        assert!(refused(&[2.0, 0.0]).to_string().contains("has a line break"));
        for unknown in [3.0, 0.5, f64::INFINITY] {
            assert!(matches!(refused(&[unknown, 0.0]), ProgramError::NoCategory { row: 0, .. }));
        }
    }

    #[cfg(feature = "arrow")]
    #[test]
    fn cells_that_are_texts_are_strings_of_arrow() {
        let columns = [true, false].map(|is_text| {
            Column::with_texts(if is_text { "code" } else { "price" }, std::sync::Arc::new(Cells(is_text)))
        });
        let requests = Requests::new(Format::Arrow, &columns).unwrap();
        let rows = Rows::new(&[2.0, 1.5, f64::NAN, f64::INFINITY, 0.0, -2.25], 2);
        requests.check(rows).unwrap();
        let stream = [requests.head(), &requests.batch(rows).unwrap()].concat();
        let texts = apportion_rows::Texts::default();
        let wanted =
            apportion_rows::RowOptions { texts: Some(&texts), ..apportion_rows::RowOptions::default() };
        let table = apportion_rows::Source::stream("batch", &stream[..]).read(&wanted).unwrap();
        assert_eq!(texts.list(0), ["two\nlines", "007"]);
        assert!(!texts.is_text(1) && table.row(1)[0].is_nan());
        assert_eq!([table.row(0)[1], table.row(1)[1], table.row(2)[1]], [1.5, f64::INFINITY, -2.25]);
    }

    proptest! {
        #[test]
        fn numbers_read_back_to_their_bits_in_few_digits(value in any::<f64>(), whole in any::<i64>()) {
            let values =
                [value, whole as f64, (whole >> 40) as f64, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY];
            for value in values {
                if !value.is_nan() {
                    let mut line = Vec::new();
                    number(&mut line, value);
                    let text = String::from_utf8(line).unwrap();
                    prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{}", text);
                    prop_assert!(text.len() <= 24, "{}", text);
                }
            }
        }
    }
}
