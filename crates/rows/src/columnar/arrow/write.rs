//! Arrow, written: batches of rows as a stream, or as a file (Feather, version 2), which is the stream between two marks with a table of
//! contents at its end.
//!
//! Written here and not by the crate `arrow-ipc`, for the reasons that hold for reading. Source: Apache Arrow, "Arrow Columnar Format",
//! "IPC"; `Schema.fbs`, `Message.fbs` and `File.fbs`.

use std::io::{self, Write};

use super::builder::{self, Fields, Value};
use super::marks::{MAGIC, MARK, ROWS, SCHEMA};

/// Version 5 of the format, counted from 0.
const VERSION: i16 = 4;
/// The schema says that numbers are little-endian.
const LITTLE_ENDIAN: i16 = 0;
/// The end of a stream: a message without a head.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrowKind {
    /// Numbers of 64 bits.
    Float64,
    /// Integers of 64 bits.
    Int64,
    /// True or false.
    Boolean,
    /// Texts.
    Text,
    /// Lists of so many numbers of 64 bits each.
    Float64List(u16),
}

impl ArrowKind {
    /// Its number among the types, and the type itself.
    fn described(self) -> (u8, Fields) {
        match self {
            // The precisions: 0 for half, 1 for single, 2 for double.
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

/// The cells of a column in a batch of rows, as Arrow lays them out.
#[derive(Debug, Clone)]
pub struct ArrowColumn {
    kind: ArrowKind,
    rows: usize,
    missing: usize,
    /// Which cells are there, a bit each.
    present: Vec<u8>,
    /// Numbers, or the ends of texts.
    values: Vec<u8>,
    /// Texts one after the other.
    texts: Vec<u8>,
}

impl ArrowColumn {
    fn new(kind: ArrowKind) -> Self {
        Self { kind, rows: 0, missing: 0, present: Vec::new(), values: Vec::new(), texts: Vec::new() }
    }

    /// Of numbers; NaN is a missing cell.
    pub fn float64(cells: impl IntoIterator<Item = f64>) -> Self {
        let mut column = Self::new(ArrowKind::Float64);
        for cell in cells {
            column.values.extend(cell.to_le_bytes());
            column.cell(!cell.is_nan());
        }
        column
    }

    /// Of integers.
    pub fn int64(cells: impl IntoIterator<Item = i64>) -> Self {
        let mut column = Self::new(ArrowKind::Int64);
        for cell in cells {
            column.values.extend(cell.to_le_bytes());
            column.cell(true);
        }
        column
    }

    /// Of booleans.
    pub fn boolean(cells: impl IntoIterator<Item = bool>) -> Self {
        let mut column = Self::new(ArrowKind::Boolean);
        for cell in cells {
            bit(&mut column.values, column.rows, cell);
            column.cell(true);
        }
        column
    }

    /// Of texts; `None` is a missing cell.
    pub fn text<'a>(cells: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut column = Self::new(ArrowKind::Text);
        column.values.extend([0; 4]);
        for cell in cells {
            column.texts.extend(cell.unwrap_or_default().as_bytes());
            // Where that is too much for 32 bits, the batch is refused.
            column.values.extend((column.texts.len() as u32).to_le_bytes());
            column.cell(cell.is_some());
        }
        column
    }

    /// Of lists of `length` numbers each, one after the other; NaN is a missing number.
    ///
    /// # Panics
    ///
    /// If `length` is 0, or the last list too short.
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

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Length and missing cells of the column, and of what is inside of it.
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

/// Sets bit `index`, the next one.
fn bit(bits: &mut Vec<u8>, index: usize, set: bool) {
    if index.is_multiple_of(8) {
        bits.push(0);
    }
    bits[index / 8] |= u8::from(set) << (index % 8);
}

/// Writes batches of rows as an Arrow stream or file: each as it comes, so that memory does not grow with their number.
///
/// ```
/// use apportion_rows::{ArrowColumn, ArrowKind, ArrowWriter};
///
/// let fields = [("age", ArrowKind::Float64), ("who", ArrowKind::Text)];
/// let mut writer = ArrowWriter::stream(Vec::new(), fields, &[])?;
/// writer.write(&[ArrowColumn::float64([41.0, f64::NAN]), ArrowColumn::text([Some("ann"), Some("bob")])])?;
/// let bytes = writer.finish()?;
/// # use apportion_rows::{Source, Wanted};
/// # let table = Source::stream("rows", &bytes[..]).read(&Wanted { id: Some("who"), ..Wanted::default() }).unwrap();
/// # assert_eq!((table.values[0], table.values[1].is_nan()), (41.0, true));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ArrowWriter<W> {
    sink: W,
    kinds: Vec<ArrowKind>,
    /// Of a file, what its table of contents says.
    contents: Option<Contents>,
}

#[derive(Debug)]
struct Contents {
    schema: Schema,
    /// Bytes written.
    at: usize,
    /// Of each batch where it is, and the bytes of its head and of its body.
    batches: Vec<i64>,
}

/// The columns, and what else is said of the table.
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
    /// A stream of rows with these columns; `metadata` are keys and values that say more of the table.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn stream<'a>(
        sink: W,
        columns: impl IntoIterator<Item = (&'a str, ArrowKind)>,
        metadata: &[(&str, &str)],
    ) -> io::Result<Self> {
        Self::begin(sink, Schema::new(columns, metadata), false)
    }

    /// A file of rows with these columns; `metadata` are keys and values that say more of the table.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
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

    /// Writes a batch of rows, a column for each of the table's.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] for columns that are not those of the table or of unequal length, and for texts of 2 GiB or
    /// more; those of the sink.
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
                "the texts of a batch must be shorter than 2 GiB; write fewer rows at a time",
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

    /// Where batches go: to flush it, so that what reads a stream sees them now.
    pub fn sink(&mut self) -> &mut W {
        &mut self.sink
    }

    /// Writes the end. Without it a stream is not known to be whole, and a file cannot be read.
    ///
    /// # Errors
    ///
    /// Those of the sink, which is flushed.
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

/// The head of a message whose body has so many bytes.
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
