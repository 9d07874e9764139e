//! The background: the rows that replace absent features.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use apportion::trees::CompiledBackground;
use apportion::{Background, Ensemble, Rows};
use apportion_files::digest;
use apportion_rows::Texts;
use serde_json::{Value, json};

use super::digest::digest_of_file;
use super::input::Input;
use super::rows::{self, Table};
use crate::failure::Usage;
use crate::messages;
use crate::parse::args::{Explain, Game};

/// Rows in row-major order, with their weights, if any.
pub(crate) struct Data {
    pub(crate) values: Vec<f64>,
    pub(crate) weights: Option<Vec<f64>>,
}

/// The description of the background in results.
pub(crate) struct BackgroundDescription {
    /// The number of rows, unless only a compiled file is available.
    rows: Option<usize>,
    digest: String,
}

impl BackgroundDescription {
    /// Describes rows as they are used: in the order of the features, with categories as codes. Weights, if
    /// any, are part of the digest, after the rows.
    pub(crate) fn of_rows(rows: Rows<'_>, weights: Option<&[f64]>) -> Self {
        let digest = match weights {
            None => digest::digest_numbers(rows.values()),
            Some(weights) => digest::digest_numbers(rows.values().iter().chain(weights)),
        };
        Self { rows: Some(rows.len()), digest }
    }

    /// Describes rows whose numbers are codes for strings. The digest depends on the strings, not on their
    /// codes.
    pub(crate) fn of_texts(rows: Rows<'_>, weights: Option<&[f64]>, texts: &Texts) -> Self {
        let mut told = Vec::with_capacity(rows.values().len());
        for row in rows.iter() {
            for (feature, &value) in row.iter().enumerate() {
                let mut number = value;
                texts.with_text(feature, value, &mut |text| number = digest::number_of_text(text));
                told.push(number);
            }
        }
        Self::of_rows(Rows::new(&told, rows.columns()), weights)
    }

    /// Describes a file that is used instead of rows, such as a compiled background.
    pub(crate) fn of_file(path: &Path) -> Result<Self> {
        Ok(Self { rows: None, digest: digest_of_file(path)? })
    }

    /// Returns the facts about the background for the results, by name.
    pub(crate) fn about(&self) -> Vec<(&'static str, Value)> {
        let rows = self.rows.map(|rows| ("background_rows", json!(rows)));
        rows.into_iter().chain([("background_digest", json!(self.digest))]).collect()
    }
}

/// The maximum number of rows drawn from the rows file, if no background is specified.
const SAMPLE: usize = 100;

/// Returns the background that the options specify for the marginal game.
///
/// | `--background` | `--background-select` | background | data of conditional games, and for groups |
/// |---|---|---|---|
/// | – | – | at most [`SAMPLE`] rows of the rows file | the whole rows file |
/// | `mean` | – | one row, the column means of the rows file | the rows file for groups; else an error |
/// | a file | – | all its rows | the same |
/// | a file | given | the selected rows of the file | the same |
/// | – | given | the selected rows of the rows file | the same |
/// | `mean` | given | an error, because it is ambiguous | an error |
pub(crate) fn background(args: &Explain, input: &Input) -> Result<Background> {
    if asks_for_the_mean(args) && args.background_select.is_none() {
        if args.input.columns.weights.is_some() {
            let says = "--weights cannot be combined with --background mean, which is a single row";
            return Err(Usage(says.to_owned()).into());
        }
        return Ok(Background::baseline(checked_means(input)?)?);
    }
    match rows_asked_for(args, input)? {
        Some(data) => weighted(data, input.columns),
        None => sample(args, input),
    }
}

fn weighted(data: Data, columns: usize) -> Result<Background> {
    let background = Background::rows(data.values, columns)?;
    Ok(match data.weights {
        None => background,
        Some(weights) => background.with_weights(&weights)?,
    })
}

/// Returns a sample of the rows file as the background.
fn sample(args: &Explain, input: &Input) -> Result<Background> {
    let count = row_count(input)?;
    if count == 1 {
        let says = "the rows file has a single row, which cannot be its own background (every value \
            would be 0); pass --background FILE";
        return Err(Usage(says.to_owned()).into());
    }
    let chosen = Background::sampled_rows(count, SAMPLE, args.seed);
    let mut left = &chosen[..];
    let (mut before, mut values) = (0, Vec::with_capacity(chosen.len() * input.columns));
    let mut weights = Vec::new();
    input.each(|rows, of_rows| {
        while let Some((&row, others)) = left.split_first().filter(|(row, _)| **row < before + rows.len()) {
            values.extend_from_slice(rows.row(row - before));
            weights.extend(of_rows.get(row - before));
            left = others;
        }
        before += rows.len();
        Ok(())
    })?;
    let weights = Some(weights).filter(|weights| !weights.is_empty());
    let weights = checked_weights(weights, args, &args.input.rows)?;
    weighted(Data { values, weights }, input.columns)
}

/// Returns the weights, or an error if `--weights` was specified and the file has no such column.
fn checked_weights(weights: Option<Vec<f64>>, args: &Explain, path: &Path) -> Result<Option<Vec<f64>>> {
    match &args.input.columns.weights {
        Some(column) if weights.is_none() => {
            let says = format!(
                "unknown column {column:?} in --weights; expected a column of the background {}",
                path.display()
            );
            Err(Usage(says).into())
        }
        _ => Ok(weights),
    }
}

/// Returns the number of rows in the rows file.
fn row_count(input: &Input) -> Result<usize> {
    let mut count = 0;
    input.each(|rows, _| {
        count += rows.len();
        Ok(())
    })?;
    Ok(count)
}

/// Returns a description of the background, if the options do not determine it.
pub(crate) fn in_words(args: &Explain, game: Game, input: &Input) -> Option<String> {
    let names_rows = args.background.is_some() || args.background_select.is_some();
    match game {
        Game::Marginal if !names_rows && args.background_compiled.is_none() => {
            Some(sample_in_words(args, row_count(input).ok()?))
        }
        Game::PathDependent if names_rows => Some("rows counted at the nodes of the trees".to_owned()),
        _ => None,
    }
}

fn sample_in_words(args: &Explain, count: usize) -> String {
    match count {
        1 => "the only row of the rows file".to_owned(),
        all @ ..=SAMPLE => format!("all {all} rows of the rows file"),
        all => format!("{SAMPLE} of the {all} rows of the rows file, drawn with seed {}", args.seed),
    }
}

/// Returns the model with the cover of the specified background rows, for the path-dependent game, and a
/// description of these rows. Returns `None` if the options do not specify any rows.
pub(crate) fn counted(args: &Explain, input: &Input) -> Result<Option<(Ensemble, BackgroundDescription)>> {
    let Some(Data { values, weights }) = rows_asked_for(args, input)? else {
        if args.input.columns.weights.is_some() {
            let says = "--weights with --game path-dependent requires a background; pass --background FILE";
            return Err(Usage(says.to_owned()).into());
        }
        return Ok(None);
    };
    let (rows, weights) = (Rows::new(&values, input.columns), weights.as_deref());
    let model = input.model.ensemble("--game path-dependent")?.clone();
    let counted = match weights {
        None => model.with_covers_of(rows),
        Some(weights) => model.with_covers_of_weighted(rows, weights),
    };
    Ok(Some((counted.context("cannot use the background")?, BackgroundDescription::of_rows(rows, weights))))
}

/// Reads a background that was compiled for `model`.
pub(crate) fn compiled(path: &Path, model: &Ensemble) -> Result<CompiledBackground> {
    let says = || format!("cannot read the compiled background from {}", path.display());
    let bytes = std::fs::read(path).with_context(says)?;
    CompiledBackground::read(&bytes, model).with_context(says)
}

/// Returns the data for fitting the distribution of a conditional game.
pub(crate) fn data(args: &Explain, game: Game, input: &Input) -> Result<Data> {
    if asks_for_the_mean(args) {
        let says = "--background mean cannot be combined with --game {}, whose distribution is fitted to \
            rows; remove --background to use the rows file";
        return Err(Usage(says.replace("{}", game.name())).into());
    }
    match rows_asked_for(args, input)? {
        Some(data) => Ok(data),
        None => {
            let table = input.whole()?.into_owned();
            let weights = checked_weights(table.weights, args, &args.input.rows)?;
            Ok(Data { values: table.values, weights })
        }
    }
}

/// Returns the data for finding groups, in which all rows have the same weight.
pub(crate) fn data_for_groups(args: &Explain, input: &Input) -> Result<Vec<f64>> {
    refuse_texts("--groups auto", "explicit groups, e.g. --groups 'a,b;c'", input)?;
    match rows_asked_for(args, input)? {
        Some(data) => Ok(data.values),
        None => Ok(input.whole()?.into_owned().values),
    }
}

fn asks_for_the_mean(args: &Explain) -> bool {
    args.background.as_deref() == Some(Path::new("mean"))
}

/// Returns the rows that `--background` and `--background-select` specify, if any.
fn rows_asked_for(args: &Explain, input: &Input) -> Result<Option<Data>> {
    let file = args.background.as_deref().filter(|&given| given != Path::new("mean"));
    if asks_for_the_mean(args) && args.background_select.is_some() {
        let says = "--background mean cannot be combined with --background-select; remove --background to \
            use the selected rows";
        return Err(Usage(says.to_owned()).into());
    }
    let read = file.map(|path| read(path, input)).transpose()?;
    let (source, path) = match (read, file) {
        (Some(table), Some(path)) => (Cow::Owned(table), path),
        _ if args.background_select.is_some() => (input.whole()?, args.input.rows.as_path()),
        _ => return Ok(None),
    };
    let mut data = match &args.background_select {
        None => {
            let table = source.into_owned();
            Data { values: table.values, weights: table.weights }
        }
        Some(selection) => {
            let rows = selection.rows(source.len(), "--background-select", &path.display().to_string())?;
            let weights =
                source.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
            Data { values: source.gather(&rows), weights }
        }
    };
    data.weights = checked_weights(data.weights, args, path)?;
    Ok(Some(data))
}

/// Reads a file of background rows.
fn read(path: &Path, input: &Input) -> Result<Table> {
    let table = rows::read(path, &input.row_options_of_others()?).context("cannot use the background")?;
    for note in &table.notes {
        messages::note(format_args!("{}: {note}", path.display()));
    }
    Ok(table)
}

/// Returns the column means. Categorical columns are an error, because categories have no mean. A note is
/// printed for a mean that no row can have.
fn checked_means(input: &Input) -> Result<Vec<f64>> {
    let listed = |features: &[usize]| {
        let names = features.iter().map(|&feature| format!("{:?}", input.features[feature]));
        names.collect::<Vec<_>>().join(", ")
    };
    let categories = input.model.categorical_features();
    if !categories.is_empty() {
        let says = "--background mean does not support categorical features ({}); pass rows with \
                    --background FILE, or remove --background";
        return Err(Usage(says.replace("{}", &listed(&categories))).into());
    }
    let table = &*input.whole()?;
    if table.is_empty() {
        bail!("--background mean requires at least one row; pass rows with --background FILE");
    }
    if let Some(at) = table.values.iter().position(|value| value.is_infinite()) {
        let (row, column) = (at / table.columns, at % table.columns);
        bail!(
            "--background mean requires finite values, but row {row} has the value {} in {:?}; pass rows \
             with --background FILE, or remove --background",
            table.values[at],
            input.features[column]
        );
    }
    let means = means(table);
    let odd: Vec<usize> = (0..table.columns).filter(|&column| is_odd(table, column, means[column])).collect();
    if !odd.is_empty() {
        messages::note(format_args!(
            "--background mean: the mean of {} is not a possible value, because the rows contain only \
             integers or two values; pass background rows with --background FILE instead",
            listed(&odd)
        ));
    }
    Ok(means)
}

/// Returns whether no row can have `mean` in this column: the column has only two values, or only integers
/// and the mean is fractional.
fn is_odd(table: &Table, column: usize, mean: f64) -> bool {
    let cells =
        table.values.iter().skip(column).step_by(table.columns).copied().filter(|cell| !cell.is_nan());
    let mut distinct = BTreeSet::new();
    let mut all_whole = true;
    for cell in cells {
        all_whole &= cell.fract() == 0.0;
        if distinct.len() <= 2 {
            distinct.insert((cell + 0.0).to_bits());
        }
    }
    let is_two_valued = distinct.len() == 2;
    is_two_valued || all_whole && mean.fract() != 0.0
}

/// Returns the mean of each column without its missing cells; NaN if all cells are missing.
fn means(table: &Table) -> Vec<f64> {
    (0..table.columns)
        .map(|column| {
            let cells = table.values.iter().skip(column).step_by(table.columns).copied();
            let present: Vec<f64> = cells.filter(|cell| !cell.is_nan()).collect();
            pairwise_sum(&present) / present.len() as f64
        })
        .collect()
}

/// Returns the sum by pairwise summation, whose rounding error grows with the logarithm of the length.
fn pairwise_sum(numbers: &[f64]) -> f64 {
    match numbers.len() {
        0..=32 => numbers.iter().sum(),
        length => {
            let (left, right) = numbers.split_at(length / 2);
            pairwise_sum(left) + pairwise_sum(right)
        }
    }
}

/// Returns an error if the rows contain strings, because `what` requires numbers. Only programs accept
/// strings. `instead` is the alternative that the message suggests.
pub(crate) fn refuse_texts(what: &str, instead: &str, input: &Input) -> Result<()> {
    let texts = if input.model.texts().is_some() { input.model.categorical_features() } else { Vec::new() };
    match texts.first() {
        None => Ok(()),
        Some(&feature) => Err(anyhow!(
            "{what} requires numbers, but {:?} contains strings; use {instead}",
            input.features[feature]
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_leave_missing_cells_out() {
        let values = vec![1.0, f64::NAN, f64::NAN, 4.0, f64::NAN, 2.0, 1.0, f64::NAN, 3.0];
        let table = Table { columns: 3, values, ..Table::default() };
        let means = means(&table);
        assert_eq!([means[0], means[2]], [2.0, 2.5]);
        assert!(means[1].is_nan());
    }

    #[test]
    fn sums_of_whole_numbers_are_exact() {
        let numbers: Vec<f64> = (0..1000).map(|index| 1e8 + f64::from(index)).collect();
        assert_eq!(pairwise_sum(&numbers), 1e11 + 499_500.0);
    }
}
