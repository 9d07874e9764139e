//! Trees under construction.

use std::collections::HashMap;
use std::rc::Rc;

use super::walk::prepared::{Region, Split};
use crate::ensemble::{Ensemble, TreeParts};
use crate::error::ModelError;

/// Maximum number of nodes of an ensemble, counted after trees with several outputs are split into one tree
/// per output. These nodes take about 3 GB.
const MAX_NODES: usize = 1 << 27;

/// A tree under construction: its nodes, and the values of its leaves for each output.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    parts: TreeParts,
    /// For each contribution of a leaf to an output: the leaf, the output, and the weight that is added.
    votes: Vec<(usize, usize, f64)>,
}

/// The mapping from the leaves of a forest to the outputs of the model.
#[derive(Default)]
pub(super) struct Targets {
    /// For each output of the operator, the outputs of the model to which it is added, each with its weight.
    weighted: HashMap<usize, Vec<(usize, f64)>>,
    /// Outputs of the model, each with a value for every leaf, in the order of the nodes. Only used for
    /// forests with a single tree.
    mapped: Vec<(usize, Rc<[f64]>)>,
}

impl Targets {
    /// Adds `weight` times an output of the operator to an output of the model.
    pub(super) fn add_weighted(&mut self, target: usize, output: usize, weight: f64) {
        self.weighted.entry(output).or_default().push((target, weight));
    }

    /// Adds values of the leaves to an output of the model.
    pub(super) fn add_mapped(&mut self, target: usize, leaves: Rc<[f64]>) {
        self.mapped.push((target, leaves));
    }

    fn of_output(&self, output: usize) -> &[(usize, f64)] {
        self.weighted.get(&output).map_or(&[], Vec::as_slice)
    }
}

impl Draft {
    /// Creates a tree with `nodes` nodes, all of which are leaves initially.
    pub(super) fn new(nodes: usize, cover: Option<Vec<f64>>) -> Self {
        let parts = TreeParts {
            left: vec![-1; nodes],
            right: vec![-1; nodes],
            feature: vec![0; nodes],
            number: vec![0.0; nodes],
            default_left: vec![false; nodes],
            cover,
            scale: 1.0,
            ..TreeParts::default()
        };
        Self { parts, votes: Vec::new() }
    }

    /// Converts a node to a split, with one child for rows for which the test holds, and one for all other
    /// rows.
    pub(super) fn split(&mut self, node: usize, split: Split, holds: usize, fails: usize) {
        let Split { feature, region, missing_holds } = split;
        let (holds, fails) = (holds as i64, fails as i64);
        let parts = &mut self.parts;
        if region.is_constant() {
            // All rows go to one side, so this is not a split on the feature, and the cover cannot be used.
            parts.cover = None;
        }
        let exchanged = matches!(region, Region::From(_) | Region::Outside(_));
        (parts.left[node], parts.right[node]) = if exchanged { (fails, holds) } else { (holds, fails) };
        parts.default_left[node] = missing_holds != exchanged;
        parts.feature[node] = i64::from(feature);
        match region {
            Region::Below(threshold) | Region::From(threshold) => parts.number[node] = threshold,
            Region::Inside(rule) | Region::Outside(rule) => {
                parts.rules.resize(parts.left.len(), None);
                parts.rules[node] = Some(rule);
            }
        }
    }

    /// Adds a weight to the value of a leaf for an output.
    pub(super) fn vote(&mut self, leaf: usize, output: usize, weight: f64) {
        self.votes.push((leaf, output, weight));
    }

    fn is_leaf(&self, node: usize) -> bool {
        self.parts.left[node] == -1 && self.parts.right[node] == -1
    }

    /// Returns the number of leaves.
    pub(super) fn leaf_count(&self) -> usize {
        (0..self.parts.left.len()).filter(|&node| self.is_leaf(node)).count()
    }

    /// Returns the value of each leaf for each of the first `outputs` outputs of its operator, in the order
    /// of the nodes.
    pub(super) fn leaves(&self, outputs: usize) -> Vec<Vec<f64>> {
        let mut values = vec![vec![0.0; self.parts.left.len()]; outputs];
        for &(leaf, output, weight) in &self.votes {
            values[output][leaf] += weight;
        }
        let of_leaves = |values: Vec<f64>| {
            values
                .into_iter()
                .enumerate()
                .filter(|&(node, _)| self.is_leaf(node))
                .map(|(_, value)| value)
                .collect()
        };
        values.into_iter().map(of_leaves).collect()
    }

    /// Appends this tree, which has the index `tree` in the file, to the ensemble, once for each output of
    /// the model to which its leaves add.
    pub(super) fn push_to(
        self,
        ensemble: &mut Ensemble,
        tree: usize,
        targets: &Targets,
    ) -> Result<(), ModelError> {
        let mut voted: Vec<usize> = self.votes.iter().map(|vote| vote.1).collect();
        voted.sort_unstable();
        voted.dedup();
        let mut outputs: Vec<usize> = voted
            .iter()
            .flat_map(|&output| targets.of_output(output))
            .map(|&(target, _)| target)
            .chain(targets.mapped.iter().map(|mapped| mapped.0))
            .collect();
        outputs.sort_unstable();
        outputs.dedup();
        // A file stores only nonzero weights, but the tree for each output has all nodes, so N leaves could
        // become N² nodes.
        let nodes = ensemble.nodes().len() + outputs.len().saturating_mul(self.parts.left.len());
        if outputs.len() > 1 && nodes > MAX_NODES {
            let problem = format!(
                "its leaves contribute to {} outputs, and with one tree per output the model would have \
                 {nodes} nodes, more than the maximum of {MAX_NODES}",
                outputs.len()
            );
            return Err(ModelError::Tree { tree, problem });
        }
        let named = |error: ModelError| error.in_tree(tree);
        // A tree without weights is zero everywhere.
        let Some((&last, others)) = outputs.split_last() else {
            return ensemble.push(self.parts).map_err(named);
        };
        let mut values: HashMap<usize, Vec<(usize, f64)>> = HashMap::new();
        for &(leaf, output, weight) in &self.votes {
            for &(target, factor) in targets.of_output(output) {
                values.entry(target).or_default().push((leaf, factor * weight));
            }
        }
        for (target, leaves) in &targets.mapped {
            let nodes = (0..self.parts.left.len()).filter(|&node| self.is_leaf(node));
            values.entry(*target).or_default().extend(nodes.zip(leaves.iter().copied()));
        }
        let with_values = |mut parts: TreeParts, output: usize| {
            parts.output = output;
            for &(leaf, value) in values.get(&output).into_iter().flatten() {
                parts.number[leaf] += value;
            }
            parts
        };
        for &output in others {
            ensemble.push(with_values(self.parts.clone(), output)).map_err(named)?;
        }
        ensemble.push(with_values(self.parts, last)).map_err(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{EnsembleParts, Origin, Width};

    #[test]
    fn a_tree_for_each_output_is_refused_where_that_is_too_many_nodes() {
        let (splits, leaves) = (1 << 15, (1 << 15) + 1);
        let text = |text: &str| text.to_owned();
        let origin = Origin {
            format: text("ONNX"),
            version: text("1"),
            booster: text("trees"),
            objective: text("none"),
        };
        let parts = EnsembleParts {
            width: Width::Single,
            features: 1,
            feature_names: None,
            base_margins: vec![0.0; leaves],
            link: None,
            origin,
        };
        let mut ensemble = Ensemble::new(parts, 0);
        // A chain of splits, each of whose leaves adds to a different output.
        let mut draft = Draft::new(splits + leaves, None);
        for split in 0..splits {
            let decision = Split { feature: 0, region: Region::Below(1.0), missing_holds: false };
            draft.split(2 * split, decision, 2 * split + 1, 2 * split + 2);
            draft.vote(2 * split + 1, split, 1.0);
        }
        draft.vote(2 * splits, splits, 1.0);
        let mut targets = Targets::default();
        (0..leaves).for_each(|output| targets.add_weighted(output, output, 1.0));
        let error = draft.push_to(&mut ensemble, 7, &targets).unwrap_err();
        assert!(
            matches!(&error, ModelError::Tree { tree: 7, problem } if problem.contains("32769 outputs")),
            "{error}"
        );
        assert!(ensemble.nodes().is_empty());
    }
}
