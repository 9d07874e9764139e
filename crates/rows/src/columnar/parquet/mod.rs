//! Reading of Parquet: row groups whose columns are divided into pages.

mod durations;
mod footer;
mod pages;
mod thrift;
mod write;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::schema::types::{ColumnDescriptor, Type};

use super::Content;
use super::arrow::DURATIONS;
use super::codec::Codec;
use super::decimal::{self, Decimal};
use super::lanes::{Cell, Lane, Lanes};
use super::moment::{Moment, Unit};
use crate::allowance::Allowance;
use crate::error::{Result, RowsError};
use crate::guard::guarded;
use crate::npy::half;
use crate::row_options::RowOptions;
use crate::table::{Read, RowReceiver};

use pages::{Pages, damaged};
pub use write::{ParquetColumn, ParquetKind, ParquetWriter};

/// The number of values that are read at a time. They should fit into the cache while columns become rows.
const BLOCK: usize = 1 << 15;

/// Reads a file in blocks of rows, with a few pages of each column in memory.
pub(crate) fn read(file: Content, options: &RowOptions<'_>, receive: &mut RowReceiver<'_>) -> Result<Read> {
    let allowance = Allowance::new(options.unpacked_limit);
    allowance.read(file.len());
    // The decoders check most of a file, but panic for some corrupt files.
    guarded("Parquet file", || read_groups(&file, &allowance, options, receive))
}

fn read_groups(
    file: &Content,
    allowance: &Allowance,
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<Read> {
    let contents = footer::read(file)?;
    let schema = contents.file_metadata().schema_descr();
    let header = schema.root_schema().get_fields().iter().map(|field| field.name().to_owned()).collect();
    let mut lanes = Lanes::new(header, options)?;
    let leaves = leaves(&contents, &lanes)?;
    let rows_at_a_time = (BLOCK / leaves.len().max(1)).max(1);
    for group in contents.row_groups() {
        let mut columns = Vec::with_capacity(leaves.len());
        for &leaf in &leaves {
            let chunk = group.columns().get(leaf).ok_or_else(damaged)?;
            columns.push(Column::new(chunk, file, allowance)?);
        }
        let mut left = usize::try_from(group.num_rows()).map_err(|_| damaged())?;
        while left > 0 {
            let rows = left.min(rows_at_a_time);
            lanes.begin(rows, allowance)?;
            for (lane, column) in columns.iter_mut().enumerate() {
                column.read(rows, lanes.lane(lane))?;
            }
            if !lanes.hand_over(receive) {
                return Ok(lanes.finish());
            }
            left -= rows;
        }
    }
    Ok(lanes.finish())
}

/// Returns for each lane the index of its leaf in the schema. Fails if a column is nested, or if its values
/// are not numbers or strings.
fn leaves(contents: &ParquetMetaData, lanes: &Lanes<'_>) -> Result<Vec<usize>> {
    let schema = contents.file_metadata().schema_descr();
    let roots = schema.root_schema().get_fields();
    let mut leaf_of = vec![None; roots.len()];
    for leaf in (0..schema.num_columns()).rev() {
        leaf_of[schema.get_column_root_idx(leaf)] = Some(leaf);
    }
    let durations = durations::find(contents);
    let leaf = |(lane, &column): (usize, &usize)| {
        let leaf = leaf_of[column].ok_or_else(|| lanes.refusal(lane, "nested values"))?;
        let kind = match durations.iter().any(|name| name == roots[column].name()) {
            true => Err(DURATIONS),
            false => kind(&schema.column(leaf), &roots[column]),
        };
        match kind {
            Ok(Kind::Moment(unit)) if !lanes.takes_moments(lane) => {
                Err(lanes.refusal(lane, unit.of_column()))
            }
            Ok(_) => Ok(leaf),
            Err(what) => Err(lanes.refusal(lane, what)),
        }
    };
    lanes.columns().iter().enumerate().map(leaf).collect()
}

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Integer,
    /// Unsigned integers, stored in the bits of signed integers.
    Unsigned,
    Plain,
    /// Decimals with this scale, stored as integers in units of 10^−scale.
    Decimal(i32),
    Half,
    Moment(Unit),
}

/// Returns the type of a column, or the name of its unsupported type.
fn kind(column: &ColumnDescriptor, root: &Type) -> std::result::Result<Kind, &'static str> {
    use parquet::basic::Type as Physical;
    if !root.is_primitive() || column.max_rep_level() > 0 {
        return Err("nested values");
    }
    let is_text = matches!(column.physical_type(), Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY);
    match column.logical_type_ref() {
        Some(LogicalType::Decimal(decimal)) => return Ok(Kind::Decimal(decimal.scale)),
        Some(LogicalType::Integer(integer)) if !integer.is_signed => return Ok(Kind::Unsigned),
        Some(LogicalType::Date) => return Ok(Kind::Moment(Unit::Days)),
        Some(LogicalType::Time(_)) => return Err("times of day"),
        Some(LogicalType::Timestamp(times)) => {
            let digits = match times.unit {
                TimeUnit::MILLIS => 3,
                TimeUnit::MICROS => 6,
                TimeUnit::NANOS => 9,
            };
            return Ok(Kind::Moment(Unit::Seconds { digits, is_utc: times.is_adjusted_to_u_t_c }));
        }
        Some(LogicalType::Uuid) => return Err("UUIDs"),
        Some(LogicalType::Float16) => return Ok(Kind::Half),
        _ => {}
    }
    match (column.converted_type(), column.physical_type()) {
        (ConvertedType::DECIMAL, _) => Ok(Kind::Decimal(column.type_scale())),
        (
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
            _,
        ) => Ok(Kind::Unsigned),
        (ConvertedType::DATE, _) => Ok(Kind::Moment(Unit::Days)),
        (ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS, _) => Err("times of day"),
        // Timestamps with converted types, which are older than logical types, are in UTC.
        (ConvertedType::TIMESTAMP_MILLIS, _) => Ok(Kind::Moment(Unit::Seconds { digits: 3, is_utc: true })),
        (ConvertedType::TIMESTAMP_MICROS, _) => Ok(Kind::Moment(Unit::Seconds { digits: 6, is_utc: true })),
        // The time zone of INT96 depends on the writer.
        (_, Physical::INT96) => Ok(Kind::Moment(Unit::Seconds { digits: 9, is_utc: false })),
        (ConvertedType::INTERVAL, _) => Err("intervals"),
        (_, Physical::FIXED_LEN_BYTE_ARRAY) => Err("bytes"),
        _ if is_text => Ok(Kind::Plain),
        _ => Ok(Kind::Integer),
    }
}

/// A column of a row group.
struct Column {
    kind: Kind,
    /// The definition level of values that are not missing; 0 if none can be missing.
    level: i16,
    reader: ColumnReader,
    levels: Vec<i16>,
}

impl Column {
    fn new(chunk: &ColumnChunkMetaData, file: &Content, allowance: &Allowance) -> Result<Self> {
        let column = chunk.column_descr_ptr();
        // The column was checked already, as a child of the schema's root.
        let kind = kind(&column, &column.self_type_ptr()).map_err(|_| damaged())?;
        if chunk.file_path().is_some() {
            let problem = format!(
                "column {:?} is stored in another file; write the table to a single file",
                column.name()
            );
            return Err(RowsError::columns(problem));
        }
        let offsets = [Some(chunk.data_page_offset()), chunk.dictionary_page_offset()];
        let start = offsets.into_iter().flatten().filter(|&offset| offset > 0).min();
        let start = start.and_then(|start| u64::try_from(start).ok()).ok_or_else(damaged)?;
        let length = u64::try_from(chunk.compressed_size()).map_err(|_| damaged())?;
        let end = start.checked_add(length).filter(|&end| end <= file.len()).ok_or_else(damaged)?;
        let pages = Pages {
            file: file.clone(),
            chunk: start..end,
            window: Bytes::new(),
            codec: codec(chunk)?,
            column: column.clone(),
            allowance: allowance.clone(),
            values: u64::try_from(chunk.num_values()).map_err(|_| damaged())?,
        };
        let level = column.max_def_level();
        Ok(Self { kind, level, reader: get_column_reader(column, Box::new(pages)), levels: Vec::new() })
    }

    /// Reads the cells of the next rows into the lane.
    fn read(&mut self, rows: usize, lane: Lane<'_, '_>) -> Result<()> {
        let Self { kind, level, reader, levels } = self;
        let mut to = Rows { rows, level: *level, levels, lane };
        let unsigned = *kind == Kind::Unsigned;
        match (reader, *kind) {
            (ColumnReader::BoolColumnReader(reader), _) => to.read(reader, |&value| Ok(Cell::Boolean(value))),
            (ColumnReader::Int32ColumnReader(reader), Kind::Decimal(scale)) => {
                to.read(reader, |&value| Ok(Cell::Decimal(Decimal { number: value.into(), scale })))
            }
            (ColumnReader::Int64ColumnReader(reader), Kind::Decimal(scale)) => {
                to.read(reader, |&value| Ok(Cell::Decimal(Decimal { number: value.into(), scale })))
            }
            (ColumnReader::Int32ColumnReader(reader), Kind::Moment(unit)) => {
                to.read(reader, |&value| Ok(Cell::Moment(Moment::new(value.into(), unit))))
            }
            (ColumnReader::Int64ColumnReader(reader), Kind::Moment(unit)) => {
                to.read(reader, |&value| Ok(Cell::Moment(Moment::new(value, unit))))
            }
            (ColumnReader::Int32ColumnReader(reader), _) => to.read(reader, |&value| {
                Ok(Cell::Integer(if unsigned { value.cast_unsigned().into() } else { value.into() }))
            }),
            (ColumnReader::Int64ColumnReader(reader), _) => to.read(reader, |&value| {
                Ok(Cell::Integer(if unsigned { value.cast_unsigned().into() } else { value.into() }))
            }),
            (ColumnReader::FloatColumnReader(reader), _) => {
                to.read(reader, |&value| Ok(Cell::Float(value.into())))
            }
            (ColumnReader::DoubleColumnReader(reader), _) => to.read(reader, |&value| Ok(Cell::Float(value))),
            (ColumnReader::ByteArrayColumnReader(reader), Kind::Decimal(scale)) => {
                to.read(reader, |value| decimal(value.data(), scale))
            }
            (ColumnReader::ByteArrayColumnReader(reader), _) => to.read(reader, |value| {
                let text = std::str::from_utf8(value.data());
                text.map(Cell::Text).map_err(|_| RowsError::corrupt("a string is not valid UTF-8"))
            }),
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Kind::Half) => {
                to.read(reader, |value| match *value.as_bytes() {
                    [low, high] => Ok(Cell::Float(half(u16::from_le_bytes([low, high])))),
                    _ => Err(damaged()),
                })
            }
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Kind::Decimal(scale)) => {
                to.read(reader, |value| decimal(value.as_bytes(), scale))
            }
            (ColumnReader::FixedLenByteArrayColumnReader(_), _) => Err(damaged()),
            (ColumnReader::Int96ColumnReader(reader), _) => to.read(reader, |value| match *value.data() {
                [low, high, day] => {
                    let nanos = (u64::from(high) << 32 | u64::from(low)).cast_signed();
                    Ok(Cell::Moment(Moment::of_julian_day(day, nanos)))
                }
                _ => Err(damaged()),
            }),
        }
    }
}

fn decimal<'a>(bytes: &[u8], scale: i32) -> Result<Cell<'a>> {
    decimal::read(bytes.iter().copied(), scale).map(Cell::from).ok_or_else(damaged)
}

/// The next rows of a column, and their lane.
struct Rows<'r, 'l, 'w> {
    rows: usize,
    level: i16,
    levels: &'r mut Vec<i16>,
    lane: Lane<'l, 'w>,
}

impl Rows<'_, '_, '_> {
    fn read<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        cell: impl for<'v> Fn(&'v T::T) -> Result<Cell<'v>>,
    ) -> Result<()> {
        self.levels.clear();
        let mut values: Vec<T::T> = Vec::with_capacity(self.rows);
        let levels = (self.level > 0).then_some(&mut *self.levels);
        let (rows, ..) = reader.read_records(self.rows, levels, None, &mut values).map_err(of_parquet)?;
        if rows != self.rows {
            return Err(damaged());
        }
        if values.len() == rows {
            return values.iter().try_for_each(|value| self.lane.put(cell(value)?));
        }
        // A page may contain fewer values than it declares.
        if self.levels.len() != rows {
            return Err(damaged());
        }
        let mut values = values.iter();
        for &level in &*self.levels {
            let cell = match level == self.level {
                true => cell(values.next().ok_or_else(damaged)?)?,
                false => Cell::Missing,
            };
            self.lane.put(cell)?;
        }
        Ok(())
    }
}

/// Extracts an error of this crate that passed through a decoder. Any other error is reported as an error of
/// the decoder.
fn of_parquet(error: ParquetError) -> RowsError {
    match error {
        ParquetError::External(inner) => match inner.downcast() {
            Ok(error) => *error,
            Err(error) => RowsError::corrupt(format!("the Parquet file is corrupt: {error}")),
        },
        error => RowsError::corrupt(format!("the Parquet file is corrupt: {error}")),
    }
}

fn codec(chunk: &ColumnChunkMetaData) -> Result<Codec> {
    Ok(match chunk.compression() {
        Compression::UNCOMPRESSED => Codec::Plain,
        Compression::SNAPPY => Codec::Snappy,
        Compression::GZIP(_) => Codec::Gzip,
        Compression::BROTLI(_) => Codec::Brotli,
        Compression::ZSTD(_) => Codec::Zstd,
        Compression::LZ4_RAW => Codec::Lz4Block,
        Compression::LZ4 => Codec::Lz4Hadoop,
        other => {
            let problem = format!("Parquet compression {other:?} is not supported; write the file with zstd");
            return Err(RowsError::columns(problem));
        }
    })
}
