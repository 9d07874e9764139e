//! How a node of either layout decides, brought to the normal form.
//!
//! A node's two ways are those where its test holds (true) and where it does not (false). With x̂ < t as the only comparison,
//!
//! | test | left | of x̂ |
//! |---|---|---|
//! | x ≤ t | true | < the next number after t |
//! | x < t | true | < t |
//! | x ≥ t | false | < t |
//! | x > t | false | < the next number after t |
//! | x = t, x one of some | true | exactly one of those |
//! | x ≠ t | false | exactly t |
//!
//! A missing value goes the false way unless the node says otherwise, whatever the test: so the specification; a runtime that takes
//! NaN ≠ t for true goes the other way at such nodes.

use super::walk::{Region, Split};
use crate::ensemble::{Ensemble, TreeParts};
use crate::error::ModelError;

/// The test of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    AtMost,
    Less,
    AtLeast,
    More,
    Equal,
    Unequal,
    Member,
    Leaf,
}

impl Mode {
    /// By its name in `TreeEnsembleRegressor` and `TreeEnsembleClassifier`.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"BRANCH_LEQ" => Self::AtMost,
            b"BRANCH_LT" => Self::Less,
            b"BRANCH_GTE" => Self::AtLeast,
            b"BRANCH_GT" => Self::More,
            b"BRANCH_EQ" => Self::Equal,
            b"BRANCH_NEQ" => Self::Unequal,
            b"LEAF" => Self::Leaf,
            _ => return None,
        })
    }

    /// By its number in `TreeEnsemble`.
    pub(super) fn numbered(number: f64) -> Option<Self> {
        const MODES: [Mode; 7] =
            [Mode::AtMost, Mode::Less, Mode::AtLeast, Mode::More, Mode::Equal, Mode::Unequal, Mode::Member];
        (0..MODES.len()).find(|&mode| mode as f64 == number).map(|mode| MODES[mode])
    }
}

/// A test with its way for missing values.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    pub(super) mode: Mode,
    pub(super) feature: i64,
    pub(super) number: f64,
    /// Of a node that tests for members.
    pub(super) members: Vec<f64>,
    pub(super) missing_true: bool,
}

impl Decision {
    /// Refuses a decision that means nothing, with the file's number of the node, which that of the normal form may not be.
    pub(super) fn check(&self, node: i64, features: usize) -> Result<(), String> {
        if usize::try_from(self.feature).is_ok_and(|feature| feature < features) {
            return match self.mode != Mode::Member && self.number.is_nan() {
                true => Err(format!("node {node} has the threshold NaN")),
                false => Ok(()),
            };
        }
        Err(format!("node {node} splits on feature {}, but there are {features} features", self.feature))
    }
}

/// Nodes that an ensemble may have when trees with several outputs are taken apart: some 3 GB.
const MOST_NODES: usize = 1 << 27;

/// A tree that is being put together: the ways of its nodes, and the weights of its leaves.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    parts: TreeParts,
    /// Leaf, output, weight.
    votes: Vec<(usize, usize, f64)>,
}

/// What the leaves of a tree add to an output of the model.
pub(super) enum Leaves<'a> {
    /// Weighted sums of what they add to outputs of their operator: output and weight.
    Weighted(&'a [(usize, f64)]),
    /// A value for each leaf, in the order of the nodes.
    Mapped(&'a [f64]),
}

impl Draft {
    /// Nodes that are leaves until they are made splits.
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

    /// Makes a split of a node, with the children where the test holds and where it does not.
    pub(super) fn split(&mut self, node: usize, split: Split, holds: usize, fails: usize) {
        let Split { feature, region, missing_holds } = split;
        let (holds, fails) = (holds as i64, fails as i64);
        let parts = &mut self.parts;
        if region.is_constant() {
            // All of the cover is on one side, which no split of a feature does.
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

    /// Adds to what a leaf adds to an output.
    pub(super) fn vote(&mut self, leaf: usize, output: usize, weight: f64) {
        self.votes.push((leaf, output, weight));
    }

    fn is_leaf(&self, node: usize) -> bool {
        self.parts.left[node] == -1 && self.parts.right[node] == -1
    }

    /// What each leaf adds to an output of its operator, in the order of the nodes.
    pub(super) fn leaves(&self, output: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.parts.left.len()];
        self.add_votes(&[(output, 1.0)], &mut values);
        let leaves = values.into_iter().enumerate().filter(|&(node, _)| self.is_leaf(node));
        leaves.map(|(_, value)| value).collect()
    }

    fn add_votes(&self, weights: &[(usize, f64)], values: &mut [f64]) {
        for &(leaf, output, weight) in &self.votes {
            for &(_, factor) in weights.iter().filter(|&&(wanted, _)| wanted == output) {
                values[leaf] += factor * weight;
            }
        }
    }

    /// Returns whether some leaf adds to one of these outputs of the operator.
    fn adds_to(&self, leaves: &Leaves<'_>) -> bool {
        match leaves {
            Leaves::Mapped(_) => true,
            Leaves::Weighted(weights) => {
                self.votes.iter().any(|vote| weights.iter().any(|&(output, _)| output == vote.1))
            }
        }
    }

    /// Appends this tree, `tree` of the file: once for each output of the model that its leaves add to.
    pub(super) fn push_to(
        mut self,
        ensemble: &mut Ensemble,
        tree: usize,
        outputs: &[(usize, Leaves<'_>)],
    ) -> Result<(), ModelError> {
        let used: Vec<&(usize, Leaves<'_>)> =
            outputs.iter().filter(|(_, leaves)| self.adds_to(leaves)).collect();
        // A file lists weights that are not zero, and a tree for each output has all nodes: N leaves could be N² of them.
        let nodes = ensemble.nodes().len() + used.len().saturating_mul(self.parts.left.len());
        if used.len() > 1 && nodes > MOST_NODES {
            let problem = format!(
                "its leaves add to {} outputs, and with one tree for each the model would have {nodes} nodes, where {MOST_NODES} are the most",
                used.len()
            );
            return Err(ModelError::Tree { tree, problem });
        }
        let named = |error: ModelError| error.in_tree(tree);
        // Without a vote it is a tree of zeros.
        let Some((last, others)) = used.split_last() else {
            return ensemble.push(self.parts).map_err(named);
        };
        for (output, leaves) in others {
            let parts = self.parts_for(*output, leaves, self.parts.clone());
            ensemble.push(parts).map_err(named)?;
        }
        let parts = std::mem::take(&mut self.parts);
        let parts = self.parts_for(last.0, &last.1, parts);
        ensemble.push(parts).map_err(named)
    }

    fn parts_for(&self, output: usize, leaves: &Leaves<'_>, mut parts: TreeParts) -> TreeParts {
        parts.output = output;
        match leaves {
            Leaves::Weighted(weights) => self.add_votes(weights, &mut parts.number),
            Leaves::Mapped(values) => {
                let mut next = values.iter();
                for node in
                    (0..parts.left.len()).filter(|&node| (parts.left[node], parts.right[node]) == (-1, -1))
                {
                    parts.number[node] = next.next().copied().unwrap_or(0.0);
                }
            }
        }
        parts
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
        // A chain, whose leaves add to an output each.
        let mut draft = Draft::new(splits + leaves, None);
        for split in 0..splits {
            let decision = Split { feature: 0, region: Region::Below(1.0), missing_holds: false };
            draft.split(2 * split, decision, 2 * split + 1, 2 * split + 2);
            draft.vote(2 * split + 1, split, 1.0);
        }
        draft.vote(2 * splits, splits, 1.0);
        let weights: Vec<[(usize, f64); 1]> = (0..leaves).map(|output| [(output, 1.0)]).collect();
        let outputs: Vec<(usize, Leaves<'_>)> =
            weights.iter().enumerate().map(|(output, weights)| (output, Leaves::Weighted(weights))).collect();
        let error = draft.push_to(&mut ensemble, 7, &outputs).unwrap_err();
        assert!(
            matches!(&error, ModelError::Tree { tree: 7, problem } if problem.contains("32769 outputs")),
            "{error}"
        );
        assert!(ensemble.nodes().is_empty());
    }
}
