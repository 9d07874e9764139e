//! Models that treelite dumped as JSON.
//!
//! treelite converts the models of many libraries to one representation, which `Model.dump_as_json()` writes.
//! A prediction has targets × classes numbers, where classes is the largest number of classes of any target.
//! Targets with fewer classes have zeros at the end. If N_k trees add to output k,
//!
//! ```text
//! f_k(x) = base_k + Σ_t leaf_{t,k}(x)      or
//! f_k(x) = base_k + 1 / N_k Σ_t leaf_{t,k}(x) if trees are averaged.
//! ```
//!
//! A tree adds to one output, or to all targets or classes if its `target_id` or `class_id` is −1. In this
//! case, its leaves are vectors.

mod outputs;
mod trees;

use self::outputs::Outputs;
use self::trees::{Precision, read_tree};
use crate::ensemble::{Ensemble, EnsembleParts, Link, Origin, Width};
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

pub(crate) fn from_json(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    let root = Field::root(document);
    if root.has("task_param") || root.has("model_param") {
        return Err(ModelError::Version {
            format: "treelite",
            actual: "3.x or earlier".to_owned(),
            known: "4.x",
        });
    }
    let features_field = root.get("num_feature")?;
    let features = features_field.count()?;
    if features == 0 {
        return Err(features_field.error("the model has no features"));
    }
    let threshold = Precision::read(&root.get("threshold_type")?)?;
    let leaf = Precision::read(&root.get("leaf_output_type")?)?;
    let outputs = Outputs::read(&root)?;
    let averaged = root.get("average_tree_output")?.flag()?;
    let trees = root.get("trees")?.elements()?;
    let adds_to = outputs.of_trees(&root, trees.len())?;
    let parts = EnsembleParts {
        width: match threshold {
            Precision::Single => Width::Single,
            Precision::Double => Width::Double,
        },
        features,
        feature_names: None,
        base_margins: outputs.base_margins(&root)?,
        link: link(&root)?,
        origin: Origin {
            format: "treelite JSON".to_owned(),
            version: "4".to_owned(),
            booster: if averaged { "averaged trees" } else { "summed trees" }.to_owned(),
            objective: root.get("task_type")?.text()?.to_owned(),
        },
    };
    // Trees with the same first output add to the same outputs.
    let mut counts = vec![0usize; outputs.count()];
    adds_to.iter().for_each(|&first| counts[first] += 1);
    let mut ensemble = Ensemble::new(parts, 0);
    if averaged {
        ensemble.set_averaged();
    }
    for (number, (tree, &first)) in trees.iter().zip(&adds_to).enumerate() {
        let shape = read_tree(tree, outputs.of_leaf(), threshold, leaf)?;
        let scale = if averaged { 1.0 / counts[first] as f64 } else { 1.0 };
        shape.push_to(&mut ensemble, number, outputs.from(first), scale)?;
    }
    Ok(ensemble)
}

/// Returns the link of the postprocessor, or `None` if it is not supported or cannot be represented as a
/// [`Link`].
fn link(root: &Field<'_>) -> Result<Option<Link>, ModelError> {
    let number = |key| {
        let field = root.get(key)?;
        match field.number()? {
            // The library stores this number as f32.
            number if (number as f32).is_normal() => Ok(f64::from(number as f32)),
            number => Err(field.error(format!("invalid number {number}"))),
        }
    };
    Ok(Some(match root.get("postprocessor")?.text()? {
        "identity" | "identity_multiclass" => Link::Identity,
        "sigmoid" | "multiclass_ova" => Link::Logistic { steepness: number("sigmoid_alpha")? },
        "softmax" => Link::Softmax,
        "hinge" => Link::Step,
        "exponential" => Link::Exponential,
        "logarithm_one_plus_exp" => Link::Softplus,
        "exponential_standard_ratio" => Link::HalfPower { unit: number("ratio_c")? },
        _ => return Ok(None),
    }))
}
