//! Text encodings other than UTF-8: decoding of UTF-16, and suggestions for the encoding of other text.

use std::io::Read;

use crate::error::RowsError;
use crate::nearest::shown;

/// The byte order of UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

impl Endian {
    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    /// Returns the note for the user about a decoded text.
    pub(crate) fn note(self) -> String {
        let name = match self {
            Self::Little => "UTF-16LE",
            Self::Big => "UTF-16BE",
        };
        format!("the text was decoded from {name}")
    }
}

/// The minimum number of bytes required to recognize UTF-16 without a byte order mark.
const ENOUGH: usize = 8;

/// Returns the byte order of a UTF-16 text from its first bytes; `None` for other content. Without a byte
/// order mark, most units must be ASCII, as in a table of numbers.
pub(crate) fn utf_16(start: &[u8]) -> Option<Endian> {
    match start {
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => return Some(Endian::Little),
        [0xfe, 0xff, ..] => return Some(Endian::Big),
        _ if start.len() < ENOUGH => return None,
        _ => {}
    }
    [Endian::Little, Endian::Big].into_iter().find(|endian| {
        let units: Vec<u16> = start.as_chunks().0.iter().map(|&bytes| endian.unit(bytes)).collect();
        let is_text = |unit: &u16| matches!(unit, 9 | 10 | 13 | 0x20..=0x7e | 0xa0..);
        let ascii = units.iter().filter(|&&unit| unit < 0x80).count();
        units.iter().all(is_text) && 4 * ascii >= 3 * units.len()
    })
}

/// A reader that converts UTF-16 to UTF-8.
pub(crate) struct Utf16<R> {
    bytes: R,
    endian: Endian,
    /// Bytes that are not decoded yet: half a unit, or the first unit of a surrogate pair.
    rest: Vec<u8>,
    /// Decoded text; the part from `at` on is not returned yet.
    text: Vec<u8>,
    at: usize,
}

/// The number of bytes that are decoded at a time.
const PIECE: u64 = 1 << 16;

impl<R: Read> Utf16<R> {
    pub(crate) fn new(bytes: R, endian: Endian) -> Self {
        Self { bytes, endian, rest: Vec::new(), text: Vec::new(), at: 0 }
    }

    /// Decodes the next bytes. The text is empty at the end.
    fn decode(&mut self) -> std::io::Result<()> {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() {
            let is_end = (&mut self.bytes).take(PIECE).read_to_end(&mut self.rest)? == 0;
            let (units, half) = self.rest.as_chunks();
            let mut units: Vec<u16> = units.iter().map(|&bytes| self.endian.unit(bytes)).collect();
            let is_high = |unit: &u16| (0xd800..0xdc00).contains(unit);
            let is_damaged = is_end && (!half.is_empty() || units.last().is_some_and(is_high));
            let kept = half.len() + if units.pop_if(|last| is_high(last)).is_some() { 2 } else { 0 };
            self.rest.drain(..self.rest.len() - kept);
            let mut letter = [0; 4];
            for decoded in char::decode_utf16(units) {
                let decoded = decoded.map_err(|_| damaged())?;
                self.text.extend(decoded.encode_utf8(&mut letter).bytes());
            }
            if is_damaged {
                return Err(damaged());
            }
            if is_end {
                break;
            }
        }
        Ok(())
    }
}

fn damaged() -> std::io::Error {
    std::io::Error::other(RowsError::damaged("the UTF-16 text is truncated or corrupt; save it as UTF-8"))
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.text.len() {
            self.decode()?;
        }
        let count = out.len().min(self.text.len() - self.at);
        out[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// The characters that the bytes 0x80 to 0x9f represent in Windows-1252. All other bytes equal their code
/// points.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Describes a text that is not in UTF-8, and how to convert it.
pub(crate) fn not_utf_8(text: &[u8]) -> String {
    let letter = |&byte: &u8| match byte {
        0x80..0xa0 => WINDOWS_1252[usize::from(byte - 0x80)],
        byte => char::from(byte),
    };
    let text: String = text.iter().map(letter).collect();
    format!(
        "not encoded in UTF-8; if the text should read {} (Windows-1252 or Latin-1), convert the file with \
         iconv -f WINDOWS-1252 -t UTF-8; otherwise, convert the file from its actual encoding",
        shown(text.trim_matches(['\r', '\n']))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, endian: Endian) -> Vec<u8> {
        let bytes = |unit: u16| match endian {
            Endian::Little => unit.to_le_bytes(),
            Endian::Big => unit.to_be_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_16_is_recognized_and_decoded() {
        for endian in [Endian::Little, Endian::Big] {
            for text in ["age,bmi\n1,2\n", "\u{feff}größe;alter\r\n1;2", "\u{feff}年齢,😀\n1,2\n", "\u{feff}"]
            {
                let bytes = encoded(text, endian);
                assert_eq!(utf_16(&bytes), Some(endian), "{text:?}");
                let mut decoded = String::new();
                Utf16::new(&bytes[..], endian).read_to_string(&mut decoded).unwrap();
                assert_eq!(decoded, text);
            }
            // Pieces end between units and within surrogate pairs.
            let text = "😀é,a\n".repeat(50_000);
            let mut decoded = String::new();
            let bytes = encoded(&text, endian);
            Utf16::new(&bytes[..1], endian).read_to_string(&mut String::new()).unwrap_err();
            let (first, rest) = bytes.split_at(65_537);
            Utf16::new(first.chain(rest), endian).read_to_string(&mut decoded).unwrap();
            assert!(decoded == text);
            for cut in [1, 2, 3, 5] {
                let error = Utf16::new(&bytes[..cut], endian).read_to_string(&mut String::new());
                assert!(error.unwrap_err().to_string().contains("truncated"), "{cut}");
            }
        }
        for other in [
            &b"a,b\0"[..],
            b"age,bmi\n1,2\n",
            b"\xff\xfe\0\0a\0\0\0",
            b"\0\0\0\0\0\0\0\0",
            b"a\0b\0\x01\0c\0",
        ] {
            assert_eq!(utf_16(other), None, "{other:?}");
        }
    }

    #[test]
    fn other_encodings_are_named_with_the_text_that_they_would_be() {
        for (bytes, says) in [
            (
                &b"gr\xf6\xdfe,alter\r\n"[..],
                "if the text should read \"größe,alter\" (Windows-1252 or Latin-1)",
            ),
            (b"\x80 5", "\"€ 5\""),
            (b"caf\xe9", "iconv -f WINDOWS-1252 -t UTF-8"),
        ] {
            let said = not_utf_8(bytes);
            assert!(said.contains(says), "{said}");
        }
    }
}
