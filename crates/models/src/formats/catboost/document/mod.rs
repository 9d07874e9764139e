//! CatBoost models as JSON.

mod statistics;
mod trees;

use self::trees::Trees;
use super::features::{Feature, Features, Kind};
use super::information::Information;
use super::splits::{Frame, Splits, biases};
use crate::ensemble::{Ensemble, Origin};
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

pub(crate) fn from_json(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    let root = Field::root(document);
    let information = Information::of_document(&root)?;
    let listed = root.get("features_info")?;
    let features = features(&listed)?;
    let (statistics, borders) = statistics::read(&root, &listed)?;
    let splits = Splits::new(features, |features, double| {
        statistics::with_tables(&statistics, &root, features, double)
    })?;
    statistics::check_targets(&statistics, &information.loss)?;
    let trees = Trees::read(&root, splits, borders)?;
    let (scale, bias) = scale_and_bias(&root.get("scale_and_bias")?, trees.outputs())?;
    let frame = Frame {
        bias,
        classes: information.classes.clone(),
        link: information.link(),
        origin: Origin {
            format: "CatBoost JSON".to_owned(),
            version: information.version,
            booster: trees.kind().to_owned(),
            objective: information.loss,
        },
        texts: texts(&listed)?,
        nodes: trees.node_count(),
    };
    trees.model(frame, scale)
}

/// Reads the features, which the document lists by kind.
fn features(field: &Field<'_>) -> Result<Features, ModelError> {
    let mut features = Features::default();
    for list_name in ["float_features", "categorical_features", "text_features", "embedding_features"] {
        let Some(list) = field.find(list_name)?.filter(|list| !list.is_null()) else { continue };
        for feature in list.elements()? {
            let kind = match list_name {
                "float_features" => Kind::Number { missing_is_above: missing_is_above(&feature)? },
                "categorical_features" => Kind::Category,
                _ => Kind::Other,
            };
            let name = feature.find("feature_id")?.map(|name| name.text()).transpose()?.unwrap_or("");
            let index = feature.get("feature_index")?.count()?;
            let column = feature.get("flat_feature_index")?.count()?;
            features.add(Feature { kind, index, column, name }).map_err(|problem| feature.error(problem))?;
        }
    }
    match features.count {
        0 => Err(field.error("the model has no features")),
        _ => Ok(features),
    }
}

/// Returns whether a missing value of a feature counts as above every border. `AsFalse` and `AsTrue` specify
/// the result of `x > border` for a missing value. With `AsIs`, NaN is compared with the border, which is
/// always false.
fn missing_is_above(feature: &Field<'_>) -> Result<bool, ModelError> {
    let Some(treatment) = feature.find("nan_value_treatment")? else { return Ok(false) };
    match treatment.text()? {
        "AsIs" | "AsFalse" => Ok(false),
        "AsTrue" => Ok(true),
        other => Err(treatment.error(format!("expected AsIs, AsFalse or AsTrue, got {other:?}"))),
    }
}

/// Returns the categories that the file stores as text. These are all categories if the model was saved with
/// its training data (`pool`).
fn texts(listed: &Field<'_>) -> Result<Vec<String>, ModelError> {
    let Some(list) = listed.find("cat_features_hash")?.filter(|list| !list.is_null()) else {
        return Ok(Vec::new());
    };
    list.elements()?.iter().map(|category| Ok(category.get("value")?.text()?.to_owned())).collect()
}

/// Reads `[scale, [bias, …]]`, or `[scale, bias]` as written by older releases. A model without trees has one
/// output per bias.
fn scale_and_bias(field: &Field<'_>, outputs: Option<usize>) -> Result<(f64, Vec<f64>), ModelError> {
    let (scale, bias) = match field.numbers() {
        Ok(numbers) => match numbers[..] {
            [scale, bias] => (scale, vec![bias]),
            _ => {
                return Err(
                    field.error(format!("expected a scale and a bias, got {} numbers", numbers.len()))
                );
            }
        },
        Err(_) => match &field.elements()?[..] {
            [scale, bias] => (scale.number()?, bias.numbers()?.into_owned()),
            elements => {
                return Err(
                    field.error(format!("expected a scale and biases, got {} elements", elements.len()))
                );
            }
        },
    };
    let bias = biases(scale, bias, outputs).map_err(|problem| field.error(problem))?;
    Ok((scale, bias))
}
