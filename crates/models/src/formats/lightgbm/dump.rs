//! The JSON that `dump_model` writes: the same trees as in the text format, as nested objects.

use super::tree::{Missing, comparison};
use super::{categories, objective};
use crate::ensemble::{CategorySet, Ensemble, EnsembleParts, LinearLeaf, Origin, Rule, TreeParts, Width};
use crate::error::ModelError;
use crate::formats::document::Field;

/// Maximum number of outputs. The file stores only their number, so without a limit a small file could
/// exhaust the memory.
const MAX_OUTPUTS: usize = 1 << 20;

pub(super) fn read(root: &Field<'_>) -> Result<Ensemble, ModelError> {
    let classes_field = root.get("num_class")?;
    let (classes, outputs) = (classes_field.count()?, root.get("num_tree_per_iteration")?.count()?);
    if classes == 0 || classes > MAX_OUTPUTS || outputs != classes {
        return Err(classes_field.error(format!(
            "expected 1 to {MAX_OUTPUTS} classes and the same number of trees per iteration, \
             got {classes} and {outputs}"
        )));
    }
    let names = root.get("feature_names")?.elements()?;
    let names =
        names.iter().map(|name| Ok(name.text()?.to_owned())).collect::<Result<Vec<_>, ModelError>>()?;
    let last_field = root.get("max_feature_idx")?;
    if last_field.count()?.checked_add(1) != Some(names.len()) {
        return Err(last_field
            .error(format!("expected the index of the last feature (feature names: {})", names.len())));
    }
    // Models with a custom objective do not have this member.
    let objective_field = root.find("objective")?.filter(|field| !field.is_null());
    let objective =
        objective_field.as_ref().map(|field| Ok::<_, ModelError>((field, field.text()?))).transpose()?;
    let link =
        objective.map(|(field, text)| objective::link(text, classes).map_err(|problem| field.error(problem)));
    let average = root.find("average_output")?.map(|field| field.flag()).transpose()?.unwrap_or(false);
    let columns = names.iter().map(|name| column(root, name)).collect::<Result<Vec<_>, ModelError>>()?;
    let parts = EnsembleParts {
        width: Width::Double,
        features: names.len(),
        feature_names: Some(names),
        base_margins: vec![0.0; outputs],
        link: link.transpose()?.flatten(),
        origin: Origin {
            format: "LightGBM JSON dump".to_owned(),
            version: root.get("version")?.text()?.to_owned(),
            booster: if average { "rf" } else { "gbdt" }.to_owned(),
            objective: objective.map_or("custom", |(_, text)| text.trim()).to_owned(),
        },
    };
    let trees = root.get("tree_info")?;
    let trees = trees.elements()?;
    let mut ensemble = Ensemble::new(parts, 0);
    if let Some(lists) = root.find("pandas_categorical")? {
        ensemble.set_categories(categories::of_columns(&lists, &columns)?);
    }
    if average {
        ensemble.set_averaged();
    }
    let scale = if average { 1.0 / (trees.len() / outputs).max(1) as f64 } else { 1.0 };
    for (index, tree) in trees.iter().enumerate() {
        let mut parts =
            TreeParts { cover: Some(Vec::new()), output: index % outputs, scale, ..TreeParts::default() };
        add_node(&tree.get("tree_structure")?, &mut parts)?;
        parts.cover = parts.cover.filter(|cover| cover.len() == parts.left.len());
        ensemble.push(parts)?;
        if (index + 1).is_multiple_of(outputs) {
            ensemble.end_round();
        }
    }
    Ok(ensemble)
}

/// Returns the description of a feature. The dump omits constant features.
fn column(root: &Field<'_>, name: &str) -> Result<categories::Column, ModelError> {
    let Some(infos) = root.find("feature_infos")? else { return Ok(categories::Column::Unused) };
    let Some(info) = infos.find(name)? else { return Ok(categories::Column::Unused) };
    let (least, most) = (info.get("min_value")?.number()?, info.get("max_value")?.number()?);
    Ok(match info.get("values")?.is_empty_list() {
        true => categories::Column::Numbers(least, most),
        false => categories::Column::Categories(most),
    })
}

/// Appends a node and its descendants. Returns its index.
fn add_node(node: &Field<'_>, parts: &mut TreeParts) -> Result<i64, ModelError> {
    let number = parts.add_node();
    let is_leaf = node.has("leaf_value");
    let count = node.find(if is_leaf { "leaf_count" } else { "internal_count" })?;
    if let (Some(cover), Some(own)) = (&mut parts.cover, count) {
        cover.push(own.number()?);
    }
    if is_leaf {
        parts.number[number] = node.get("leaf_value")?.number()?;
        add_linear_model(node, parts, number)?;
        return Ok(number as i64);
    }
    let (threshold, decision) = (node.get("threshold")?, node.get("decision_type")?);
    match decision.text()? {
        "<=" => {
            let missing_field = node.get("missing_type")?;
            let missing = match missing_field.text()? {
                "None" => Missing::None,
                "Zero" => Missing::Zero,
                "NaN" => Missing::NaN,
                other => {
                    return Err(missing_field
                        .error(format!("unknown missing type {other:?}; expected one of: None, Zero, NaN")));
                }
            };
            let default_left = node.get("default_left")?.flag()?;
            let split = comparison(threshold.number()?, missing, default_left);
            (parts.number[number], parts.default_left[number], parts.rules[number]) = split;
        }
        "==" => {
            let code =
                |text: &str| text.parse().map_err(|_| threshold.error(format!("invalid category {text:?}")));
            // A single category may be written as a number.
            let members = match threshold.count() {
                Ok(code) => vec![code as u32],
                Err(_) => {
                    threshold.text()?.split("||").map(code).collect::<Result<Vec<u32>, ModelError>>()?
                }
            };
            parts.rules[number] = Some(Rule::Set {
                members: CategorySet::new(members),
                members_go_left: true,
                negative_fraction_is_zero: true,
            });
        }
        other => return Err(decision.error(format!("unknown decision type {other:?}; expected <= or =="))),
    }
    parts.feature[number] = node.get("split_feature")?.integer()?;
    parts.left[number] = add_node(&node.get("left_child")?, parts)?;
    parts.right[number] = add_node(&node.get("right_child")?, parts)?;
    Ok(number as i64)
}

/// Adds the linear model of a leaf, if it has one. If a linear model does not have terms, its constant
/// becomes the value of the leaf.
fn add_linear_model(leaf: &Field<'_>, parts: &mut TreeParts, number: usize) -> Result<(), ModelError> {
    let Some(constant) = leaf.find("leaf_const")? else { return Ok(()) };
    let constant = constant.number()?;
    let features = leaf.get("leaf_features")?;
    let coefficients = leaf.get("leaf_coeff")?.numbers_of(features.number_count()?)?;
    let number_of = |&feature: &i64| {
        u32::try_from(feature).map_err(|_| features.error(format!("invalid feature {feature}")))
    };
    let terms = features.integers()?.iter().map(number_of).collect::<Result<Vec<u32>, ModelError>>()?;
    if terms.is_empty() {
        parts.number[number] = constant;
        return Ok(());
    }
    let terms = terms.into_iter().zip(coefficients.iter().copied()).collect();
    parts.linear[number] = Some(LinearLeaf { constant, terms });
    Ok(())
}
