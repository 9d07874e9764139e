//! The trees of a model document.

use crate::ensemble::{CategorySet, Ensemble, EnsembleParts, Rule, TreeParts};
use crate::error::ModelError;
use crate::formats::document::Field;

/// Reads the trees of a model one by one into an ensemble.
pub(super) fn read(
    model: &Field<'_>,
    weights: Option<Field<'_>>,
    parts: EnsembleParts,
) -> Result<Ensemble, ModelError> {
    let model_parameters = model.get("gbtree_model_param")?;
    let trees = model.get("trees")?.elements()?;
    model_parameters.get("num_trees")?.check_says(trees.len(), "trees")?;
    let output_field = model.get("tree_info")?;
    let outputs = output_field.integers_of(trees.len())?;
    let weights = match weights {
        None => vec![1.0; trees.len()],
        Some(field) => {
            let weights = field.numbers_of(trees.len())?;
            if let Some(weight) = weights.iter().find(|weight| !(**weight as f32).is_finite()) {
                return Err(field.error(format!("expected finite weights, got {weight}")));
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
            usize::try_from(output).map_err(|_| output_field.error(format!("invalid output {output}")))?;
        push_tree(&mut ensemble, index, tree, output, scale)?;
        while ends.next_if_eq(&(index + 1)).is_some() {
            ensemble.end_round();
        }
    }
    Ok(ensemble)
}

/// Returns the number of trees after each round. Files of version 2.0 and later store this number. In earlier
/// versions, all rounds have the same number of trees.
fn ends_of_rounds(
    model: &Field<'_>,
    parameters: &Field<'_>,
    trees: usize,
    outputs: usize,
) -> Result<Vec<usize>, ModelError> {
    let Some(field) = model.find("iteration_indptr")?.filter(|field| !field.is_empty_list()) else {
        let parallel = parameters.find("num_parallel_tree")?.map(|field| field.count()).transpose()?;
        let round = parallel.unwrap_or(1).max(1).saturating_mul(outputs);
        // If the number of trees is not a multiple of the trees per round, each tree is a round.
        let round = if trees.is_multiple_of(round) { round } else { 1 };
        return Ok((round..=trees).step_by(round).collect());
    };
    let places = field.integers()?;
    let whole = places.first() == Some(&0) && places.last().copied() == i64::try_from(trees).ok();
    if !whole || places.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(
            field.error(format!("expected increasing numbers from 0 to {trees}, the number of trees"))
        );
    }
    Ok(places[1..].iter().filter_map(|&place| usize::try_from(place).ok()).collect())
}

/// Reads the tree `index` of the file and appends it: once, or once for each output if its leaves are
/// vectors.
fn push_tree(
    ensemble: &mut Ensemble,
    index: usize,
    tree: &Field<'_>,
    output: usize,
    scale: f64,
) -> Result<(), ModelError> {
    let parameters = tree.get("tree_param")?;
    let size = parameters.find("size_leaf_vector")?.map(|field| field.count()).transpose()?.unwrap_or(1);
    let parts = read_tree(tree, &parameters, output, scale)?;
    if size <= 1 {
        return ensemble.push(parts).map_err(|error| error.in_tree(index));
    }
    let outputs = ensemble.output_count();
    if size != outputs {
        return Err(
            parameters.error(format!("expected leaves of {outputs} values (one per output), got {size}"))
        );
    }
    let of_vectors = of_each_output(tree, parts, outputs)?;
    of_vectors.into_iter().try_for_each(|parts| ensemble.push(parts)).map_err(|error| error.in_tree(index))
}

/// Splits a tree whose leaves are vectors (`multi_strategy="multi_output_tree"`) into one tree per output.
/// The right child of a leaf is the index of its values.
fn of_each_output(tree: &Field<'_>, parts: TreeParts, outputs: usize) -> Result<Vec<TreeParts>, ModelError> {
    let Some(field) = tree.find("leaf_weights")? else {
        return Err(ModelError::Unsupported {
            what: "a tree with vector leaves saved by XGBoost 3.1 or earlier".to_owned(),
            help: "load the model with XGBoost 3.2 or later, and save it again",
        });
    };
    let weights = field.numbers()?;
    let mut shape = parts;
    let mut places = vec![None; shape.left.len()];
    for (node, place) in places.iter_mut().enumerate().filter(|&(node, _)| shape.left[node] == -1) {
        let leaf = usize::try_from(std::mem::replace(&mut shape.right[node], -1)).ok();
        let start = leaf.and_then(|leaf| leaf.checked_mul(outputs));
        let fits = |start: &usize| start.checked_add(outputs).is_some_and(|end| end <= weights.len());
        *place = Some(start.filter(fits).ok_or_else(|| {
            field.error(format!(
                "the {outputs} values of leaf {node} are out of range (values: {})",
                weights.len()
            ))
        })?);
    }
    let of_output = |output: usize| {
        let mut parts = TreeParts { output, ..shape.clone() };
        for (number, place) in parts.number.iter_mut().zip(&places) {
            if let Some(start) = place {
                *number = f64::from(weights[start + output] as f32);
            }
        }
        parts
    };
    Ok((0..outputs).map(of_output).collect())
}

fn read_tree(
    tree: &Field<'_>,
    parameters: &Field<'_>,
    output: usize,
    scale: f64,
) -> Result<TreeParts, ModelError> {
    let left = tree.get("left_children")?.integers()?;
    let count = left.len();
    parameters.get("num_nodes")?.check_says(count, "elements of left_children")?;
    let singles = |field: Field<'_>| {
        let numbers = field.numbers_of(count)?;
        // Round the numbers of the file to the nearest f32, which f64 represents exactly.
        Ok::<Vec<f64>, ModelError>(numbers.iter().map(|&number| f64::from(number as f32)).collect())
    };
    // Only the path-dependent game needs cover, so it may be missing.
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

/// Reads the sets of the categorical splits, which the file stores as segments of one list.
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
                nodes_field.error(format!("node {node} is not a categorical split, or is listed twice"))
            })?;
        let segment = usize::try_from(start)
            .ok()
            .zip(usize::try_from(size).ok())
            .and_then(|(start, size)| categories.get(start..start.checked_add(size)?));
        let Some(segment) = segment else {
            return Err(starts_field.error(format!(
                "the segment of {size} categories from {start} is out of range (categories: {})",
                categories.len()
            )));
        };
        used += segment.len();
        if used > categories.len() {
            return Err(starts_field.error("overlapping segments"));
        }
        // Negative, huge and unknown categories go left.
        sets[node] = Some(Rule::Set {
            members: CategorySet::new(segment.to_vec()),
            members_go_left: false,
            negative_fraction_is_zero: false,
        });
    }
    if let Some(node) = (0..count).find(|&node| categorical[node] && sets[node].is_none()) {
        return Err(nodes_field.error(format!("node {node} is a categorical split without categories")));
    }
    Ok(sets)
}
