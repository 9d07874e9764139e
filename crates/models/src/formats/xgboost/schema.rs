//! The schema of an XGBoost model document.

use super::objective::{Link, outputs_link};
use super::version::Version;
use super::{categories, linear, trees};
use crate::ensemble::{Ensemble, EnsembleParts, Origin, Width};
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

/// Maximum number of outputs. The file stores only their number, so without a limit a small file could
/// exhaust the memory.
const MAX_OUTPUTS: usize = 1 << 20;

pub(crate) fn read(document: &Value<'_>, format: &str) -> Result<Ensemble, ModelError> {
    let root = Field::root(document);
    let learner = root.get("learner")?;
    let version = Version::read(&root)?;
    let booster = learner.get("gradient_booster")?;
    let booster_name = booster.get("name")?.text()?;
    let parameters = learner.get("learner_model_param")?;
    let features_field = parameters.get("num_feature")?;
    let features = features_field.count()?;
    if features == 0 {
        return Err(features_field.error("the model has no features"));
    }
    let outputs = output_count(&parameters)?;
    let objective = learner.get("objective")?.get("name")?.text()?;
    let parts = EnsembleParts {
        width: Width::Single,
        features,
        feature_names: feature_names(&learner, features)?,
        base_margins: base_margins(&parameters, objective, outputs, version)?,
        link: outputs_link(objective, outputs, version),
        origin: Origin {
            format: format.to_owned(),
            version: version.to_string(),
            booster: booster_name.to_owned(),
            objective: objective.to_owned(),
        },
    };
    let mut ensemble = boosted(&booster, booster_name, parts)?;
    if let Some(best) = best_round_count(&learner)? {
        ensemble.set_best_round_count(best);
    }
    if let Some(note) = categories::note(&ensemble, version) {
        ensemble.add_note(note);
    }
    Ok(ensemble)
}

/// Reads the trained booster into an ensemble.
fn boosted(booster: &Field<'_>, name: &str, parts: EnsembleParts) -> Result<Ensemble, ModelError> {
    // Up to version 3.3, a dart file wraps a gbtree and adds one weight per tree. Since 3.4, a model with
    // dropout is a gbtree with weights; an empty or missing list of weights means no dropout.
    let (model, weights) = match name {
        "gbtree" => {
            let model = booster.get("model")?;
            let weights = model.find("weight_drop")?.filter(|field| !field.is_empty_list());
            (model, weights)
        }
        "dart" => (booster.get("gbtree")?.get("model")?, Some(booster.get("weight_drop")?)),
        "gblinear" => return linear::read(&booster.get("model")?, parts),
        other => {
            return Err(ModelError::Unsupported {
                what: format!("the booster {other:?}"),
                help: "expected one of: gbtree, dart, gblinear",
            });
        }
    };
    let words = categories::read(&model, parts.features)?;
    let mut ensemble = trees::read(&model, weights, parts)?;
    ensemble.set_categories(words);
    Ok(ensemble)
}

/// Returns the number of rounds up to the best round, which early stopping stores as text among the
/// attributes.
fn best_round_count(learner: &Field<'_>) -> Result<Option<usize>, ModelError> {
    let Some(attributes) = learner.find("attributes")? else { return Ok(None) };
    let Some(best) = attributes.find("best_iteration")? else { return Ok(None) };
    Ok(Some(best.count()?.saturating_add(1)))
}

/// Returns the number of classes or targets.
fn output_count(parameters: &Field<'_>) -> Result<usize, ModelError> {
    let count =
        |key| Ok::<_, ModelError>(parameters.find(key)?.map(|field| field.count()).transpose()?.unwrap_or(0));
    match (count("num_class")?.max(1), count("num_target")?.max(1)) {
        (outputs, 1) | (1, outputs) if outputs <= MAX_OUTPUTS => Ok(outputs),
        (outputs, 1) | (1, outputs) => {
            Err(parameters.error(format!("expected at most {MAX_OUTPUTS} outputs, got {outputs}")))
        }
        (classes, targets) => {
            Err(parameters.error(format!("{classes} classes cannot be combined with {targets} targets")))
        }
    }
}

fn feature_names(learner: &Field<'_>, features: usize) -> Result<Option<Vec<String>>, ModelError> {
    let Some(field) = learner.find("feature_names")? else { return Ok(None) };
    let names = field
        .elements()?
        .iter()
        .map(|name| Ok(name.text()?.to_owned()))
        .collect::<Result<Vec<_>, ModelError>>()?;
    if names.is_empty() {
        return Ok(None);
    }
    if names.len() != features {
        return Err(field.error(format!("expected {features} names (one per feature), got {}", names.len())));
    }
    Ok(Some(names))
}

fn base_margins(
    parameters: &Field<'_>,
    objective: &str,
    outputs: usize,
    version: Version,
) -> Result<Vec<f64>, ModelError> {
    let link = Link::from_objective(objective, outputs).ok_or_else(|| ModelError::Unsupported {
        what: format!("the objective {objective:?} with {outputs} outputs"),
        help: "its base score cannot be converted to a margin; expected a built-in objective of XGBoost \
               3.2",
    })?;
    let field = parameters.get("base_score")?;
    let scores = field.loose_numbers()?;
    let scores = match scores.len() {
        1 => vec![scores[0]; outputs],
        given if given == outputs => scores,
        given => {
            return Err(field.error(format!("expected {outputs} base scores (one per output), got {given}")));
        }
    };
    scores
        .into_iter()
        .map(|score| {
            let margin = link.margin(f64::from(score as f32), version);
            if margin.is_finite() {
                Ok(margin)
            } else {
                Err(field.error(format!("invalid base score {score} for {objective:?}")))
            }
        })
        .collect()
}
