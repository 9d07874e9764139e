//! JSON: one object on one line, its rows last; or JSON lines: a line that says what holds for all rows, then a line for each row. Numbers
//! have the fewest digits that read back to the same bits. With one output `base`, `prediction` and each entry of `values` is a number;
//! with k outputs it is an array of k. Of quotient values `features` lists the groups, each as it would be typed; `groups` is there where
//! there are groups.

use std::io::Write;

use anyhow::Result;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::block::Block;
use super::facts::Facts;
use super::json_text;
use super::results::Results;
use super::writer::{Writer, in_words};

/// One object that is being written.
pub(super) struct Document<'a, W> {
    results: &'a dyn Results,
    begun: bool,
    out: W,
}

impl<'a, W: Write> Document<'a, W> {
    pub(super) fn new(results: &'a dyn Results, out: W) -> Self {
        Self { results, begun: false, out }
    }

    /// Writes all that comes before the first row.
    fn begin(&mut self, first: &Block) -> Result<()> {
        self.begun = true;
        let head = object(&self.results.head(first))?;
        let open = head.strip_suffix('}').unwrap_or(&head);
        let comma = if open.len() > 1 { "," } else { "" };
        Ok(write!(self.out, "{open}{comma}\"{}\":[", self.results.list())?)
    }
}

impl<W: Write + Send> Writer for Document<'_, W> {
    fn rows(&mut self, block: &Block) -> Result<()> {
        let is_first = !self.begun;
        if is_first {
            self.begin(block)?;
        }
        let results = self.results;
        in_words(block.len(), &mut self.out, |rows, bytes| {
            for row in rows {
                if !(is_first && row == 0) {
                    bytes.push(b',');
                }
                results.object(block, row, bytes)?;
            }
            Ok(())
        })
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        if !self.begun {
            self.begin(&Block::default())?;
        }
        self.out.write_all(b"]}\n")?;
        Ok(self.out.flush()?)
    }
}

/// Lines that are being written.
pub(super) struct Lines<'a, W> {
    results: &'a dyn Results,
    begun: bool,
    out: W,
}

impl<'a, W: Write> Lines<'a, W> {
    pub(super) fn new(results: &'a dyn Results, out: W) -> Self {
        Self { results, begun: false, out }
    }
}

impl<W: Write + Send> Writer for Lines<'_, W> {
    fn rows(&mut self, block: &Block) -> Result<()> {
        if !self.begun {
            self.begun = true;
            writeln!(self.out, "{}", object(&self.results.head(block))?)?;
        }
        let results = self.results;
        in_words(block.len(), &mut self.out, |rows, bytes| {
            for row in rows {
                results.object(block, row, bytes)?;
                bytes.push(b'\n');
            }
            Ok(())
        })
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

/// Values by name as an object, in order.
pub(super) fn object(named: &[(&'static str, Value)]) -> Result<String> {
    Ok(json_text::text(&Named(named))?)
}

pub(super) fn facts(facts: &Facts, out: &mut dyn Write) -> Result<()> {
    Ok(writeln!(out, "{}", object(&facts.0)?)?)
}

/// Values by name, in order.
struct Named<'a>(&'a [(&'static str, Value)]);

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
pub(super) struct Outputs<'a>(pub(super) &'a [f64]);

impl Serialize for Outputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [number] => number.serialize(serializer),
            numbers => numbers.serialize(serializer),
        }
    }
}

/// Players × outputs.
pub(super) struct Players<'a> {
    pub(super) outputs: usize,
    pub(super) numbers: &'a [f64],
}

impl Serialize for Players<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.numbers.chunks_exact(self.outputs.max(1)).map(Outputs))
    }
}
