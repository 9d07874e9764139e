//! The booster `gblinear`: a linear model.

use crate::ensemble::{Ensemble, EnsembleParts};
use crate::error::ModelError;
use crate::formats::document::Field;

/// Converts a linear model to an ensemble. For each feature and output, the ensemble has a tree with one
/// linear leaf. A missing value adds nothing and does not affect the terms of other features. All trees form
/// one round.
///
/// `weights` contains the coefficients of the first feature for all outputs, then the coefficients of the
/// next feature, and so on, with the intercepts last.
pub(super) fn read(model: &Field<'_>, mut parts: EnsembleParts) -> Result<Ensemble, ModelError> {
    let (features, outputs) = (parts.features, parts.base_margins.len());
    let field = model.get("weights")?;
    let wanted = features.checked_add(1).and_then(|rows| rows.checked_mul(outputs));
    let Some(wanted) = wanted else { return Err(field.error(format!("too many features: {features}"))) };
    let weights = field.numbers_of(wanted)?;
    let weight = |feature: usize, output: usize| f64::from(weights[feature * outputs + output] as f32);
    // The library adds the base score of the first output to all outputs.
    let base = parts.base_margins[0];
    for (output, margin) in parts.base_margins.iter_mut().enumerate() {
        *margin = base + weight(features, output);
        if !margin.is_finite() {
            return Err(field.error(format!("the intercept is {margin}, expected a finite number")));
        }
    }
    let mut ensemble = Ensemble::new(parts, features * outputs);
    for feature in 0..features {
        for output in 0..outputs {
            let term = (feature as u32, weight(feature, output));
            if term.1 == 0.0 {
                continue;
            }
            ensemble.push_term(output, term, 0.0)?;
        }
    }
    ensemble.end_round();
    Ok(ensemble)
}
