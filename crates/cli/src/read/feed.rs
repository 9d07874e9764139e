//! Reading of rows on a separate thread, in parallel with the computation.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::{Error, Result, anyhow};
use apportion_rows::{Block, Texts};

use super::model::AnyModel;
use super::rows::{self, Ids, RowOptions, Table};
use crate::messages;
use crate::parse::columns::Columns;

/// The maximum number of blocks that wait in the channel.
const WAITING: usize = 2;

/// A message from the reading thread.
enum Message {
    Rows(Block),
    Failed(Error),
    /// All rows have been read. Contains notes for the user.
    End(Vec<String>),
}

/// A file of rows, or standard input, while it is being read.
pub(crate) struct Feed {
    messages: Receiver<Message>,
    name: String,
    has_weights: bool,
    has_ids: bool,
    is_at_end: bool,
}

impl Feed {
    /// Starts reading the columns that a model expects. If there is no model yet, reads all columns, and
    /// stores their strings in `texts`.
    pub(crate) fn new(
        path: &Path,
        model: Option<&Arc<AnyModel>>,
        columns: &Columns,
        texts: &Arc<Texts>,
    ) -> Result<Self> {
        let (sender, messages) = sync_channel(WAITING);
        let (source, model, meaning) = (path.to_owned(), model.cloned(), columns.clone());
        let texts = Arc::clone(texts);
        std::thread::Builder::new().name("rows".to_owned()).spawn(move || {
            let last = match read(&source, model.as_deref(), &meaning, &texts, &sender) {
                Ok(notes) => Message::End(notes),
                Err(error) => Message::Failed(error),
            };
            // If the receiver is gone, the result is no longer needed.
            let _ = sender.send(last);
        })?;
        let name = path.display().to_string();
        Ok(Self {
            messages,
            name,
            has_ids: columns.id.is_some(),
            has_weights: columns.weights.is_some(),
            is_at_end: false,
        })
    }

    /// Returns whether all rows have been received.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Reads the first rows.
    pub(crate) fn begin(&mut self) -> Result<Table> {
        let mut table = Table::default();
        self.fill(&mut table, 1)?;
        Ok(table)
    }

    /// Appends rows to `table` until it has at least `rows` rows or all rows have been read.
    pub(crate) fn fill(&mut self, table: &mut Table, rows: usize) -> Result<()> {
        while !self.is_at_end && (table.columns == 0 || table.values.len() / table.columns < rows) {
            match self.messages.recv()? {
                Message::Failed(error) => return Err(error),
                Message::End(notes) => {
                    self.is_at_end = true;
                    for note in notes {
                        messages::note(format_args!("{}: {note}", self.name));
                    }
                }
                Message::Rows(block) => {
                    if table.columns == 0 {
                        table.columns = block.columns;
                        table.names = block.names;
                        table.ids = self.has_ids.then(|| Ids { name: None, values: Vec::new() });
                        table.weights = (self.has_weights && !block.weights.is_empty()).then(Vec::new);
                    }
                    if table.values.is_empty() {
                        table.values = block.values;
                    } else {
                        table.values.extend_from_slice(&block.values);
                    }
                    if let Some(ids) = &mut table.ids {
                        ids.values.extend(block.ids);
                    }
                    if let Some(weights) = &mut table.weights {
                        weights.extend(block.weights);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads all rows and sends them. Returns notes for the user.
fn read(
    path: &Path,
    model: Option<&AnyModel>,
    columns: &Columns,
    texts: &Texts,
    sender: &SyncSender<Message>,
) -> Result<Vec<String>> {
    let wanted = match model {
        Some(model) => model.row_options(columns)?,
        None => RowOptions { texts: Some(texts), ..columns.all() },
    };
    let wanted = RowOptions { may_be_empty: true, ..wanted };
    rows::each_block(path, &wanted, |block| {
        // Taking the block removes its names and number of columns, but only the first block needs them.
        sender
            .send(Message::Rows(std::mem::take(block)))
            .map_err(|_| anyhow!("the receiver of the rows has stopped"))
    })
}
