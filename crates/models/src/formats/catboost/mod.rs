//! Models saved by CatBoost, as JSON.
//!
//! A model is a sum of trees, times a scale, plus a bias per output:
//!
//! ```text
//! f_k(x) = bias_k + scale · Σ_t leaf_{t,k}(x)
//! ```
//!
//! Features are numbered three times: among all columns of a row (flat), among the numbers and among the categories; splits use the
//! latter two. See [`features`]. Trees are oblivious or nested: see [`trees`]. Categories are known by their hashes: see [`categories`].

mod categories;
mod features;
mod information;
mod trees;

use self::features::Features;
use self::information::Information;
use self::trees::Trees;
use crate::ensemble::{Ensemble, EnsembleParts, Origin, Width};
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

/// What a file in CatBoost's own binary format begins with.
pub(crate) const BINARY: &[u8] = b"CBM1";

/// What to do about a file in CatBoost's own binary format.
pub(crate) fn refuse_binary() -> ModelError {
    ModelError::Unsupported {
        what: "a CatBoost model in its binary format (cbm)".to_owned(),
        wanted: "save it as JSON: model.save_model(\"model.json\", format=\"json\")",
    }
}

pub(crate) fn from_json(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    let root = Field::root(document);
    let information = Information::read(&root)?;
    let features = Features::read(&root.get("features_info")?)?;
    let trees = Trees::read(&root, &features)?;
    let (scale, bias) = scale_and_bias(&root.get("scale_and_bias")?, trees.outputs())?;
    let parts = EnsembleParts {
        width: Width::Single,
        features: features.count,
        feature_names: features.names.clone(),
        base_margins: bias,
        link: information.link(),
        origin: Origin {
            format: "CatBoost JSON".to_owned(),
            version: information.version,
            booster: trees.kind().to_owned(),
            objective: information.loss,
        },
    };
    let mut ensemble = Ensemble::new(parts, trees.node_count());
    trees.push_to(&mut ensemble, scale)?;
    Ok(ensemble)
}

/// `[scale, [bias, …]]`, or `[scale, bias]` as older releases wrote it. A model without trees has as many outputs as biases.
fn scale_and_bias(field: &Field<'_>, outputs: Option<usize>) -> Result<(f64, Vec<f64>), ModelError> {
    let (scale, bias) = match field.numbers() {
        Ok(numbers) => match numbers[..] {
            [scale, bias] => (scale, vec![bias]),
            _ => {
                return Err(
                    field.error(format!("{} numbers where a scale and a bias are wanted", numbers.len()))
                );
            }
        },
        Err(_) => match &field.elements()?[..] {
            [scale, bias] => (scale.number()?, bias.numbers()?.into_owned()),
            elements => {
                return Err(
                    field.error(format!("{} elements where a scale and biases are wanted", elements.len()))
                );
            }
        },
    };
    if let Some(number) = [scale].iter().chain(&bias).find(|number| !number.is_finite()) {
        return Err(field.error(format!("the number {number}")));
    }
    let outputs = outputs.unwrap_or(bias.len().max(1));
    match bias.len() {
        given if given == outputs => Ok((scale, bias)),
        // Some models of several outputs have no bias, or one of zero for all.
        0 | 1 if bias.iter().all(|&bias| bias == 0.0) => Ok((scale, vec![0.0; outputs])),
        given => Err(field.error(format!("{given} biases for {outputs} outputs"))),
    }
}
