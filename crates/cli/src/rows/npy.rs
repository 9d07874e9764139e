//! Matrices in NumPy's `.npy` format, versions 1 to 3: little-endian f32 or f64, in C or Fortran order.
//!
//! A file is six bytes of magic, two of version, the length of the header (two bytes little-endian in version 1, four in 2 and 3),
//! the header, which is a Python dictionary with the keys `descr`, `fortran_order` and `shape`, and the numbers. Source: *NumPy
//! Reference*, "The NPY format". Every length is checked before it is used.

use std::io::{BufRead, Read};
use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};

use super::columns::{self, Chosen, Wanted};
use super::table::{Table, finite};

/// The first bytes of every such file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes of numbers that are read at a time.
const BLOCK_BYTES: usize = 1 << 20;

pub(super) fn read(bytes: &[u8], wanted: &Wanted<'_>) -> Result<Table> {
    let (header, data) = split(bytes)?;
    let matrix = Matrix::new(header, Some(data.len()), wanted)?;
    let mut values = Vec::with_capacity(matrix.rows * matrix.chosen.columns.len());
    matrix.read(data, 0..matrix.rows, &mut values)?;
    Ok(Table { names: None, columns: matrix.chosen.columns.len(), values, notes: matrix.chosen.notes })
}

/// Hands the rows over in blocks, as long as `receive` wants more. Returns what the reader of the results should know.
pub(super) fn stream(
    bytes: &mut dyn BufRead,
    wanted: &Wanted<'_>,
    receive: &mut dyn FnMut(&[f64]) -> bool,
) -> Result<Vec<String>> {
    // The header and the few bytes before it.
    let mut start = Vec::new();
    bytes.take(12).read_to_end(&mut start)?;
    let length = header_length(&start)?;
    (&mut *bytes).take((length - length.min(start.len())) as u64).read_to_end(&mut start)?;
    let (header, _) = split(&start)?;
    let matrix = Matrix::new(header, None, wanted)?;
    let mut data = start.split_off(length.min(start.len()));
    let row_bytes = matrix.columns * matrix.width;
    let rows_at_a_time = match matrix.fortran_order {
        true => matrix.rows,
        false => (BLOCK_BYTES / row_bytes).max(1),
    };
    let (mut values, mut row) = (Vec::new(), 0);
    while row < matrix.rows {
        let rows = row..matrix.rows.min(row + rows_at_a_time);
        let wanted = rows.len() as u64 * row_bytes as u64;
        (&mut *bytes).take(wanted - data.len() as u64).read_to_end(&mut data)?;
        if (data.len() as u64) < wanted {
            matrix.check_bytes(row as u64 * row_bytes as u64 + data.len() as u64)?;
        }
        values.clear();
        matrix.read(&data, rows.clone(), &mut values)?;
        if !receive(&values) {
            break;
        }
        data.clear();
        row = rows.end;
    }
    if row == matrix.rows {
        let beyond = std::io::copy(bytes, &mut std::io::sink())?;
        matrix.check_bytes(matrix.rows as u64 * row_bytes as u64 + beyond)?;
    }
    Ok(matrix.chosen.notes)
}

/// What the header says, and which columns are wanted.
struct Matrix {
    rows: usize,
    columns: usize,
    /// Bytes of a number.
    width: usize,
    fortran_order: bool,
    chosen: Chosen,
}

impl Matrix {
    /// As the header says, where `data` bytes follow it, if that is known.
    fn new(header: &str, data: Option<usize>, wanted: &Wanted<'_>) -> Result<Self> {
        let header = Header::parse(header).context("the .npy header cannot be understood")?;
        let &[rows, columns] = header.shape.as_slice() else {
            bail!("the array has {} dimensions; give a matrix of rows × features", header.shape.len());
        };
        let width = match header.descr.as_str() {
            "<f4" => 4,
            "<f8" => 8,
            other => {
                bail!(
                    "the numbers are of type {other:?}; convert them to \"<f8\" (float64) or \"<f4\" (float32)"
                )
            }
        };
        let bytes = rows.checked_mul(columns).and_then(|count| count.checked_mul(width));
        ensure!(
            bytes.is_some() && data.is_none_or(|data| bytes == Some(data)),
            "{rows} × {columns} numbers of {width} bytes are announced, and {} bytes are there; the file is truncated or damaged",
            data.map_or("fewer".to_owned(), |data| data.to_string())
        );
        ensure!(
            rows > 0 && columns > 0,
            "the matrix is {rows} × {columns}; give at least one row and one column"
        );
        if let (None, Some(count)) = (data, wanted.count) {
            // Any number can be announced, and columns are counted out.
            ensure!(
                columns <= count.saturating_add(1),
                "there are {columns} columns, and the model wants {count}, one per feature"
            );
        }
        let chosen = columns::by_position(columns, wanted)?;
        Ok(Self { rows, columns, width, fortran_order: header.fortran_order, chosen })
    }

    /// Refuses another number of bytes than the matrix has.
    fn check_bytes(&self, given: u64) -> Result<()> {
        let Self { rows, columns, width, .. } = self;
        ensure!(
            (rows * columns * width) as u64 == given,
            "{rows} × {columns} numbers of {width} bytes are announced, and {given} bytes are there; the file is truncated or damaged"
        );
        Ok(())
    }

    /// Appends the wanted columns of `rows`, whose numbers `data` begins with; all of the matrix in Fortran order.
    fn read(&self, data: &[u8], rows: Range<usize>, values: &mut Vec<f64>) -> Result<()> {
        let at = |row: usize, column: usize| {
            let index =
                if self.fortran_order { column * self.rows + row } else { row * self.columns + column };
            let number = &data[index * self.width..(index + 1) * self.width];
            match number.try_into() {
                Ok(eight) => f64::from_le_bytes(eight),
                Err(_) => f64::from(f32::from_le_bytes([number[0], number[1], number[2], number[3]])),
            }
        };
        for row in rows.clone() {
            for &column in &self.chosen.columns {
                let number = at(row - rows.start, column);
                values.push(finite(number, || format!("row {row}, column {column}"))?);
            }
        }
        Ok(())
    }
}

/// Bytes before the numbers, as the first twelve of a file say.
fn header_length(start: &[u8]) -> Result<usize> {
    const CUT: &str = "the .npy header is truncated";
    let rest = start.strip_prefix(MAGIC).context(CUT)?;
    match rest {
        [1, _, low, high, ..] => Ok(10 + usize::from(u16::from_le_bytes([*low, *high]))),
        [2 | 3, _, a, b, c, d] => Ok(12 + usize::try_from(u32::from_le_bytes([*a, *b, *c, *d]))?),
        [1..=3, ..] | [] | [_] => bail!(CUT),
        [major, minor, ..] => {
            bail!("version {major}.{minor} of the .npy format is not known; versions 1 to 3 are")
        }
    }
}

/// The header's text and the bytes behind it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8])> {
    const CUT: &str = "the .npy header is truncated";
    let rest = bytes.strip_prefix(MAGIC).context(CUT)?;
    let (&[major, minor], rest) = rest.split_first_chunk().context(CUT)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk().context(CUT)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().context(CUT)?;
            (usize::try_from(u32::from_le_bytes(*length))?, rest)
        }
        _ => bail!("version {major}.{minor} of the .npy format is not known; versions 1 to 3 are"),
    };
    let (header, data) = rest.split_at_checked(length).context(CUT)?;
    Ok((std::str::from_utf8(header).context("the .npy header is not text")?, data))
}

#[derive(Debug, PartialEq)]
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Self> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut cursor = Cursor { rest: text };
        cursor.expect('{')?;
        while !cursor.accept('}') {
            let key = cursor.string()?;
            cursor.expect(':')?;
            match key {
                "descr" => descr = Some(cursor.string()?.to_owned()),
                "fortran_order" => fortran_order = Some(cursor.boolean()?),
                "shape" => shape = Some(cursor.tuple()?),
                other => bail!("unknown key {other:?}"),
            }
            if !cursor.accept(',') {
                cursor.expect('}')?;
                break;
            }
        }
        Ok(Self {
            descr: descr.context("there is no \"descr\"")?,
            fortran_order: fortran_order.context("there is no \"fortran_order\"")?,
            shape: shape.context("there is no \"shape\"")?,
        })
    }
}

/// What is left of a header to read.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn accept(&mut self, token: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: char) -> Result<()> {
        ensure!(self.accept(token), "{token:?} is wanted before {:?}", self.rest);
        Ok(())
    }

    fn string(&mut self) -> Result<&'a str> {
        let quote = if self.accept('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect(quote)?;
        }
        let (text, rest) = self.rest.split_once(quote).context("a string does not end")?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool> {
        let text = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = text.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        bail!("True or False is wanted before {text:?}")
    }

    fn tuple(&mut self) -> Result<Vec<usize>> {
        self.expect('(')?;
        let mut numbers = Vec::new();
        while !self.accept(')') {
            let text = self.rest.trim_start();
            let (digits, rest) =
                text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
            numbers.push(digits.parse().with_context(|| format!("a length is wanted before {text:?}"))?);
            self.rest = rest;
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Wanted<'_> =
        Wanted { names: None, named_by: "the model", count: Some(2), target: None, target_required: false };

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn header(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}          \n")
    }

    fn doubles(numbers: &[f64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn refusal(bytes: &[u8]) -> String {
        format!("{:#}", read(bytes, &TWO).unwrap_err())
    }

    #[test]
    fn all_versions_orders_and_widths_give_the_same_matrix() {
        let rows = [1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN];
        let columns = [1.0, 3.0, 5.0, 2.0, 4.0, f64::NAN];
        let singles: Vec<u8> = rows.iter().flat_map(|&number| (number as f32).to_le_bytes()).collect();
        for version in 1..=3 {
            for (descr, fortran, data) in [
                ("<f8", "False", doubles(&rows)),
                ("<f8", "True", doubles(&columns)),
                ("<f4", "False", singles.clone()),
            ] {
                let table = read(&file(version, &header(descr, fortran, "(3, 2)"), &data), &TWO).unwrap();
                assert_eq!(table.len(), 3);
                assert_eq!(table.values[..5], rows[..5]);
                assert!(table.values[5].is_nan() && table.names.is_none());
            }
        }
    }

    #[test]
    fn rows_in_blocks_are_those_of_the_whole_matrix_and_faults_the_same() {
        let numbers: Vec<f64> = (0..300_000).map(f64::from).collect();
        let streamed = |bytes: &[u8]| {
            let (mut values, mut blocks) = (Vec::new(), 0);
            let mut receive = |block: &[f64]| {
                blocks += 1;
                values.extend_from_slice(block);
                true
            };
            stream(&mut &bytes[..], &TWO, &mut receive).map(|_| (values, blocks))
        };
        for (version, fortran) in [(1, "False"), (2, "False"), (1, "True")] {
            let bytes = file(version, &header("<f8", fortran, "(150000, 2)"), &doubles(&numbers));
            let (values, blocks) = streamed(&bytes).unwrap();
            assert_eq!(blocks > 1, fortran == "False");
            assert_eq!(values, read(&bytes, &TWO).unwrap().values);
            for end in [0, 7, 11, 30, bytes.len() / 2, bytes.len() - 1] {
                let error = streamed(&bytes[..end]).unwrap_err();
                assert_eq!(format!("{error:#}"), refusal(&bytes[..end]), "cut at {end}");
            }
            let longer = [&bytes[..], b"\0"].concat();
            assert!(format!("{:#}", streamed(&longer).unwrap_err()).contains("truncated or damaged"));
        }
        let huge = file(2, &header("<f8", "False", &format!("(2, {})", u32::MAX)), &[]);
        assert!(streamed(&huge).is_err());
    }

    #[test]
    fn a_file_cut_at_any_byte_or_with_a_byte_too_many_is_refused() {
        let mut bytes = file(1, &header("<f8", "False", "(2, 2)"), &doubles(&[1.0, 2.0, 3.0, 4.0]));
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end], &TWO).is_err(), "cut at {end}");
        }
        bytes.push(0);
        assert!(refusal(&bytes).contains("truncated or damaged"));
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        let huge = format!("({0}, {0})", usize::MAX);
        assert!(refusal(&file(2, &header("<f8", "False", &huge), &[])).contains("truncated or damaged"));
        let beyond = "(99999999999999999999999, 2)";
        assert!(refusal(&file(2, &header("<f8", "False", beyond), &[])).contains("a length is wanted"));
        assert!(refusal(&file(1, &header("<f8", "False", "(0, 2)"), &[])).contains("at least one row"));
    }

    #[test]
    fn what_is_no_matrix_of_little_endian_floats_is_refused_with_what_to_do() {
        let data = doubles(&[1.0, 2.0]);
        assert!(refusal(&file(1, &header("<i8", "False", "(1, 2)"), &data)).contains("convert them"));
        assert!(refusal(&file(1, &header(">f8", "False", "(1, 2)"), &data)).contains("convert them"));
        assert!(refusal(&file(1, &header("<f8", "False", "(2,)"), &data)).contains("1 dimensions"));
        assert!(refusal(&file(9, "", &[])).contains("version 9.0"));
        assert!(refusal(&file(1, "{'descr': [('a', '<f8')]}", &[])).contains("cannot be understood"));
    }

    #[test]
    fn an_infinite_number_is_refused_by_row_and_column() {
        let bytes = file(1, &header("<f8", "False", "(1, 2)"), &doubles(&[1.0, f64::INFINITY]));
        assert!(refusal(&bytes).contains("row 0, column 1 is inf"));
    }
}
