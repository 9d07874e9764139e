//! The cells of an Arrow record batch: columns of equal length, stored in buffers.

use std::borrow::Cow;

use super::flatbuffer::Table;
use super::schema::{Field, Kind, Span};
use crate::allowance::Allowance;
use crate::columnar::codec::Codec;
use crate::columnar::decimal;
use crate::columnar::lanes::Cell;
use crate::columnar::moment::{Moment, Unit};
use crate::error::{Result, RowsError};
use crate::npy::half;

const MILLISECONDS_OF_A_DAY: i64 = 86_400_000;

/// A batch of rows, or of the entries of a dictionary.
pub(super) struct Batch<'a> {
    body: &'a [u8],
    pub(super) rows: usize,
    /// The length and the number of missing values of each column.
    nodes: Vec<i64>,
    /// The start and the length of each buffer.
    buffers: Vec<i64>,
    more: Vec<i64>,
    codec: Codec,
    allowance: &'a Allowance,
}

pub(super) fn damaged() -> RowsError {
    RowsError::corrupt("the Arrow data is corrupt")
}

impl<'a> Batch<'a> {
    pub(super) fn read(described: &Table<'_>, body: &'a [u8], allowance: &'a Allowance) -> Result<Self> {
        let codec = match described.table(3) {
            None => Codec::Plain,
            Some(packing) => match packing.u8(0) {
                0 => Codec::Lz4Frame,
                1 => Codec::Zstd,
                other => {
                    return Err(RowsError::damaged(format!(
                        "unknown Arrow compression codec {other}; write the data with lz4 or zstd"
                    )));
                }
            },
        };
        Ok(Self {
            body,
            rows: usize::try_from(described.i64(0)).map_err(|_| damaged())?,
            nodes: described.numbers(1, 2).ok_or_else(damaged)?,
            buffers: described.numbers(2, 2).ok_or_else(damaged)?,
            more: described.numbers(4, 1).ok_or_else(damaged)?,
            codec,
            allowance,
        })
    }

    /// Returns the position of each of `fields` in the batch.
    pub(super) fn spans(&self, fields: &[Field]) -> Result<Vec<Span>> {
        let mut at = Span { node: 0, buffers: 0..0 };
        let mut more = self.more.iter().copied();
        fields.iter().map(|field| field.span(&mut at, &mut more).ok_or_else(damaged)).collect()
    }

    /// Returns the position of the only column of a dictionary batch.
    pub(super) fn only_column(&self) -> Span {
        Span { node: 0, buffers: 0..self.buffers.len() / 2 }
    }

    /// Returns a buffer, decompressed.
    fn buffer(&self, index: usize) -> Result<Cow<'a, [u8]>> {
        // Columns of views can declare so many buffers that the index overflows.
        let part = |index: Option<usize>| usize::try_from(*self.buffers.get(index?)?).ok();
        let place = index.checked_mul(2);
        let bytes = part(place)
            .zip(part(place.and_then(|place| place.checked_add(1))))
            .and_then(|(start, length)| self.body.get(start..start.checked_add(length)?));
        let bytes = bytes.ok_or_else(damaged)?;
        if self.codec == Codec::Plain || bytes.is_empty() {
            return Ok(Cow::Borrowed(bytes));
        }
        let (size, packed) = bytes.split_first_chunk().ok_or_else(damaged)?;
        match i64::from_le_bytes(*size) {
            // Writers store a buffer uncompressed if compression would not shrink it.
            -1 => Ok(Cow::Borrowed(packed)),
            size => {
                let size = usize::try_from(size).map_err(|_| damaged())?;
                Ok(Cow::Owned(self.codec.unpack(packed, size, self.allowance)?))
            }
        }
    }

    /// Calls `visit` with the cells of the column at `span`.
    pub(super) fn cells(
        &self,
        kind: Kind,
        span: &Span,
        visit: &mut dyn FnMut(Cell<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.nodes.get(2 * span.node).is_none_or(|&length| usize::try_from(length) != Ok(self.rows)) {
            return Err(damaged());
        }
        let mut buffers = span.buffers.clone().map(|index| self.buffer(index));
        let mut next = || buffers.next().unwrap_or_else(|| Err(damaged()));
        if kind == Kind::Null {
            return (0..self.rows).try_for_each(|_| visit(Cell::Missing));
        }
        let present = next()?;
        let present = Present::new(&present, self.rows)?;
        let values = next()?;
        match kind {
            Kind::Boolean => {
                let values = Bits::new(&values, self.rows)?;
                self.each(&present, visit, |row| Ok(Cell::Boolean(values.get(row))))
            }
            Kind::Integer { bytes, signed } => {
                let integers = Wide::new(&values, bytes, self.rows)?;
                self.each(&present, visit, |row| Ok(Cell::Integer(integer(integers.get(row), signed))))
            }
            Kind::Float { bytes } => {
                let floats = Wide::new(&values, bytes, self.rows)?;
                self.each(&present, visit, |row| {
                    Ok(Cell::Float(match *floats.get(row) {
                        [a, b] => half(u16::from_le_bytes([a, b])),
                        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
                        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
                        _ => return Err(damaged()),
                    }))
                })
            }
            Kind::Decimal { bytes, scale } => {
                let decimals = Wide::new(&values, bytes, self.rows)?;
                self.each(&present, visit, |row| {
                    decimal::read(decimals.get(row).iter().rev().copied(), scale)
                        .map(Cell::from)
                        .ok_or_else(damaged)
                })
            }
            Kind::Moment { bytes, unit } => {
                let counts = Wide::new(&values, bytes, self.rows)?;
                self.each(&present, visit, |row| {
                    let count = signed(counts.get(row));
                    let days = bytes == 8 && unit == Unit::Days;
                    let count = if days { count.div_euclid(MILLISECONDS_OF_A_DAY) } else { count };
                    Ok(Cell::Moment(Moment::new(count, unit)))
                })
            }
            Kind::Text { offset } => {
                let texts = next()?;
                // Without rows, the buffer of offsets may be empty.
                if self.rows == 0 {
                    return Ok(());
                }
                let offsets = Wide::new(&values, offset, self.rows + 1)?;
                let at = |row: usize| usize::try_from(integer(offsets.get(row), true)).map_err(|_| damaged());
                self.each(&present, visit, |row| text(texts.get(at(row)?..at(row + 1)?)))
            }
            Kind::TextView => {
                let views = Wide::new(&values, 16, self.rows)?;
                let texts = buffers.collect::<Result<Vec<_>>>()?;
                self.each(&present, visit, |row| text(view(views.get(row), &texts)))
            }
            Kind::Null | Kind::Other { .. } => Err(damaged()),
        }
    }

    fn each<'c>(
        &self,
        present: &Present<'_>,
        visit: &mut dyn FnMut(Cell<'_>) -> Result<()>,
        cell: impl Fn(usize) -> Result<Cell<'c>>,
    ) -> Result<()> {
        (0..self.rows).try_for_each(|row| visit(if present.has(row) { cell(row)? } else { Cell::Missing }))
    }
}

/// Reads a little-endian integer of one to eight bytes.
fn integer(bytes: &[u8], is_signed: bool) -> i128 {
    if is_signed { i128::from(signed(bytes)) } else { i128::from(unsigned(bytes)) }
}

fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn signed(bytes: &[u8]) -> i64 {
    // Extend the sign bit.
    let shift = 64 - 8 * bytes.len() as u32;
    (unsigned(bytes) << shift).cast_signed() >> shift
}

fn text(bytes: Option<&[u8]>) -> Result<Cell<'_>> {
    let text = std::str::from_utf8(bytes.ok_or_else(damaged)?);
    text.map(Cell::Text).map_err(|_| RowsError::corrupt("a string is not valid UTF-8"))
}

/// Returns the text of a view. A view contains the length of the text, followed by the text itself if it is
/// short, otherwise by its position.
fn view<'v>(view: &'v [u8], texts: &'v [Cow<'_, [u8]>]) -> Option<&'v [u8]> {
    let number = |at: usize| -> Option<usize> {
        let bytes: [u8; 4] = view.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(i32::from_le_bytes(bytes)).ok()
    };
    match number(0)? {
        length @ ..=12 => view.get(4..4 + length),
        length => {
            let start = number(12)?;
            texts.get(number(8)?)?.get(start..start.checked_add(length)?)
        }
    }
}

/// A buffer of numbers with the same width.
struct Wide<'b> {
    bytes: &'b [u8],
    width: usize,
}

impl<'b> Wide<'b> {
    fn new(bytes: &'b [u8], width: usize, count: usize) -> Result<Self> {
        let length = count.checked_mul(width).ok_or_else(damaged)?;
        Ok(Self { bytes: bytes.get(..length).ok_or_else(damaged)?, width })
    }

    #[inline]
    fn get(&self, index: usize) -> &'b [u8] {
        &self.bytes[index * self.width..(index + 1) * self.width]
    }
}

/// A bitmap, with the lowest bit of each byte first.
struct Bits<'b>(&'b [u8]);

impl<'b> Bits<'b> {
    fn new(bytes: &'b [u8], count: usize) -> Result<Self> {
        bytes.get(..count.div_ceil(8)).map(Self).ok_or_else(damaged)
    }

    #[inline]
    fn get(&self, index: usize) -> bool {
        self.0[index / 8] >> (index % 8) & 1 == 1
    }
}

/// The validity bitmap of the rows that have a value. Without a bitmap, all rows have values.
struct Present<'b>(Option<Bits<'b>>);

impl<'b> Present<'b> {
    fn new(bytes: &'b [u8], count: usize) -> Result<Self> {
        Ok(Self(if bytes.is_empty() { None } else { Some(Bits::new(bytes, count)?) }))
    }

    #[inline]
    fn has(&self, row: usize) -> bool {
        self.0.as_ref().is_none_or(|bits| bits.get(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_keep_their_sign() {
        assert_eq!(integer(&[0xfe], true), -2);
        assert_eq!(integer(&[0xfe], false), 254);
        assert_eq!(integer(&i32::MIN.to_le_bytes(), true), i128::from(i32::MIN));
        assert_eq!(integer(&u64::MAX.to_le_bytes(), false), i128::from(u64::MAX));
        assert_eq!(integer(&i64::MIN.to_le_bytes(), true), i128::from(i64::MIN));
    }

    #[test]
    fn short_texts_are_in_their_view_and_long_ones_where_it_says() {
        let texts = [Cow::Borrowed(&b"nothing"[..]), Cow::Borrowed(&b"....a text of length 19"[..])];
        let short = [&5i32.to_le_bytes()[..], b"short\0\0\0\0\0\0\0"].concat();
        assert_eq!(view(&short, &texts), Some(&b"short"[..]));
        let long = |buffer: i32, start: i32| {
            [&19i32.to_le_bytes()[..], b"a te", &buffer.to_le_bytes(), &start.to_le_bytes()].concat()
        };
        assert_eq!(view(&long(1, 4), &texts), Some(&b"a text of length 19"[..]));
        for (buffer, start) in [(1, 5), (0, 4), (2, 4), (-1, 4), (1, -4)] {
            assert_eq!(view(&long(buffer, start), &texts), None);
        }
    }
}
