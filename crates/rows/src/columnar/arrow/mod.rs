//! Reading of Arrow: messages with a schema, dictionaries and batches of rows, in a stream or a file
//! (Feather, version 2).
//!
//! This module does not use the crate `arrow-ipc`, for two reasons. The crate depends on the crates for
//! arrays and kernels, which take longer to build than the rest of this crate. It also allocates memory for
//! declared lengths without checking them. Source: Apache Arrow, "Arrow Columnar Format", "IPC".

mod batch;
mod builder;
mod flatbuffer;
mod marks;
mod schema;
mod write;

use std::collections::HashMap;
use std::io::{BufRead, Read as _};

use super::Content;
use super::decimal::Decimal;
use super::lanes::{Cell, Lanes};
use super::moment::Moment;
use crate::allowance::Allowance;
use crate::error::{Result, RowsError};
use crate::guard::guarded;
use crate::row_options::RowOptions;
use crate::table::{Read, RowReceiver};

use batch::{Batch, damaged};
use flatbuffer::Table;
use marks::{DICTIONARY, MAGIC, MARK, ROWS, SCHEMA};
pub(crate) use schema::DURATIONS;
use schema::{Field, Kind};
pub use write::{ArrowColumn, ArrowKind, ArrowWriter};

/// Reads a file batch by batch, with the positions of the batches in the footer.
pub(crate) fn read_file(
    file: Content,
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<Read> {
    guarded("Arrow file", || read_contents(&file, options, receive))
}

fn read_contents(file: &Content, options: &RowOptions<'_>, receive: &mut RowReceiver<'_>) -> Result<Read> {
    let allowance = Allowance::new(options.unpacked_limit);
    allowance.read(file.len());
    let end = file.end((MAGIC.len() + 4) as u64)?;
    let (_, length) =
        end.strip_suffix(MAGIC).and_then(|rest| rest.split_last_chunk()).ok_or_else(truncated)?;
    let end = file.len() - end.len() as u64;
    let start = end.checked_sub(u64::from(u32::from_le_bytes(*length))).ok_or_else(damaged)?;
    let contents = file.slice(start..end)?.ok_or_else(damaged)?;
    let footer = Table::root(&contents).ok_or_else(damaged)?;
    let schema = footer.table(1).ok_or_else(damaged)?;
    let mut table = Columns::new(&schema, footer.i16(0), contents.len(), options)?;
    // A block consists of the position of a message, and the lengths of its metadata and its body.
    for blocks in [2, 3] {
        for block in footer.numbers(blocks, 3).ok_or_else(damaged)?.chunks_exact(3) {
            let number = |place: usize| u64::try_from(block[place]).map_err(|_| damaged());
            let (start, head, body) = (number(0)?, number(1)?, number(2)?);
            let end = start.checked_add(head).and_then(|end| end.checked_add(body)).ok_or_else(damaged)?;
            let message = file.slice(start..end)?.ok_or_else(damaged)?;
            let message = Message::read(&mut &message[..])?.ok_or_else(damaged)?;
            if !table.message(&message, &allowance, receive)? {
                return Ok(table.lanes.finish());
            }
        }
    }
    Ok(table.lanes.finish())
}

/// Reads a stream batch by batch. Memory use does not grow with the number of batches.
pub(crate) fn read_stream(
    bytes: &mut dyn BufRead,
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<Read> {
    // The decompressor of zstd may panic for corrupt data.
    guarded("Arrow data", || read_messages(bytes, options, receive))
}

fn read_messages(
    bytes: &mut dyn BufRead,
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<Read> {
    let allowance = Allowance::new(options.unpacked_limit);
    let first = Message::read(bytes)?.ok_or_else(damaged)?;
    allowance.read(first.bytes());
    let root = first.root()?;
    let schema = root.table(2).filter(|_| root.u8(1) == SCHEMA);
    let schema = schema.ok_or_else(|| RowsError::corrupt("the Arrow data does not begin with a schema"))?;
    let mut table = Columns::new(&schema, root.i16(0), first.head.len(), options)?;
    while let Some(message) = Message::read(bytes)? {
        allowance.read(message.bytes());
        if !table.message(&message, &allowance, receive)? {
            break;
        }
    }
    Ok(table.lanes.finish())
}

/// Returns the names of the duration columns in a schema message; `None` if the message is not a schema.
pub(crate) fn durations(description: &[u8]) -> Option<Vec<String>> {
    let message = Message::read(&mut &description[..]).ok()??;
    let root = message.root().ok()?;
    let described = root.table(2).filter(|_| root.u8(1) == SCHEMA)?;
    let fields = schema::fields(&described, root.i16(0), message.head.len()).ok()?;
    let is_one = |field: &Field| matches!(field.kind, Kind::Other { what: DURATIONS, .. });
    Some(fields.into_iter().filter(is_one).map(|field| field.name).collect())
}

/// A message: metadata, and the buffers that it describes.
struct Message {
    head: Vec<u8>,
    body: Vec<u8>,
}

impl Message {
    /// Reads the next message; `None` at the end of the stream.
    fn read(bytes: &mut dyn BufRead) -> Result<Option<Self>> {
        let mut word = || -> Result<Option<u32>> {
            let word = exactly(bytes, 4)?;
            match word[..] {
                [] => Ok(None),
                [a, b, c, d] => Ok(Some(u32::from_le_bytes([a, b, c, d]))),
                _ => Err(truncated()),
            }
        };
        // Before the marker was introduced, messages began with the length.
        let length = match word()? {
            Some(MARK) => word()?.ok_or_else(truncated)?,
            Some(length) => length,
            None => 0,
        };
        if length == 0 {
            return Ok(None);
        }
        let head = exactly(bytes, u64::from(length))?;
        if head.len() < length as usize {
            return Err(truncated());
        }
        let length = Table::root(&head).ok_or_else(damaged)?.i64(3);
        let length = u64::try_from(length).map_err(|_| damaged())?;
        let body = exactly(bytes, length)?;
        if (body.len() as u64) < length {
            return Err(truncated());
        }
        Ok(Some(Self { head, body }))
    }

    fn bytes(&self) -> u64 {
        (self.head.len() + self.body.len()) as u64
    }

    fn root(&self) -> Result<Table<'_>> {
        Table::root(&self.head).ok_or_else(damaged)
    }
}

fn truncated() -> RowsError {
    RowsError::corrupt("the Arrow data is truncated")
}

/// Reads the next `length` bytes, or all if there are fewer.
fn exactly(bytes: &mut dyn BufRead, length: u64) -> Result<Vec<u8>> {
    let mut read = Vec::new();
    bytes.take(length).read_to_end(&mut read)?;
    Ok(read)
}

/// The state while reading a table.
struct Columns<'w> {
    fields: Vec<Field>,
    lanes: Lanes<'w>,
    dictionaries: HashMap<i64, Vec<Value>>,
}

/// The value of a dictionary entry.
enum Value {
    Missing,
    Float(f64),
    Integer(i128),
    Decimal(Decimal),
    LongDecimal(f64),
    Boolean(bool),
    Text(String),
    Moment(Moment),
}

impl Value {
    fn from_cell(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Float(value) => Self::Float(value),
            Cell::Integer(value) => Self::Integer(value),
            Cell::Decimal(value) => Self::Decimal(value),
            Cell::LongDecimal(value) => Self::LongDecimal(value),
            Cell::Boolean(value) => Self::Boolean(value),
            Cell::Text(text) => Self::Text(text.to_owned()),
            Cell::Moment(moment) => Self::Moment(moment),
        }
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Float(value) => Cell::Float(*value),
            Self::Integer(value) => Cell::Integer(*value),
            Self::Decimal(value) => Cell::Decimal(*value),
            Self::LongDecimal(value) => Cell::LongDecimal(*value),
            Self::Boolean(value) => Cell::Boolean(*value),
            Self::Text(text) => Cell::Text(text),
            Self::Moment(moment) => Cell::Moment(*moment),
        }
    }
}

impl<'w> Columns<'w> {
    /// Creates the columns of a schema. `message` is the length of the schema's message in bytes.
    fn new(schema: &Table<'_>, version: i16, message: usize, options: &RowOptions<'w>) -> Result<Self> {
        let fields = schema::fields(schema, version, message)?;
        let lanes = Lanes::new(fields.iter().map(|field| field.name.clone()).collect(), options)?;
        for (lane, &column) in lanes.columns().iter().enumerate() {
            match fields[column].kind {
                Kind::Other { what, .. } => return Err(lanes.refusal(lane, what)),
                Kind::Moment { unit, .. } if !lanes.takes_moments(lane) => {
                    return Err(lanes.refusal(lane, unit.of_column()));
                }
                _ => {}
            }
        }
        Ok(Self { fields, lanes, dictionaries: HashMap::new() })
    }

    /// Reads a message. Returns `false` if the receiver stopped.
    fn message(
        &mut self,
        message: &Message,
        allowance: &Allowance,
        receive: &mut RowReceiver<'_>,
    ) -> Result<bool> {
        let root = message.root()?;
        let described = root.table(2).ok_or_else(damaged)?;
        match root.u8(1) {
            ROWS => {
                let batch = Batch::read(&described, &message.body, allowance)?;
                self.rows(&batch, allowance)?;
                Ok(self.lanes.hand_over(receive))
            }
            DICTIONARY => {
                let values = described.table(1).ok_or_else(damaged)?;
                let batch = Batch::read(&values, &message.body, allowance)?;
                self.dictionary(described.i64(0), described.u8(2) != 0, &batch, allowance)?;
                Ok(true)
            }
            _ => Err(damaged()),
        }
    }

    fn dictionary(
        &mut self,
        number: i64,
        goes_on: bool,
        batch: &Batch<'_>,
        allowance: &Allowance,
    ) -> Result<()> {
        let of_number = |field: &&Field| field.dictionary.is_some_and(|(other, _)| other == number);
        // Skip dictionaries of nested columns, which are not read.
        let Some(kind) = self.fields.iter().find(of_number).map(|field| field.kind) else { return Ok(()) };
        if matches!(kind, Kind::Other { .. }) {
            return Ok(());
        }
        // Limit the memory for the entries. Entries of type null take no bytes in the file, so a second
        // limit, which users cannot raise, applies to them.
        if kind == Kind::Null {
            allowance.of_nothing((batch.rows as u64).saturating_mul(size_of::<Value>() as u64))?;
        }
        allowance.unpack((batch.rows as u64).saturating_mul(size_of::<Value>() as u64))?;
        let dictionary = self.dictionaries.entry(number).or_default();
        if !goes_on {
            dictionary.clear();
        }
        batch.cells(kind, &batch.only_column(), &mut |cell| {
            dictionary.push(Value::from_cell(cell));
            Ok(())
        })
    }

    fn rows(&mut self, batch: &Batch<'_>, allowance: &Allowance) -> Result<()> {
        let Self { fields, lanes, dictionaries } = self;
        let spans = batch.spans(fields)?;
        lanes.begin(batch.rows, allowance)?;
        // Columns of type null do not have buffers that could confirm the number of rows, so read them last.
        let (of_nothing, others): (Vec<_>, Vec<_>) =
            lanes.columns().iter().copied().enumerate().partition(|&(_, column)| {
                fields[column].kind == Kind::Null && fields[column].dictionary.is_none()
            });
        if others.is_empty() {
            allowance.of_nothing(lanes.bytes_of(batch.rows))?;
        }
        for (index, column) in others.into_iter().chain(of_nothing) {
            let (field, span) = (&fields[column], &spans[column]);
            let mut lane = lanes.lane(index);
            match field.dictionary {
                None => batch.cells(field.kind, span, &mut |cell| lane.put(cell))?,
                Some((number, indices)) => {
                    let dictionary = dictionaries.get(&number).map(Vec::as_slice).unwrap_or_default();
                    batch.cells(indices, span, &mut |cell| match cell {
                        Cell::Integer(index) => {
                            let value = usize::try_from(index).ok().and_then(|index| dictionary.get(index));
                            lane.put(value.ok_or_else(damaged)?.cell())
                        }
                        _ => lane.put(Cell::Missing),
                    })?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::builder::{Fields, Value as Put};
    use super::*;

    /// Returns the description of a column of type null, which does not have buffers.
    fn of_nothing() -> Fields {
        vec![(0, Put::Text("a".to_owned())), (1, Put::Byte(1)), (2, Put::Byte(1)), (3, Put::Table(vec![]))]
    }

    fn of_numbers() -> Fields {
        let double = vec![(0, Put::Short(2))];
        vec![(0, Put::Text("b".to_owned())), (1, Put::Byte(1)), (2, Put::Byte(3)), (3, Put::Table(double))]
    }

    /// Returns the description of a batch that declares a number of rows for each column but has an empty
    /// body.
    fn batch(rows: i64, columns: usize, buffers: usize) -> Fields {
        vec![
            (0, Put::Long(rows)),
            (1, Put::Numbers { width: 2, numbers: [rows, rows].repeat(columns) }),
            (2, Put::Numbers { width: 2, numbers: vec![0; 2 * buffers] }),
        ]
    }

    fn refusal(columns: Vec<Fields>, kind: u8, described: Fields) -> String {
        let schema = vec![(1, Put::Tables(columns))];
        let bytes = [write::message(SCHEMA, schema, 0), write::message(kind, described, 0)].concat();
        let options = RowOptions { unpacked_limit: Some(u64::MAX), ..RowOptions::default() };
        let read = read_stream(&mut &bytes[..], &options, &mut |_| true);
        read.err().expect("more rows than there are").to_string()
    }

    #[test]
    fn rows_that_are_announced_and_not_there_take_no_memory_whatever_the_limit() {
        for rows in [1 << 40, i64::MAX] {
            let says = refusal(vec![of_nothing()], ROWS, batch(rows, 1, 0));
            assert!(says.contains("missing values declared in"), "{says}");
            let says = refusal(vec![of_nothing(), of_numbers()], ROWS, batch(rows, 2, 2));
            assert!(says.contains("corrupt"), "{says}");
            let index = vec![(0, Put::Int(8)), (1, Put::Byte(1))];
            let mut words = of_nothing();
            words.push((4, Put::Table(vec![(0, Put::Long(7)), (1, Put::Table(index))])));
            let dictionary = vec![(0, Put::Long(7)), (1, Put::Table(batch(rows, 1, 0)))];
            let says = refusal(vec![words], DICTIONARY, dictionary);
            assert!(says.contains("missing values declared in"), "{says}");
        }
    }
}
