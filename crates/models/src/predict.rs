//! Prediction of margins.

use apportion_games::{BoxError, Cancellation, GameError, Model, Rows, parallel, scan};

use crate::ensemble::tree::{Node, Tree};
use crate::ensemble::{Ensemble, Width};
use crate::error::ModelError;

/// Number of rows that pass through a tree together, so that their memory accesses overlap.
const LANES: usize = 8;
/// Number of rows of a block. A task passes four blocks through all trees together, so that their rounded
/// values stay in cache.
const BLOCK: usize = 64;
/// Maximum depth of trees for which rows are traversed in lanes. Deeper trees are traversed row by row,
/// because the lengths of the paths differ too much between lanes.
const LANE_DEPTH: usize = 16;

impl Ensemble {
    /// Checks that rows fit the model. Each row must have one value per feature. Features that the model
    /// [requires](Self::refuses_missing) must not be missing. A value that is multiplied by a coefficient of
    /// a linear model or leaf must be finite after rounding to the [width](Self::width) of the ensemble.
    /// Splits accept infinite values, since they only compare. `what` is the word for a row in error
    /// messages.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] if the number of columns differs from the number of features,
    /// [`GameError::InfiniteInput`] for an infinite value that a linear model multiplies,
    /// [`GameError::MissingInput`] for a missing value that the model requires.
    pub fn check_rows(&self, rows: Rows<'_>, what: &str) -> Result<(), GameError> {
        let features = self.feature_count();
        if rows.columns() != features {
            return Err(GameError::Width {
                what: format!("{what} 0"),
                actual: rows.columns(),
                expected: features,
            });
        }
        let place = |index: usize| (format!("{what} {}", index / features), index % features);
        if let Some(index) = self.infinite_in_linear(rows) {
            let (what, column) = place(index);
            let reason = match self.width() {
                Width::Single => {
                    "linear models of this file compute in 32-bit floats; pass a number below 3.4e38 in \
                     absolute value, as in training"
                }
                Width::Double => "linear models require finite values; pass a finite number, as in training",
            };
            return Err(GameError::InfiniteInput { what, column, value: rows.values()[index], reason });
        }
        if !self.refuses_any_missing() {
            return Ok(());
        }
        let is_wanted = |index: usize| self.refuses_missing(index % features);
        let mut missing = rows.values().iter().enumerate().filter(|(_, value)| value.is_nan());
        match missing.find(|&(index, _)| is_wanted(index)) {
            None => Ok(()),
            Some((index, _)) => {
                let (what, column) = place(index);
                Err(GameError::MissingInput { what, column })
            }
        }
    }

    /// Returns the index of the first value that is infinite after rounding and has a coefficient in a linear
    /// model.
    fn infinite_in_linear(&self, rows: Rows<'_>) -> Option<usize> {
        let in_linear = self.linear_features();
        if in_linear.is_empty() {
            return None;
        }
        let features = self.feature_count();
        let mut first = 0;
        loop {
            let rest = &rows.values()[first..];
            // One loop per width, to keep the branch out of the inner loop.
            let infinite = match self.width() {
                Width::Single => scan::position(rest, |value| (value as f32).is_infinite()),
                Width::Double => scan::position(rest, f64::is_infinite),
            };
            let index = first + infinite?;
            if in_linear[index % features] {
                return Some(index);
            }
            first = index + 1;
        }
    }

    /// Returns the margins of rows: rows × outputs, row-major. Each is `base_k + Σ leaves`, added in `f64` in
    /// the order of the trees.
    ///
    /// A missing value is NaN. Takes O(trees × depth) time per row. Blocks of rows run in parallel and do not
    /// share sums, so the result does not depend on the number of threads.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] if the number of columns differs from the number of features,
    /// [`GameError::InfiniteInput`] if a linear model has to multiply an infinite value,
    /// [`GameError::MissingInput`] if a required value is missing.
    pub fn margins(&self, rows: Rows<'_>) -> Result<Vec<f64>, ModelError> {
        let mut margins = vec![0.0; rows.len() * self.output_count()];
        self.write_margins(rows, &mut margins)?;
        Ok(margins)
    }

    fn write_margins(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), GameError> {
        self.check_rows(rows, "row")?;
        let (features, outputs) = (self.feature_count(), self.output_count());
        // Tasks of several blocks load each tree into the cache only once for all their rows.
        let tasks = out.chunks_mut(4 * BLOCK * outputs).zip(rows.values().chunks(4 * BLOCK * features));
        parallel::map_with(tasks, Vec::new, |rounded: &mut Vec<f64>, (out, values)| {
            rounded.clear();
            rounded.extend(values.iter().map(|&value| self.width().round(value)));
            self.block_margins(rounded, out);
        });
        Ok(())
    }

    /// Computes the margins of rows that are already rounded.
    fn block_margins(&self, rounded: &[f64], out: &mut [f64]) {
        for margins in out.chunks_exact_mut(self.output_count()) {
            margins.copy_from_slice(self.base_margins());
        }
        self.add_trees(rounded, out);
        if let Some(joint) = self.joint() {
            joint.ensemble().add_trees(&joint.extended(rounded), out);
        }
    }

    /// Adds the leaves of all trees except joint trees.
    fn add_trees(&self, rounded: &[f64], out: &mut [f64]) {
        let leaves = if rounded.iter().any(|value| value.is_nan()) {
            lane_leaves::<true>
        } else {
            lane_leaves::<false>
        };
        let (features, outputs) = (self.feature_count(), self.output_count());
        for tree in self.trees() {
            Cancellation::check();
            let nodes = self.nodes_of(tree);
            let together = tree.depth <= LANE_DEPTH && !tree.ruled && !tree.linear;
            for (rows, margins) in rounded.chunks(LANES * features).zip(out.chunks_mut(LANES * outputs)) {
                if together && rows.len() == LANES * features {
                    let leaves = leaves(nodes, tree, rows, features);
                    for (margin, leaf) in margins[tree.output..].iter_mut().step_by(outputs).zip(leaves) {
                        *margin += nodes[leaf as usize].value();
                    }
                } else {
                    for (row, margins) in rows.chunks_exact(features).zip(margins.chunks_exact_mut(outputs)) {
                        margins[tree.output] += self.tree_value(nodes, row);
                    }
                }
            }
        }
    }
}

/// Returns the leaves that [`LANES`] rounded rows reach in a tree of numeric splits. The number of steps of
/// every lane equals the depth of the tree; a lane that has reached its leaf stays there. `MISSING` states
/// whether values may be NaN.
fn lane_leaves<const MISSING: bool>(
    nodes: &[Node],
    tree: &Tree,
    rows: &[f64],
    features: usize,
) -> [u32; LANES] {
    let mut at = [0u32; LANES];
    for _ in 0..tree.depth {
        for (lane, at) in at.iter_mut().enumerate() {
            let node = nodes[*at as usize];
            let value = rows[lane * features + node.feature()];
            let left = (value < node.threshold()) | (MISSING && value.is_nan() && node.default_left());
            let next = node.left() as u32 + u32::from(!left);
            *at = if node.is_leaf() { *at } else { next };
        }
    }
    at
}

/// Predicts margins, in parallel over blocks of rows. Rows are checked as in [`Ensemble::margins`].
impl Model for Ensemble {
    fn outputs(&self) -> usize {
        self.output_count()
    }

    fn features(&self) -> Option<usize> {
        Some(self.feature_count())
    }

    fn is_affine(&self) -> bool {
        self.has_affine_margins()
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        Ok(self.write_margins(rows, out)?)
    }
}
