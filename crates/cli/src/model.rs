//! The model behind a command.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use apportion::Ensemble;

use crate::rows::{Table, Wanted};

/// Reads a model file.
pub(crate) fn read(path: &Path) -> Result<Ensemble> {
    let says = || format!("cannot read the model {}", path.display());
    let bytes = std::fs::read(path).with_context(says)?;
    Ensemble::from_bytes(&bytes).with_context(says)
}

/// What a file of rows must hold for `model`.
pub(crate) fn wanted<'a>(model: &'a Ensemble, target: Option<&'a str>) -> Result<Wanted<'a>> {
    let count = model.feature_count();
    ensure!(count > 0, "the model has no features; there is nothing to read rows for");
    Ok(Wanted {
        names: model.feature_names(),
        named_by: "the model",
        count: Some(count),
        target,
        target_required: true,
    })
}

/// The names of the features: the model's, else those of the rows, else f0, f1, …
pub(crate) fn feature_names(model: &Ensemble, table: &Table) -> Vec<String> {
    match (model.feature_names(), &table.names) {
        (Some(names), _) => names.to_vec(),
        (None, Some(names)) => names.clone(),
        (None, None) => (0..table.columns).map(|feature| format!("f{feature}")).collect(),
    }
}
