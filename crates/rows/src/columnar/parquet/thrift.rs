//! Parsing of Thrift's compact protocol, to the extent required to check a Parquet file before decoding it.
//!
//! A struct is a list of fields with their numbers and types. Source: Apache Thrift, "Thrift Compact
//! protocol".

/// Maximum nesting depth of structs and lists.
const DEPTH: usize = 32;

/// Walks through the struct at the start of `bytes`. Calls `visit` with the path of each number, boolean,
/// string and list (the field numbers that lead to it), and with its value: the number, 0 or 1, or the
/// length. Returns the length of the struct; `None` if it is truncated or invalid.
///
/// A list that declares more elements than there are remaining bytes is invalid.
pub(super) fn walk(bytes: &[u8], visit: &mut dyn FnMut(&[i16], i64)) -> Option<usize> {
    let mut walk = Walk { bytes, at: 0, path: Vec::new(), visit };
    walk.structure()?;
    Some(walk.at)
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Boolean,
    Byte,
    Integer,
    Text,
    Structure,
    Structures,
    Integers,
}

/// Returns the struct at the start of `bytes` without the fields for whose path `keep` returns `None`.
/// Returns `None` if the struct is truncated or invalid, or if the type of a field is not the type returned
/// by `keep`.
///
/// A reader that identifies these fields by number reads the result correctly, regardless of the removed
/// fields.
pub(super) fn excerpt(bytes: &[u8], keep: fn(&[i16]) -> Option<Kind>) -> Option<Vec<u8>> {
    let walk = Walk { bytes, at: 0, path: Vec::new(), visit: &mut |_, _| {} };
    let mut excerpt = Excerpt { walk, keep, kept: Vec::new() };
    excerpt.structure()?;
    Some(excerpt.kept)
}

struct Excerpt<'a> {
    walk: Walk<'a>,
    keep: fn(&[i16]) -> Option<Kind>,
    kept: Vec<u8>,
}

impl Excerpt<'_> {
    fn structure(&mut self) -> Option<()> {
        let (mut number, mut last) = (0, 0);
        while let Some((next, kind)) = self.walk.field(number)? {
            number = next;
            self.walk.path.push(number);
            match (self.keep)(&self.walk.path) {
                None => self.walk.value(kind, false)?,
                Some(options) => {
                    self.head(last, number, kind);
                    last = number;
                    self.value(options, kind)?;
                }
            }
            self.walk.path.pop();
        }
        self.kept.push(0);
        Some(())
    }

    fn value(&mut self, options: Kind, kind: u8) -> Option<()> {
        let start = self.walk.at;
        match (options, kind) {
            (Kind::Boolean, 1 | 2) => {}
            (Kind::Byte, 3) | (Kind::Integer, 4..=6) | (Kind::Text, 8) => self.walk.value(kind, false)?,
            (Kind::Structure, 12) => return self.structure(),
            (Kind::Structures, 9) => return self.structures(),
            (Kind::Integers, 9) => {
                let (length, kind) = self.walk.list_head()?;
                (length == 0 || kind == 5).then_some(())?;
                self.walk.elements(length, kind)?;
            }
            _ => return None,
        }
        self.kept.extend_from_slice(&self.walk.bytes[start..self.walk.at]);
        Some(())
    }

    fn structures(&mut self) -> Option<()> {
        let (length, kind) = self.walk.list_head()?;
        (length == 0 || kind == 12).then_some(())?;
        self.kept.push(0xfc);
        self.unsigned(length);
        (0..length).try_for_each(|_| self.structure())
    }

    /// Writes the header of a field: its type, and its number, if possible as a difference from the number of
    /// the previous field.
    fn head(&mut self, last: i16, number: i16, kind: u8) {
        match number.checked_sub(last).and_then(|step| u8::try_from(step).ok()) {
            Some(step @ 1..=15) => self.kept.push(step << 4 | kind),
            _ => {
                self.kept.push(kind);
                let number = i64::from(number);
                self.unsigned((number << 1 ^ number >> 63).cast_unsigned());
            }
        }
    }

    fn unsigned(&mut self, mut number: u64) {
        while number > 127 {
            self.kept.push(number as u8 | 128);
            number >>= 7;
        }
        self.kept.push(number as u8);
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<i16>,
    visit: &'a mut dyn FnMut(&[i16], i64),
}

impl Walk<'_> {
    fn structure(&mut self) -> Option<()> {
        if self.path.len() > DEPTH {
            return None;
        }
        let mut number = 0;
        while let Some((next, kind)) = self.field(number)? {
            number = next;
            self.path.push(number);
            self.value(kind, false)?;
            self.path.pop();
        }
        Some(())
    }

    /// Reads the number and the type of the next field; `last` is the number of the previous one. Returns
    /// `Some(None)` at the end of a struct.
    fn field(&mut self, last: i16) -> Option<Option<(i16, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        let number = match head >> 4 {
            0 => i16::try_from(self.signed()?).ok()?,
            step => last.checked_add(i16::from(step))?,
        };
        Some(Some((number, head & 15)))
    }

    /// Reads a value of the type `kind`. The value of a boolean field is part of its type, whereas booleans
    /// in lists take one byte.
    fn value(&mut self, kind: u8, is_in_list: bool) -> Option<()> {
        match kind {
            1 | 2 if is_in_list => {
                let value = self.byte()?;
                self.tell(i64::from(value == 1));
            }
            1 | 2 => self.tell(i64::from(kind == 1)),
            3 => {
                let value = self.byte()?;
                self.tell(i64::from(value.cast_signed()));
            }
            4..=6 => {
                let value = self.signed()?;
                self.tell(value);
            }
            7 => self.skip(8)?,
            8 => {
                let length = self.unsigned()?;
                self.skip(length)?;
                self.tell(i64::try_from(length).ok()?);
            }
            9 | 10 => self.list()?,
            12 => self.structure()?,
            // Parquet does not use maps.
            _ => return None,
        }
        Some(())
    }

    fn list(&mut self) -> Option<()> {
        if self.path.len() > DEPTH {
            return None;
        }
        let (length, kind) = self.list_head()?;
        self.tell(i64::try_from(length).ok()?);
        self.elements(length, kind)
    }

    /// Reads the length of a list, and the type of its elements.
    fn list_head(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.unsigned()?,
            length => u64::from(length),
        };
        (length <= (self.bytes.len() - self.at) as u64).then_some((length, head & 15))
    }

    fn elements(&mut self, length: u64, kind: u8) -> Option<()> {
        for _ in 0..length {
            // Nested lists increase the depth, which the length of the path limits.
            self.path.push(0);
            let path = self.path.len();
            if kind == 12 {
                self.path.pop();
            }
            self.value(kind, true)?;
            self.path.truncate(path - 1);
        }
        Some(())
    }

    fn tell(&mut self, value: i64) {
        (self.visit)(&self.path, value);
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(bytes).ok()?)?;
        self.at = (end <= self.bytes.len()).then_some(end)?;
        Some(())
    }

    /// Reads a variable-length integer: seven bits per byte, the lowest bits first.
    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a signed integer, with the sign in the lowest bit (zigzag).
    fn signed(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path of a field, and its value.
    type FieldValue = (Vec<i16>, i64);

    fn field_values(bytes: &[u8]) -> Option<(usize, Vec<FieldValue>)> {
        let mut told = Vec::new();
        let length = walk(bytes, &mut |path, value| told.push((path.to_vec(), value)))?;
        Some((length, told))
    }

    #[test]
    fn numbers_texts_lists_and_structures_are_told_with_their_way() {
        let bytes = [
            0x15, 0x03, // 1: −2
            0x11, // 2: true
            0x28, 2, b'a', b'b', // 4: a text
            0x1c, 0x16, 0x80, 0x02, 0x00, // 5: a struct with 1: 128
            0x19, 0x25, 0x02, 0x04, // 6: the list 1, 2
            0x19, 0x1c, 0x15, 0x06, 0x00, // 7: a list of one struct with 1: 3
            0x00, 0xff,
        ];
        let options = [
            (vec![1], -2),
            (vec![2], 1),
            (vec![4], 2),
            (vec![5, 1], 128),
            (vec![6], 2),
            (vec![6, 0], 1),
            (vec![6, 0], 2),
            (vec![7], 1),
            (vec![7, 1], 3),
        ];
        assert_eq!(field_values(&bytes).unwrap(), (bytes.len() - 1, options.to_vec()));
        for end in 0..bytes.len() - 1 {
            assert_eq!(field_values(&bytes[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn what_is_kept_is_read_as_it_is_written() {
        let keep = |path: &[i16]| match path {
            [1] | [7, 1] => Some(Kind::Integer),
            [2] => Some(Kind::Boolean),
            [3] => Some(Kind::Byte),
            [4] | [300] => Some(Kind::Text),
            [5] => Some(Kind::Structure),
            [6] => Some(Kind::Integers),
            [7] => Some(Kind::Structures),
            _ => None,
        };
        let bytes = [
            0x15, 0x03, // 1: −2
            0x11, 0x13, 0xff, // 2: true, 3: −1
            0x18, 1, b'a', // 4: a text
            0x1c, 0x16, 0x02, 0x00, // 5: a struct with a number that is skipped
            0x19, 0x25, 0x02, 0x04, // 6: the list 1, 2
            0x19, 0x2c, 0x15, 0x06, 0x00, 0x00, // 7: a list of two structs, the first with 1: 3
            0x29, 0xf1, 0x03, 0x01, 0x02, 0x01, // 9: three booleans that are skipped
            0x08, 0xd8, 0x04, 1, b'b', // 300: a text
            0x00, 0xff,
        ];
        let options = [
            0x15, 0x03, 0x11, 0x13, 0xff, 0x18, 1, b'a', 0x1c, 0x00, 0x19, 0x25, 0x02, 0x04, 0x19, 0xfc, 2,
            0x15, 0x06, 0x00, 0x00, 0x08, 0xd8, 0x04, 1, b'b', 0x00,
        ];
        assert_eq!(excerpt(&bytes, keep).unwrap(), options);
        assert_eq!(excerpt(&options, keep).unwrap(), options);
        for end in 0..bytes.len() - 1 {
            assert_eq!(excerpt(&bytes[..end], keep), None, "cut at {end}");
        }
        // A string instead of a number, strings instead of numbers, one struct instead of a list, and a list
        // longer than the bytes.
        for bytes in
            [&[0x18, 1, b'a', 0x00][..], &[0x69, 0x18, 1, b'a', 0x00], &[0x7c, 0x00, 0x00], &[0x79, 0xfc, 99]]
        {
            assert_eq!(excerpt(bytes, keep), None, "{bytes:?}");
        }
    }

    #[test]
    fn numbers_of_fields_are_written_as_they_are() {
        let keep = |_: &[i16]| Some(Kind::Text);
        // The fields −2, 32767 and 1, each with its full number, and empty strings.
        let fields = [0x08, 0x03, 0x00, 0x08, 0xfe, 0xff, 0x03, 0x00, 0x08, 0x02, 0x00, 0x00];
        assert_eq!(excerpt(&fields, keep), Some(fields.to_vec()));
        // This difference leads beyond 32767.
        assert_eq!(excerpt(&[0x08, 0xfe, 0xff, 0x03, 0x00, 0x18, 0x00, 0x00], keep), None);
    }

    #[test]
    fn lists_longer_than_the_file_and_endless_depths_are_refused() {
        assert_eq!(field_values(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0x0f, 0x02, 0x00]), None);
        assert_eq!(field_values(&[0x1c; 5000]), None);
        assert_eq!(field_values(&[0x19; 5000]), None);
        assert_eq!(field_values(&[0x19, 0x19, 0x19, 0x19]), None);
    }
}
