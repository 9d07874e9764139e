//! The model of some rounds of boosting.

use std::ops::Range;

use super::{Ensemble, Node, Rounds};
use crate::error::ModelError;

/// What is known of an ensemble's rounds.
impl Ensemble {
    /// The number of rounds in the file.
    pub fn round_count(&self) -> usize {
        self.rounds.ends.len()
    }

    /// The number of rounds up to the best one, where the file says which that is.
    pub fn best_round_count(&self) -> Option<usize> {
        self.rounds.best
    }

    /// The rounds that are used.
    pub fn rounds(&self) -> Range<usize> {
        self.rounds.used.clone()
    }

    /// All trees up to here, since the round before, are one round.
    pub(crate) fn end_round(&mut self) {
        self.rounds.ends.push(self.trees.len());
        self.rounds.used.end = self.rounds.ends.len();
    }

    /// The file says after how many rounds the model was best.
    pub(crate) fn set_best_round_count(&mut self, count: usize) {
        self.rounds.best = Some(count);
    }

    /// The leaves are divided by the number of rounds.
    pub(crate) fn set_averaged(&mut self) {
        self.rounds.averaged = true;
    }

    /// The model of some of the rounds, of a file whose rounds are all there.
    ///
    /// # Errors
    ///
    /// [`ModelError::Rounds`] where the file has no such rounds.
    pub(crate) fn of_rounds(mut self, rounds: &Rounds) -> Result<Self, ModelError> {
        let count = self.round_count();
        let used = match rounds {
            Rounds::All => 0..count,
            // A model that was cut after it was trained may be shorter.
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
            // Its rounds are these: where nothing is left it is as if there had been nothing.
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

    /// Multiplies the leaves by the factor of the output that they add to.
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
