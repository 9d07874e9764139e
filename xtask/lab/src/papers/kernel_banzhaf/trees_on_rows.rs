//! The marginal game of trees with background rows, evaluated by traversing each tree once for all rows.
//!
//! # Notation
//!
//! `x` is the explicand, `b` ranges over the background rows. At a split on feature i, a synthetic row (x_S,
//! b) follows x if i is in S, and b otherwise. Each tree is therefore traversed once for all rows: a split on
//! a present feature sends all rows to the same side, and a split on an absent feature partitions them. The
//! traversal takes O(leaves) per coalition and tree, while predictions for the rows take O(rows · depth).

use anyhow::{Result, ensure};
use apportion::games::{CoalitionView, Coalitions, GameError};
use apportion::models::tree::Node;
use apportion::{Background, Ensemble, Game};

/// The game `v(S) = 1/B Σ_b f(x_S, b)`, where f is the margin of trees with one output, for up to 64 rows b.
pub(crate) struct TreesOnRows<'a> {
    model: &'a Ensemble,
    rows: u64,
    /// For each node of the ensemble: whether the explicand goes left, and the set of rows that go left (one
    /// bit per row).
    goes_left: Vec<(bool, u64)>,
}

impl<'a> TreesOnRows<'a> {
    pub(crate) fn new(model: &'a Ensemble, explicand: &[f64], background: &Background) -> Result<Self> {
        ensure!(
            (1..=64).contains(&background.len()),
            "expected 1 to 64 background rows, got {}",
            background.len()
        );
        ensure!(
            model.output_count() == 1 && model.joint().is_none(),
            "the game requires trees with one output and plain splits"
        );
        let round =
            |row: &[f64]| -> Vec<f64> { row.iter().map(|&value| model.width().round(value)).collect() };
        let explicand = round(explicand);
        let background: Vec<Vec<f64>> = (0..background.len()).map(|row| round(background.row(row))).collect();
        let mut goes_left = Vec::with_capacity(model.nodes().len());
        for node in model.trees().iter().flat_map(|tree| model.nodes_of(tree)) {
            if node.is_leaf() {
                goes_left.push((false, 0));
                continue;
            }
            let left = |row: &[f64]| model.goes_left(*node, row[node.feature()]);
            let rows = background.iter().enumerate().map(|(at, row)| u64::from(left(row)) << at);
            goes_left.push((left(&explicand), rows.fold(0, |all, row| all | row)));
        }
        Ok(Self { model, rows: u64::MAX >> (64 - background.len()), goes_left })
    }

    /// Sums the leaf values that `rows` reach from the node `at` of a tree.
    fn below(&self, (nodes, goes_left): Tree<'_>, at: usize, rows: u64, present: CoalitionView<'_>) -> f64 {
        let node = nodes[at];
        if node.is_leaf() {
            return node.value() * f64::from(rows.count_ones());
        }
        let (explicand, of_rows) = goes_left[at];
        let left = match present.contains(node.feature()) {
            true if explicand => rows,
            true => 0,
            false => rows & of_rows,
        };
        [(node.left(), left), (node.right(), rows & !left)]
            .into_iter()
            .filter(|(_, rows)| *rows != 0)
            .map(|(child, rows)| self.below((nodes, goes_left), child, rows, present))
            .sum()
    }

    fn value(&self, present: CoalitionView<'_>) -> f64 {
        let (mut rest, mut sum) = (&self.goes_left[..], 0.0);
        for tree in self.model.trees() {
            let nodes = self.model.nodes_of(tree);
            let (goes_left, others) = rest.split_at(nodes.len());
            sum += self.below((nodes, goes_left), 0, self.rows, present);
            rest = others;
        }
        self.model.base_margins()[0] + sum / f64::from(self.rows.count_ones())
    }
}

/// The nodes of a tree; and for each node, whether the explicand goes left, and which rows go left.
type Tree<'a> = (&'a [Node], &'a [(bool, u64)]);

impl Game for TreesOnRows<'_> {
    fn players(&self) -> usize {
        self.model.feature_count()
    }

    fn outputs(&self) -> usize {
        1
    }

    fn rows_per_coalition(&self) -> usize {
        self.rows.count_ones() as usize
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        batch.iter().zip(out).for_each(|(present, out)| *out = self.value(present));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::datasets::{Library, known_dataset};
    use apportion::MarginalGame;

    #[test]
    fn values_are_the_mean_predictions_of_synthetic_rows() {
        for (name, rows) in [("iris", 1), ("iris", 50), ("diabetes", 50), ("correlated60", 64)] {
            let data = Library::embedded().get(known_dataset(name)).unwrap();
            let players = data.known.players;
            let background: Vec<f64> = (0..rows).flat_map(|row| data.row(2 * row + 1)).copied().collect();
            let background = Background::rows(background, players).unwrap();
            let game = TreesOnRows::new(&data.model, data.row(0), &background).unwrap();
            let slow = MarginalGame::new(&data.model, data.row(0), &background).unwrap();
            let mut batch = Coalitions::new(players);
            batch.push_empty();
            batch.push_full();
            for mask in 0..200_u64 {
                let bits = mask.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                batch.push_members((0..players).filter(|player| bits >> (player % 64) & 1 == 1));
            }
            let (mut got, mut want) = (vec![0.0; batch.len()], vec![0.0; batch.len()]);
            game.values(&batch, &mut got).unwrap();
            slow.values(&batch, &mut want).unwrap();
            let size = want.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            for (got, want) in got.iter().zip(&want) {
                assert!((got - want).abs() < 1e-10 * size, "{name}: {got} != {want}");
            }
            assert_eq!(game.rows_per_coalition(), rows);
        }
    }

    #[test]
    fn too_many_rows_are_refused() {
        let data = Library::embedded().get(known_dataset("iris")).unwrap();
        let background = Background::rows(vec![0.0; 4 * 65], 4).unwrap();
        assert!(TreesOnRows::new(&data.model, data.row(0), &background).is_err());
    }
}
