//! Reading of matrices in NumPy's `.npy` format, versions 1 to 3, with all numeric types, in C or Fortran
//! order. Matrices do not have column names, and contain the codes of categories.
//!
//! A file consists of six magic bytes, the version in two bytes, the length of the header, the header, and
//! the numbers. The length is little-endian, with two bytes in version 1, and four in versions 2 and 3.
//! Source: *NumPy Reference*, "The NPY format". Every length is checked before it is used.

mod header;
mod numbers;

use std::io::{BufRead, Read as _};
use std::ops::Range;

use crate::cells::{Feature, weight};
use crate::columns::{ChosenColumns, MAX_COLUMNS};
use crate::error::{Result, RowsError};
use crate::nearest::shown;
use crate::row_options::RowOptions;
use crate::table::{Block, Read, RowReceiver};

use header::Header;
use numbers::Kind;
#[cfg(feature = "columnar")]
pub(crate) use numbers::half;

/// The magic bytes at the start of a file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The number of bytes that are read at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// Reads a matrix in blocks. In Fortran order it is one block, because each row is spread over the file.
pub(crate) fn read(
    bytes: &mut dyn BufRead,
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<Read> {
    let header = read_header(bytes)?;
    let matrix = Matrix::new(&header, options)?;
    let names = matrix.chosen.columns.iter().map(usize::to_string);
    let features = Feature::all(names, options);
    let row_bytes = matrix.columns * matrix.kind.width;
    let rows_at_a_time = match matrix.fortran_order {
        true => matrix.rows,
        false => (BLOCK_BYTES / row_bytes).max(1),
    };
    let (mut block, mut data, mut row) = (matrix.chosen.block(None), Vec::new(), 0);
    while row < matrix.rows {
        let rows = row..matrix.rows.min(row + rows_at_a_time);
        let options = rows.len() as u64 * row_bytes as u64;
        data.clear();
        (&mut *bytes).take(options).read_to_end(&mut data)?;
        if (data.len() as u64) < options {
            matrix.check_bytes(row as u64 * row_bytes as u64 + data.len() as u64)?;
        }
        block.clear();
        matrix.read(&data, rows.clone(), &features, &mut block)?;
        row = rows.end;
        if !receive(&mut block) {
            break;
        }
    }
    if row == matrix.rows {
        let beyond = std::io::copy(bytes, &mut std::io::sink())?;
        matrix.check_bytes(matrix.rows as u64 * row_bytes as u64 + beyond)?;
    }
    let ChosenColumns { columns, absent, notes, .. } = matrix.chosen;
    Ok(Read { names: None, id: None, columns: columns.len(), absent, notes })
}

/// Reads the header, without consuming the bytes after it.
fn read_header(bytes: &mut dyn BufRead) -> Result<Header> {
    let cut = || RowsError::corrupt("the .npy header is truncated");
    let mut read = |length: u64| -> Result<Vec<u8>> {
        let mut read = Vec::new();
        (&mut *bytes).take(length).read_to_end(&mut read)?;
        if (read.len() as u64) < length { Err(cut()) } else { Ok(read) }
    };
    let start = read(8)?;
    let (length, is_utf8) = match start[6..] {
        [1, _] => (read(2)?, false),
        [2, _] => (read(4)?, false),
        [3, _] => (read(4)?, true),
        [major, minor] => {
            let problem = format!("unsupported .npy version {major}.{minor}; expected version 1, 2 or 3");
            return Err(RowsError::damaged(problem));
        }
        _ => return Err(cut()),
    };
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
    let header = read(length)?;
    let header = match is_utf8 {
        true => {
            String::from_utf8(header).map_err(|_| RowsError::corrupt("the .npy header is not valid UTF-8"))?
        }
        // In Latin-1, every byte is a character.
        false => header.into_iter().map(char::from).collect(),
    };
    Header::parse(&header).map_err(|problem| RowsError::corrupt(format!("invalid .npy header: {problem}")))
}

/// A matrix: its shape and type, and the columns that are read.
struct Matrix {
    rows: usize,
    columns: usize,
    kind: Kind,
    descr: String,
    fortran_order: bool,
    chosen: ChosenColumns,
}

impl Matrix {
    fn new(header: &Header, options: &RowOptions<'_>) -> Result<Self> {
        let &[rows, columns] = header.shape.as_slice() else {
            return Err(RowsError::columns(format!(
                "expected a 2-D array of rows × features, found a {}-D array",
                header.shape.len()
            )));
        };
        let Some(kind) = Kind::named(&header.descr) else {
            return Err(RowsError::columns(format!(
                "dtype {} is not supported in .npy files; convert it to float64 (\"<f8\")",
                shown(&header.descr)
            )));
        };
        if rows.checked_mul(columns).and_then(|count| count.checked_mul(kind.width)).is_none() {
            return Err(RowsError::corrupt(format!(
                "the file is truncated or corrupt: its header declares {rows} × {columns} numbers, each of \
                 size {} B",
                kind.width
            )));
        }
        if columns == 0 {
            return Err(RowsError::row(format!(
                "the matrix has no columns ({rows} × {columns}); expected at least one"
            )));
        }
        // The header can declare any number of columns, and a list of them is allocated.
        if columns > MAX_COLUMNS {
            return Err(RowsError::columns(format!(
                "the matrix has {columns} columns; a table can have at most {MAX_COLUMNS} columns"
            )));
        }
        let chosen = ChosenColumns::by_position(columns, options)?;
        Ok(Self {
            rows,
            columns,
            kind,
            descr: header.descr.clone(),
            fortran_order: header.fortran_order,
            chosen,
        })
    }

    /// Checks that the file contains exactly as many bytes as the matrix takes.
    fn check_bytes(&self, given: u64) -> Result<()> {
        let Self { rows, columns, kind: Kind { width, .. }, .. } = self;
        if (rows * columns * width) as u64 == given {
            return Ok(());
        }
        Err(RowsError::corrupt(format!(
            "the file is truncated or corrupt: its header declares {rows} × {columns} numbers, each of \
             size {width} B, but the size of the data is {given} B"
        )))
    }

    /// Appends the chosen columns of `rows`. Their numbers start at the beginning of `data`, except in
    /// Fortran order, in which `data` is the whole matrix.
    fn read(
        &self,
        data: &[u8],
        rows: Range<usize>,
        features: &[Feature<'_>],
        block: &mut Block,
    ) -> Result<()> {
        let width = self.kind.width;
        let (to_next_row, to_next_column) = match self.fortran_order {
            true => (width, self.rows * width),
            false => (self.columns * width, width),
        };
        let at = |row: usize, column: usize| {
            let start = (row - rows.start) * to_next_row + column * to_next_column;
            (self.kind.read)(&data[start..start + width])
        };
        block.values.reserve(rows.len() * features.len());
        for row in rows.clone() {
            for (&column, feature) in self.chosen.columns.iter().zip(features) {
                let Some(number) = at(row, column) else { return Err(self.inexact(row, column)) };
                block.values.push(feature.code(number));
            }
            if let Some(id) = self.chosen.id {
                let Some(number) = at(row, id) else { return Err(self.inexact(row, id)) };
                block.ids.push(number.to_string());
            }
            if let Some(column) = self.chosen.weight {
                block.weights.push(weight(at(row, column), || format!("row {row}, column {column}"))?);
            }
        }
        Ok(())
    }

    #[cold]
    fn inexact(&self, row: usize, column: usize) -> RowsError {
        RowsError::Cell {
            place: format!("row {row}, column {column}"),
            problem: format!(
                "float64 cannot represent an integer of type {:?} beyond 2^53 exactly; convert it, or pass \
                 the column to --ignore",
                self.descr
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two<'a>() -> RowOptions<'a> {
        RowOptions { named_by: "the model", count: Some(2), ..RowOptions::default() }
    }

    /// Returns all values, and the number of blocks.
    fn values(bytes: &[u8]) -> Result<(Vec<f64>, usize)> {
        let (mut values, mut blocks) = (Vec::new(), 0);
        read(&mut &bytes[..], &two(), &mut |block| {
            blocks += 1;
            values.append(&mut block.values);
            true
        })?;
        Ok((values, blocks))
    }

    fn file(version: u8, header: &(impl AsRef<[u8]> + ?Sized), data: &[u8]) -> Vec<u8> {
        let header = header.as_ref();
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header);
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
        values(bytes).unwrap_err().to_string()
    }

    #[test]
    fn all_versions_orders_and_widths_give_the_same_matrix() {
        let rows = [1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN];
        let columns = [1.0, 3.0, 5.0, 2.0, 4.0, f64::NAN];
        let singles: Vec<u8> = rows.iter().flat_map(|&number| (number as f32).to_le_bytes()).collect();
        let big: Vec<u8> = rows.iter().flat_map(|&number| number.to_be_bytes()).collect();
        for version in 1..=3 {
            for (descr, fortran, data) in [
                ("<f8", "False", doubles(&rows)),
                ("<f8", "True", doubles(&columns)),
                ("<f4", "False", singles.clone()),
                (">f8", "False", big.clone()),
            ] {
                let (values, _) = values(&file(version, &header(descr, fortran, "(3, 2)"), &data)).unwrap();
                assert_eq!(values[..5], rows[..5]);
                assert!(values.len() == 6 && values[5].is_nan());
            }
        }
        let whole = values(&file(1, &header("|u1", "False", "(2, 2)"), &[0, 1, 2, 255])).unwrap().0;
        assert_eq!(whole, [0.0, 1.0, 2.0, 255.0]);
    }

    #[test]
    fn rows_come_in_blocks_unless_they_are_all_over_the_file() {
        let numbers: Vec<f64> = (0..300_000).map(f64::from).collect();
        for (fortran, shape, options) in [("False", "(150000, 2)", 3), ("True", "(150000, 2)", 1)] {
            let (values, blocks) =
                values(&file(1, &header("<f8", fortran, shape), &doubles(&numbers))).unwrap();
            let at = |row: usize, column: usize| match fortran {
                "True" => (column * 150_000 + row) as f64,
                _ => (row * 2 + column) as f64,
            };
            assert!(values.iter().enumerate().all(|(index, &value)| value == at(index / 2, index % 2)));
            assert_eq!(blocks, options);
        }
    }

    #[test]
    fn a_file_cut_at_any_byte_or_with_a_byte_too_many_is_refused() {
        let mut bytes = file(1, &header("<f8", "False", "(2, 2)"), &doubles(&[1.0, 2.0, 3.0, 4.0]));
        for end in 0..bytes.len() {
            assert!(values(&bytes[..end]).is_err(), "cut at {end}");
        }
        bytes.push(0);
        assert!(refusal(&bytes).contains("truncated or corrupt"));
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        let huge = format!("({0}, {0})", usize::MAX);
        assert!(refusal(&file(2, &header("<f8", "False", &huge), &[])).contains("truncated or corrupt"));
        let many = format!("(2, {})", u32::MAX);
        assert!(refusal(&file(2, &header("<f8", "False", &many), &[])).contains("at most 1048576"));
        for order in ["False", "True"] {
            let rows = format!("({}, 2)", 1u64 << 50);
            assert!(
                refusal(&file(1, &header("<f8", order, &rows), &[0; 64]))
                    .contains("the size of the data is 64 B")
            );
        }
        let mut long = file(2, "", &[]);
        long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(refusal(&long).contains("header is truncated"));
        assert!(refusal(&file(1, &header("<f8", "False", "(2, 0)"), &[])).contains("has no columns"));
        assert!(values(&file(1, &header("<f8", "False", "(0, 2)"), &[])).unwrap().0.is_empty());
    }

    #[test]
    fn what_is_no_matrix_of_exact_numbers_is_refused_with_what_to_do() {
        let data = doubles(&[1.0, 2.0]);
        assert!(refusal(&file(1, &header("|O", "False", "(1, 2)"), &data)).contains("convert it"));
        assert!(refusal(&file(1, &header("<f8", "False", "(2,)"), &data)).contains("found a 1-D array"));
        assert!(refusal(&file(9, "", &[])).contains("version 9.0"));
        assert!(refusal(&file(1, "{'descr': [('a', '<f8')]}", &[])).contains("invalid .npy header"));
        // Column names are in Latin-1, except in version 3.
        let named = "{'descr': [('größe', '<f8')], 'fortran_order': False, 'shape': (2,)}";
        let latin_1: Vec<u8> = named.chars().map(|letter| u32::from(letter) as u8).collect();
        for bytes in [file(1, &latin_1, &[]), file(2, &latin_1, &[]), file(3, named, &[])] {
            let message = refusal(&bytes);
            assert!(message.contains("invalid .npy header") && message.contains("größe"), "{message}");
        }
        assert!(refusal(&file(3, &latin_1, &[])).contains("is not valid UTF-8"));
        let large: Vec<u8> = [1u64, u64::MAX].iter().flat_map(|number| number.to_le_bytes()).collect();
        let message = refusal(&file(1, &header("<u8", "False", "(1, 2)"), &large));
        assert!(message.contains("row 0, column 1") && message.contains("beyond 2^53"), "{message}");
    }
}
