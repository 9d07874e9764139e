//! A reader of FlatBuffers, to the extent that Arrow messages require.
//!
//! A table begins with the offset back to its vtable, which contains the offset of each field in the table,
//! or 0 for the default value. Vectors and strings begin with their length. Source: FlatBuffers, "Internals".
//! Every offset is checked before it is followed.

/// A table in a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    message: &'a [u8],
    at: usize,
    /// The position of the vtable, and its length in bytes.
    fields: usize,
    length: usize,
}

impl<'a> Table<'a> {
    /// Returns the root table of a message.
    pub(super) fn root(message: &'a [u8]) -> Option<Self> {
        Self::at(message, u32_at(message, 0)? as usize)
    }

    fn at(message: &'a [u8], at: usize) -> Option<Self> {
        let back = i32::from_le_bytes(bytes(message, at)?);
        let fields = i64::try_from(at).ok()?.checked_sub(i64::from(back))?;
        let fields = usize::try_from(fields).ok()?;
        let length = usize::from(u16::from_le_bytes(bytes(message, fields)?));
        Some(Self { message, at, fields, length })
    }

    /// Returns the position of the value of a field; `None` if it has the default value.
    fn position(&self, field: usize) -> Option<usize> {
        let slot = 4 + 2 * field;
        if slot + 2 > self.length {
            return None;
        }
        match u16::from_le_bytes(bytes(self.message, self.fields.checked_add(slot)?)?) {
            0 => None,
            way => self.at.checked_add(usize::from(way)),
        }
    }

    fn value<const N: usize>(&self, field: usize) -> Option<[u8; N]> {
        bytes(self.message, self.position(field)?)
    }

    pub(super) fn u8(&self, field: usize) -> u8 {
        self.value(field).map_or(0, u8::from_le_bytes)
    }

    pub(super) fn i16(&self, field: usize) -> i16 {
        self.i16_or(field, 0)
    }

    pub(super) fn i16_or(&self, field: usize, default: i16) -> i16 {
        self.value(field).map_or(default, i16::from_le_bytes)
    }

    pub(super) fn i32(&self, field: usize) -> Option<i32> {
        self.value(field).map(i32::from_le_bytes)
    }

    pub(super) fn i64(&self, field: usize) -> i64 {
        self.value(field).map_or(0, i64::from_le_bytes)
    }

    /// Returns the position to which a field refers.
    fn target(&self, field: usize) -> Option<usize> {
        let position = self.position(field)?;
        position.checked_add(u32_at(self.message, position)? as usize)
    }

    pub(super) fn table(&self, field: usize) -> Option<Self> {
        Self::at(self.message, self.target(field)?)
    }

    /// Returns the position and the bytes of the elements of a vector, `width` bytes each; empty if there is
    /// no vector.
    fn elements(&self, field: usize, width: usize) -> Option<(usize, &'a [u8])> {
        let Some(target) = self.target(field) else { return Some((0, &[])) };
        let length = u32_at(self.message, target)? as usize;
        let start = target.checked_add(4)?;
        let elements = self.message.get(start..start.checked_add(length.checked_mul(width)?)?)?;
        Some((start, elements))
    }

    pub(super) fn text(&self, field: usize) -> Option<&'a str> {
        std::str::from_utf8(self.elements(field, 1)?.1).ok()
    }

    /// Reads a vector of tables.
    pub(super) fn tables(&self, field: usize) -> Option<Vec<Self>> {
        let (start, elements) = self.elements(field, 4)?;
        let table = |index: usize| {
            let position = start + 4 * index;
            Self::at(self.message, position.checked_add(u32_at(self.message, position)? as usize)?)
        };
        (0..elements.len() / 4).map(table).collect()
    }

    /// Reads a vector of structs of `width` numbers each, concatenated.
    pub(super) fn numbers(&self, field: usize, width: usize) -> Option<Vec<i64>> {
        let (_, elements) = self.elements(field, 8 * width)?;
        let (numbers, _) = elements.as_chunks();
        Some(numbers.iter().map(|&number| i64::from_le_bytes(number)).collect())
    }
}

fn bytes<const N: usize>(message: &[u8], at: usize) -> Option<[u8; N]> {
    message.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u32_at(message: &[u8], at: usize) -> Option<u32> {
    bytes(message, at).map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a table with the fields 0: 7 (u8), 1: the default, 2: a string, 3: a vector of two numbers.
    fn message() -> Vec<u8> {
        let mut message = vec![16, 0, 0, 0]; // the offset of the table
        message.extend([12, 0, 16, 0, 4, 0, 0, 0, 8, 0, 12, 0]); // the vtable: fields at 4, none, at 8, at 12
        message.extend(12i32.to_le_bytes()); // the table, at 16
        message.extend([7, 0, 0, 0]);
        message.extend(8u32.to_le_bytes()); // from 24 to 32
        message.extend(12u32.to_le_bytes()); // from 28 to 40
        message.extend([&3u32.to_le_bytes()[..], b"abc\0"].concat());
        message.extend(2u32.to_le_bytes());
        message.extend([5i64, -6].iter().flat_map(|number| number.to_le_bytes()));
        message
    }

    #[test]
    fn fields_are_found_and_defaults_where_there_are_none() {
        let message = message();
        let table = Table::root(&message).unwrap();
        assert_eq!((table.u8(0), table.u8(1), table.i64(1), table.i32(9)), (7, 0, 0, None));
        assert_eq!(table.text(2), Some("abc"));
        assert_eq!(table.numbers(3, 1).unwrap(), [5, -6]);
        assert_eq!((table.numbers(1, 1).unwrap(), table.numbers(3, 2)), (vec![], None));
        assert!(table.table(1).is_none());
    }

    #[test]
    fn any_byte_may_be_any_other() {
        let whole = message();
        for at in 0..whole.len() {
            for byte in 0..=255 {
                let mut message = whole.clone();
                message[at] = byte;
                let Some(table) = Table::root(&message) else { continue };
                for field in 0..5 {
                    let _ =
                        (table.u8(field), table.text(field), table.numbers(field, 2), table.tables(field));
                }
            }
        }
    }
}
