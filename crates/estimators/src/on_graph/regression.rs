//! Regression C-Shapley: least squares on small connected coalitions.
//!
//! ```text
//! φ = argmin_x Σ_S w(S) (Σ_{i ∈ S} x_i − [v(S) − v(∅)])² = (XᵀWX)⁻¹ XᵀW F,
//! w(S) = (d − 1) / (C(d, s) s (d − s))
//! ```
//!
//! over connected S with s = |S| in a game of d players: runs of at most k consecutive nodes, or squares of
//! at most k × k nodes. The paper's last formula, (XᵀWX)⁻¹XᵀF, lacks a W.
//!
//! # Approximated value
//!
//! With these weights, a regression on *all* coalitions yields the Shapley value. For small coalitions, the
//! weights decrease with the size by w(s + 1) / w(s) = s / (d − s − 1). With many players, the weight of
//! single players is therefore about d times the weight of pairs, and the solution is close to v({i}) − v(∅).
//! If the sum is constrained, v(N) − v(∅) minus the sum of these values is divided about equally.
//!
//! # Source
//!
//! Chen, Song, Wainwright and Jordan, *L-Shapley and C-Shapley: efficient model interpretation for structured
//! data*, 2019, section 4.3.2.

use std::ops::ControlFlow;
use std::sync::Arc;

use apportion_games::{Coalition, Coalitions, ConnectedSet, Game, Graph, GraphShape};
use apportion_solvers::{Constraint, Design, least_squares};
use apportion_values::{GraphValue, SolutionConcept};

use super::exact_result::BATCH;
use crate::error::GraphError;
use crate::error::Result;
use crate::report::Explanation;
use crate::run::{Estimator, Evaluations, check_budget};

const NAME: &str = "c-shapley-regression";

/// The order in the name of the value if the actual order depends on the budget. It is the order in the
/// paper's experiments.
const USUAL_ORDER: usize = 4;

/// An approximation of C-Shapley values by weighted least squares on small connected coalitions (Chen et al.
/// 2019, section 4.3.2), for d players and s = |S|.
///
/// ```text
/// φ = (XᵀWX)⁻¹ XᵀW F,   F_S = v(S) − v(∅),   W_SS = (d − 1) / (C(d, s) s (d − s))
/// ```
///
/// | graph | coalitions S of order k | number |
/// |---|---|---|
/// | line | runs of at most k nodes | `kd − k(k − 1)/2` |
/// | grid of r × c | squares of at most k × k nodes inside the grid | `Σ_{j ≤ k} (r − j + 1)(c − j + 1)` |
/// | any other | connected sets of at most k nodes | by counting, up to a limit |
///
/// N is not among these coalitions, because its weight is infinite; v(∅) and v(N) are evaluated anyway. For
/// k = 4, there are fewer than the 4d evaluations of the paper's experiments, on lines and on square grids.
///
/// The paper has F = v(S) and v(∅) = 0, no intercept, and no constraint on the sum of the values. The values
/// are exact for additive games. For other games, they are an approximation that does not become exact as the
/// budget grows ([see the weights](#weights)). [`constrained`](Self::constrained) adds `Σφ = v(N) − v(∅)`,
/// like the infinite weights of ∅ and N in the kernel.
///
/// There are no standard errors, because nothing is sampled. Each output is solved separately.
///
/// # Weights
///
/// The weights decrease with the size by `w(s + 1) / w(s) = s / (d − s − 1)`: pairs have 1/(d − 2) of the
/// weight of single players. With many players, the result is therefore close to v({i}) − v(∅) for any k.
///
/// # Cost
///
/// Takes one evaluation per coalition, and a regression of m rows on d columns (see [`least_squares`]).
///
/// ```
/// use apportion_estimators::{ConnectedRegression, Estimator};
/// use apportion_games::{Additive, Graph};
///
/// let game = Additive::new(vec![1.0, -2.0, 0.5, 3.0, 1.5])?;
/// let regression = ConnectedRegression::new(Graph::line(5));
/// let explanation = regression.estimate(&game, 4 * 5, 0)?;
/// assert_eq!(explanation.evaluations, 16, "5 + 4 + 3 + 2 runs of at most 4 nodes, ∅ and N");
/// assert!((explanation.values[1] + 2.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, serde::Serialize)]
pub struct ConnectedRegression {
    #[serde(serialize_with = "crate::run::settings::neighbours")]
    graph: Arc<Graph>,
    order: Option<usize>,
    constrained: bool,
    #[serde(rename = "most_coalitions")]
    max_coalitions: usize,
}

impl ConnectedRegression {
    /// Creates the regression on the connected coalitions of `graph`. The order is the largest that the
    /// budget allows.
    pub fn new(graph: impl Into<Arc<Graph>>) -> Self {
        Self { graph: graph.into(), order: None, constrained: false, max_coalitions: 1 << 20 }
    }

    /// Sets the order, regardless of the budget.
    pub fn order(self, order: usize) -> Self {
        Self { order: Some(order), ..self }
    }

    /// Adds the constraint that the values sum to v(N) − v(∅).
    pub fn constrained(self) -> Self {
        Self { constrained: true, ..self }
    }

    /// Sets the maximum number of coalitions; defaults to 2^20.
    pub fn max_coalitions(self, limit: usize) -> Self {
        Self { max_coalitions: limit, ..self }
    }

    /// Returns the number of evaluated coalitions for order `order`, including v(∅) and v(N), or `None` if it
    /// exceeds the limit.
    ///
    /// Takes `O(order)` time on lines and grids, otherwise `O(1)` for each coalition and neighbour of its
    /// nodes.
    pub fn coalitions(&self, order: usize) -> Option<usize> {
        self.count(order, self.max_coalitions)
    }

    fn count(&self, order: usize, limit: usize) -> Option<usize> {
        let nodes = self.graph.nodes();
        let sets: usize = match self.graph.shape() {
            GraphShape::Line => (1..=order.min(nodes)).map(|length| nodes + 1 - length).sum(),
            GraphShape::Grid { rows, columns, .. } => {
                let side = order.min(rows).min(columns);
                (1..=side).map(|side| (rows + 1 - side) * (columns + 1 - side)).sum()
            }
            GraphShape::General => {
                let all = Coalition::full(nodes);
                self.graph.count_connected(None, all.view(), order, limit)?
            }
        };
        let with_everyone = self.whole().is_some_and(|whole| order >= whole);
        Some(2 + sets - usize::from(with_everyone)).filter(|&count| count <= limit)
    }

    /// Returns the smallest order for which the set N of all players is among the coalitions, if there is
    /// one.
    fn whole(&self) -> Option<usize> {
        let nodes = self.graph.nodes();
        match self.graph.shape() {
            GraphShape::Line => Some(nodes),
            GraphShape::Grid { rows, columns, .. } => (rows == columns).then_some(rows),
            GraphShape::General => self.graph.is_connected(Coalition::full(nodes).view()).then_some(nodes),
        }
    }

    /// Returns the order above which no coalitions are added.
    fn largest_order(&self) -> usize {
        match self.graph.shape() {
            GraphShape::Grid { rows, columns, .. } => rows.min(columns),
            GraphShape::Line | GraphShape::General => self.graph.nodes(),
        }
    }

    /// Returns the largest order whose coalitions fit in the budget, but at least 1.
    fn order_for(&self, budget: usize) -> usize {
        let limit = budget.min(self.max_coalitions);
        // Use binary search, because counts grow with the order and are slow to compute for general graphs.
        let (mut order, mut most) = (1, self.largest_order().max(1));
        while order < most {
            let middle = order + (most - order).div_ceil(2);
            match self.count(middle, limit) {
                Some(_) => order = middle,
                None => most = middle - 1,
            }
        }
        order
    }

    /// Returns the coalitions of the given order except ∅ and N. On lines and grids, small coalitions come
    /// first.
    fn rows(&self, order: usize) -> Coalitions {
        let nodes = self.graph.nodes();
        let mut rows = Coalitions::new(nodes);
        match self.graph.shape() {
            GraphShape::Line => {
                for length in 1..=order.min(nodes) {
                    (0..=nodes - length).for_each(|first| rows.push_members(first..first + length));
                }
            }
            GraphShape::Grid { rows: height, columns, .. } => {
                for side in 1..=order.min(height).min(columns) {
                    for top in 0..=height - side {
                        for left in 0..=columns - side {
                            let square = (top..top + side).flat_map(|row| {
                                (left..left + side).map(move |column| row * columns + column)
                            });
                            rows.push_members(square);
                        }
                    }
                }
            }
            GraphShape::General => {
                let all = Coalition::full(nodes);
                let end = self.graph.visit_all_connected(all.view(), order, |set: ConnectedSet<'_>| {
                    rows.push(set.nodes);
                    ControlFlow::<()>::Continue(())
                });
                debug_assert!(end.is_continue());
            }
        }
        match rows.sizes().iter().position(|&size| size as usize == nodes) {
            Some(everyone) => {
                let mut others = rows.slice(0..everyone);
                others.extend(&rows.slice(everyone + 1..rows.len()));
                others
            }
            None => rows,
        }
    }
}

/// Returns `w(s) = (d − 1) / (C(d, s) s (d − s))` at index s, for s from 1 to d − 1. It is computed as
/// `w(1) = 1/d` and `w(s + 1) = w(s) · s / (d − s − 1)`.
fn kernel(players: usize) -> Vec<f64> {
    let mut weights = vec![0.0, 1.0 / players as f64];
    for size in 1..players.saturating_sub(1) {
        weights.push(weights[size] * size as f64 / (players - size - 1) as f64);
    }
    weights
}

impl Estimator for ConnectedRegression {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Returns the C-Shapley value that the regression approximates. It has the same order, or order 4 if the
    /// order depends on the budget.
    fn value(&self) -> SolutionConcept {
        GraphValue::c_shapley(self.order.unwrap_or(USUAL_ORDER)).into()
    }

    /// Returns the number of coalitions for the regression's order (order 1 if it depends on the budget), or
    /// the number of players if there are more coalitions than the limit.
    fn minimum_budget(&self, players: usize) -> usize {
        self.coalitions(self.order.unwrap_or(1)).unwrap_or(players)
    }

    /// Solves the regression. It is deterministic, so the seed is ignored.
    ///
    /// # Errors
    ///
    /// The errors of every estimator; also [`GraphError::ConnectedSets`] for order 0 or for more coalitions
    /// than the limit, and an error for a graph with a different number of players.
    fn estimate_seen(&self, game: &dyn Game, budget: usize, _seed: u64) -> Result<Explanation> {
        let players = game.players();
        self.graph.check_players(players)?;
        if let Some(order) = self.order
            && players > 0
            && (order == 0 || self.coalitions(order).is_none())
        {
            return Err(GraphError::ConnectedSets { order, limit: self.max_coalitions }.into());
        }
        check_budget(self, game, budget)?;
        let order = self.order.unwrap_or_else(|| self.order_for(budget));
        let rows = self.rows(order);
        let mut evaluations = Evaluations::begin(game)?;
        let mut gains = Vec::with_capacity(rows.len() * game.outputs());
        for start in (0..rows.len()).step_by(BATCH) {
            gains.extend(evaluations.gains(&rows.slice(start..rows.len().min(start + BATCH)))?);
        }
        let kernel = kernel(players);
        let weights: Vec<f64> = rows.sizes().iter().map(|&size| kernel[size as usize]).collect();
        let design = Design::new(&rows, &weights)?;
        let total = evaluations.total();
        // For a single player, there are no other coalitions: its value is v(N) − v(∅).
        let is_held = self.constrained || players == 1;
        let constraint = if is_held { Constraint::Sum(&total) } else { Constraint::None };
        let solution = least_squares(&design, &gains, game.outputs(), constraint)?;
        let value = GraphValue::c_shapley(order);
        let unknowns = players - usize::from(is_held);
        let explanation = Explanation::of_regression(NAME, value, evaluations, &solution, unknowns, 0);
        Ok(Explanation { seed: None, ..explanation })
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::Adjacency;

    #[test]
    fn the_kernel_is_that_of_all_coalitions() {
        for players in [2usize, 3, 10, 40] {
            let kernel = kernel(players);
            assert_eq!(kernel.len(), players);
            let mut choose = 1.0;
            for (size, weight) in kernel.into_iter().enumerate().skip(1) {
                choose *= (players + 1 - size) as f64 / size as f64;
                let expected = (players - 1) as f64 / (choose * (size * (players - size)) as f64);
                assert!((weight - expected).abs() < 1e-13 * expected);
            }
        }
        assert!(kernel(2000).iter().all(|weight| weight.is_finite()));
    }

    #[test]
    fn the_order_is_the_largest_that_fits() {
        let line = ConnectedRegression::new(Graph::line(40));
        assert_eq!(line.order_for(4 * 40), 4);
        let grid = ConnectedRegression::new(Graph::grid(28, 28, Adjacency::Four));
        assert_eq!(
            (grid.order_for(4 * 784), grid.coalitions(4), grid.coalitions(5)),
            (4, Some(2816), Some(3392))
        );
        let oblong = ConnectedRegression::new(Graph::grid(3, 5, Adjacency::Eight));
        let apart = ConnectedRegression::new(Graph::from_edges(6, [(0, 1), (1, 2), (3, 4)]).unwrap());
        for regression in [line, grid, oblong, apart] {
            let all = regression.coalitions(usize::MAX).unwrap();
            assert_eq!(regression.order_for(usize::MAX), regression.largest_order());
            assert_eq!(regression.rows(usize::MAX).len() + 2, all);
        }
    }
}
