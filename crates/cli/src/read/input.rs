//! The input of `explain` and `predict`: a model, and any number of rows for it.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use apportion::Rows;
use apportion::games::GameError;

use super::feed::Feed;
use super::model::{self, AnyModel};
use super::rows::{self, Ids, RowOptions, Table};
use crate::failure::Usage;
use crate::messages;
use crate::parse::args;
use crate::parse::columns::Columns;
use crate::parse::format::Format;
use crate::parse::select::Selection;

/// The size of a batch: the count of numbers in its rows and their results, about 32 MB in total. The size is
/// a constant, so that the values of a row cannot depend on how the rows are read.
const BATCH: usize = 1 << 22;

/// Returns an error for options that cannot be combined, before anything is read.
pub(crate) fn check(args: &args::Input, format: Format) -> Result<()> {
    if args.columns.id.is_some() && format.is_of_numbers_alone() {
        let says = "--id cannot be combined with --format npy or npz, which store numbers only";
        return Err(Usage(says.to_owned()).into());
    }
    Ok(())
}

/// A model, and the properties of the rows for it.
pub(crate) struct Input {
    pub(crate) model: Arc<AnyModel>,
    /// The number of features.
    pub(crate) columns: usize,
    /// The names of the features.
    pub(crate) features: Vec<String>,
    /// The names of the features in the rows file.
    names: Option<Vec<String>>,
    /// All rows of the file, if they fit into one batch.
    table: Option<Table>,
    path: PathBuf,
    meaning: Columns,
}

/// Returns an error for an infinite or missing value that the model does not support. The error names the
/// feature and the row, which `name` formats.
pub(crate) fn check_for_model(input: &Input, rows: Rows<'_>, name: impl Fn(usize) -> String) -> Result<()> {
    match input.model.check_rows(rows, "row") {
        Err(GameError::InfiniteInput { column, value, reason, .. }) => {
            let row = rows.iter().position(|row| row[column] == value).unwrap_or_default();
            bail!("{} has the value {value} in {:?}, but {reason}", name(row), input.features[column])
        }
        Err(GameError::MissingInput { column, .. }) => {
            let row = rows.iter().position(|row| row[column].is_nan()).unwrap_or_default();
            bail!(
                "{} has a missing value in {:?}, which the model does not support; impute the value or \
                 remove the row",
                name(row),
                input.features[column]
            )
        }
        _ => Ok(()),
    }
}

/// Returns an error for an infinite or missing value that the distribution of the game does not support. The
/// error names the feature and the row, which `name` formats.
pub(crate) fn check_for_game(
    input: &Input,
    game: args::Game,
    rows: Rows<'_>,
    name: impl Fn(usize) -> String,
) -> Result<()> {
    if !matches!(game, args::Game::Gaussian | args::Game::Copula | args::Game::Empirical) {
        return Ok(());
    }
    let Some(at) = rows.values().iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let (row, value) = (name(at / input.columns), rows.values()[at]);
    let (feature, game) = (&input.features[at % input.columns], game.name());
    if value.is_nan() {
        bail!(
            "{row} has a missing value in {feature:?}, which --game {game} does not support; impute the \
             value, remove the row, or use --game frequency, which treats missing values as a category"
        );
    }
    bail!(
        "--game {game} requires finite values, but {row} has the value {value} in {feature:?}; pass a finite \
         number, or use --game marginal, which accepts infinite values"
    )
}

/// Rows that are processed together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The index of each row in the file.
    pub(crate) rows: Vec<u64>,
    /// The ID of each row, if requested.
    pub(crate) ids: Option<Vec<String>>,
    /// The inputs of the rows, rows × features.
    pub(crate) values: Vec<f64>,
}

/// The selected rows, batch by batch.
pub(crate) struct Batches {
    columns: usize,
    /// The maximum number of rows in a batch.
    size: usize,
    /// Rows that have been read; the rows before `start` have been returned.
    table: Table,
    start: usize,
    /// The number of rows that precede the table in the file.
    before: usize,
    feed: Feed,
    /// The selected rows; `None` for all.
    selection: Option<Selection>,
    path: PathBuf,
    model: Arc<AnyModel>,
}

impl Input {
    /// Reads the model and the first rows. `numbers` returns the count of numbers that are computed per row,
    /// given the model and the number of features.
    pub(crate) fn read(
        args: &args::Input,
        numbers: impl FnOnce(&AnyModel, usize) -> usize,
    ) -> Result<(Self, Batches)> {
        let read = model::read(&args.model)?.map(Arc::new);
        let texts = Arc::default();
        let mut feed = Feed::new(&args.rows, read.as_ref(), &args.columns, &texts)?;
        let mut table = feed.begin()?;
        let columns = table.columns;
        let model = match read {
            Some(model) => model,
            // The features of a program are the columns of the rows.
            None => {
                let first = Rows::try_new(&table.values, columns)?;
                Arc::new(AnyModel::Program(Box::new(args.model.program.start(
                    table.names.clone(),
                    first,
                    texts,
                )?)))
            }
        };
        let size = (BATCH / numbers(&model, columns).saturating_add(columns).max(1)).max(1);
        // Reading one more row shows whether there is another batch.
        feed.fill(&mut table, size + 1)?;
        if table.is_empty() {
            messages::note(format_args!("{}: there are no rows", args.rows.display()));
        }
        let names = table.names.clone();
        let features = model.names(names.as_deref(), columns);
        let whole = (table.len() <= size).then(|| table.clone());
        let path = args.rows.clone();
        let selection = args.select.clone();
        if let (Some(selection), Some(table)) = (&selection, &whole) {
            selection.rows(table.len(), "--select", &path.display().to_string())?;
        }
        if let (Some(selection), None) = (&selection, &whole)
            && !selection.is_increasing()
        {
            // A selection that repeats or reorders rows needs all rows in memory.
            feed.fill(&mut table, usize::MAX)?;
        }
        let batches = Batches {
            columns,
            size,
            table,
            start: 0,
            before: 0,
            feed,
            selection,
            path: path.clone(),
            model: Arc::clone(&model),
        };
        let meaning = args.columns.clone();
        Ok((Self { model, columns, features, names, table: whole, path, meaning }, batches))
    }

    /// Returns all rows of the file, and reads them again if they are not in memory.
    pub(crate) fn whole(&self) -> Result<Cow<'_, Table>> {
        match &self.table {
            Some(table) => Ok(Cow::Borrowed(table)),
            None => Ok(Cow::Owned(rows::read(
                self.path_to_read_again()?,
                &self.model.row_options(&self.meaning)?,
            )?)),
        }
    }

    /// Passes all rows of the file to `receive` in pieces, with their weights, if any.
    pub(crate) fn each(&self, mut receive: impl FnMut(Rows<'_>, &[f64]) -> Result<()>) -> Result<()> {
        if let Some(table) = &self.table {
            let weights = table.weights.as_deref().unwrap_or_default();
            return receive(Rows::new(&table.values, self.columns), weights);
        }
        let path = self.path_to_read_again()?;
        rows::each_block(path, &self.model.row_options(&self.meaning)?, |block| {
            receive(Rows::new(&block.values, block.columns), &block.weights)
        })?;
        Ok(())
    }

    /// Returns the requirements for other files of rows. These files need neither the target nor the same
    /// order of columns.
    pub(crate) fn row_options_of_others(&self) -> Result<RowOptions<'_>> {
        let of_model = self.model.row_options(&self.meaning)?;
        let (names, named_by) = match of_model.names {
            Some(names) => (Some(names), of_model.named_by),
            None => (self.names.as_deref(), "the rows file"),
        };
        Ok(RowOptions { names, named_by, named_columns_required: false, ..of_model })
    }

    fn path_to_read_again(&self) -> Result<&PathBuf> {
        if rows::is_standard_input(&self.path) {
            bail!(
                "standard input cannot be read a second time for the background or the groups, and has too \
                 many rows to keep in memory; pass --background FILE, or read the rows from a file"
            );
        }
        Ok(&self.path)
    }
}

impl Batches {
    /// Returns the number of selected rows, or `None` if the file has not been read to its end or the first
    /// rows have been removed from memory.
    pub(crate) fn count(&self) -> Option<usize> {
        let all = self.table.len();
        match &self.selection {
            _ if !self.feed.is_at_end() || self.before > 0 => None,
            Some(selection) => Some(selection.len()),
            None => Some(all),
        }
    }

    /// Returns the number of rows in each batch except the last, if there are several. All batches are
    /// computed in the same way, so that the values of a row do not depend on its batch.
    pub(crate) fn rows_of_each(&self) -> Option<usize> {
        self.count().is_none_or(|count| count > self.size).then_some(self.size)
    }

    /// Returns the number of rows in the first batch, and one row as a sample.
    pub(crate) fn sample(&self) -> (usize, Rows<'_>) {
        let rows = Rows::new(&self.table.values, self.columns);
        (self.count().unwrap_or(self.size).min(self.size), rows.slice(0..rows.len().min(1)))
    }

    /// Returns the first rows of the file, at most `count` rows and at most one batch. Must be called before
    /// the first batch is taken.
    pub(crate) fn first(&self, count: usize) -> Rows<'_> {
        let rows = Rows::new(&self.table.values, self.columns);
        rows.slice(0..rows.len().min(count).min(self.size))
    }

    /// Returns the next batch. After the last one, checks the model with [`AnyModel::finish`] and returns
    /// `None`.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>> {
        let next = self.next_rows()?;
        if next.is_none() {
            self.model.finish()?;
        }
        Ok(next)
    }

    /// Returns a batch without rows, for a file without rows.
    pub(crate) fn empty(&self) -> Batch {
        self.batch(Vec::new())
    }

    fn next_rows(&mut self) -> Result<Option<Batch>> {
        if let Some(selection) = &self.selection
            && self.before == 0
            && self.feed.is_at_end()
        {
            return self.next_in_any_order(&selection.rows(self.table.len(), "--select", &self.name())?);
        }
        loop {
            let left = self.table.len() - self.start;
            if left < self.size && !self.feed.is_at_end() {
                self.forget();
                self.feed.fill(&mut self.table, self.size)?;
            }
            let end = self.table.len().min(self.start + self.size);
            if self.start == end {
                // Return an error for selected rows beyond the end of the file.
                if let Some(selection) = &self.selection {
                    selection.rows(self.before + self.table.len(), "--select", &self.name())?;
                }
                return Ok(None);
            }
            let all = self.before + self.start..self.before + end;
            let Some(selection) = &self.selection else { return Ok(Some(self.take(end))) };
            let rows = selection.within(all);
            self.start = end;
            if !rows.is_empty() {
                return Ok(Some(self.batch(rows)));
            }
        }
    }

    /// Returns the next rows in the order of the selection. All rows must be in memory.
    fn next_in_any_order(&mut self, rows: &[usize]) -> Result<Option<Batch>> {
        let rows = &rows[self.start.min(rows.len())..];
        let rows = rows[..rows.len().min(self.size)].to_vec();
        self.start += rows.len();
        Ok((!rows.is_empty()).then(|| self.batch(rows)))
    }

    /// Moves the first `count` rows out of the table.
    fn take(&mut self, count: usize) -> Batch {
        let table = &mut self.table;
        let ids = table.ids.as_mut().map(|ids| take_first(&mut ids.values, count));
        if let Some(weights) = &mut table.weights {
            weights.drain(..count);
        }
        let values = take_first(&mut table.values, count * self.columns);
        let first = self.before as u64;
        self.before += count;
        Batch { rows: (first..first + count as u64).collect(), ids, values }
    }

    fn batch(&self, rows: Vec<usize>) -> Batch {
        let places: Vec<usize> = rows.iter().map(|row| row - self.before).collect();
        let id = |Ids { values, .. }: &Ids| places.iter().map(|&place| values[place].clone()).collect();
        Batch {
            ids: self.table.ids.as_ref().map(id),
            values: self.table.gather(&places),
            rows: rows.into_iter().map(|row| row as u64).collect(),
        }
    }

    /// Drops the rows that have been returned.
    fn forget(&mut self) {
        let start = std::mem::take(&mut self.start);
        self.table.values.drain(..start * self.columns);
        if let Some(ids) = &mut self.table.ids {
            ids.values.drain(..start);
        }
        if let Some(weights) = &mut self.table.weights {
            weights.drain(..start);
        }
        self.before += start;
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// Moves the first `count` items out of `items`. Only the remaining items are copied.
fn take_first<T>(items: &mut Vec<T>, count: usize) -> Vec<T> {
    let rest = items.split_off(count);
    std::mem::replace(items, rest)
}
