//! The result of `apportion inspect` and `apportion groups`: facts in order, by name.

use std::io::{self, Write};

use anyhow::{Result, bail};
use apportion_results::object;
use apportion_results::shown::cell_of_text;
use serde_json::Value;

use super::format::Format;
use super::table;

/// Facts in order, by name.
#[derive(Debug)]
pub(crate) struct Facts(pub(crate) Vec<(&'static str, Value)>);

impl Facts {
    /// Each fact's name and its entries as text without quotes, with `missing` for what is not known.
    pub(super) fn lines(&self, missing: &str) -> impl Iterator<Item = (&'static str, Vec<String>)> {
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

    /// Writes them all.
    pub(crate) fn write(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        match format {
            Format::Json | Format::Jsonl => Ok(writeln!(out, "{}", object(&self.0)?)?),
            Format::Csv => Ok(self.write_csv(out)?),
            Format::Table => Ok(table::facts(self, out)?),
            _ => bail!("these facts are no table of numbers; give --format json, csv or table"),
        }
    }

    /// A line per fact; the entries of a list follow each other in the line.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::WriterBuilder::new().flexible(true).from_writer(out);
        for (name, values) in self.lines("") {
            let cells = values.iter().map(|value| cell_of_text(value).into_owned());
            let written = table.write_record(std::iter::once(name.to_owned()).chain(cells));
            written.map_err(|error| match error.into_kind() {
                // The failure of the place that is written to, without a shell around it.
                csv::ErrorKind::Io(error) => error,
                other => io::Error::other(format!("{other:?}")),
            })?;
        }
        table.flush()
    }
}
