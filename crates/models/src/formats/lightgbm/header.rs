//! The header of a model in text format.

use super::objective;
use super::section::Section;
use crate::ensemble::{EnsembleParts, Origin, Width};
use crate::error::ModelError;

/// Maximum number of outputs. The file stores only their number, so without a limit a small file could
/// exhaust the memory.
const MAX_OUTPUTS: usize = 1 << 20;

pub(super) struct Header<'a> {
    pub(super) parts: EnsembleParts,
    /// Number of outputs, which is the number of trees per iteration.
    pub(super) outputs: usize,
    /// Size of each tree's block in bytes.
    pub(super) tree_sizes: Vec<usize>,
    /// Whether the output is the mean over the iterations instead of their sum.
    pub(super) average: bool,
    /// Descriptions of the values of each feature.
    pub(super) feature_infos: Option<&'a str>,
}

/// Reads the header. If the name of a feature contains a line break, `lines_of_names` is the text of all
/// names, including the lines that continue them.
pub(super) fn read<'a>(
    header: &Section<'a>,
    booster: Option<&str>,
    lines_of_names: Option<&str>,
) -> Result<Header<'a>, ModelError> {
    let version = header.get("version")?.value.trim_ascii();
    if !matches!(version, "v3" | "v4") {
        return Err(ModelError::Version {
            format: "LightGBM",
            actual: version.to_owned(),
            known: "v3 (LightGBM 2.3 to 3.x) and v4 (4.x)",
        });
    }
    let (classes_field, outputs_field) = (header.get("num_class")?, header.get("num_tree_per_iteration")?);
    let (classes, outputs) = (classes_field.count()?, outputs_field.count()?);
    if classes == 0 || classes > MAX_OUTPUTS {
        return Err(classes_field.error(format!("expected 1 to {MAX_OUTPUTS} classes, got {classes}")));
    }
    if outputs != classes {
        return Err(outputs_field.error(format!("expected {classes} (the number of classes), got {outputs}")));
    }
    let last_field = header.get("max_feature_idx")?;
    let features = last_field.count()? + 1;
    let names_field = header.get("feature_names")?;
    let names = lines_of_names
        .and_then(|value| names(value, features).ok())
        .map_or_else(|| names(names_field.value, features), Ok)
        .map_err(|given| {
            names_field.error(format!("expected {features} names (one per feature), got {given}"))
        })?;
    let sizes_field = header.get("tree_sizes")?;
    let tree_sizes: Vec<usize> = sizes_field.all()?;
    if !tree_sizes.len().is_multiple_of(outputs) {
        return Err(sizes_field.error(format!(
            "expected a multiple of {outputs} trees (one per output and iteration), got {}",
            tree_sizes.len()
        )));
    }
    // Models with a custom objective do not have this line.
    let objective = header.find("objective").filter(|field| !field.value.trim_ascii().is_empty());
    let average = header.find("average_output").is_some();
    let link = objective
        .map(|field| objective::link(field.value, classes).map_err(|problem| field.error(problem)))
        .transpose()?
        .flatten();
    let parts = EnsembleParts {
        width: Width::Double,
        features,
        feature_names: Some(names),
        base_margins: vec![0.0; outputs],
        link,
        origin: Origin {
            format: "LightGBM text".to_owned(),
            version: version.to_owned(),
            booster: booster.unwrap_or(if average { "rf" } else { "gbdt" }).to_owned(),
            objective: objective.map_or("custom", |field| field.value.trim_ascii()).to_owned(),
        },
    };
    let feature_infos = header.find("feature_infos").map(|field| field.value);
    Ok(Header { parts, outputs, tree_sizes, average, feature_infos })
}

/// Returns the names of the features, or the number of names found if it differs from the number of features.
/// LightGBM replaces spaces within names, and separates names with spaces. In models that were not loaded
/// from a file, a name may contain other white space or be empty.
fn names(value: &str, features: usize) -> Result<Vec<String>, usize> {
    let exact = || value.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let filled = || exact().into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>();
    let apart = || value.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let ways: [&dyn Fn() -> Vec<String>; 3] = [&exact, &filled, &apart];
    ways.iter().map(|way| way()).find(|names| names.len() == features).ok_or_else(|| apart().len())
}
