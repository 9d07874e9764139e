//! JSON: one object on one line, its rows last; or JSON lines: a line that says what holds for all rows, then a line for each row. Numbers
//! have the fewest digits that read back to the same bits. With one output `base`, `prediction` and each entry of `values` is a number;
//! with k outputs it is an array of k. Of quotient values `features` lists the groups, each as it would be typed; `groups` is there where
//! there are groups.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::text;
use crate::batch::Batch;
use crate::kinds::Results;
use crate::writer::{Writer, in_words};

/// One object that is being written.
pub(crate) struct Document<'a, W> {
    results: &'a dyn Results,
    begun: bool,
    out: W,
}

impl<'a, W: Write> Document<'a, W> {
    pub(crate) fn new(results: &'a dyn Results, out: W) -> Self {
        Self { results, begun: false, out }
    }

    /// Writes all that comes before the first row.
    fn begin(&mut self) -> io::Result<()> {
        self.begun = true;
        let head = object(&self.results.head())?;
        let open = head.strip_suffix('}').unwrap_or(&head);
        let comma = if open.len() > 1 { "," } else { "" };
        write!(self.out, "{open}{comma}\"{}\":[", self.results.list())
    }
}

impl<W: Write + Send> Writer for Document<'_, W> {
    fn rows(&mut self, batch: &Batch) -> io::Result<()> {
        let is_first = !self.begun;
        if is_first {
            self.begin()?;
        }
        let results = self.results;
        in_words(batch.len(), &mut self.out, |rows, bytes| {
            for row in rows {
                if !(is_first && row == 0) {
                    bytes.push(b',');
                }
                results.object(batch, row, bytes)?;
            }
            Ok(())
        })
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        if !self.begun {
            self.begin()?;
        }
        self.out.write_all(b"]}\n")?;
        self.out.flush()
    }
}

/// Lines that are being written.
pub(crate) struct Lines<'a, W> {
    results: &'a dyn Results,
    begun: bool,
    out: W,
}

impl<'a, W: Write> Lines<'a, W> {
    pub(crate) fn new(results: &'a dyn Results, out: W) -> Self {
        Self { results, begun: false, out }
    }
}

impl<W: Write + Send> Writer for Lines<'_, W> {
    fn rows(&mut self, batch: &Batch) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            writeln!(self.out, "{}", object(&self.results.head())?)?;
        }
        let results = self.results;
        in_words(batch.len(), &mut self.out, |rows, bytes| {
            for row in rows {
                results.object(batch, row, bytes)?;
                bytes.push(b'\n');
            }
            Ok(())
        })
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

/// Values by name as an object, in order, in whose texts nothing commands a terminal.
///
/// # Errors
///
/// What serde_json returns.
pub fn object(named: &[(&str, Value)]) -> io::Result<String> {
    text::text(&Named(named))
}

/// Values by name, in order.
struct Named<'a>(&'a [(&'a str, Value)]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A number per output: itself where there is one.
pub(crate) struct Outputs<'a>(pub(crate) &'a [f64]);

impl Serialize for Outputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [number] => number.serialize(serializer),
            numbers => numbers.serialize(serializer),
        }
    }
}

/// Players × outputs.
pub(crate) struct Players<'a> {
    pub(crate) outputs: usize,
    pub(crate) numbers: &'a [f64],
}

impl Serialize for Players<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.numbers.chunks_exact(self.outputs.max(1)).map(Outputs))
    }
}
