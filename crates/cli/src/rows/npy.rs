//! Matrices in NumPy's `.npy` format, versions 1 to 3: little-endian f32 or f64, in C or Fortran order.
//!
//! A file is six bytes of magic, two of version, the length of the header (two bytes little-endian in version 1, four in 2 and 3),
//! the header, which is a Python dictionary with the keys `descr`, `fortran_order` and `shape`, and the numbers. Source: *NumPy
//! Reference*, "The NPY format". Every length is checked before it is used.

use anyhow::{Context, Result, bail, ensure};

use super::columns::{self, Wanted};
use super::{Table, finite};

/// The first bytes of every such file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

pub(super) fn read(bytes: &[u8], wanted: &Wanted<'_>) -> Result<Table> {
    let (header, data) = split(bytes)?;
    let header = Header::parse(header).context("the .npy header cannot be understood")?;
    let &[rows, columns] = header.shape.as_slice() else {
        bail!("the array has {} dimensions; give a matrix of rows × features", header.shape.len());
    };
    let width = match header.descr.as_str() {
        "<f4" => 4,
        "<f8" => 8,
        other => {
            bail!("the numbers are of type {other:?}; convert them to \"<f8\" (float64) or \"<f4\" (float32)")
        }
    };
    let bytes_wanted = rows.checked_mul(columns).and_then(|count| count.checked_mul(width));
    ensure!(
        bytes_wanted == Some(data.len()),
        "{rows} × {columns} numbers of {width} bytes are announced, and {} bytes are there; the file is truncated or damaged",
        data.len()
    );
    ensure!(
        rows > 0 && columns > 0,
        "the matrix is {rows} × {columns}; give at least one row and one column"
    );

    let chosen = columns::by_position(columns, wanted)?;
    let at = |row: usize, column: usize| {
        let index = if header.fortran_order { column * rows + row } else { row * columns + column };
        let number = &data[index * width..(index + 1) * width];
        match number.try_into() {
            Ok(eight) => f64::from_le_bytes(eight),
            Err(_) => f64::from(f32::from_le_bytes([number[0], number[1], number[2], number[3]])),
        }
    };
    let mut values = Vec::with_capacity(rows * chosen.columns.len());
    for row in 0..rows {
        for &column in &chosen.columns {
            values.push(finite(at(row, column), || format!("row {row}, column {column}"))?);
        }
    }
    Ok(Table { names: None, columns: chosen.columns.len(), values, notes: chosen.notes })
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
