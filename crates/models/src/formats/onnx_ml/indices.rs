//! The operator `TreeEnsemble`, which replaces both older operators. Splits and leaves are separate lists,
//! and nodes refer to their children by index.

use super::attributes::Attributes;
use super::decision::{Decision, Mode};
use super::draft::Draft;
use super::outputs;
use super::post_transform::PostTransform;
use super::walk::forest::Forest;
use super::walk::stop::Stop;
use super::walk::table::Splitter;
use crate::ensemble::Link;
use crate::error::ModelError;

/// Returns the base margins, which are 0 because this operator does not have base values, and the link.
pub(super) fn outputs(attributes: Attributes<'_>) -> Result<(Vec<f64>, Option<Link>), ModelError> {
    let targets = attributes.integer("n_targets")?.unwrap_or(1);
    let count = outputs::output_count(attributes, "n_targets", targets)?;
    Ok((vec![0.0; count], PostTransform::numbered(attributes)?.link()))
}

/// Returns the largest feature that a split uses, plus 1.
pub(super) fn feature_bound(attributes: Attributes<'_>) -> i64 {
    attributes.integers("nodes_featureids").iter().map(|id| id.saturating_add(1)).max().unwrap_or(0)
}

/// The lists of splits and of leaves.
struct Nodes<'a> {
    modes: Vec<Mode>,
    features: &'a [i64],
    numbers: Vec<f64>,
    /// For each node, the set that it tests for membership; empty for other tests.
    members: Vec<Vec<f64>>,
    /// For the true and for the false branch, the child of each node, and whether it is a leaf.
    ways: [(&'a [i64], Vec<bool>); 2],
    missing_true: Vec<bool>,
    weights: Vec<f64>,
    targets: &'a [i64],
}

impl<'a> Nodes<'a> {
    fn new(attributes: Attributes<'a>) -> Result<Self, ModelError> {
        let features = attributes.integers("nodes_featureids");
        let count = features.len();
        let numbers_of = |name| {
            let numbers = attributes.tensor(name)?;
            attributes.check_count(name, numbers.len(), count)?;
            Ok::<_, ModelError>(numbers)
        };
        let mode = |&number: &f64| {
            let unknown = || attributes.error("nodes_modes", format!("unknown node mode {number}"));
            Mode::numbered(number).ok_or_else(unknown)
        };
        let modes = numbers_of("nodes_modes")?.iter().map(mode).collect::<Result<Vec<_>, _>>()?;
        let weights = attributes.tensor("leaf_weights")?;
        let flags = |name| {
            let flags = attributes.flags_of(name, count)?;
            // Unlike the flags for missing values, this list is required.
            attributes.integers_of(name, count).map(|_| flags)
        };
        Ok(Self {
            members: members(attributes, &modes)?,
            modes,
            features,
            numbers: numbers_of("nodes_splits")?,
            ways: [
                (attributes.integers_of("nodes_truenodeids", count)?, flags("nodes_trueleafs")?),
                (attributes.integers_of("nodes_falsenodeids", count)?, flags("nodes_falseleafs")?),
            ],
            missing_true: attributes.flags_of("nodes_missing_value_tracks_true", count)?,
            targets: attributes.integers_of("leaf_targetids", weights.len())?,
            weights,
        })
    }
}

/// Returns the sets of the nodes that test for membership. They are stored in one list, with NaN after each
/// set.
fn members(attributes: Attributes<'_>, modes: &[Mode]) -> Result<Vec<Vec<f64>>, ModelError> {
    const NAME: &str = "membership_values";
    let values = attributes.tensor(NAME)?;
    let wanted = modes.iter().filter(|&&mode| mode == Mode::Member).count();
    let ended = match values.split_last() {
        Some((last, others)) if last.is_nan() => others,
        _ => &values[..],
    };
    let mut sets = ended.split(|value| value.is_nan());
    let given = if values.is_empty() { 0 } else { sets.clone().count() };
    attributes.check_count(NAME, given, wanted)?;
    let set = |&mode: &Mode| match mode {
        Mode::Member => sets.next().unwrap_or_default().to_vec(),
        _ => Vec::new(),
    };
    Ok(modes.iter().map(set).collect())
}

/// A node found while traversing a tree.
#[derive(Clone, Copy)]
enum VisitedNode {
    Split(usize),
    Leaf(usize),
}

/// Reads all trees, with `outputs` outputs. `splitter` translates splits on preprocessed columns.
pub(super) fn read(
    attributes: Attributes<'_>,
    outputs: usize,
    splitter: &Splitter<'_>,
) -> Result<Forest, Stop> {
    let nodes = Nodes::new(attributes)?;
    let roots = attributes.integers("tree_roots");
    let aggregate = match attributes.integer("aggregate_function")?.unwrap_or(1) {
        0 => "AVERAGE",
        1 => "SUM",
        2 => "MIN",
        3 => "MAX",
        other => {
            return Err(attributes.error("aggregate_function", format!("unknown function {other}")).into());
        }
    };
    let share = outputs::share_of_tree(attributes, Some(aggregate), roots.len())?;
    let mut forest = Forest::new(share != 1.0);
    let mut reached = vec![false; nodes.modes.len()];
    for (index, &root) in roots.iter().enumerate() {
        let named = |problem| ModelError::Tree { tree: index, problem };
        let places = follow(&nodes, root, &mut reached).map_err(named)?;
        let mut draft = Draft::new(places.len(), None);
        // Children are listed in pairs, in the order of their parents.
        let mut next = 1;
        for (at, &place) in places.iter().enumerate() {
            match place {
                VisitedNode::Split(node) => {
                    let decision = Decision {
                        mode: nodes.modes[node],
                        feature: nodes.features[node],
                        number: nodes.numbers[node],
                        members: nodes.members[node].clone(),
                        missing_true: nodes.missing_true[node],
                    };
                    decision.check(node as i64, splitter.columns()).map_err(named)?;
                    draft.split(at, splitter.split(&decision)?, next, next + 1);
                    next += 2;
                }
                VisitedNode::Leaf(leaf) => {
                    let target = nodes.targets[leaf];
                    let output = usize::try_from(target).ok().filter(|&output| output < outputs);
                    let output = output.ok_or_else(|| {
                        attributes.error(
                            "leaf_targetids",
                            format!("output {target} is out of range (outputs: {outputs})"),
                        )
                    })?;
                    draft.vote(at, output, nodes.weights[leaf] * share);
                }
            }
        }
        forest.drafts.push(draft);
    }
    match reached.iter().position(|&reached| !reached) {
        Some(node) => {
            Err(attributes.error("tree_roots", format!("node {node} does not belong to a tree")).into())
        }
        None => Ok(forest),
    }
}

/// Returns the nodes of the tree below `root`, level by level.
fn follow(nodes: &Nodes<'_>, root: i64, reached: &mut [bool]) -> Result<Vec<VisitedNode>, String> {
    let mut enter = |number: i64| {
        let node = usize::try_from(number).ok().filter(|&node| node < reached.len());
        let node =
            node.ok_or_else(|| format!("node {number} is out of range (nodes: {})", nodes.modes.len()))?;
        match std::mem::replace(&mut reached[node], true) {
            true => Err(format!("node {node} is reached twice, so the nodes do not form a tree")),
            false => Ok(VisitedNode::Split(node)),
        }
    };
    let leaf = |number: i64| {
        let leaf = usize::try_from(number).ok().filter(|&leaf| leaf < nodes.weights.len());
        leaf.ok_or_else(|| format!("leaf {number} is out of range (leaves: {})", nodes.weights.len()))
    };
    let mut places = vec![enter(root)?];
    let mut next = 0;
    while let Some(&place) = places.get(next) {
        next += 1;
        let VisitedNode::Split(node) = place else { continue };
        let [holds, fails] = [0, 1].map(|way| (nodes.ways[way].0[node], nodes.ways[way].1[node]));
        if next == 1 && holds == fails && holds.1 {
            // A tree with a single leaf is stored as a split with that leaf on both sides.
            return Ok(vec![VisitedNode::Leaf(leaf(holds.0)?)]);
        }
        for (number, is_leaf) in [holds, fails] {
            places.push(if is_leaf { VisitedNode::Leaf(leaf(number)?) } else { enter(number)? });
        }
    }
    Ok(places)
}
