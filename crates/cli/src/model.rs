//! The model behind a command.

use anyhow::{Context, Result, ensure};
use apportion::{Ensemble, ReadOptions};

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

/// The names of the features: the model's, else those of the rows, else f0, f1, …
pub(crate) fn feature_names(model: &Ensemble, table: &Table) -> Vec<String> {
    match (model.feature_names(), &table.names) {
        (Some(names), _) => names.to_vec(),
        (None, Some(names)) => names.clone(),
        (None, None) => (0..table.columns).map(|feature| format!("f{feature}")).collect(),
    }
}
