//! What an XGBoost model document must hold, and the ensemble it means.

use super::objective::{Link, outputs_link};
use super::version::Version;
use super::words;
use crate::ensemble::{Categories, Ensemble, EnsembleParts, Origin, Rule, TreeParts, Width};
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

/// Outputs come as a bare number, so a short file could ask for any memory.
const MAX_OUTPUTS: usize = 1 << 20;

pub(crate) fn read(document: &Value<'_>, format: &str) -> Result<Ensemble, ModelError> {
    let root = Field::root(document);
    let learner = root.get("learner")?;
    let version = Version::read(&root)?;
    let booster = learner.get("gradient_booster")?;
    let booster_name = booster.get("name")?.text()?;
    // Up to 3.3 a dart file wraps a gbtree and adds one weight per tree; later, dropout is a gbtree with weights in its model, where
    // an empty list, as none at all, means no dropout.
    let (model, weights) = match booster_name {
        "gbtree" => {
            let model = booster.get("model")?;
            let weights = model.find("weight_drop")?.filter(|field| !field.is_empty_list());
            (model, weights)
        }
        "dart" => (booster.get("gbtree")?.get("model")?, Some(booster.get("weight_drop")?)),
        other => {
            return Err(ModelError::Unsupported {
                what: format!("the booster {other:?}"),
                wanted: "trees of the boosters gbtree and dart can be explained",
            });
        }
    };
    let parameters = learner.get("learner_model_param")?;
    let features_field = parameters.get("num_feature")?;
    let features = features_field.count()?;
    if features == 0 {
        return Err(features_field.error("a model without features"));
    }
    let outputs = output_count(&parameters)?;
    let objective = learner.get("objective")?.get("name")?.text()?;
    let parts = EnsembleParts {
        width: Width::Single,
        features,
        feature_names: feature_names(&learner, features)?,
        base_margins: base_margins(&parameters, objective, outputs, version)?,
        link: outputs_link(objective),
        origin: Origin {
            format: format.to_owned(),
            version: version.to_string(),
            booster: booster_name.to_owned(),
            objective: objective.to_owned(),
        },
    };
    let words = words::read(&model, features)?;
    let mut ensemble = trees(&model, weights, parts)?;
    ensemble.set_words(words);
    if let Some(best) = best_round_count(&learner)? {
        ensemble.set_best_round_count(best);
    }
    Ok(ensemble)
}

/// The rounds up to the best one, which early stopping leaves among the attributes. They are texts.
fn best_round_count(learner: &Field<'_>) -> Result<Option<usize>, ModelError> {
    let Some(attributes) = learner.find("attributes")? else { return Ok(None) };
    let Some(best) = attributes.find("best_iteration")? else { return Ok(None) };
    Ok(Some(best.count()?.saturating_add(1)))
}

/// Classes or targets, whichever there are.
fn output_count(parameters: &Field<'_>) -> Result<usize, ModelError> {
    let count =
        |key| Ok::<_, ModelError>(parameters.find(key)?.map(|field| field.count()).transpose()?.unwrap_or(0));
    match (count("num_class")?.max(1), count("num_target")?.max(1)) {
        (outputs, 1) | (1, outputs) if outputs <= MAX_OUTPUTS => Ok(outputs),
        (outputs, 1) | (1, outputs) => {
            Err(parameters.error(format!("{outputs} outputs; {MAX_OUTPUTS} are the most")))
        }
        (classes, targets) => {
            Err(parameters.error(format!("{classes} classes and {targets} targets at once")))
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
        return Err(field.error(format!("{} names of {features} features", names.len())));
    }
    Ok(Some(names))
}

fn base_margins(
    parameters: &Field<'_>,
    objective: &str,
    outputs: usize,
    version: Version,
) -> Result<Vec<f64>, ModelError> {
    let link = Link::of(objective, outputs).ok_or_else(|| ModelError::Unsupported {
        what: format!("the objective {objective:?} with {outputs} outputs"),
        wanted: "its base score cannot be taken to the margin; known are the built-in objectives of XGBoost 3.2",
    })?;
    let field = parameters.get("base_score")?;
    let scores = field.loose_numbers()?;
    let scores = match scores.len() {
        1 => vec![scores[0]; outputs],
        given if given == outputs => scores,
        given => return Err(field.error(format!("{given} base scores for {outputs} outputs"))),
    };
    scores
        .into_iter()
        .map(|score| {
            let margin = link.margin(f64::from(score as f32), version);
            if margin.is_finite() {
                Ok(margin)
            } else {
                Err(field.error(format!("{score} is no base score of {objective:?}")))
            }
        })
        .collect()
}

/// The ensemble of `parts` with the trees of the model, read one by one.
fn trees(
    model: &Field<'_>,
    weights: Option<Field<'_>>,
    parts: EnsembleParts,
) -> Result<Ensemble, ModelError> {
    let model_parameters = model.get("gbtree_model_param")?;
    single_leaf_values(&model_parameters)?;
    let trees = model.get("trees")?.elements()?;
    model_parameters.get("num_trees")?.check_says(trees.len(), "trees")?;
    let output_field = model.get("tree_info")?;
    let outputs = output_field.integers_of(trees.len())?;
    let weights = match weights {
        None => vec![1.0; trees.len()],
        Some(field) => {
            let weights = field.numbers_of(trees.len())?;
            if let Some(weight) = weights.iter().find(|weight| !(**weight as f32).is_finite()) {
                return Err(field.error(format!("the weight {weight}")));
            }
            weights.iter().map(|&weight| f64::from(weight as f32)).collect()
        }
    };
    let ends = ends_of_rounds(model, &model_parameters, trees.len(), parts.base_margins.len())?;
    let mut ends = ends.into_iter().peekable();
    let counts = trees.iter().map(|tree| tree.get("left_children")?.number_count());
    let mut ensemble = Ensemble::new(parts, counts.sum::<Result<usize, ModelError>>()?);
    for (index, ((tree, output), scale)) in trees.iter().zip(outputs).zip(weights).enumerate() {
        let output =
            usize::try_from(output).map_err(|_| output_field.error(format!("the output {output}")))?;
        ensemble.push(read_tree(tree, output, scale)?)?;
        while ends.next_if_eq(&(index + 1)).is_some() {
            ensemble.end_round();
        }
    }
    Ok(ensemble)
}

/// How many trees there are after each round. The file says it since 2.0; before that all rounds were alike.
fn ends_of_rounds(
    model: &Field<'_>,
    parameters: &Field<'_>,
    trees: usize,
    outputs: usize,
) -> Result<Vec<usize>, ModelError> {
    let Some(field) = model.find("iteration_indptr")?.filter(|field| !field.is_empty_list()) else {
        let parallel = parameters.find("num_parallel_tree")?.map(|field| field.count()).transpose()?;
        let round = parallel.unwrap_or(1).max(1).saturating_mul(outputs);
        // Trees that make no whole rounds are rounds each.
        let round = if trees.is_multiple_of(round) { round } else { 1 };
        return Ok((round..=trees).step_by(round).collect());
    };
    let places = field.integers()?;
    let whole = places.first() == Some(&0) && places.last().copied() == i64::try_from(trees).ok();
    if !whole || places.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(field.error(format!("numbers that do not rise from 0 to {trees}, the number of trees")));
    }
    Ok(places[1..].iter().filter_map(|&place| usize::try_from(place).ok()).collect())
}

/// Refuses trees whose leaves hold a vector each.
fn single_leaf_values(parameters: &Field<'_>) -> Result<(), ModelError> {
    match parameters.find("size_leaf_vector")?.map(|field| field.count()).transpose()? {
        Some(size) if size > 1 => Err(ModelError::Unsupported {
            what: format!(
                "a model whose leaves are vectors of {size} values (multi_strategy multi_output_tree)"
            ),
            wanted: "train with one tree per output (multi_strategy one_output_per_tree)",
        }),
        _ => Ok(()),
    }
}

fn read_tree(tree: &Field<'_>, output: usize, scale: f64) -> Result<TreeParts, ModelError> {
    let parameters = tree.get("tree_param")?;
    single_leaf_values(&parameters)?;
    let left = tree.get("left_children")?.integers()?;
    let count = left.len();
    parameters.get("num_nodes")?.check_says(count, "elements of left_children")?;
    let singles = |field: Field<'_>| {
        let numbers = field.numbers_of(count)?;
        // Floats of the file, as the nearest f32 and then exactly as f64.
        Ok::<Vec<f64>, ModelError>(numbers.iter().map(|&number| f64::from(number as f32)).collect())
    };
    // Only the path-dependent game needs covers, so a file may come without.
    let cover = tree.find("sum_hessian")?.filter(|field| !field.is_empty_list());
    Ok(TreeParts {
        output,
        right: tree.get("right_children")?.integers_of(count)?,
        feature: tree.get("split_indices")?.integers_of(count)?,
        number: singles(tree.get("split_conditions")?)?,
        default_left: tree.get("default_left")?.flags_of(count)?,
        cover: cover.map(singles).transpose()?,
        rules: rules(tree, count)?,
        linear: Vec::new(),
        deleted: parameters.find("num_deleted")?.map(|field| field.count()).transpose()?.unwrap_or(0),
        scale,
        left,
    })
}

/// The sets of the categorical splits, which the file keeps as segments of one list.
fn rules(tree: &Field<'_>, count: usize) -> Result<Vec<Option<Rule>>, ModelError> {
    let Some(types) = tree.find("split_type")? else { return Ok(Vec::new()) };
    let categorical = types.flags_of(count)?;
    if !categorical.contains(&true) {
        return Ok(Vec::new());
    }
    let mut sets = vec![None; count];
    let nodes_field = tree.get("categories_nodes")?;
    let nodes = nodes_field.integers()?;
    let starts_field = tree.get("categories_segments")?;
    let starts = starts_field.integers_of(nodes.len())?;
    let sizes = tree.get("categories_sizes")?.integers_of(nodes.len())?;
    let categories = tree.get("categories")?.categories()?;
    let mut used = 0;
    for ((&node, &start), &size) in nodes.iter().zip(&starts).zip(&sizes) {
        let node = usize::try_from(node)
            .ok()
            .filter(|&node| categorical.get(node) == Some(&true) && sets[node].is_none())
            .ok_or_else(|| {
                nodes_field.error(format!("node {node} is no categorical split, or is named twice"))
            })?;
        let segment = usize::try_from(start)
            .ok()
            .zip(usize::try_from(size).ok())
            .and_then(|(start, size)| categories.get(start..start.checked_add(size)?));
        let Some(segment) = segment else {
            return Err(starts_field
                .error(format!("a segment of {size} from {start} of {} categories", categories.len())));
        };
        used += segment.len();
        if used > categories.len() {
            return Err(starts_field.error("segments that overlap"));
        }
        // Negative, huge and unknown categories go left.
        sets[node] = Some(Rule::Set {
            members: Categories::new(segment.to_vec()),
            members_go_left: false,
            negative_fraction_is_zero: false,
        });
    }
    if let Some(node) = (0..count).find(|&node| categorical[node] && sets[node].is_none()) {
        return Err(nodes_field.error(format!("node {node} is a categorical split without a set")));
    }
    Ok(sets)
}
