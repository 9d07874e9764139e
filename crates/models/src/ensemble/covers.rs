//! Replacement of the training cover with the cover of other rows.

use apportion_games::{Background, GameError, Rows, parallel};

use super::{CoverProblem, Ensemble, Rule};
use crate::error::ModelError;

impl Ensemble {
    /// Replaces the cover of each node with the number of the given rows that reach it. For absent features,
    /// the path-dependent game then averages over branches in the proportions of these rows.
    /// [`check_covers`](Self::check_covers) describes how nodes that no row reaches are treated.
    ///
    /// Takes O(trees × depth) time per row, in parallel over the trees.
    ///
    /// # Errors
    ///
    /// [`ModelError::Game`] if there are no rows, and for rows that [`check_rows`](Self::check_rows) rejects.
    pub fn with_covers_of(self, rows: Rows<'_>) -> Result<Self, ModelError> {
        self.with_covers(rows, None)
    }

    /// Replaces the cover like [`with_covers_of`](Self::with_covers_of), but with the weights of the rows
    /// that reach a node instead of their number.
    ///
    /// # Errors
    ///
    /// The errors of [`with_covers_of`](Self::with_covers_of), and an error for invalid weights. There must
    /// be one weight per row, and weights must be finite, non-negative and not all zero.
    pub fn with_covers_of_weighted(self, rows: Rows<'_>, weights: &[f64]) -> Result<Self, ModelError> {
        self.with_covers(rows, Some(weights))
    }

    fn with_covers(mut self, rows: Rows<'_>, weights: Option<&[f64]>) -> Result<Self, ModelError> {
        self.check_rows(rows, "row")?;
        if rows.is_empty() {
            return Err(GameError::EmptyBackground.into());
        }
        let rounded: Vec<f64> = rows.values().iter().map(|&value| self.width().round(value)).collect();
        // Weights are normalized to the number of rows, so that the result does not depend on their unit.
        let shares = match weights {
            None => vec![1.0; rows.len()],
            Some(weights) => {
                let background =
                    Background::rows(rounded.as_slice(), self.features)?.with_weights(weights)?;
                let rows = rows.len() as f64;
                background.weights().iter().map(|share| share * rows).collect()
            }
        };
        let covers = parallel::map(0..self.trees.len(), |tree| self.counts(tree, &rounded, &shares));
        self.cover = covers.into_iter().flatten().collect();
        self.cover_problems.clear();
        for tree in 0..self.trees.len() {
            let fault = self.cover_fault(tree).or_else(|| self.fill_empty(tree));
            self.cover_problems.extend(fault.map(|(node, problem)| CoverProblem { tree, node, problem }));
        }
        Ok(self)
    }

    /// Returns the total weight of the rounded rows that reach each node of a tree.
    fn counts(&self, tree: usize, rounded: &[f64], weights: &[f64]) -> Vec<f64> {
        let nodes = self.nodes_of(&self.trees[tree]);
        let mut counts = vec![0.0; nodes.len()];
        for (row, weight) in rounded.chunks_exact(self.features).zip(weights) {
            let mut at = 0;
            counts[at] += weight;
            while !nodes[at].is_leaf() {
                let node = nodes[at];
                at = if self.goes_left(node, row[node.feature()]) { node.left() } else { node.right() };
                counts[at] += weight;
            }
        }
        counts
    }

    /// Returns the categorical features: features whose values some split treats as categories, and features
    /// that have [categories](Self::categories). Numbers between two codes of such a feature are meaningless.
    pub fn categorical_features(&self) -> Vec<usize> {
        let mut is_categorical = vec![false; self.features];
        for (feature, _) in self.features_with_categories() {
            is_categorical[feature] = true;
        }
        for node in self.nodes.iter().filter(|node| !node.is_leaf() && node.is_ruled()) {
            is_categorical[node.feature()] |= match self.rules[node.rule()] {
                Rule::Set { .. } | Rule::Exactly(_) | Rule::Hashed(_) | Rule::Statistic { .. } => true,
                // These rules compare numbers, not categories.
                Rule::Between { .. } | Rule::Except { .. } | Rule::ZeroIsMissing { .. } => false,
            };
        }
        (0..self.features).filter(|&feature| is_categorical[feature]).collect()
    }
}
