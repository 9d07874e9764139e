//! Restriction of a model to some boosting rounds.

use std::ops::Range;

use super::{Ensemble, Node, Rounds};
use crate::error::ModelError;

/// Boosting rounds of an ensemble.
impl Ensemble {
    /// Returns the number of rounds in the file.
    pub fn round_count(&self) -> usize {
        self.rounds.ends.len()
    }

    /// Returns the number of rounds up to the best one, if the file stores it.
    pub fn best_round_count(&self) -> Option<usize> {
        self.rounds.best
    }

    /// Returns the rounds in use.
    pub fn rounds(&self) -> Range<usize> {
        self.rounds.used.clone()
    }

    /// Ends a round, which consists of all trees added since the end of the previous round.
    pub(crate) fn end_round(&mut self) {
        self.rounds.ends.push(self.trees.len());
        self.rounds.used.end = self.rounds.ends.len();
    }

    /// Sets the number of rounds up to the best one.
    pub(crate) fn set_best_round_count(&mut self, count: usize) {
        self.rounds.best = Some(count);
    }

    /// Marks the model as the mean over its rounds: its leaves are already divided by the number of rounds.
    pub(crate) fn set_averaged(&mut self) {
        self.rounds.averaged = true;
    }

    /// Restricts the model to some of the rounds. All rounds of the file must still be in use.
    ///
    /// # Errors
    ///
    /// [`ModelError::Rounds`] if the file does not contain these rounds.
    pub(crate) fn of_rounds(mut self, rounds: &Rounds) -> Result<Self, ModelError> {
        let count = self.round_count();
        let used = match rounds {
            Rounds::All => 0..count,
            // A model that was sliced after training may end before its best round.
            Rounds::Best => 0..self.rounds.best.unwrap_or(count).min(count),
            Rounds::Within(rounds) if rounds.is_empty() || rounds.end > count => {
                return Err(ModelError::Rounds { start: rounds.start, end: rounds.end, count });
            }
            Rounds::Within(rounds) => rounds.clone(),
        };
        if used == (0..count) {
            return Ok(self);
        }
        let before = self.trees_by_output();
        let tree_of = |round: usize| round.checked_sub(1).map_or(0, |last| self.rounds.ends[last]);
        let trees = tree_of(used.start)..tree_of(used.end);
        let node_of = |tree: usize| self.trees.get(tree).map_or(self.nodes.len(), |tree| tree.nodes().start);
        let nodes = node_of(trees.start)..node_of(trees.end);
        self.cover = self.cover[nodes.clone()].to_vec();
        self.nodes = self.nodes[nodes.clone()].to_vec();
        self.trees = self.trees[trees.clone()].to_vec();
        self.trees.iter_mut().for_each(|tree| tree.first -= nodes.start);
        self.cover_problems.retain(|problem| trees.contains(&problem.tree));
        self.linear_trees.retain(|(tree, _)| trees.contains(tree));
        if self.rounds.averaged {
            let after = self.trees_by_output();
            let factors =
                before.iter().zip(after).map(|(&before, after)| before as f64 / after.max(1) as f64);
            self.scale_leaves(&factors.collect::<Vec<_>>());
        }
        if let Some(joint) = self.joint.take() {
            // Joint trees have the same rounds. If no joint tree remains, the field becomes `None`.
            self.joint = joint.of_rounds(&Rounds::Within(used.clone()))?.map(Box::new);
        }
        self.rounds.used = used;
        Ok(self)
    }

    fn trees_by_output(&self) -> Vec<usize> {
        let mut counts = vec![0; self.output_count()];
        self.trees.iter().for_each(|tree| counts[tree.output] += 1);
        counts
    }

    /// Multiplies each leaf by the factor of its output.
    fn scale_leaves(&mut self, factors: &[f64]) {
        for tree in &self.trees {
            let factor = factors[tree.output];
            for node in self.nodes[tree.nodes()].iter_mut().filter(|node| node.is_leaf()) {
                let value = node.value() * factor;
                let Some(model) = node.linear() else {
                    *node = Node::leaf(value);
                    continue;
                };
                *node = Node::linear_leaf(value, model as u32);
                let model = &mut self.linear_leaves[model];
                model.constant *= factor;
                model.terms.iter_mut().for_each(|(_, coefficient)| *coefficient *= factor);
            }
        }
    }
}
