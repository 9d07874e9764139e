//! Universal Binary JSON (UBJSON, draft 12), as written by XGBoost.
//!
//! A value is a one-letter marker and its payload; numbers are big-endian. Containers may specify the number
//! of their elements (`#`) and their common type (`$`). All markers of the draft are supported, and also the
//! unsigned integers of its successor BJData:
//!
//! | marker | value | marker | value |
//! |---|---|---|---|
//! | `Z` | null | `T` `F` | true, false |
//! | `i` `U` | 8-bit integer, signed and unsigned | `I` `u` | 16 bits |
//! | `l` `m` | 32 bits | `L` `M` | 64 bits |
//! | `d` `D` | float, double | `C` | one character |
//! | `S` | length and UTF-8 text | `H` | a number as text |
//! | `[` `]` | list | `{` `}` | object: names without marker `S` |
//! | `N` | nothing (skipped between elements) | | |
//!
//! Every length is compared with the remaining bytes before memory is allocated for it, and nesting is
//! limited. Therefore a file with a wrong length or depth causes an error, and cannot exhaust the memory or
//! overflow the stack.

use super::memory::Memory;
use super::packed::{PackedNumbers, decode, number_size};
use super::{MAX_DEPTH, Value, push_element};
use crate::error::ModelError;

/// Reads a whole document. Anything after it is an error.
pub(crate) fn read(bytes: &[u8]) -> Result<Value<'_>, ModelError> {
    let mut reader = Reader { bytes, offset: 0, memory: Memory::for_file(bytes.len()) };
    let marker = reader.byte()?;
    let value = reader.value(marker, 0)?;
    if reader.offset < bytes.len() {
        return reader.fail("unexpected data after the end of the document");
    }
    Ok(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
    memory: Memory,
}

/// The type and count that may follow the opening marker of a container.
struct Head {
    element: Option<u8>,
    count: Option<usize>,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, problem: impl Into<String>) -> Result<T, ModelError> {
        Err(ModelError::Ubj { offset: self.offset, problem: problem.into() })
    }

    fn take_memory(&mut self, name: Option<&str>) -> Result<(), ModelError> {
        self.memory.take(name).or_else(|problem| self.fail(problem))
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.offset
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ModelError> {
        if length > self.left() {
            return self.fail(format!("expected {length} more bytes, got {}", self.left()));
        }
        let taken = &self.bytes[self.offset..self.offset + length];
        self.offset += length;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, ModelError> {
        Ok(self.take(1)?[0])
    }

    /// Returns the next marker, skipping no-ops.
    fn marker(&mut self) -> Result<u8, ModelError> {
        loop {
            match self.byte()? {
                b'N' => {}
                marker => return Ok(marker),
            }
        }
    }

    fn length(&mut self) -> Result<usize, ModelError> {
        let marker = self.byte()?;
        self.length_of(marker)
    }

    fn length_of(&mut self, marker: u8) -> Result<usize, ModelError> {
        let size = match number_size(marker) {
            Some(size) if marker != b'd' && marker != b'D' => size,
            _ => return self.fail(format!("expected a length, got the marker {:?}", char::from(marker))),
        };
        let length = decode(marker, self.take(size)?);
        // Doubles represent every length up to the size of a file exactly.
        if length < 0.0 || length > self.left() as f64 {
            return self.fail(format!("invalid length {length}: {} bytes are left", self.left()));
        }
        Ok(length as usize)
    }

    fn text(&mut self, length: usize) -> Result<&'a str, ModelError> {
        let bytes = self.take(length)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => self.fail("invalid UTF-8"),
        }
    }

    fn value(&mut self, marker: u8, depth: usize) -> Result<Value<'a>, ModelError> {
        if depth > MAX_DEPTH {
            return self.fail(format!("nested more than {MAX_DEPTH} levels deep"));
        }
        Ok(match marker {
            b'Z' => Value::Null,
            b'T' => Value::Bool(true),
            b'F' => Value::Bool(false),
            b'C' => Value::Text(self.text(1)?.to_owned()),
            b'S' => {
                let length = self.length()?;
                Value::Text(self.text(length)?.to_owned())
            }
            b'H' => {
                let length = self.length()?;
                let text = self.text(length)?;
                match text.parse::<f64>() {
                    Ok(number) => Value::Number(number),
                    Err(_) => return self.fail(format!("invalid number {text:?}")),
                }
            }
            b'[' => self.list(depth)?,
            b'{' => self.object(depth)?,
            marker => match number_size(marker) {
                Some(size) => Value::Number(decode(marker, self.take(size)?)),
                None => return self.fail(format!("unknown marker {:?}", char::from(marker))),
            },
        })
    }

    /// Reads the optional type (`$`) and count (`#`) of a container. Each element takes at least `least`
    /// bytes in addition to its value.
    fn head(&mut self, least: usize) -> Result<Head, ModelError> {
        let mut head = Head { element: None, count: None };
        if self.bytes.get(self.offset) == Some(&b'$') {
            self.offset += 1;
            let element = self.byte()?;
            if matches!(element, b'Z' | b'T' | b'F' | b'N') {
                // Elements without payload take no bytes, so a short file could declare more of them than fit
                // in memory.
                return self.fail("a container whose elements have no bytes is not supported");
            }
            head.element = Some(element);
            if self.bytes.get(self.offset) != Some(&b'#') {
                return self.fail("missing count of a typed container");
            }
        }
        if self.bytes.get(self.offset) == Some(&b'#') {
            self.offset += 1;
            let count = self.length()?;
            let size = least + head.element.map_or(1, |element| number_size(element).unwrap_or(1));
            if count.checked_mul(size).is_none_or(|bytes| bytes > self.left()) {
                return self.fail(format!("invalid count {count}: {} bytes are left", self.left()));
            }
            head.count = Some(count);
        }
        Ok(head)
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, ModelError> {
        let head = self.head(0)?;
        if let (Some(element), Some(count)) = (head.element, head.count)
            && let Some(size) = number_size(element)
        {
            return Ok(Value::Packed(PackedNumbers::new(element, size, self.take(count * size)?)));
        }
        let mut list = Value::Numbers(Vec::new());
        let mut read = 0;
        while head.count.is_none_or(|count| read < count) {
            let marker = match head.element {
                Some(element) => element,
                None => self.marker()?,
            };
            if marker == b']' && head.count.is_none() {
                break;
            }
            let element = self.value(marker, depth + 1)?;
            if !matches!((&list, &element), (Value::Numbers(_), Value::Number(_))) {
                self.take_memory(None)?;
            }
            push_element(&mut list, element);
            read += 1;
        }
        Ok(list)
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, ModelError> {
        // A name takes at least two bytes: the marker and the value of its length.
        let head = self.head(2)?;
        let mut members = Vec::new();
        while head.count.is_none_or(|count| members.len() < count) {
            let marker = self.marker()?;
            if marker == b'}' && head.count.is_none() {
                break;
            }
            let length = self.length_of(marker)?;
            let name = self.text(length)?.to_owned();
            let marker = match head.element {
                Some(element) => element,
                None => self.marker()?,
            };
            self.take_memory(Some(&name))?;
            members.push((name, self.value(marker, depth + 1)?));
        }
        // Spare capacity would take most of the memory of small objects.
        members.shrink_to_fit();
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_marker_is_read() {
        let cases: &[(&[u8], Value<'_>)] = &[
            (b"Z", Value::Null),
            (b"T", Value::Bool(true)),
            (b"F", Value::Bool(false)),
            (b"i\xff", Value::Number(-1.0)),
            (b"U\xff", Value::Number(255.0)),
            (b"I\xff\xfe", Value::Number(-2.0)),
            (b"u\xff\xfe", Value::Number(65534.0)),
            (b"l\xff\xff\xff\xfd", Value::Number(-3.0)),
            (b"m\xff\xff\xff\xff", Value::Number(4294967295.0)),
            (b"L\xff\xff\xff\xff\xff\xff\xff\xfc", Value::Number(-4.0)),
            (b"M\x00\x00\x00\x01\x00\x00\x00\x00", Value::Number(4294967296.0)),
            (b"d\x3f\xc0\x00\x00", Value::Number(1.5)),
            (b"D\xbf\xf8\x00\x00\x00\x00\x00\x00", Value::Number(-1.5)),
            (b"Ca", Value::Text("a".into())),
            (b"Si\x02hi", Value::Text("hi".into())),
            (b"Hi\x041e-3", Value::Number(0.001)),
            (b"[]", Value::Numbers(vec![])),
            (b"[Ni\x01NU\x02]", Value::Numbers(vec![1.0, 2.0])),
            (b"[#i\x02i\x01T", Value::List(vec![Value::Number(1.0), Value::Bool(true)])),
            (b"[$I#i\x02\x00\x01\x00\x02", Value::Packed(PackedNumbers::new(b'I', 2, b"\x00\x01\x00\x02"))),
            (b"[$S#i\x02i\x01ai\x01b", Value::List(vec![Value::Text("a".into()), Value::Text("b".into())])),
            (b"[$[#i\x02i\x01]]", Value::List(vec![Value::Numbers(vec![1.0]), Value::Numbers(vec![])])),
            (b"{}", Value::Object(vec![])),
            (b"{i\x01aTN}", Value::Object(vec![("a".into(), Value::Bool(true))])),
            (b"{#i\x01i\x01aZ", Value::Object(vec![("a".into(), Value::Null)])),
            (
                b"{$U#i\x02i\x01a\x07i\x01b\x08",
                Value::Object(vec![("a".into(), Value::Number(7.0)), ("b".into(), Value::Number(8.0))]),
            ),
        ];
        for (bytes, value) in cases {
            assert_eq!(read(bytes).unwrap(), *value, "{bytes:?}");
            for cut in 0..bytes.len() {
                assert!(matches!(read(&bytes[..cut]), Err(ModelError::Ubj { .. })), "{bytes:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_length_that_lies_is_refused_before_it_is_allocated() {
        for bytes in [
            &b"SL\x7f\xff\xff\xff\xff\xff\xff\xff"[..],
            b"Si\xff",
            b"Sd\x3f\x80\x00\x00a",
            b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff",
            b"[$D#i\x02\x00\x00\x00\x00\x00\x00\x00\x00",
            b"[#L\x00\x00\x00\xff\xff\xff\xff\xff",
            b"{#l\x7f\xff\xff\xff",
            b"[$Z#L\x7f\xff\xff\xff\xff\xff\xff\xff",
            b"[$i",
            b"{$ii\x01a\x01}",
            b"HL\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert!(matches!(read(bytes), Err(ModelError::Ubj { .. })), "{bytes:?}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_before_the_stack_ends() {
        let mut bytes = b"[".repeat(1_000_000);
        assert!(read(&bytes).unwrap_err().to_string().contains("deep"));
        bytes = b"{i\x01a".repeat(1_000_000);
        assert!(read(&bytes).unwrap_err().to_string().contains("deep"));
        bytes = b"[$[#U\xff".repeat(1_000_000);
        assert!(read(&bytes).unwrap_err().to_string().contains("deep"));
    }

    #[test]
    fn what_is_not_ubj_is_refused() {
        for bytes in
            [&b""[..], b"x", b"]", b"T T", b"C", b"C\xff", b"Hi\x01x", b"Si\x01\xff", b"{i\x01a]", b"[}"]
        {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }
}
