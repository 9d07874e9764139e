//! The operators `TreeEnsembleRegressor` and `TreeEnsembleClassifier`. Nodes are stored as parallel lists,
//! and each node is identified by a tree ID and a node ID. The weights of leaves are stored in separate
//! lists.

use super::attributes::Attributes;
use super::decision::{Decision, Mode};
use super::draft::Draft;
use super::hit_rates;
use super::outputs;
use super::post_transform::PostTransform;
use super::walk::forest::Forest;
use super::walk::stop::Stop;
use super::walk::table::Splitter;
use crate::ensemble::Link;
use crate::error::ModelError;

/// The operator, which determines the meaning of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Regressor,
    Classifier,
}

impl Kind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Regressor => "target",
            Self::Classifier => "class",
        }
    }
}

/// The base margins and the link of an operator.
pub(super) struct Outputs {
    pub(super) base_margins: Vec<f64>,
    pub(super) link: Option<Link>,
    /// The formula for the score of the first class, if all weights belong to one of two classes, so that
    /// there is one output.
    pub(super) single: Option<Single>,
}

/// The score that a runtime returns for the first class if all weights belong to one of two classes. m is the
/// margin of the second class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Single {
    /// The score is c − m.
    Against(f64),
    /// The score is 0.
    Zero,
}

/// Returns the outputs of an operator.
///
/// A classifier with two classes whose weights all belong to one of them has one output. If the weights
/// belong to the second class, they add up to its margin. If they belong to the first class (as converters
/// write boosted trees), they also add up, by convention, to the margin of the *second* class.
pub(super) fn outputs(attributes: Attributes<'_>, kind: Kind) -> Result<Outputs, ModelError> {
    let base = attributes.numbers("base_values")?;
    if let Some(number) = base.iter().find(|number| !number.is_finite()) {
        return Err(attributes.error("base_values", format!("expected a finite number, got {number}")));
    }
    let post_transform = PostTransform::named(attributes)?;
    let count = match kind {
        Kind::Regressor => {
            let targets = attributes.integer("n_targets")?.unwrap_or(1);
            outputs::output_count(attributes, "n_targets", targets)?
        }
        Kind::Classifier => {
            let (texts, numbers) =
                (attributes.texts("classlabels_strings"), attributes.integers("classlabels_int64s"));
            outputs::output_count(attributes, "classlabels_int64s", texts.len().max(numbers.len()) as i64)?
        }
    };
    let ids = attributes.integers(&format!("{}_ids", kind.prefix()));
    if kind == Kind::Classifier && count == 2 {
        let of_one = |class| !ids.is_empty() && ids.iter().all(|&id| id == class);
        if of_one(0) && base.len() <= 1 {
            let base_margins = vec![base.first().copied().unwrap_or(0.0)];
            // If all weights are non-negative, the scores are probabilities.
            let positive = attributes.numbers("class_weights")?.iter().all(|&weight| weight >= 0.0);
            let constant = if positive && post_transform == PostTransform::None { 1.0 } else { 0.0 };
            return Ok(Outputs {
                base_margins,
                link: post_transform.link_of_margin(),
                single: Some(Single::Against(constant)),
            });
        }
        if of_one(1) && base.is_empty() {
            // The score of the first class is 0.
            let link = match post_transform {
                PostTransform::Softmax => Some(Link::Logistic { steepness: 1.0 }),
                other => other.link_of_margin(),
            };
            return Ok(Outputs { base_margins: vec![0.0], link, single: Some(Single::Zero) });
        }
    }
    let base_margins = outputs::base_margins(attributes, base, count)?;
    Ok(Outputs { base_margins, link: post_transform.link(), single: None })
}

/// The lists of nodes, sorted by tree and node.
struct Nodes<'a> {
    /// For each node, its tree ID, its node ID, and its index in the lists.
    order: Vec<(i64, i64, usize)>,
    modes: Vec<Mode>,
    features: &'a [i64],
    numbers: Vec<f64>,
    holds: &'a [i64],
    fails: &'a [i64],
    missing_true: Vec<bool>,
    hit_rates: Vec<f64>,
}

impl<'a> Nodes<'a> {
    fn new(attributes: Attributes<'a>) -> Result<Self, ModelError> {
        let trees = attributes.integers("nodes_treeids");
        let count = trees.len();
        let ids = attributes.integers_of("nodes_nodeids", count)?;
        let mut order: Vec<(i64, i64, usize)> =
            trees.iter().zip(ids).enumerate().map(|(at, (&tree, &node))| (tree, node, at)).collect();
        order.sort_unstable();
        if let Some(pair) = order.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
            let problem = format!("duplicate node {} of tree {}", pair[0].1, pair[0].0);
            return Err(attributes.error("nodes_nodeids", problem));
        }
        let names = attributes.texts("nodes_modes");
        attributes.check_count("nodes_modes", names.len(), count)?;
        let mode = |name: &Vec<u8>| {
            let unknown = || {
                attributes
                    .error("nodes_modes", format!("unknown node mode {:?}", String::from_utf8_lossy(name)))
            };
            Mode::named(name).ok_or_else(unknown)
        };
        let numbers = attributes.numbers("nodes_values")?;
        attributes.check_count("nodes_values", numbers.len(), count)?;
        let hit_rates = attributes.numbers("nodes_hitrates")?;
        if !hit_rates.is_empty() {
            attributes.check_count("nodes_hitrates", hit_rates.len(), count)?;
        }
        Ok(Self {
            order,
            modes: names.iter().map(mode).collect::<Result<_, _>>()?,
            features: attributes.integers_of("nodes_featureids", count)?,
            numbers,
            holds: attributes.integers_of("nodes_truenodeids", count)?,
            fails: attributes.integers_of("nodes_falsenodeids", count)?,
            missing_true: attributes.flags_of("nodes_missing_value_tracks_true", count)?,
            hit_rates,
        })
    }
}

/// Returns the largest feature that a split uses, plus 1.
pub(super) fn feature_bound(attributes: Attributes<'_>) -> i64 {
    let modes = attributes.texts("nodes_modes");
    let features = attributes.integers("nodes_featureids").iter().zip(modes);
    features.filter(|(_, mode)| *mode != b"LEAF").map(|(&id, _)| id.saturating_add(1)).max().unwrap_or(0)
}

/// Reads all trees. `splitter` translates splits on preprocessed columns.
pub(super) fn read(
    attributes: Attributes<'_>,
    kind: Kind,
    outputs: &Outputs,
    splitter: &Splitter<'_>,
) -> Result<Forest, Stop> {
    let nodes = Nodes::new(attributes)?;
    let votes = votes(attributes, kind, outputs)?;
    let trees: Vec<&[(i64, i64, usize)]> = nodes.order.chunk_by(|one, next| one.0 == next.0).collect();
    let share = match kind {
        Kind::Regressor => {
            outputs::share_of_tree(attributes, attributes.text("aggregate_function")?, trees.len())?
        }
        Kind::Classifier => 1.0,
    };
    let mut forest = Forest::new(share != 1.0);
    let mut ways = Vec::with_capacity(trees.len());
    for (index, tree) in trees.iter().enumerate() {
        ways.push(children(&nodes, tree).map_err(|problem| ModelError::Tree { tree: index, problem })?);
    }
    // In many files, hit rates are not counts: they are 1, or 0, for all nodes.
    let counted = trees.iter().zip(&ways).all(|(tree, ways)| {
        let of = |node: usize| nodes.hit_rates.get(tree[node].2).copied().unwrap_or(f64::NAN);
        hit_rates::add_up(tree.len(), of, |node| ways[node])
    });
    let mut rest = &votes[..];
    for (index, (tree, ways)) in trees.iter().zip(&ways).enumerate() {
        let root = root(ways).map_err(|problem| ModelError::Tree { tree: index, problem })?;
        // The root must come first, so it is swapped with the first node.
        let place = |node: usize| {
            if node == root {
                0
            } else if node == 0 {
                root
            } else {
                node
            }
        };
        let cover =
            counted.then(|| (0..tree.len()).map(|node| nodes.hit_rates[tree[place(node)].2]).collect());
        let mut draft = Draft::new(tree.len(), cover);
        for (node, &(_, _, at)) in tree.iter().enumerate() {
            let Some([holds, fails]) = ways[node] else { continue };
            let decision = Decision {
                mode: nodes.modes[at],
                feature: nodes.features[at],
                number: nodes.numbers[at],
                members: Vec::new(),
                missing_true: nodes.missing_true[at],
            };
            let named = |problem| ModelError::Tree { tree: index, problem };
            decision.check(tree[node].1, splitter.columns()).map_err(named)?;
            draft.split(place(node), splitter.split(&decision)?, place(holds), place(fails));
        }
        let number = tree[0].0;
        let (own, others) = rest.split_at(rest.partition_point(|vote| vote.tree <= number));
        rest = others;
        for vote in own {
            let leaf = (vote.tree == number).then(|| position(tree, vote.node)).flatten();
            let leaf =
                leaf.filter(|&leaf| ways[leaf].is_none()).ok_or_else(|| no_leaf(kind, attributes, vote))?;
            draft.vote(place(leaf), vote.output, vote.weight * share);
        }
        forest.drafts.push(draft);
    }
    match rest.first() {
        Some(vote) => Err(no_leaf(kind, attributes, vote).into()),
        None => Ok(forest),
    }
}

/// The weight of a leaf for an output.
struct Vote {
    tree: i64,
    node: i64,
    output: usize,
    weight: f64,
}

fn no_leaf(kind: Kind, attributes: Attributes<'_>, vote: &Vote) -> ModelError {
    let problem = format!("node {} of tree {} is not a leaf", vote.node, vote.tree);
    attributes.error(&format!("{}_nodeids", kind.prefix()), problem)
}

/// Returns the weights of the leaves sorted by tree, and within a tree in the order of the file.
fn votes(attributes: Attributes<'_>, kind: Kind, outputs: &Outputs) -> Result<Vec<Vote>, ModelError> {
    let name = |list| format!("{}_{list}", kind.prefix());
    let weights = attributes.numbers(&name("weights"))?;
    let trees = attributes.integers_of(&name("treeids"), weights.len())?;
    let nodes = attributes.integers_of(&name("nodeids"), weights.len())?;
    let ids = attributes.integers_of(&name("ids"), weights.len())?;
    let count = outputs.base_margins.len();
    let output = |id: i64| {
        let id = if outputs.single.is_some() { 0 } else { id };
        usize::try_from(id).ok().filter(|&output| output < count).ok_or_else(|| {
            attributes.error(&name("ids"), format!("output {id} is out of range (outputs: {count})"))
        })
    };
    let mut votes = Vec::with_capacity(weights.len());
    for (((&tree, &node), &id), &weight) in trees.iter().zip(nodes).zip(ids).zip(&weights) {
        votes.push(Vote { tree, node, output: output(id)?, weight });
    }
    votes.sort_by_key(|vote| vote.tree);
    Ok(votes)
}

/// Returns the index of a node in its tree.
fn position(tree: &[(i64, i64, usize)], node: i64) -> Option<usize> {
    // In nearly all files, the IDs of nodes are their indices.
    match usize::try_from(node).ok().filter(|&at| tree.get(at).is_some_and(|entry| entry.1 == node)) {
        Some(at) => Some(at),
        None => tree.binary_search_by_key(&node, |entry| entry.1).ok(),
    }
}

/// Returns the children in the true and in the false branch of each node of a tree; `None` for leaves.
fn children(nodes: &Nodes<'_>, tree: &[(i64, i64, usize)]) -> Result<Vec<Option<[usize; 2]>>, String> {
    let child = |node: i64, child: i64| {
        position(tree, child)
            .ok_or_else(|| format!("node {node} has the child {child}, which is not in this tree"))
    };
    tree.iter()
        .map(|&(_, node, at)| match nodes.modes[at] {
            Mode::Leaf => Ok(None),
            _ => Ok(Some([child(node, nodes.holds[at])?, child(node, nodes.fails[at])?])),
        })
        .collect()
}

/// Returns the root, which is the only node that is not a child of another node.
fn root(ways: &[Option<[usize; 2]>]) -> Result<usize, String> {
    let mut child = vec![false; ways.len()];
    ways.iter().flatten().flatten().for_each(|&node| child[node] = true);
    let mut roots = (0..ways.len()).filter(|&node| !child[node]);
    match (roots.next(), roots.count()) {
        (Some(root), 0) => Ok(root),
        (None, _) => Err("every node is the child of another, so the tree has no root".to_owned()),
        (Some(_), more) => {
            Err(format!("expected one root, got {} nodes that are not a child of another", more + 1))
        }
    }
}
