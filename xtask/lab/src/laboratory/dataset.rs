//! A dataset of the user: rows, a tree model and a background, with validation.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use apportion::{Background, Ensemble, Rows};
use apportion_rows::{RowOptions, Source, Table};

use super::cli::{BackgroundChoice, DatasetFiles, Laboratory, Reading};
use super::record::DatasetRecord;
use crate::reproduce::store::{derive_seed, sha256};

/// Rows, the explained model, and a background for absent players.
pub(crate) struct OwnDataset {
    pub(crate) name: String,
    pub(crate) table: Table,
    pub(crate) model: Ensemble,
    /// Index of the explained output.
    pub(crate) output: usize,
    pub(crate) background: Background,
    pub(crate) record: DatasetRecord,
}

impl OwnDataset {
    /// Reads the file of rows and the model file of a dataset.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, the rows do not match the model, or there is nothing to explain.
    pub(crate) fn read(files: &DatasetFiles, arguments: &Laboratory) -> Result<Self> {
        Self::read_named(files, arguments).with_context(|| format!("the dataset {:?}", files.name))
    }

    fn read_named(files: &DatasetFiles, arguments: &Laboratory) -> Result<Self> {
        let model_bytes = bytes(&files.model)?;
        let model = Ensemble::from_bytes(&model_bytes)
            .with_context(|| format!("cannot read the model {}", files.model.display()))?;
        ensure!(
            model.feature_count() > 0,
            "the model {} has no features, so there is nothing to explain",
            files.model.display()
        );
        let output = output(&model, arguments.output)
            .with_context(|| format!("the model {}", files.model.display()))?;
        let rows_bytes = bytes(&files.rows)?;
        let table = read_rows(
            &files.rows,
            &rows_bytes,
            &model,
            // With several datasets, a column may exist in only some of them.
            (&arguments.reading, arguments.datasets.len() == 1 && !arguments.some_are_missing),
        )?;
        refuse_missing(&table, &model)?;
        let background = background(&files.name, arguments, &table, &model)?;
        let mut notes = table.notes.clone();
        notes.extend(note_on_constants(&table));
        let players = table.columns;
        let record = DatasetRecord {
            name: files.name.clone(),
            rows_file: files.rows.display().to_string(),
            rows_sha256: sha256(&rows_bytes),
            numbers_sha256: sha256(&numbers(Rows::new(&table.values, table.columns))),
            model_file: files.model.display().to_string(),
            model_sha256: sha256(&model_bytes),
            output,
            background_rows: background.len(),
            background_sha256: sha256(&numbers(background.as_rows())),
            players,
            rows: table.len(),
            notes,
        };
        Ok(Self { name: files.name.clone(), table, model, output, background, record })
    }

    pub(crate) fn players(&self) -> usize {
        self.table.columns
    }
}

/// Returns the index of the explained output: the only one, or the requested one.
fn output(model: &Ensemble, asked: Option<usize>) -> Result<usize> {
    let outputs = model.output_count();
    match asked {
        _ if outputs == 1 => Ok(0),
        Some(output) if output < outputs => Ok(output),
        Some(output) => bail!(
            "invalid value {output} for --output: the model has {outputs} outputs (0 to {})",
            outputs - 1
        ),
        None => {
            bail!("the model has {outputs} outputs; select one with --output K (0 to {})", outputs - 1)
        }
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads the rows with the columns in the order of the model; the flag states whether columns named in the
/// options must exist.
fn read_rows(
    path: &Path,
    bytes: &[u8],
    model: &Ensemble,
    (reading, must_be_there): (&Reading, bool),
) -> Result<Table> {
    let wanted = RowOptions {
        names: model.feature_names(),
        named_by: "the model",
        names_are_rewritten: model.origin().format.starts_with("LightGBM"),
        count: Some(model.feature_count()),
        categories: (0..model.feature_count()).map(|feature| model.categories(feature)).collect(),
        target: reading.target.as_deref(),
        ignored: reading.ignore.iter().map(String::as_str).collect(),
        named_columns_required: must_be_there,
        missing: &reading.missing,
        separator: reading.separator,
        decimal_comma: reading.decimal_comma,
        ..RowOptions::default()
    };
    Ok(Source::stream(&path.display().to_string(), bytes).read(&wanted)?)
}

/// Returns the name of a column for messages.
fn column(table: &Table, feature: usize) -> String {
    match table.names.as_ref().and_then(|names| names.get(feature)) {
        Some(name) => format!("{name:?}"),
        None => format!("{feature}"),
    }
}

/// Returns an error for missing values that the model does not support: trees have a default direction,
/// linear models do not.
fn refuse_missing(table: &Table, model: &Ensemble) -> Result<()> {
    for row in 0..table.len() {
        for (feature, value) in table.row(row).iter().enumerate() {
            ensure!(
                !(value.is_nan() && model.refuses_missing(feature)),
                "row {row} (counted from 0) has no value in column {}, but the model does not support \
                 missing values in this column; remove the row, or fill in the value",
                column(table, feature)
            );
        }
    }
    Ok(())
}

fn background(name: &str, arguments: &Laboratory, table: &Table, model: &Ensemble) -> Result<Background> {
    match &arguments.background {
        BackgroundChoice::File(path) => {
            let read = read_rows(path, &bytes(path)?, model, (&arguments.reading, false))?;
            refuse_missing(&read, model).with_context(|| format!("the background {}", path.display()))?;
            Ok(Background::rows(read.values, read.columns)?)
        }
        _ if table.len() == 1 => {
            bail!(
                "the dataset has a single row, which would be its own background, so every value would be 0; \
                 pass at least 2 rows, or a background file (--background FILE)"
            )
        }
        BackgroundChoice::Count(count) => {
            let rows = Rows::new(&table.values, table.columns);
            // The seed of the background depends only on the name of the dataset, so that every run on this
            // dataset uses the same background.
            Ok(Background::sample(rows, *count, derive_seed(&("background", name))?)?)
        }
        BackgroundChoice::Mean => {
            if let Some(&feature) = model.categorical_features().first() {
                bail!(
                    "column {} is categorical and has no mean; use rows as the background (--background 50)",
                    column(table, feature)
                );
            }
            let means: Result<Vec<f64>> = (0..table.columns).map(|feature| mean(table, feature)).collect();
            Ok(Background::baseline(means?)?)
        }
    }
}

/// Returns the mean of the present values of a column.
fn mean(table: &Table, feature: usize) -> Result<f64> {
    let present: Vec<f64> =
        (0..table.len()).map(|row| table.row(row)[feature]).filter(|value| !value.is_nan()).collect();
    ensure!(
        !present.is_empty(),
        "all values of column {} are missing, so it has no mean; use rows as the background (--background \
         50)",
        column(table, feature)
    );
    Ok(present.iter().sum::<f64>() / present.len() as f64)
}

/// Returns a note on constant columns. If the background is from the dataset, their players are null players,
/// for which estimators that detect null players are exact.
fn note_on_constants(table: &Table) -> Option<String> {
    // Compare bits, so that an all-missing column counts as constant.
    let is_constant = |feature: &usize| {
        (1..table.len()).all(|row| table.row(row)[*feature].to_bits() == table.row(0)[*feature].to_bits())
    };
    let constant: Vec<String> =
        (0..table.columns).filter(is_constant).map(|feature| column(table, feature)).collect();
    (table.len() > 1 && !constant.is_empty()).then(|| {
        format!("constant columns, whose values are 0 unless the background differs: {}", constant.join(", "))
    })
}

/// Returns the numbers of the rows as bytes, from which a digest is computed.
fn numbers(rows: Rows<'_>) -> Vec<u8> {
    rows.values().iter().flat_map(|value| value.to_le_bytes()).collect()
}
