//! Writers for JSON and JSON lines. A JSON file is one object on one line, whose last member is the list of
//! rows. A JSON lines file has a line with the head, which applies to all rows, and then one line per row.
//! Numbers have the fewest digits that identify them exactly. With one output, `base`, `prediction` and each
//! entry of `values` are numbers; with k outputs they are arrays of length k. For quotient values, whose
//! players are groups, `features` lists the groups in the syntax of the command line. `groups` is present if
//! there are groups.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::text;
use crate::batch::Batch;
use crate::kinds::Results;
use crate::writer::{Writer, in_words};

/// A writer of results as one JSON object.
pub(crate) struct Document<'a, W> {
    results: &'a dyn Results,
    begun: bool,
    out: W,
}

impl<'a, W: Write> Document<'a, W> {
    pub(crate) fn new(results: &'a dyn Results, out: W) -> Self {
        Self { results, begun: false, out }
    }

    /// Writes everything before the first row.
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

/// A writer of results as JSON lines.
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

/// Serializes named values as a JSON object, in the given order. Escapes characters that are unsafe to print
/// in a terminal.
///
/// # Errors
///
/// The errors of serde_json.
pub fn object(named: &[(&str, Value)]) -> io::Result<String> {
    text::text(&Named(named))
}

/// Named values that are serialized as an object, in the given order.
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

/// One number per output, serialized as a plain number instead of a list if there is one output.
pub(crate) struct Outputs<'a>(pub(crate) &'a [f64]);

impl Serialize for Outputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [number] => number.serialize(serializer),
            numbers => numbers.serialize(serializer),
        }
    }
}

/// Numbers, players × outputs, that are serialized as a list with one entry per player.
pub(crate) struct Players<'a> {
    pub(crate) outputs: usize,
    pub(crate) numbers: &'a [f64],
}

impl Serialize for Players<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.numbers.chunks_exact(self.outputs.max(1)).map(Outputs))
    }
}
