//! Covers from rows of one's own, in place of those of the training.

use apportion_games::{Rows, parallel};

use super::{CoverProblem, Ensemble, Rule};
use crate::error::ModelError;

impl Ensemble {
    /// The same model with other covers: of each node the number of these rows that come to it. The path-dependent game then averages
    /// over the branches of absent features as these rows go. A node that no row reaches is empty ([`check_covers`](Self::check_covers)
    /// says what that means).
    ///
    /// Takes O(trees × depth) per row, in parallel over the trees.
    ///
    /// # Errors
    ///
    /// [`ModelError::Game`] for rows of another width or with infinite values, and where there are none.
    pub fn with_covers_of(mut self, rows: Rows<'_>) -> Result<Self, ModelError> {
        self.check_rows(rows, "row")?;
        if rows.is_empty() {
            return Err(apportion_games::GameError::EmptyBackground.into());
        }
        let rounded: Vec<f64> = rows.values().iter().map(|&value| self.width().round(value)).collect();
        let covers = parallel::map(0..self.trees.len(), |tree| self.counts(tree, &rounded));
        self.cover = covers.into_iter().flatten().collect();
        self.cover_problems.clear();
        for tree in 0..self.trees.len() {
            let fault = self.cover_fault(tree).or_else(|| self.fill_empty(tree));
            self.cover_problems.extend(fault.map(|(node, problem)| CoverProblem { tree, node, problem }));
        }
        Ok(self)
    }

    /// How many of the rounded rows come to each node of a tree.
    fn counts(&self, tree: usize, rounded: &[f64]) -> Vec<f64> {
        let nodes = self.nodes_of(&self.trees[tree]);
        let mut counts = vec![0.0; nodes.len()];
        for row in rounded.chunks_exact(self.features) {
            let mut at = 0;
            counts[at] += 1.0;
            while !nodes[at].is_leaf() {
                let node = nodes[at];
                at = if self.goes_left(node, row[node.feature()]) { node.left() } else { node.right() };
                counts[at] += 1.0;
            }
        }
        counts
    }

    /// Which features are categories: those whose numbers some split looks up in a list, and those that have
    /// [words](Self::words). A number between two categories means nothing.
    pub fn categorical_features(&self) -> Vec<usize> {
        let mut is_categorical: Vec<bool> =
            (0..self.features).map(|feature| self.words(feature).is_some()).collect();
        for node in self.nodes.iter().filter(|node| !node.is_leaf() && node.is_ruled()) {
            is_categorical[node.feature()] |= match self.rules[node.rule()] {
                Rule::Set { .. } | Rule::Exactly(_) | Rule::Hashed(_) | Rule::Statistic { .. } => true,
                // These compare numbers.
                Rule::Between { .. } | Rule::ZeroIsMissing { .. } => false,
            };
        }
        (0..self.features).filter(|&feature| is_categorical[feature]).collect()
    }
}
