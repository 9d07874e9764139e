//! Writing of batches of rows as an Arrow stream or file (Feather, version 2). A file consists of the stream
//! between magic bytes, with a footer.
//!
//! This module does not use the crate `arrow-ipc`, for the same reasons as the reader. Source: Apache Arrow,
//! "Arrow Columnar Format", "IPC"; `Schema.fbs`, `Message.fbs` and `File.fbs`.

use std::io::{self, Write};

use super::builder::{self, Fields, Value};
use super::marks::{MAGIC, MARK, ROWS, SCHEMA};

/// The version of the format: version 5, which is stored as 4.
const VERSION: i16 = 4;
/// The endianness of numbers in the schema.
const LITTLE_ENDIAN: i16 = 0;
/// The end of a stream: a message without metadata.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrowKind {
    /// 64-bit floating-point numbers.
    Float64,
    /// 64-bit integers.
    Int64,
    /// Booleans.
    Boolean,
    /// Strings.
    Text,
    /// Lists of this many 64-bit floating-point numbers each.
    Float64List(u16),
}

impl ArrowKind {
    /// Returns the number of the type in a schema, and the fields that describe it.
    fn described(self) -> (u8, Fields) {
        match self {
            // Precision: 0 for half, 1 for single, 2 for double.
            Self::Float64 => (3, vec![(0, Value::Short(2))]),
            Self::Int64 => (2, vec![(0, Value::Int(64)), (1, Value::Byte(1))]),
            Self::Boolean => (6, vec![]),
            Self::Text => (5, vec![]),
            Self::Float64List(length) => (16, vec![(0, Value::Int(length.into()))]),
        }
    }

    fn field(self, name: &str) -> Fields {
        let (number, described) = self.described();
        let children = match self {
            Self::Float64List(_) => vec![Self::Float64.field("item")],
            _ => vec![],
        };
        vec![
            (0, Value::Text(name.to_owned())),
            (1, Value::Byte(1)), // cells may be missing
            (2, Value::Byte(number)),
            (3, Value::Table(described)),
            (5, Value::Tables(children)),
        ]
    }
}

/// The cells of a column in a batch of rows, in the layout of Arrow.
#[derive(Debug, Clone)]
pub struct ArrowColumn {
    kind: ArrowKind,
    rows: usize,
    missing: usize,
    /// The validity bitmap.
    present: Vec<u8>,
    /// Numbers, or the offsets of strings.
    values: Vec<u8>,
    /// Concatenated strings.
    texts: Vec<u8>,
}

impl ArrowColumn {
    fn new(kind: ArrowKind) -> Self {
        Self { kind, rows: 0, missing: 0, present: Vec::new(), values: Vec::new(), texts: Vec::new() }
    }

    /// Creates a column of floating-point numbers. NaN is a missing cell.
    pub fn float64(cells: impl IntoIterator<Item = f64>) -> Self {
        let mut column = Self::new(ArrowKind::Float64);
        for cell in cells {
            column.values.extend(cell.to_le_bytes());
            column.cell(!cell.is_nan());
        }
        column
    }

    /// Creates a column of integers.
    pub fn int64(cells: impl IntoIterator<Item = i64>) -> Self {
        let mut column = Self::new(ArrowKind::Int64);
        for cell in cells {
            column.values.extend(cell.to_le_bytes());
            column.cell(true);
        }
        column
    }

    /// Creates a column of booleans.
    pub fn boolean(cells: impl IntoIterator<Item = bool>) -> Self {
        let mut column = Self::new(ArrowKind::Boolean);
        for cell in cells {
            bit(&mut column.values, column.rows, cell);
            column.cell(true);
        }
        column
    }

    /// Creates a column of strings. `None` is a missing cell.
    pub fn text<'a>(cells: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut column = Self::new(ArrowKind::Text);
        column.values.extend([0; 4]);
        for cell in cells {
            column.texts.extend(cell.unwrap_or_default().as_bytes());
            // Strings whose total length does not fit in 32 bits are rejected when the batch is written.
            column.values.extend((column.texts.len() as u32).to_le_bytes());
            column.cell(cell.is_some());
        }
        column
    }

    /// Creates a column of lists from their concatenated numbers, with `length` numbers per list. NaN is a
    /// missing number.
    ///
    /// # Panics
    ///
    /// If `length` is 0, or does not divide the length of `numbers`.
    pub fn float64_list(length: u16, numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut column = Self::float64(numbers);
        assert!(
            length > 0 && column.rows.is_multiple_of(length.into()),
            "{} numbers cannot be split into lists of {length}",
            column.rows
        );
        column.rows /= usize::from(length);
        column.kind = ArrowKind::Float64List(length);
        column
    }

    fn cell(&mut self, present: bool) {
        bit(&mut self.present, self.rows, present);
        self.missing += usize::from(!present);
        self.rows += 1;
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the length and the number of missing cells of the column, followed by both numbers for its
    /// child, if any.
    fn nodes(&self) -> Vec<i64> {
        let (rows, missing) = (self.rows as i64, self.missing as i64);
        match self.kind {
            ArrowKind::Float64List(length) => vec![rows, 0, rows * i64::from(length), missing],
            _ => vec![rows, missing],
        }
    }

    fn buffers(&self) -> Vec<&[u8]> {
        let present = if self.missing == 0 { &[] } else { self.present.as_slice() };
        match self.kind {
            ArrowKind::Float64List(_) => vec![&[], present, &self.values],
            ArrowKind::Text => vec![present, &self.values, &self.texts],
            _ => vec![present, &self.values],
        }
    }
}

/// Appends bit `index` to the bitmap.
fn bit(bits: &mut Vec<u8>, index: usize, set: bool) {
    if index.is_multiple_of(8) {
        bits.push(0);
    }
    bits[index / 8] |= u8::from(set) << (index % 8);
}

/// A writer of rows to an Arrow stream or file. Batches are written one at a time, so that memory use does
/// not grow with their number.
///
/// ```
/// use apportion_rows::{ArrowColumn, ArrowKind, ArrowWriter};
///
/// let fields = [("age", ArrowKind::Float64), ("who", ArrowKind::Text)];
/// let mut writer = ArrowWriter::stream(Vec::new(), fields, &[])?;
/// writer.write(&[ArrowColumn::float64([41.0, f64::NAN]), ArrowColumn::text([Some("ann"), Some("bob")])])?;
/// let bytes = writer.finish()?;
/// # use apportion_rows::{Source, RowOptions};
/// # let options = RowOptions { id: Some("who"), ..RowOptions::default() };
/// # let table = Source::stream("rows", &bytes[..]).read(&options).unwrap();
/// # assert_eq!((table.values[0], table.values[1].is_nan()), (41.0, true));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ArrowWriter<W> {
    sink: W,
    kinds: Vec<ArrowKind>,
    /// The contents of the footer, if this is a file.
    contents: Option<Contents>,
}

#[derive(Debug)]
struct Contents {
    schema: Schema,
    /// The number of bytes written.
    at: usize,
    /// For each batch its position, and the lengths of its metadata and its body.
    batches: Vec<i64>,
}

/// The columns and the metadata of a table.
#[derive(Debug)]
struct Schema {
    columns: Vec<(String, ArrowKind)>,
    metadata: Vec<(String, String)>,
}

impl Schema {
    fn new<'a>(columns: impl IntoIterator<Item = (&'a str, ArrowKind)>, metadata: &[(&str, &str)]) -> Self {
        Self {
            columns: columns.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect(),
            metadata: metadata.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        }
    }

    fn described(&self) -> Fields {
        let pair = |(key, value): &(String, String)| {
            vec![(0, Value::Text(key.clone())), (1, Value::Text(value.clone()))]
        };
        vec![
            (0, Value::Short(LITTLE_ENDIAN)),
            (1, Value::Tables(self.columns.iter().map(|(name, kind)| kind.field(name)).collect())),
            (2, Value::Tables(self.metadata.iter().map(pair).collect())),
        ]
    }
}

impl<W: Write> ArrowWriter<W> {
    /// Starts a stream of rows with these columns and this key-value metadata.
    ///
    /// # Errors
    ///
    /// Errors of `sink`.
    pub fn stream<'a>(
        sink: W,
        columns: impl IntoIterator<Item = (&'a str, ArrowKind)>,
        metadata: &[(&str, &str)],
    ) -> io::Result<Self> {
        Self::begin(sink, Schema::new(columns, metadata), false)
    }

    /// Starts a file of rows with these columns and this key-value metadata.
    ///
    /// # Errors
    ///
    /// Errors of `sink`.
    pub fn file<'a>(
        sink: W,
        columns: impl IntoIterator<Item = (&'a str, ArrowKind)>,
        metadata: &[(&str, &str)],
    ) -> io::Result<Self> {
        Self::begin(sink, Schema::new(columns, metadata), true)
    }

    fn begin(mut sink: W, schema: Schema, file: bool) -> io::Result<Self> {
        let kinds = schema.columns.iter().map(|&(_, kind)| kind).collect();
        let head = message(SCHEMA, schema.described(), 0);
        let mark = if file { [MAGIC, &[0; 2]].concat() } else { vec![] };
        sink.write_all(&mark)?;
        sink.write_all(&head)?;
        let at = mark.len() + head.len();
        let contents = file.then_some(Contents { schema, at, batches: Vec::new() });
        Ok(Self { sink, kinds, contents })
    }

    /// Writes a batch of rows: all columns, in their order.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] for columns of the wrong kinds or of different lengths, and for a
    /// column with 2 GiB of text or more; errors of the sink.
    pub fn write(&mut self, columns: &[ArrowColumn]) -> io::Result<()> {
        let rows = columns.first().map_or(0, ArrowColumn::len);
        if !columns.iter().map(|column| column.kind).eq(self.kinds.iter().copied())
            || columns.iter().any(|column| column.len() != rows)
        {
            let given: Vec<_> = columns.iter().map(|column| (column.kind, column.rows)).collect();
            return Err(invalid(format!(
                "expected columns of equal length and kinds {:?}, got kinds and lengths {given:?}",
                self.kinds
            )));
        }
        if columns.iter().any(|column| column.texts.len() > i32::MAX as usize) {
            return Err(invalid(
                "the strings of a column in a batch must take less than 2 GiB; write fewer rows at a time",
            ));
        }
        let buffers: Vec<&[u8]> = columns.iter().flat_map(ArrowColumn::buffers).collect();
        let (mut spans, mut body) = (Vec::with_capacity(2 * buffers.len()), 0);
        for buffer in &buffers {
            spans.extend([body as i64, buffer.len() as i64]);
            body += buffer.len().next_multiple_of(8);
        }
        let described = vec![
            (0, Value::Long(rows as i64)),
            (1, Value::Numbers { width: 2, numbers: columns.iter().flat_map(ArrowColumn::nodes).collect() }),
            (2, Value::Numbers { width: 2, numbers: spans }),
        ];
        let head = message(ROWS, described, body);
        self.sink.write_all(&head)?;
        for buffer in buffers {
            self.sink.write_all(buffer)?;
            self.sink.write_all(&[0; 8][..buffer.len().next_multiple_of(8) - buffer.len()])?;
        }
        if let Some(contents) = &mut self.contents {
            contents.batches.extend([contents.at as i64, head.len() as i64, body as i64]);
            contents.at += head.len() + body;
        }
        Ok(())
    }

    /// Returns the sink, e.g. to flush it, so that readers of a stream receive the last batch immediately.
    pub fn sink(&mut self) -> &mut W {
        &mut self.sink
    }

    /// Writes the end of the stream or file. Without it, readers cannot detect the end of a stream, and
    /// cannot read a file.
    ///
    /// # Errors
    ///
    /// Errors of the sink, which is flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.write_all(&END)?;
        if let Some(Contents { schema, batches, .. }) = self.contents {
            let footer = builder::message(&vec![
                (0, Value::Short(VERSION)),
                (1, Value::Table(schema.described())),
                (2, Value::Numbers { width: 3, numbers: vec![] }), // dictionaries
                (3, Value::Numbers { width: 3, numbers: batches }),
            ]);
            self.sink.write_all(&footer)?;
            self.sink.write_all(&(footer.len() as u32).to_le_bytes())?;
            self.sink.write_all(MAGIC)?;
        }
        self.sink.flush()?;
        Ok(self.sink)
    }
}

/// Returns the metadata of a message whose body has `body` bytes.
pub(super) fn message(kind: u8, described: Fields, body: usize) -> Vec<u8> {
    let described = builder::message(&vec![
        (0, Value::Short(VERSION)),
        (1, Value::Byte(kind)),
        (2, Value::Table(described)),
        (3, Value::Long(body as i64)),
    ]);
    [&MARK.to_le_bytes(), &(described.len() as u32).to_le_bytes(), &described[..]].concat()
}

fn invalid(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem.into())
}
