//! A parser for JSON that also accepts the nonstandard numbers that XGBoost writes.
//!
//! JSON cannot represent infinite numbers and NaN, so XGBoost writes the bare words `NaN` and `Infinity`
//! (e.g. in version 1.7 for the thresholds of categorical splits). Strict parsers reject these words. This
//! parser accepts them, and all numbers that Rust can parse (`1.`, `01`). Otherwise it follows the standard
//! (RFC 8259). Nesting is limited to [`MAX_DEPTH`], so that no file can overflow the stack.

use super::memory::Memory;
use super::{MAX_DEPTH, UNUSED, Value, push_element};
use crate::error::ModelError;

/// Reads a whole document. Anything except white space after it is an error.
pub(crate) fn read(bytes: &[u8]) -> Result<Value<'_>, ModelError> {
    let mut reader = Reader { bytes, offset: 0, memory: Memory::for_file(bytes.len()) };
    let value = reader.value(0)?;
    reader.skip_space();
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

impl<'a> Reader<'a> {
    fn fail<T>(&self, problem: impl Into<String>) -> Result<T, ModelError> {
        Err(ModelError::Json { offset: self.offset, problem: problem.into() })
    }

    fn take_memory(&mut self, name: Option<&str>) -> Result<(), ModelError> {
        self.memory.take(name).or_else(|problem| self.fail(problem))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.offset).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.offset += 1;
        }
    }

    /// Returns the next byte that is not white space, without consuming it.
    fn next(&mut self) -> Result<u8, ModelError> {
        self.skip_space();
        match self.peek() {
            Some(byte) => Ok(byte),
            None => self.fail("unexpected end of the document"),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, ModelError> {
        if depth > MAX_DEPTH {
            return self.fail(format!("nested more than {MAX_DEPTH} levels deep"));
        }
        match self.next()? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => Ok(Value::Text(self.text()?)),
            b'-' | b'0'..=b'9' => Ok(Value::Number(self.number()?)),
            _ => {
                let words = [
                    ("null", Value::Null),
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                    ("NaN", Value::Number(f64::NAN)),
                    ("Infinity", Value::Number(f64::INFINITY)),
                ];
                for (word, value) in words {
                    if self.bytes[self.offset..].starts_with(word.as_bytes()) {
                        self.offset += word.len();
                        return Ok(value);
                    }
                }
                self.fail("expected a value")
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, ModelError> {
        self.offset += 1;
        let mut members = Vec::new();
        if self.next()? == b'}' {
            self.offset += 1;
            return Ok(Value::Object(members));
        }
        loop {
            if self.next()? != b'"' {
                return self.fail("expected a quoted name");
            }
            let name = self.text()?;
            if self.next()? != b':' {
                return self.fail("expected a colon");
            }
            self.offset += 1;
            self.take_memory(Some(&name))?;
            let value = self.value(depth + 1)?;
            if !UNUSED.contains(&name.as_str()) {
                members.push((name, value));
            }
            match self.next()? {
                b',' => self.offset += 1,
                b'}' => {
                    self.offset += 1;
                    // Spare capacity would take most of the memory of small objects.
                    members.shrink_to_fit();
                    return Ok(Value::Object(members));
                }
                _ => return self.fail("expected a comma or a closing brace"),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, ModelError> {
        self.offset += 1;
        let mut list = Value::Numbers(Vec::new());
        if self.next()? == b']' {
            self.offset += 1;
            return Ok(list);
        }
        loop {
            let element = self.value(depth + 1)?;
            if !matches!((&list, &element), (Value::Numbers(_), Value::Number(_))) {
                self.take_memory(None)?;
            }
            push_element(&mut list, element);
            match self.next()? {
                b',' => self.offset += 1,
                b']' => {
                    self.offset += 1;
                    match &mut list {
                        Value::Numbers(numbers) => numbers.shrink_to_fit(),
                        Value::List(values) => values.shrink_to_fit(),
                        _ => {}
                    }
                    return Ok(list);
                }
                _ => return self.fail("expected a comma or a closing bracket"),
            }
        }
    }

    fn number(&mut self) -> Result<f64, ModelError> {
        let start = self.offset;
        if self.bytes[start..].starts_with(b"-Infinity") {
            self.offset += 9;
            return Ok(f64::NEG_INFINITY);
        }
        if self.bytes[start..].starts_with(b"-NaN") {
            self.offset += 4;
            return Ok(f64::NAN);
        }
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.offset += 1;
        }
        let text = &self.bytes[start..self.offset];
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        match number {
            Some(number) => Ok(number),
            None => {
                self.offset = start;
                self.fail(format!("invalid number {:?}", String::from_utf8_lossy(text)))
            }
        }
    }

    fn text(&mut self) -> Result<String, ModelError> {
        self.offset += 1;
        let mut text = Vec::new();
        loop {
            let run = self.bytes[self.offset..]
                .iter()
                .position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ')
                .unwrap_or(self.bytes.len() - self.offset);
            text.extend_from_slice(&self.bytes[self.offset..self.offset + run]);
            self.offset += run;
            match self.peek() {
                Some(b'"') => {
                    self.offset += 1;
                    break;
                }
                Some(b'\\') => {
                    self.offset += 1;
                    let character = self.escape()?;
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(_) => return self.fail("control character in a string"),
                None => return self.fail("the document ends in a string"),
            }
        }
        match String::from_utf8(text) {
            Ok(text) => Ok(text),
            Err(_) => self.fail("invalid UTF-8"),
        }
    }

    fn escape(&mut self) -> Result<char, ModelError> {
        let Some(letter) = self.peek() else { return self.fail("the document ends in a string") };
        self.offset += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.code_unit()?;
                let code = if (0xd800..0xdc00).contains(&first) {
                    // The second unit of a surrogate pair must follow.
                    if !self.bytes[self.offset..].starts_with(b"\\u") {
                        return self.fail("unpaired surrogate");
                    }
                    self.offset += 2;
                    let second = self.code_unit()?;
                    if !(0xdc00..0xe000).contains(&second) {
                        return self.fail("unpaired surrogate");
                    }
                    0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                } else {
                    first
                };
                match char::from_u32(code) {
                    Some(character) => character,
                    None => return self.fail("unpaired surrogate"),
                }
            }
            _ => return self.fail("unknown escape in a string"),
        })
    }

    fn code_unit(&mut self) -> Result<u32, ModelError> {
        let digits = self.bytes.get(self.offset..self.offset + 4);
        let unit = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match unit {
            Some(unit) => {
                self.offset += 4;
                Ok(unit)
            }
            None => self.fail("expected four hexadecimal digits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_read() {
        let text = concat!(
            r#" {"a": [1, -2.5e3, NaN], "b": {"c": [true, null, 1]}, "#,
            r#""d\n\u00e9\ud83d\ude00": "", "e": []} "#
        )
        .as_bytes();
        let Value::Object(members) = read(text).unwrap() else { panic!("not an object") };
        let Value::Numbers(numbers) = &members[0].1 else { panic!("not numbers") };
        assert_eq!(numbers[..2], [1.0, -2500.0]);
        assert!(numbers[2].is_nan());
        let list = Value::List(vec![Value::Bool(true), Value::Null, Value::Number(1.0)]);
        assert_eq!(members[1].1, Value::Object(vec![("c".into(), list)]));
        assert_eq!(members[2], ("d\né😀".into(), Value::Text(String::new())));
        assert_eq!(members[3].1, Value::Numbers(Vec::new()));
    }

    #[test]
    fn decimals_are_read_to_the_nearest_double() {
        for text in
            ["0.1", "1.7976931348623157e308", "5e-324", "2.2250738585072011e-308", "123456789012345678"]
        {
            assert_eq!(read(text.as_bytes()).unwrap(), Value::Number(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "}",
            "[1,",
            "[1 2]",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "\"a",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\u12\"",
            "tru",
            "1 2",
            "1.2.3",
            "-",
            "+",
            "\"\u{1}\"",
            "nan",
        ] {
            assert!(matches!(read(text.as_bytes()), Err(ModelError::Json { .. })), "{text:?}");
        }
        assert!(matches!(read(b"\"\xff\""), Err(ModelError::Json { .. })));
    }

    #[test]
    fn deep_nesting_is_refused_before_the_stack_ends() {
        for opening in ["[", "{\"a\":"] {
            let error = read(opening.repeat(1_000_000).as_bytes()).unwrap_err().to_string();
            assert!(error.contains("deep"), "{error}");
        }
    }
}
