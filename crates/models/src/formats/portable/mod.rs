//! Apportion's own JSON format, for models of libraries whose files are not supported. `docs/tree-json.md`
//! describes it in full, and `scikit_learn_to_json` of the Python package writes it.
//!
//! A file contains the data of an [`Ensemble`], with thresholds for the comparison operator of the library
//! (`<` or `<=`). Each tree consists of lists with one element per node, so that a few lines of code can
//! write a file from the arrays of a library. Unknown members are an error, because a misspelt member would
//! silently change the model.

mod categories;
mod rules;

use crate::ensemble::{Ensemble, EnsembleParts, Link, Origin, TreeParts, Width, at_most, at_most_infinity};
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

/// Value of the member `format`.
const FORMAT: &str = "apportion-trees";
/// Version of the format.
const VERSION: usize = 1;

/// Maximum number of features. Rows are as wide as the file declares, so without a limit a small file could
/// exhaust the memory.
const MAX_FEATURES: usize = (1 << 30) - 1;

const MEMBERS: [&str; 14] = [
    "format",
    "version",
    "source",
    "width",
    "features",
    "feature_names",
    "categories",
    "refuses_missing",
    "base_margins",
    "output_names",
    "class_names",
    "link",
    "operator",
    "trees",
];

const TREE_MEMBERS: [&str; 12] = [
    "output",
    "scale",
    "operator",
    "left",
    "right",
    "feature",
    "threshold",
    "value",
    "default_left",
    "cover",
    "rules",
    "linear",
];

/// Returns whether a document declares this format.
pub(crate) fn is_portable(root: &Field<'_>) -> bool {
    let format = root.find("format").ok().flatten();
    format.is_some_and(|format| format.text().is_ok_and(|format| format == FORMAT))
}

pub(crate) fn from_json(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    let root = Field::root(document);
    let version = root.get("version")?.count()?;
    if version != VERSION {
        return Err(ModelError::Version {
            format: "apportion-trees",
            actual: version.to_string(),
            known: "1",
        });
    }
    root.check_members(&MEMBERS)?;
    let width = root.get("width")?;
    let features_field = root.get("features")?;
    let features = features_field.count()?;
    if !(1..=MAX_FEATURES).contains(&features) {
        return Err(features_field.error(format!("expected 1 to {MAX_FEATURES} features, got {features}")));
    }
    let parts = EnsembleParts {
        width: match width.text()? {
            "single" => Width::Single,
            "double" => Width::Double,
            other => return Err(width.error(format!("expected \"single\" or \"double\", got {other:?}"))),
        },
        features,
        feature_names: feature_names(&root, features)?,
        base_margins: base_margins(&root)?,
        link: root.find("link")?.map(|field| link(&field)).transpose()?,
        origin: origin(&root)?,
    };
    let words = categories::read(&root, features)?;
    let operator = Operator::read(&root)?;
    let trees = root.get("trees")?.elements()?;
    let counts = trees.iter().map(|tree| tree.get("left")?.number_count());
    let mut ensemble = Ensemble::new(parts, counts.sum::<Result<usize, ModelError>>()?);
    ensemble.set_categories(words);
    ensemble.set_output_names(names_of(&root, "output_names", ensemble.output_count(), "outputs")?);
    if let Some(field) = root.find("class_names")? {
        if ensemble.output_count() != 1 {
            return Err(field.error("only valid for the two classes of a single margin; use output_names"));
        }
        ensemble.set_output_names(names_of(&root, "class_names", 2, "the classes of a single margin")?);
    }
    ensemble.refuse_missing(refuses_missing(&root, features)?);
    for (index, tree) in trees.iter().enumerate() {
        push_tree(&mut ensemble, tree, index, operator).map_err(|error| match error {
            // A tree whose leaves are vectors becomes several trees here, so use its index in the file.
            ModelError::Tree { problem, .. } => ModelError::Tree { tree: index, problem },
            other => other,
        })?;
        ensemble.end_round();
    }
    Ok(ensemble)
}

/// The comparison operator of splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Less,
    AtMost,
}

impl Operator {
    fn read(object: &Field<'_>) -> Result<Option<Self>, ModelError> {
        let Some(field) = object.find("operator")? else { return Ok(None) };
        match field.text()? {
            "<" => Ok(Some(Self::Less)),
            "<=" => Ok(Some(Self::AtMost)),
            other => Err(field.error(format!("expected \"<\" or \"<=\", got {other:?}"))),
        }
    }

    /// Returns the threshold t' for which `x̂ < t'` is equivalent to this comparison with t.
    fn threshold(self, threshold: f64) -> f64 {
        match self {
            Self::Less => threshold,
            Self::AtMost => at_most(threshold),
        }
    }
}

fn feature_names(root: &Field<'_>, features: usize) -> Result<Option<Vec<String>>, ModelError> {
    let Some(field) = root.find("feature_names")? else { return Ok(None) };
    let names: Vec<String> =
        field.elements()?.iter().map(|name| name.text().map(str::to_owned)).collect::<Result<_, _>>()?;
    match names.len() == features {
        true => Ok(Some(names)),
        false => {
            Err(field.error(format!("expected {features} names (one per feature), got {}", names.len())))
        }
    }
}

/// Returns the strings of the member `name`, which must have `count` elements if it is present.
fn names_of(root: &Field<'_>, name: &str, count: usize, what: &str) -> Result<Vec<String>, ModelError> {
    let Some(field) = root.find(name)? else { return Ok(Vec::new()) };
    let names: Vec<String> =
        field.elements()?.iter().map(|name| name.text().map(str::to_owned)).collect::<Result<_, _>>()?;
    match names.len() == count {
        true => Ok(names),
        false => Err(field.error(format!("expected {count} names ({what}), got {}", names.len()))),
    }
}

/// Returns for each feature whether rows are rejected if the feature is missing. The list is empty if the
/// file does not contain the member.
fn refuses_missing(root: &Field<'_>, features: usize) -> Result<Vec<bool>, ModelError> {
    let Some(field) = root.find("refuses_missing")? else { return Ok(Vec::new()) };
    let mut flags = vec![false; features];
    for &feature in &*field.integers()? {
        let flag = usize::try_from(feature).ok().and_then(|feature| flags.get_mut(feature));
        *flag.ok_or_else(|| {
            field.error(format!("feature {feature} is out of range (features: {features})"))
        })? = true;
    }
    Ok(flags)
}

fn base_margins(root: &Field<'_>) -> Result<Vec<f64>, ModelError> {
    let field = root.get("base_margins")?;
    let margins = field.numbers()?.into_owned();
    if margins.is_empty() {
        return Err(field.error("expected one number per output, got an empty list"));
    }
    match margins.iter().find(|margin| !margin.is_finite()) {
        Some(margin) => Err(field.error(format!("expected finite numbers, got {margin}"))),
        None => Ok(margins),
    }
}

fn link(field: &Field<'_>) -> Result<Link, ModelError> {
    field.check_members(&["name", "steepness", "unit"])?;
    let name = field.get("name")?;
    let positive = |member: &str, default: Option<f64>| {
        let number = match (field.find(member)?, default) {
            (None, Some(default)) => default,
            _ => field.get(member)?.number()?,
        };
        match number > 0.0 && number.is_finite() {
            true => Ok(number),
            false => Err(field.error(format!("expected a positive {member}, got {number}"))),
        }
    };
    Ok(match name.text()? {
        "identity" => Link::Identity,
        "logistic" => Link::Logistic { steepness: positive("steepness", Some(1.0))? },
        "softmax" => Link::Softmax,
        "exponential" => Link::Exponential,
        "softplus" => Link::Softplus,
        "half-power" => Link::HalfPower { unit: positive("unit", None)? },
        "step" => Link::Step,
        "sorted" => Link::Sorted,
        other => return Err(name.error(format!("unknown link {other:?}"))),
    })
}

fn origin(root: &Field<'_>) -> Result<Origin, ModelError> {
    let source = root.find("source")?;
    if let Some(source) = &source {
        source.check_members(&["library", "version", "model", "objective"])?;
    }
    let text = |member| {
        let field = source.as_ref().map(|source| source.find(member)).transpose()?.flatten();
        field.map(|field| field.text().map(str::to_owned)).transpose()
    };
    Ok(Origin {
        format: text("library")?
            .map_or_else(|| FORMAT.to_owned(), |library| format!("{library} as {FORMAT}")),
        version: text("version")?.unwrap_or_else(|| VERSION.to_string()),
        booster: text("model")?.unwrap_or_else(|| "trees".to_owned()),
        objective: text("objective")?.unwrap_or_else(|| "not stated".to_owned()),
    })
}

/// Reads a tree and appends it once for each output for which its leaves have values.
fn push_tree(
    ensemble: &mut Ensemble,
    tree: &Field<'_>,
    index: usize,
    operator: Option<Operator>,
) -> Result<(), ModelError> {
    tree.check_members(&TREE_MEMBERS)?;
    let left = tree.get("left")?.integers()?;
    let count = left.len();
    let operator =
        Operator::read(tree)?.or(operator).ok_or_else(|| tree.error("missing field \"operator\""))?;
    let default_left = match tree.find("default_left")? {
        Some(field) => field.flags_of(count)?,
        None => vec![false; count],
    };
    let cover = match tree.find("cover")? {
        Some(field) => Some(field.numbers_of(count)?.into_owned()),
        None => None,
    };
    let outputs = ensemble.output_count();
    let output = tree.find("output")?.map(|field| field.count()).transpose()?;
    let own = if output.is_some() { 1 } else { outputs };
    let value_field = tree.get("value")?;
    let wanted = count.checked_mul(own).ok_or_else(|| value_field.error("too many values"))?;
    let value = value_field.numbers_of(wanted)?;
    let threshold = tree.get("threshold")?.numbers_of(count)?;
    let mut parts = TreeParts {
        output: output.unwrap_or(0),
        right: tree.get("right")?.integers_of(count)?,
        feature: tree.get("feature")?.integers_of(count)?,
        number: threshold.iter().map(|&threshold| operator.threshold(threshold)).collect(),
        default_left,
        cover,
        scale: tree.find("scale")?.map_or(Ok(1.0), |field| field.number())?,
        left,
        ..TreeParts::default()
    };
    if operator == Operator::AtMost && threshold.contains(&f64::INFINITY) {
        parts.rules = threshold.iter().map(|&threshold| at_most_infinity(threshold)).collect();
    }
    let damaged = |problem| ModelError::Tree { tree: index, problem };
    rules::read(tree, &mut parts, damaged)?;
    let leaves: Vec<usize> =
        (0..count).filter(|&node| parts.left[node] == -1 && parts.right[node] == -1).collect();
    let last = own - 1;
    for output in 0..last {
        let mut parts = parts.clone();
        parts.output = output;
        leaves.iter().for_each(|&leaf| parts.number[leaf] = value[leaf * own + output]);
        ensemble.push(parts)?;
    }
    if own > 1 {
        parts.output = last;
    }
    leaves.iter().for_each(|&leaf| parts.number[leaf] = value[leaf * own + last]);
    ensemble.push(parts)
}
