//! The result of `apportion inspect` and `apportion groups`: named facts in order.

use std::io::{self, Write};

use anyhow::{Result, bail};
use apportion_results::object;
use apportion_results::shown::{cell_of_text, shown};
use serde_json::Value;

use crate::parse::format::Format;

/// The maximum number of characters in a line of a list.
const MAX_LINE: usize = 100;

/// Named facts in order.
#[derive(Debug)]
pub(crate) struct Facts(pub(crate) Vec<(&'static str, Value)>);

impl Facts {
    /// Returns the name of each fact and its entries as strings without quotes, with `missing` in place of
    /// unknown entries.
    fn lines(&self, missing: &str) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        let text = move |value: &Value| match value {
            Value::Null => missing.to_owned(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        self.0.iter().map(move |(name, value)| match value {
            Value::Array(values) => (*name, values.iter().map(text).collect()),
            value => (*name, vec![text(value)]),
        })
    }

    /// Writes the facts in this format.
    pub(crate) fn write(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        match format {
            Format::Json | Format::Jsonl => Ok(writeln!(out, "{}", object(&self.0)?)?),
            Format::Csv => Ok(self.write_csv(out)?),
            Format::Table => Ok(self.write_table(out)?),
            _ => bail!("--format {} is not supported by this command; use json, csv or table", format.name()),
        }
    }

    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, values) in self.lines("not in the file") {
            let mut line = format!("{:<width$} ", name.replace('_', " "));
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    line.push(',');
                    if line.chars().count() + value.chars().count() >= MAX_LINE {
                        writeln!(out, "{line}")?;
                        line = " ".repeat(width + 1);
                    }
                }
                line.push(' ');
                line.push_str(&shown(value));
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Writes a line per fact, with the entries of a list as its cells.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::WriterBuilder::new().flexible(true).from_writer(out);
        for (name, values) in self.lines("") {
            let cells = values.iter().map(|value| cell_of_text(value).into_owned());
            let written = table.write_record(std::iter::once(name.to_owned()).chain(cells));
            written.map_err(|error| match error.into_kind() {
                // Unwrap the I/O error, so that its kind can be recognized.
                csv::ErrorKind::Io(error) => error,
                other => io::Error::other(format!("{other:?}")),
            })?;
        }
        table.flush()
    }
}
