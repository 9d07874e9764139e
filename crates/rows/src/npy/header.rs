//! The header of a `.npy` file: a Python dictionary with the keys `descr`, `fortran_order` and `shape`.

use crate::nearest::shown;

/// The contents of the header.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    /// The dtype of the numbers.
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

type Parsed<T> = std::result::Result<T, String>;

fn fail<T>(problem: String) -> Parsed<T> {
    Err(problem)
}

impl Header {
    /// Parses the dictionary, or returns the problem.
    pub(super) fn parse(text: &str) -> Parsed<Self> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut cursor = Cursor { rest: text };
        cursor.expect('{')?;
        while !cursor.accept('}') {
            let key = cursor.string()?;
            cursor.expect(':')?;
            match key {
                "descr" => descr = Some(cursor.string()?.to_owned()),
                "fortran_order" => fortran_order = Some(cursor.boolean()?),
                "shape" => shape = Some(cursor.tuple()?),
                other => return fail(format!("unknown key {}", shown(other))),
            }
            if !cursor.accept(',') {
                cursor.expect('}')?;
                break;
            }
        }
        Ok(Self {
            descr: descr.ok_or_else(|| "missing key \"descr\"".to_owned())?,
            fortran_order: fortran_order.ok_or_else(|| "missing key \"fortran_order\"".to_owned())?,
            shape: shape.ok_or_else(|| "missing key \"shape\"".to_owned())?,
        })
    }
}

/// The part of a header that is not parsed yet.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn accept(&mut self, token: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: char) -> Parsed<()> {
        if self.accept(token) {
            Ok(())
        } else {
            fail(format!("expected {token:?} before {}", shown(self.rest)))
        }
    }

    fn string(&mut self) -> Parsed<&'a str> {
        let quote = if self.accept('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect(quote)?;
        }
        let (text, rest) = self.rest.split_once(quote).ok_or_else(|| "unterminated string".to_owned())?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Parsed<bool> {
        let text = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = text.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        fail(format!("expected True or False before {}", shown(text)))
    }

    fn tuple(&mut self) -> Parsed<Vec<usize>> {
        self.expect('(')?;
        let mut numbers = Vec::new();
        while !self.accept(')') {
            let text = self.rest.trim_start();
            let (digits, rest) =
                text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
            numbers.push(digits.parse().map_err(|_| format!("expected a length before {}", shown(text)))?);
            self.rest = rest;
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_in_any_order_and_quotes() {
        let options = Header { descr: "<f8".to_owned(), fortran_order: true, shape: vec![3, 2] };
        for text in [
            "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }  \n",
            "{\"shape\":(3,2),\"descr\":\"<f8\",\"fortran_order\":True}",
        ] {
            assert_eq!(Header::parse(text).unwrap(), options);
        }
        let vector = Header::parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}").unwrap();
        assert_eq!(vector.shape, [3]);
    }

    #[test]
    fn what_is_no_such_dictionary_is_refused() {
        for (text, says) in [
            ("", "expected '{'"),
            ("{'descr': '<f8'}", "missing key"),
            ("{'descr': [('a', '<f8')]}", "expected"),
            ("{'descr': '<f8", "unterminated"),
            ("{'other': 1}", "unknown key"),
            ("{'fortran_order': 1}", "True or False"),
            ("{'shape': (99999999999999999999999, 2)}", "expected a length"),
        ] {
            let problem = Header::parse(text).unwrap_err();
            assert!(problem.contains(says), "{text}: {problem}");
        }
    }
}
