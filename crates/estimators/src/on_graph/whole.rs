//! Values on a graph, with one evaluation per distinct coalition. They are exact for any sufficient budget.

use std::sync::Arc;

use apportion_games::{Game, Graph};
use apportion_values::{Coefficients, GraphForm, GraphValue, Outside, SolutionConcept};

use super::connected::Plan;
use super::{local, myerson};
use crate::error::{EstimatorError, Result};
use crate::report::Explanation;
use crate::run::Estimator;

const NAME: &str = "on-graph";

/// Exact values of players on a graph: L-Shapley, C-Shapley and Myerson values for any semivalue.
///
/// See [`GraphForm`] for the definitions. Each distinct coalition is evaluated once for all players that need
/// it, in batches; v(∅) and v(N) are always evaluated. The table shows the number of coalitions, on a line of
/// d players (d > 2k + 1) and on a grid of 28 × 28 with four neighbours:
///
/// | value | line | grid, k = 1 | grid, k = 2 |
/// |---|---|---|---|
/// | C-Shapley | `(2k + 1) d − k(2k + 1) + 2` | 10,154 | 712,181 |
/// | C-Shapley with the coefficients printed in the paper, k ≤ 2 | 3997 and 8980 for d = 1000 | 16,552 | 1,174,409 |
/// | C-Shapley with the players outside present | 9981 for d = 1000, k = 2 | | 806,156 |
/// | Myerson | `d(d + 1)/2 + 1` | too many | too many |
///
/// # Orders
///
/// Order 0 and orders above the diameter are valid; see [`GraphValue`]. If neighbourhoods are whole
/// components, C-Shapley values with true boundaries equal Myerson values and are computed as such. Graphs
/// need not be connected.
///
/// # Time
///
/// The times are in addition to the evaluations, on two cores of a shared Intel Xeon (Sapphire Rapids). On
/// the grid of 28 × 28, C-Shapley values of order 2 take 0.2 s and 30 MB. For a line of 1000 players, they
/// take 2 ms, and 0.1 s at k = 20.
///
/// ```
/// use apportion_estimators::OnGraph;
/// use apportion_games::{Graph, SumOfUnanimity};
/// use apportion_values::GraphValue;
///
/// // The game is 1 if the first and the third word are present. They are two positions apart.
/// let game = SumOfUnanimity::unanimity(5, [0, 2])?;
/// let values = |order| OnGraph::new(Graph::line(5), GraphValue::c_shapley(order)).values(&game);
/// // They are only connected together with the middle word, which gets an equal share.
/// let near = values(2)?;
/// assert!((near.values[0] - 1.0 / 3.0).abs() < 1e-12);
/// assert_eq!(near.evaluations, 16);
/// // The neighbourhood of the first word does not contain the third.
/// assert_eq!(values(1)?.values[0], 0.0);
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
#[derive(Debug, Clone, serde::Serialize)]
pub struct OnGraph {
    #[serde(serialize_with = "crate::run::settings::neighbours")]
    graph: Arc<Graph>,
    #[serde(serialize_with = "crate::run::settings::name")]
    value: GraphValue,
    #[serde(rename = "most_coalitions")]
    max_coalitions: usize,
}

impl OnGraph {
    /// Creates the method for a value of players; the players are the nodes of `graph`.
    pub fn new(graph: impl Into<Arc<Graph>>, value: GraphValue) -> Self {
        Self { graph: graph.into(), value, max_coalitions: 1 << 24 }
    }

    /// Sets the maximum number of distinct coalitions, which bounds time and memory; defaults to 2^24.
    ///
    /// For C-Shapley values, a list of coalitions is stored for each distinct neighbourhood. If these lists
    /// are together longer than four times the limit, and longer than 2^24, the limit counts as exceeded.
    pub fn max_coalitions(self, limit: usize) -> Self {
        Self { max_coalitions: limit, ..self }
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the number of distinct coalitions to evaluate, including v(∅) and v(N).
    ///
    /// # Errors
    ///
    /// [`EstimatorError`] if the graph has no players, if weights by size are for a different number of
    /// players, or if there are more coalitions than the limit.
    pub fn coalitions(&self) -> Result<usize, EstimatorError> {
        Ok(self.task(self.graph.nodes())?.1)
    }

    /// Computes the values of `game`.
    ///
    /// # Errors
    ///
    /// Same as [`coalitions`](Self::coalitions), before anything is evaluated; also an error if the number of
    /// nodes differs from the number of players, and any error of the game.
    pub fn values(&self, game: &dyn Game) -> Result<Explanation, EstimatorError> {
        let (task, _) = self.task(game.players())?;
        self.run(&task, game)
    }

    /// Returns the task and the number of coalitions.
    fn task(&self, players: usize) -> Result<(Task<'_>, usize)> {
        self.value.check(players, &self.graph)?;
        if players == 0 {
            return Err(EstimatorError::NoPlayers);
        }
        let limit = self.max_coalitions;
        match self.value.form {
            GraphForm::Local { order, outside } => {
                let count = local::count(&self.graph, order, limit)?;
                Ok((Task::Local(order, outside), count))
            }
            GraphForm::Connected { order, coefficients, outside } => {
                if self.is_myerson(order, coefficients, outside) {
                    return Ok((Task::Myerson, myerson::count(&self.graph, limit)?));
                }
                let plan = Plan::new(&self.graph, &self.value, order, coefficients, outside, limit)?;
                let count = plan.coalitions();
                Ok((Task::Connected(plan), count))
            }
            GraphForm::Myerson => Ok((Task::Myerson, myerson::count(&self.graph, limit)?)),
            _ => Err(EstimatorError::OtherValue {
                method: NAME,
                estimates: "L-Shapley, C-Shapley and Myerson values",
                value: Box::new(self.value.clone().into()),
                instead: "exact enumeration for up to 25 players",
            }),
        }
    }

    /// Returns whether the C-Shapley value equals the Myerson value: neighbourhoods are whole components, and
    /// no players outside are present.
    fn is_myerson(&self, order: usize, coefficients: Coefficients, outside: Outside) -> bool {
        let graph = &self.graph;
        let is_whole = |node: usize| {
            let size = graph.neighbourhood(node, order).len();
            match outside {
                Outside::Absent => size == graph.neighbourhood(node, order.saturating_add(1)).len(),
                Outside::Present => size == graph.nodes(),
            }
        };
        matches!(coefficients, Coefficients::Neighbourhood | Coefficients::Graph)
            && (0..graph.nodes()).all(is_whole)
    }

    fn run(&self, task: &Task<'_>, game: &dyn Game) -> Result<Explanation> {
        let semivalue = &self.value.semivalue;
        let found = match task {
            Task::Local(order, outside) => {
                local::local(game, &self.graph, semivalue, *order, *outside, self.max_coalitions)?
            }
            Task::Connected(plan) => plan.values(game)?,
            Task::Myerson => myerson::myerson(game, &self.graph, semivalue)?,
        };
        let asked = (found.evaluations, game.rows_per_coalition());
        Ok(Explanation::exact(NAME, self.value.clone().into(), found.exact.finite()?, asked))
    }
}

/// The computation for a value.
enum Task<'a> {
    Local(usize, Outside),
    Connected(Plan<'a>),
    Myerson,
}

impl Estimator for OnGraph {
    fn name(&self) -> &'static str {
        NAME
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone().into()
    }

    /// Returns the number of [`coalitions`](OnGraph::coalitions). `players` is ignored, unless counting
    /// fails: then it is the result.
    fn minimum_budget(&self, players: usize) -> usize {
        self.coalitions().unwrap_or(players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, _seed: u64) -> Result<Explanation> {
        let (task, least) = self.task(game.players())?;
        if budget < least {
            return Err(EstimatorError::Budget {
                method: NAME,
                actual: budget,
                min: least,
                players: game.players(),
            });
        }
        self.run(&task, game)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}
