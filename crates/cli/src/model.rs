//! The model behind a command.

use anyhow::{Context, Result, ensure};
use apportion::trees::Category;
use apportion::{Ensemble, ReadOptions};
use apportion_rows::lightgbm_name;

use crate::args::ModelFile;
use crate::rounds;
use crate::rows::{Columns, Table, Wanted};

/// Reads a model file, or the rounds of boosting of it that were asked for.
pub(crate) fn read(ModelFile { path, trees, most_features }: &ModelFile) -> Result<Ensemble> {
    let says = || format!("cannot read the model {}", path.display());
    let bytes = std::fs::read(path).with_context(says)?;
    let options = ReadOptions::default().rounds(trees.clone().unwrap_or_default());
    let options = most_features.iter().fold(options, |options, &count| options.most_features(count));
    let model = Ensemble::from_bytes_with(&bytes, &options).with_context(says)?;
    for note in model.notes() {
        eprintln!("note: {}: {note}", path.display());
    }
    if let (None, Some(rounds)) = (trees, rounds::in_words(&model)) {
        eprintln!("note: {}: rounds {rounds}; --trees all uses all", path.display());
    }
    Ok(model)
}

/// What a file of rows must hold for `model`.
pub(crate) fn wanted<'a>(model: &'a Ensemble, columns: &'a Columns) -> Result<Wanted<'a>> {
    ensure!(model.feature_count() > 0, "the model has no features; there is nothing to read rows for");
    Ok(columns.wanted(model))
}

/// The categories of a feature by their codes, as far as the model names them.
pub(crate) fn categories(model: &Ensemble, feature: usize) -> Vec<String> {
    let name = |category: &Category| match category {
        Category::Text(text) => text.clone(),
        Category::Number(number) => number.to_string(),
    };
    let Some(words) = model.words(feature) else { return Vec::new() };
    let code = |category: &Category| match category {
        Category::Text(text) => words.code_of_text(text),
        Category::Number(number) => words.code_of_number(*number),
    };
    // Where words are hashed, a code tells no word.
    let are_in_order = words.list().iter().enumerate().all(|(place, word)| code(word) == Some(place as f64));
    if are_in_order { words.list().iter().map(name).collect() } else { Vec::new() }
}

/// The names of the features: the model's, else those of the rows, else f0, f1, … A name that the model's library has rewritten is as
/// the rows have it.
pub(crate) fn feature_names(model: &Ensemble, table: &Table) -> Vec<String> {
    match (model.feature_names(), &table.names) {
        (Some(names), Some(own)) if names.len() == own.len() => {
            let either = |(name, own): (&String, &String)| match lightgbm_name(own) == *name {
                true => own.clone(),
                false => name.clone(),
            };
            names.iter().zip(own).map(either).collect()
        }
        (Some(names), _) => names.to_vec(),
        (None, Some(names)) => names.clone(),
        (None, None) => (0..table.columns).map(|feature| format!("f{feature}")).collect(),
    }
}
