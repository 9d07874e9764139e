//! The columns of an Arrow schema and their buffers.
//!
//! Source: Apache Arrow, `Schema.fbs` and "Arrow Columnar Format".

use super::flatbuffer::Table;
use crate::columnar::moment::Unit;
use crate::error::{Result, RowsError};

/// The name of the type duration in error messages.
pub(crate) const DURATIONS: &str = "durations";
/// Maximum nesting depth of columns.
const DEPTH: usize = 32;

/// A column, or a child of a nested column.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    /// The type of the values; for a dictionary-encoded column, the type of the dictionary's entries.
    pub(super) kind: Kind,
    /// For a dictionary-encoded column, the ID of the dictionary and the type of the indices.
    pub(super) dictionary: Option<(i64, Kind)>,
    children: Vec<Self>,
}

/// The type of the values of a column.
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
    /// Strings with offsets of `offset` bytes.
    Text {
        offset: usize,
    },
    /// Strings as views; a short string is stored inline in its view.
    TextView,
    /// Dates or times, as counts of days or of fractions of a second. Dates with 8 bytes are counted in
    /// milliseconds.
    Moment {
        bytes: usize,
        unit: Unit,
    },
    /// An unsupported type: its name, its number of buffers, and whether each batch declares additional
    /// buffers.
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
        // Before version 5 of the format (stored as 4), unions had a validity bitmap.
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
            // Units: 0 for days, 1 (the default) for milliseconds.
            8 => match described?.i16_or(0, 1) {
                0 => Self::Moment { bytes: 4, unit: Unit::Days },
                1 => Self::Moment { bytes: 8, unit: Unit::Days },
                _ => return None,
            },
            9 => other("times of day", 2),
            10 => {
                let described = described?;
                // Units: 0 for seconds, 1 for milliseconds, 2 for microseconds, 3 for nanoseconds.
                let digits = 3 * u32::try_from(described.i16(0)).ok().filter(|&unit| unit <= 3)?;
                let is_utc = described.text(1).is_some_and(|zone| !zone.is_empty());
                Self::Moment { bytes: 8, unit: Unit::Seconds { digits, is_utc } }
            }
            11 => other("intervals", 2),
            15 => other("bytes", 2),
            18 => other(DURATIONS, 2),
            12 | 17 | 21 => other("nested values", 2),
            13 | 16 => other("nested values", 1),
            // Modes: 0 for sparse, 1 for dense.
            14 => other("unions", 1 + old + usize::from(described?.i16(0) == 1)),
            22 => other("run-end encoded values", 0),
            23 => Self::Other { what: "bytes", buffers: 2, has_more: true },
            25 | 26 => other("nested values", 3),
            _ => return None,
        })
    }

    /// Returns the number of buffers of a column with this type, and whether each batch declares additional
    /// buffers.
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

/// Returns the columns of a schema.
pub(super) fn fields(schema: &Table<'_>, version: i16, message: usize) -> Result<Vec<Field>> {
    if schema.i16(0) != 0 {
        return Err(RowsError::columns("big-endian Arrow data is not supported; write it as little-endian"));
    }
    // A valid message cannot contain more fields than this, because a message with more fields would refer to
    // the same bytes twice.
    let mut left = message / 8;
    let all = |tables: Vec<Table<'_>>| {
        tables.iter().map(|field| self::field(field, version, 0, &mut left)).collect()
    };
    schema.tables(1).and_then(all).ok_or_else(|| RowsError::corrupt("the Arrow schema is corrupt"))
}

fn field(described: &Table<'_>, version: i16, depth: usize, left: &mut usize) -> Option<Field> {
    *left = left.checked_sub(1)?;
    if depth > DEPTH {
        return None;
    }
    let dictionary = match described.table(4) {
        None => None,
        // Indices without a type have 32 bits.
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

/// The position of a column in a batch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    /// The index of the column's node, which contains its length and number of missing values.
    pub(super) node: usize,
    /// The indices of the column's buffers.
    pub(super) buffers: std::ops::Range<usize>,
}

impl Field {
    /// Advances `at` past this column and its children, and returns the position of the column; `None` if
    /// `more` has too few entries.
    pub(super) fn span(&self, at: &mut Span, more: &mut impl Iterator<Item = i64>) -> Option<Span> {
        let (buffers, has_more) = if self.dictionary.is_some() { (2, false) } else { self.kind.buffers() };
        let own = at.buffers.end..at.buffers.end.checked_add(buffers)?;
        let own = match has_more {
            true => own.start..own.end.checked_add(usize::try_from(more.next()?).ok()?)?,
            false => own,
        };
        let span = Span { node: at.node, buffers: own.clone() };
        *at = Span { node: at.node + 1, buffers: own };
        // The children of dictionary entries are part of the dictionary batch.
        if self.dictionary.is_none() {
            for child in &self.children {
                child.span(at, more)?;
            }
        }
        Some(span)
    }
}
