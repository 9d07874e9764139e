//! Writing of Parquet files, row group by row group.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// The cells of a column in a row group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ParquetColumn {
    /// 64-bit floating-point numbers. NaN is a missing cell.
    Float64(Vec<f64>),
    /// 64-bit integers.
    Int64(Vec<i64>),
    /// Strings. `None` is a missing cell.
    Text(Vec<Option<String>>),
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParquetKind {
    /// 64-bit floating-point numbers.
    Float64,
    /// 64-bit integers.
    Int64,
    /// Strings.
    Text,
}

/// A writer of Parquet files, row group by row group. Memory use does not grow with the number of row groups.
///
/// Values are not compressed, because attributions hardly compress, and compressing them takes longer than
/// writing them to disk.
///
/// ```
/// use apportion_rows::{ParquetColumn, ParquetKind, ParquetWriter};
///
/// let fields = [("age", ParquetKind::Float64), ("who", ParquetKind::Text)];
/// let mut writer = ParquetWriter::new(Vec::new(), fields, &[("made by", "an example")])?;
/// let names = vec![Some("ann".to_owned()), None];
/// writer.write(&[ParquetColumn::Float64(vec![41.0, f64::NAN]), ParquetColumn::Text(names)])?;
/// let bytes = writer.finish()?;
/// # use apportion_rows::{Source, RowOptions};
/// # let options = RowOptions { id: Some("who"), ..RowOptions::default() };
/// # let table = Source::stream("rows", &bytes[..]).read(&options).unwrap();
/// # assert_eq!((table.values[0], table.values[1].is_nan()), (41.0, true));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file with columns of these names and types, and with key-value `metadata`.
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn new<'a>(
        out: W,
        fields: impl IntoIterator<Item = (&'a str, ParquetKind)>,
        metadata: &[(&str, &str)],
    ) -> io::Result<Self> {
        let field = |(name, kind): (&str, ParquetKind)| {
            let (physical, logical) = match kind {
                ParquetKind::Float64 => (Physical::DOUBLE, None),
                ParquetKind::Int64 => (Physical::INT64, None),
                ParquetKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let repetition =
                if kind == ParquetKind::Int64 { Repetition::REQUIRED } else { Repetition::OPTIONAL };
            let field = Type::primitive_type_builder(name, physical);
            field.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
        };
        let fields: Vec<_> = fields.into_iter().map(field).collect::<Result<_, _>>().map_err(of_parquet)?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build().map_err(of_parquet)?;
        let entry = |(key, value): &(&str, &str)| KeyValue::new((*key).to_owned(), (*value).to_owned());
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(metadata.iter().map(entry).collect()))
            .build();
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
        Ok(Self { file: file.map_err(of_parquet)? })
    }

    /// Writes a row group: all columns, in their order and of equal length.
    ///
    /// # Errors
    ///
    /// Errors of the writer, and an error if there are fewer columns than in the file, or if their lengths
    /// differ.
    ///
    /// # Panics
    ///
    /// If the type of a column differs from its type in the file.
    pub fn write(&mut self, columns: &[ParquetColumn]) -> io::Result<()> {
        self.group(columns).map_err(of_parquet)
    }

    fn group(&mut self, columns: &[ParquetColumn]) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for cells in columns {
            let Some(mut column) = group.next_column()? else { break };
            match cells {
                ParquetColumn::Float64(cells) => {
                    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_nan())).collect();
                    let writer = column.typed::<DoubleType>();
                    if levels.contains(&0) {
                        let present: Vec<f64> = cells.iter().copied().filter(|cell| !cell.is_nan()).collect();
                        writer.write_batch(&present, Some(&levels), None)?;
                    } else {
                        writer.write_batch(cells, Some(&levels), None)?;
                    }
                }
                ParquetColumn::Int64(cells) => {
                    column.typed::<Int64Type>().write_batch(cells, None, None)?;
                }
                ParquetColumn::Text(cells) => {
                    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
                    let present: Vec<ByteArray> =
                        cells.iter().flatten().map(|cell| ByteArray::from(cell.as_str())).collect();
                    column.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None)?;
                }
            }
            column.close()?;
        }
        group.close().map(drop)
    }

    /// Finishes the file.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn finish(self) -> io::Result<W> {
        self.file.into_inner().map_err(of_parquet)
    }
}

/// Extracts the error of the writer from the error of the encoder.
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
