//! The magnitude of the terms that add up to a margin.

use apportion_games::Rows;

use super::Ensemble;
use crate::error::ModelError;

impl Ensemble {
    /// Returns the magnitude of the terms of each margin, rows × outputs. It is the absolute base margin
    /// plus, for each tree, the largest absolute leaf value. For trees with linear leaves, it is the sum of
    /// the absolute terms of the leaf that the row reaches.
    ///
    /// The rounding error of a sum of trees is proportional to this magnitude, not to the margin, in which
    /// large leaves may cancel.
    ///
    /// ```
    /// use apportion_games::Rows;
    /// use apportion_models::Ensemble;
    ///
    /// let model = Ensemble::from_path("tests/fixtures/iris_xgb_softprob.json.gz")?;
    /// let rows = Rows::new(&[5.9, 3.0, 5.1, 1.8], 4);
    /// let (margins, scales) = (model.margins(rows)?, model.margin_scales(rows)?);
    /// assert!(margins.iter().zip(scales).all(|(margin, scale)| margin.abs() <= scale));
    /// # Ok::<(), apportion_models::ModelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`margins`](Self::margins).
    pub fn margin_scales(&self, rows: Rows<'_>) -> Result<Vec<f64>, ModelError> {
        self.check_rows(rows, "row")?;
        let mut constant: Vec<f64> = self.base_margins().iter().map(|margin| margin.abs()).collect();
        self.add_largest_leaves(&mut constant);
        if let Some(joint) = self.joint() {
            joint.ensemble().add_largest_leaves(&mut constant);
        }
        let mut scales = constant.repeat(rows.len());
        for (row, scales) in
            rows.values().chunks_exact(self.feature_count()).zip(scales.chunks_exact_mut(constant.len()))
        {
            let rounded: Vec<f64> = row.iter().map(|&value| self.width().round(value)).collect();
            for tree in self.trees().iter().filter(|tree| tree.linear) {
                scales[tree.output] += self.linear_size(tree, &rounded);
            }
        }
        Ok(scales)
    }

    /// Adds the largest absolute leaf value of each tree with constant leaves.
    fn add_largest_leaves(&self, scales: &mut [f64]) {
        for tree in self.trees().iter().filter(|tree| !tree.linear) {
            let leaves = self.nodes_of(tree).iter().filter(|node| node.is_leaf());
            scales[tree.output] += leaves.map(|leaf| leaf.value().abs()).fold(0.0, f64::max);
        }
    }

    /// Returns the sum of the absolute terms of the leaf that a rounded row reaches.
    fn linear_size(&self, tree: &super::Tree, row: &[f64]) -> f64 {
        let nodes = self.nodes_of(tree);
        let mut leaf = nodes[0];
        while !leaf.is_leaf() {
            leaf = nodes[if self.goes_left(leaf, row[leaf.feature()]) { leaf.left() } else { leaf.right() }];
        }
        let terms = self.linear_leaf(leaf).map_or(0.0, |model| {
            let terms = model.terms.iter().map(|&(feature, factor)| (factor * row[feature as usize]).abs());
            model.constant.abs() + terms.filter(|term| !term.is_nan()).sum::<f64>()
        });
        leaf.value().abs() + terms
    }
}
