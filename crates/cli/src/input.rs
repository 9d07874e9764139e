//! What `explain` and `predict` read: a model, the rows that fit it, and which of them are meant.

use anyhow::Result;
use apportion::Ensemble;

use crate::args;
use crate::failure::Usage;
use crate::model;
use crate::output::Format;
use crate::rows::{self, Table};

/// Refuses what does not go together, before anything is read.
pub(crate) fn check(args: &args::Input, format: Format) -> Result<()> {
    if args.columns.id.is_some() && format == Format::Npy {
        let says = "--format npy holds numbers alone, and no --id; leave one of them out";
        return Err(Usage(says.to_owned()).into());
    }
    Ok(())
}

/// A model and rows for it.
pub(crate) struct Input {
    pub(crate) model: Ensemble,
    /// All rows of the file.
    pub(crate) table: Table,
    /// Indices of the rows that are meant.
    pub(crate) selected: Vec<usize>,
}

impl Input {
    /// Reads what the options name.
    pub(crate) fn read(args: &args::Input) -> Result<Self> {
        let model = model::read(&args.model)?;
        let table = rows::read(&args.rows, &model::wanted(&model, &args.columns)?)?;
        for note in &table.notes {
            eprintln!("note: {}: {note}", args.rows.display());
        }
        let selected = match &args.select {
            Some(selection) => selection.rows(table.len(), "--select", &args.rows.display().to_string())?,
            None => (0..table.len()).collect(),
        };
        Ok(Self { model, table, selected })
    }
}
