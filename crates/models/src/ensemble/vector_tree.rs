//! Trees whose leaves have values for several outputs.

use super::{Ensemble, Rule, TreeParts};
use crate::error::ModelError;

/// The rule of a split in normal form.
#[derive(Clone, Default)]
pub(crate) struct Split {
    pub(crate) feature: i64,
    /// The threshold, if the split compares a number with a threshold.
    pub(crate) threshold: f64,
    pub(crate) default_left: bool,
    pub(crate) rule: Option<Rule>,
}

/// A tree under construction whose leaves have values for several outputs. Nodes are added one by one, the
/// root first.
#[derive(Default)]
pub(crate) struct VectorTree {
    /// All parts of the tree except the values of leaves and the outputs.
    parts: TreeParts,
    /// For each leaf, the index of its first value.
    starts: Vec<Option<usize>>,
    values: Vec<f64>,
}

impl VectorTree {
    /// Adds a split whose children are the nodes with these indices, which may be added later.
    pub(crate) fn add_split(&mut self, [left, right]: [i64; 2], split: Split) {
        let parts = &mut self.parts;
        parts.left.push(left);
        parts.right.push(right);
        parts.feature.push(split.feature);
        parts.number.push(split.threshold);
        parts.default_left.push(split.default_left);
        parts.rules.push(split.rule);
        self.starts.push(None);
    }

    pub(crate) fn add_leaf(&mut self, values: impl IntoIterator<Item = f64>) {
        self.add_split([-1, -1], Split::default());
        self.starts.pop();
        self.starts.push(Some(self.values.len()));
        self.values.extend(values);
    }

    /// Sets the cover of all nodes.
    pub(crate) fn set_covers(&mut self, cover: Option<Vec<f64>>) {
        self.parts.cover = cover;
    }

    /// Sets the cover of all nodes from the covers of the leaves, in the order of their nodes. The cover of a
    /// split is the sum of the covers of its children, which have higher indices than the split.
    pub(crate) fn set_covers_of_leaves(&mut self, of_leaves: &[f64]) {
        let (left, right) = (&self.parts.left, &self.parts.right);
        let mut next = of_leaves.iter().copied();
        let of_leaf = |start: &Option<usize>| start.and_then(|_| next.next()).unwrap_or(0.0);
        let mut cover: Vec<f64> = self.starts.iter().map(of_leaf).collect();
        for node in (0..cover.len()).rev().filter(|&node| left[node] != -1) {
            cover[node] = cover[left[node] as usize] + cover[right[node] as usize];
        }
        self.parts.cover = Some(cover);
    }

    /// Appends this tree, which has the index `tree` in the file, to an ensemble, once for each output to
    /// which its leaves add. Ends a boosting round.
    pub(crate) fn push_to(
        mut self,
        ensemble: &mut Ensemble,
        tree: usize,
        outputs: impl IntoIterator<Item = usize>,
        scale: f64,
    ) -> Result<(), ModelError> {
        if self.parts.rules.iter().all(Option::is_none) {
            self.parts.rules.clear();
        }
        for (place, output) in outputs.into_iter().enumerate() {
            let mut parts = TreeParts { output, scale, ..self.parts.clone() };
            for (number, start) in parts.number.iter_mut().zip(&self.starts) {
                if let Some(start) = start {
                    *number = self.values[start + place];
                }
            }
            ensemble.push(parts).map_err(|error| error.in_tree(tree))?;
        }
        ensemble.end_round();
        Ok(())
    }
}
