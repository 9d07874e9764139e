//! Trees in a binary file, stored as lists of the splits, the steps and the leaves of all trees.
//!
//! An oblivious tree of size d has d splits and 2^d leaves. For other trees, the size is the number of nodes,
//! and a step contains the distances to the two children of a node. If both distances are 0, the node is a
//! leaf. If only one distance is 0, that child is a leaf with the value of the node.

use super::flat::{Table, pairs_of_16};
use crate::ensemble::{Split, VectorTree};
use crate::error::ModelError;
use crate::formats::catboost::splits::{Condition, Grove, Splits};
use crate::formats::catboost::trees::{MAX_SPLITS, oblivious};

/// The lists of all trees, parsed and ready to be converted to trees of an ensemble.
pub(super) struct Trees<'a> {
    table: Table<'a>,
    /// The conditions of splits, by the index that trees use.
    conditions: Vec<Condition>,
    splits: Vec<i32>,
    sizes: Vec<i32>,
    values: Vec<f64>,
    /// The weights of all leaves; empty if the file does not store weights.
    weights: Vec<f64>,
    /// Steps to the left and right child; empty if trees are oblivious.
    steps: Vec<[u16; 2]>,
    /// For each node, the index of its first value if it is a leaf; empty if trees are oblivious.
    leaves: Vec<i32>,
}

impl<'a> Trees<'a> {
    pub(super) fn read(table: Table<'a>, conditions: Vec<Condition>) -> Result<Self, ModelError> {
        let (splits, sizes, starts) = (table.ints(1)?, table.ints(2)?, table.ints(3)?);
        let mut end = 0i64;
        for (tree, &size) in sizes.iter().enumerate() {
            if starts.get(tree).is_some_and(|&start| i64::from(start) != end) {
                return Err(
                    table.error(format!("tree {tree} does not start at the end of the tree before it"))
                );
            }
            end += i64::from(size);
            if size < 0 || end > splits.len() as i64 {
                return Err(table
                    .error(format!("invalid size {size} of tree {tree} ({} splits in all)", splits.len())));
            }
        }
        let (steps, leaves) = (pairs_of_16(table.list(10, 4)?).collect::<Vec<_>>(), table.ints(11)?);
        if !steps.is_empty() && (steps.len() != splits.len() || leaves.len() != splits.len()) {
            return Err(table.error(format!(
                "{} steps and {} leaves do not match {} nodes",
                steps.len(),
                leaves.len(),
                splits.len()
            )));
        }
        let (values, weights) = (table.doubles(8)?, table.doubles(9)?);
        Ok(Self { table, conditions, splits, sizes, values, weights, steps, leaves })
    }

    /// Returns a description of the kind of trees, for display.
    pub(super) fn kind(&self) -> &'static str {
        if self.steps.is_empty() { "oblivious trees" } else { "nested trees" }
    }

    /// Returns an estimate of the number of nodes, to reserve memory.
    pub(super) fn node_count(&self) -> usize {
        2 * self.values.len()
    }

    /// Appends all trees, with leaves multiplied by `scale`.
    pub(super) fn push_to(&self, splits: &Splits, grove: &mut Grove, scale: f64) -> Result<(), ModelError> {
        // `leaves` counts the leaves so far, whose total is limited by the number of values, since leaves do
        // not share values.
        let (mut start, mut leaves) = (0, 0);
        for (number, &size) in self.sizes.iter().enumerate() {
            let nodes = start..start + size as usize;
            start = nodes.end;
            let (tree, is_joint) = if self.steps.is_empty() {
                self.oblivious(splits, &self.splits[nodes], &mut leaves, grove.outputs())
            } else {
                self.stepwise(splits, nodes, &mut leaves, grove.outputs())
            }
            .map_err(|problem| self.table.error(format!("tree {number}: {problem}")))?;
            grove.push(tree, number, is_joint, scale)?;
        }
        Ok(())
    }

    /// Returns the split with this index, and whether the split depends on several features.
    fn split(&self, splits: &Splits, number: i32) -> Result<(Split, bool), String> {
        let condition = usize::try_from(number).ok().and_then(|number| self.conditions.get(number));
        let condition = condition
            .ok_or_else(|| format!("split {number} is out of range (splits: {})", self.conditions.len()))?;
        Ok((splits.split(*condition)?, splits.is_joint(*condition)))
    }

    fn oblivious(
        &self,
        splits: &Splits,
        numbers: &[i32],
        before: &mut usize,
        outputs: usize,
    ) -> Result<(VectorTree, bool), String> {
        if numbers.len() > MAX_SPLITS {
            return Err(format!("{} splits exceed the maximum of {MAX_SPLITS}", numbers.len()));
        }
        let read = numbers.iter().map(|&number| self.split(splits, number));
        let (read, joint): (Vec<Split>, Vec<bool>) =
            read.collect::<Result<Vec<_>, String>>()?.into_iter().unzip();
        let leaves = *before..*before + (1 << numbers.len());
        *before = leaves.end;
        let values = self.values.get(leaves.start * outputs..leaves.end * outputs);
        let values =
            values.ok_or_else(|| format!("leaf {} has no values (outputs: {outputs})", leaves.end - 1))?;
        let weights = match self.weights.is_empty() {
            true => None,
            false => Some(self.weights.get(leaves.clone()).ok_or("some leaves have no weights")?),
        };
        Ok((oblivious(&read, values, weights, outputs), joint.contains(&true)))
    }

    fn stepwise(
        &self,
        splits: &Splits,
        nodes: std::ops::Range<usize>,
        before: &mut usize,
        outputs: usize,
    ) -> Result<(VectorTree, bool), String> {
        let mut shape = VectorTree::default();
        let (mut weights, mut joint) = (Vec::new(), false);
        // Nodes in the order of their new indices. The leaf that replaces a missing child is queued with the
        // index of its parent, marked as a leaf.
        let mut queue = std::collections::VecDeque::from([(nodes.start, false)]);
        let mut listed = 1;
        while let Some((node, is_leaf)) = queue.pop_front() {
            if !nodes.contains(&node) {
                return Err(format!("node {} is out of range (nodes: {})", node - nodes.start, nodes.len()));
            }
            let steps = self.steps[node];
            if is_leaf || steps == [0, 0] {
                *before += 1;
                if before.saturating_mul(outputs) > self.values.len() {
                    return Err(format!("leaf {before} has no values (outputs: {outputs})"));
                }
                let place = self.leaves[node] as u32 as usize;
                let values = self.values.get(place..place.saturating_add(outputs));
                shape.add_leaf(
                    values.ok_or_else(|| format!("the leaf at index {place} has no values"))?.iter().copied(),
                );
                weights.push(self.weights.get(place / outputs).copied());
                continue;
            }
            let (split, is_joint) = self.split(splits, self.splits[node])?;
            joint |= is_joint;
            shape.add_split([listed, listed + 1], split);
            listed += 2;
            // Steps lead to later nodes, and each node may be reached only once.
            if listed as usize > 2 * nodes.len() + 1 {
                return Err("some nodes are reached more than once".to_owned());
            }
            queue.extend(steps.map(|step| (node + usize::from(step), step == 0)));
        }
        if let Some(weights) = weights.into_iter().collect::<Option<Vec<f64>>>() {
            shape.set_covers_of_leaves(&weights);
        }
        Ok((shape, joint))
    }
}
