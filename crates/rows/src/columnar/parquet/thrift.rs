//! Thrift's compact protocol, as far as it takes to look at what a Parquet file claims before anyone believes it.
//!
//! A structure is a list of fields, each with its number and type. Source: Apache Thrift, "Thrift Compact protocol".

/// Structures and lists inside of each other.
const DEPTH: usize = 32;

/// Walks through the structure that `bytes` begin with. `visit` is told the numbers of the fields on the way to each number, boolean,
/// text and list, and the number itself, 0 or 1, the length of the text, or of the list. Returns the bytes of the structure; none
/// where it is cut off or no structure.
///
/// A list is never longer than the bytes that are left.
pub(super) fn walk(bytes: &[u8], visit: &mut dyn FnMut(&[i16], i64)) -> Option<usize> {
    let mut walk = Walk { bytes, at: 0, path: Vec::new(), visit };
    walk.structure()?;
    Some(walk.at)
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
        let mut number = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            number = match head >> 4 {
                0 => i16::try_from(self.signed()?).ok()?,
                step => number.checked_add(i16::from(step))?,
            };
            self.path.push(number);
            self.value(head & 15, false)?;
            self.path.pop();
        }
    }

    /// A value of a type. Booleans are their type, but in lists, where they are a byte.
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
            // Maps are in no structure of Parquet.
            _ => return None,
        }
        Some(())
    }

    fn list(&mut self) -> Option<()> {
        if self.path.len() > DEPTH {
            return None;
        }
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.unsigned()?,
            length => u64::from(length),
        };
        if length > (self.bytes.len() - self.at) as u64 {
            return None;
        }
        self.tell(i64::try_from(length).ok()?);
        for _ in 0..length {
            // A list of lists is deeper by one, whatever its field.
            self.path.push(0);
            let path = self.path.len();
            if head & 15 == 12 {
                self.path.pop();
            }
            self.value(head & 15, true)?;
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

    /// Seven bits at a time, the low ones first.
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

    /// With the sign in the lowest bit.
    fn signed(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number and the way to it.
    type Told = (Vec<i16>, i64);

    fn told(bytes: &[u8]) -> Option<(usize, Vec<Told>)> {
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
            0x1c, 0x16, 0x80, 0x02, 0x00, // 5: a structure, with 1: 128
            0x19, 0x25, 0x02, 0x04, // 6: the list 1, 2
            0x19, 0x1c, 0x15, 0x06, 0x00, // 7: a list of a structure, with 1: 3
            0x00, 0xff,
        ];
        let wanted = [
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
        assert_eq!(told(&bytes).unwrap(), (bytes.len() - 1, wanted.to_vec()));
        for end in 0..bytes.len() - 1 {
            assert_eq!(told(&bytes[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn lists_longer_than_the_file_and_endless_depths_are_refused() {
        assert_eq!(told(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0x0f, 0x02, 0x00]), None);
        assert_eq!(told(&[0x1c; 5000]), None);
        assert_eq!(told(&[0x19; 5000]), None);
        assert_eq!(told(&[0x19, 0x19, 0x19, 0x19]), None);
    }
}
