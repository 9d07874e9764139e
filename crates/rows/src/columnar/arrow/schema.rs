//! The columns of a table in Arrow, and how each is laid out in buffers.
//!
//! Source: Apache Arrow, `Schema.fbs` and "Arrow Columnar Format".

use super::flatbuffer::Table;
use crate::columnar::moment::Unit;
use crate::error::{Result, RowsError};

/// What is said of a column of durations.
pub(crate) const DURATIONS: &str = "durations";
/// Columns inside of each other.
const DEPTH: usize = 32;

/// A column, or one inside of another.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    /// What its values are; of a dictionary those of the dictionary.
    pub(super) kind: Kind,
    /// Where its cells are indices into a dictionary: the dictionary's number, and what the indices are.
    pub(super) dictionary: Option<(i64, Kind)>,
    children: Vec<Self>,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer {
        bytes: usize,
        signed: bool,
    },
    Float {
        bytes: usize,
    },
    Decimal {
        bytes: usize,
        scale: i32,
    },
    /// Texts between offsets of so many bytes.
    Text {
        offset: usize,
    },
    /// Texts of which the short ones are in place.
    TextView,
    /// Counts of days or of parts of a second; days in 8 bytes are counted in milliseconds.
    Moment {
        bytes: usize,
        unit: Unit,
    },
    /// What is not read, by name, with its buffers, and whether it has as many more as a message says.
    Other {
        what: &'static str,
        buffers: usize,
        has_more: bool,
    },
}

impl Kind {
    fn read(field: &Table<'_>, version: i16) -> Option<Self> {
        let (number, described) = (field.u8(2), field.table(3));
        let other = |what, buffers| Self::Other { what, buffers, has_more: false };
        // Before version 5 (4 when counted from 0) unions had a map of what is missing.
        let old = usize::from(version < 4);
        Some(match number {
            1 => Self::Null,
            2 => integer(&described?)?,
            3 => Self::Float { bytes: 2 << usize::try_from(described?.i16(0)).ok().filter(|&p| p <= 2)? },
            5 => Self::Text { offset: 4 },
            6 => Self::Boolean,
            7 => {
                let described = described?;
                let bits = described.i32(2).unwrap_or(128);
                let bytes = usize::try_from(bits).ok().filter(|bits| [32, 64, 128, 256].contains(bits))? / 8;
                Self::Decimal { bytes, scale: described.i32(1).unwrap_or(0) }
            }
            20 => Self::Text { offset: 8 },
            24 => Self::TextView,
            4 | 19 => other("bytes", 3),
            // The units: 0 for days, 1 for milliseconds, which is the default.
            8 => match described?.i16_or(0, 1) {
                0 => Self::Moment { bytes: 4, unit: Unit::Days },
                1 => Self::Moment { bytes: 8, unit: Unit::Days },
                _ => return None,
            },
            9 => other("times of day", 2),
            10 => {
                let described = described?;
                // The units: 0 for seconds, and each one that follows is a thousandth of the one before.
                let digits = 3 * u32::try_from(described.i16(0)).ok().filter(|&unit| unit <= 3)?;
                let is_utc = described.text(1).is_some_and(|zone| !zone.is_empty());
                Self::Moment { bytes: 8, unit: Unit::Seconds { digits, is_utc } }
            }
            11 => other("intervals", 2),
            15 => other("bytes", 2),
            18 => other(DURATIONS, 2),
            12 | 17 | 21 => other("nested values", 2),
            13 | 16 => other("nested values", 1),
            // The modes: 0 for sparse, 1 for dense.
            14 => other("unions", 1 + old + usize::from(described?.i16(0) == 1)),
            22 => other("run-end encoded values", 0),
            23 => Self::Other { what: "bytes", buffers: 2, has_more: true },
            25 | 26 => other("nested values", 3),
            _ => return None,
        })
    }

    /// Its buffers, and whether it has as many more as a message says.
    fn buffers(self) -> (usize, bool) {
        match self {
            Self::Null => (0, false),
            Self::Boolean
            | Self::Integer { .. }
            | Self::Float { .. }
            | Self::Decimal { .. }
            | Self::Moment { .. } => (2, false),
            Self::Text { .. } => (3, false),
            Self::TextView => (2, true),
            Self::Other { buffers, has_more, .. } => (buffers, has_more),
        }
    }
}

fn integer(described: &Table<'_>) -> Option<Kind> {
    let bytes = match described.i32(0)? {
        8 => 1,
        16 => 2,
        32 => 4,
        64 => 8,
        _ => return None,
    };
    Some(Kind::Integer { bytes, signed: described.u8(1) != 0 })
}

/// The columns that a schema describes.
pub(super) fn fields(schema: &Table<'_>, version: i16, message: usize) -> Result<Vec<Field>> {
    if schema.i16(0) != 0 {
        return Err(RowsError::columns("big-endian Arrow data is not supported; write it as little-endian"));
    }
    // No message has room for more, unless it says the same twice.
    let mut left = message / 8;
    let all = |tables: Vec<Table<'_>>| {
        tables.iter().map(|field| self::field(field, version, 0, &mut left)).collect()
    };
    schema.tables(1).and_then(all).ok_or_else(|| RowsError::damaged("the Arrow schema is corrupt"))
}

fn field(described: &Table<'_>, version: i16, depth: usize, left: &mut usize) -> Option<Field> {
    *left = left.checked_sub(1)?;
    if depth > DEPTH {
        return None;
    }
    let dictionary = match described.table(4) {
        None => None,
        // Without a type of their own indices are of 32 bits.
        Some(encoding) => Some((
            encoding.i64(0),
            match encoding.table(1) {
                Some(indices) => integer(&indices)?,
                None => Kind::Integer { bytes: 4, signed: true },
            },
        )),
    };
    let children = described.tables(5)?;
    Some(Field {
        name: described.text(0).unwrap_or_default().to_owned(),
        kind: Kind::read(described, version)?,
        dictionary,
        children: children
            .iter()
            .map(|child| field(child, version, depth + 1, left))
            .collect::<Option<_>>()?,
    })
}

/// Where the parts of a column are in a batch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    /// Its place among the lengths.
    pub(super) node: usize,
    /// The buffers that it has.
    pub(super) buffers: std::ops::Range<usize>,
}

impl Field {
    /// Goes on over the parts of this column and all inside of it; none where there are not as many of `more` as it takes.
    pub(super) fn span(&self, at: &mut Span, more: &mut impl Iterator<Item = i64>) -> Option<Span> {
        let (buffers, has_more) = if self.dictionary.is_some() { (2, false) } else { self.kind.buffers() };
        let own = at.buffers.end..at.buffers.end.checked_add(buffers)?;
        let own = match has_more {
            true => own.start..own.end.checked_add(usize::try_from(more.next()?).ok()?)?,
            false => own,
        };
        let span = Span { node: at.node, buffers: own.clone() };
        *at = Span { node: at.node + 1, buffers: own };
        // The children of what is in a dictionary are in its batch.
        if self.dictionary.is_none() {
            for child in &self.children {
                child.span(at, more)?;
            }
        }
        Some(span)
    }
}
