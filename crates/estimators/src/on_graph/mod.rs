//! Values of players on a graph from as few coalitions as they are made of: L-Shapley, C-Shapley, Myerson, of any semivalue.

mod moments;
mod myerson;

use std::sync::Arc;

use apportion_games::{Game, Graph};
use apportion_values::{GraphForm, GraphValue, SolutionConcept};

use crate::error::EstimatorError;
use crate::estimator::Estimator;
use crate::evaluations::Evaluations;
use crate::explanation::{Diagnostics, Explanation};

/// Coalitions that the game is asked for at once.
pub(crate) const BATCH: usize = 1 << 16;

const NAME: &str = "on-graph";

/// Exact values of players on a graph: L-Shapley, C-Shapley, Myerson, and the same of any semivalue.
///
/// Each distinct coalition is evaluated once, whichever players need it.
#[derive(Debug, Clone)]
pub struct OnGraph {
    graph: Arc<Graph>,
    value: GraphValue,
    most_coalitions: usize,
}

impl OnGraph {
    /// This value of the players that are the nodes of `graph`.
    pub fn new(graph: impl Into<Arc<Graph>>, value: GraphValue) -> Self {
        Self { graph: graph.into(), value, most_coalitions: 1 << 24 }
    }

    /// The same with another limit on the distinct coalitions, and so on time and memory; the default is 2^24.
    pub fn most_coalitions(self, limit: usize) -> Self {
        Self { most_coalitions: limit, ..self }
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// How many distinct coalitions it evaluates, v(∅) and v(N) included.
    ///
    /// # Errors
    ///
    /// [`EstimatorError`] for a graph without players, weights by size of other players, and more coalitions than the limit.
    pub fn coalitions(&self) -> Result<usize, EstimatorError> {
        self.check(self.graph.nodes())?;
        match self.value.form {
            GraphForm::Myerson => myerson::count(&self.graph, self.most_coalitions),
            _ => Err(self.unknown_form()),
        }
    }

    /// The values of `game`.
    ///
    /// # Errors
    ///
    /// As [`coalitions`](Self::coalitions), before anything is evaluated; for a graph of other players than the game's; and whatever the
    /// game reports.
    pub fn values(&self, game: &dyn Game) -> Result<Explanation, EstimatorError> {
        self.check(game.players())?;
        self.coalitions()?;
        let found = match self.value.form {
            GraphForm::Myerson => myerson::myerson(game, &self.graph, &self.value.semivalue)?,
            _ => return Err(self.unknown_form()),
        };
        Ok(Explanation {
            value: self.value.clone().into(),
            method: NAME.to_owned(),
            std_errors: Some(vec![0.0; found.values.len()]),
            values: found.values,
            base: found.base,
            prediction: found.full,
            evaluations: found.evaluations,
            distinct_coalitions: found.evaluations,
            model_rows: found.evaluations * game.rows_per_coalition(),
            seed: None,
            diagnostics: Diagnostics { exact: true, ..Diagnostics::default() },
            certificate: None,
        })
    }

    fn check(&self, players: usize) -> Result<(), EstimatorError> {
        self.value.check(players, &self.graph)?;
        if players == 0 { Err(EstimatorError::NoPlayers) } else { Ok(()) }
    }

    fn unknown_form(&self) -> EstimatorError {
        EstimatorError::OtherValue {
            method: NAME,
            estimates: "L-Shapley, C-Shapley and Myerson values",
            value: Box::new(self.value.clone().into()),
            instead: "the definition on up to 25 players",
        }
    }
}

impl Estimator for OnGraph {
    fn name(&self) -> &'static str {
        NAME
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone().into()
    }

    /// [`coalitions`](OnGraph::coalitions), whatever the players; their number where that cannot be said.
    fn minimum_budget(&self, players: usize) -> usize {
        self.coalitions().unwrap_or(players)
    }

    fn estimate(&self, game: &dyn Game, budget: usize, _seed: u64) -> Result<Explanation, EstimatorError> {
        self.check(game.players())?;
        let least = self.coalitions()?;
        if budget < least {
            return Err(EstimatorError::Budget {
                method: NAME,
                given: budget,
                least,
                players: game.players(),
            });
        }
        self.values(game)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// What was found out about a game.
pub(crate) struct Found {
    /// φ: n × k.
    pub(crate) values: Vec<f64>,
    /// v(∅): k numbers.
    pub(crate) base: Vec<f64>,
    /// v(N): k numbers.
    pub(crate) full: Vec<f64>,
    /// Evaluations, all of different coalitions, v(∅) and v(N) included.
    pub(crate) evaluations: usize,
}

impl Found {
    pub(crate) fn new(values: Vec<f64>, evaluations: Evaluations<'_>) -> Self {
        Self { values, base: evaluations.empty, full: evaluations.full, evaluations: evaluations.count }
    }
}
