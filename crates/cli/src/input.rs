//! What `explain` and `predict` read: a model, the rows that fit it, and which of them are meant.

use anyhow::Result;
use apportion::Ensemble;

use crate::args;
use crate::model;
use crate::rows::{self, Table};

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
        let table = rows::read(&args.rows, &model::wanted(&model, args.target.as_deref())?)?;
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
