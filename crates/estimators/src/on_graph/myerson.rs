//! Myerson values, computed by visiting every connected coalition of the graph once, in a stream.
//!
//! ```text
//! φ_i = Σ_{C ∋ i connected} M(|C| − 1, |B(C)|) w(C) − Σ_{C connected, i ∈ B(C)} M(|C|, |B(C)| − 1) w(C),
//! w(C) = v(C) − v(∅)
//! ```
//!
//! C is the component of i in a random coalition that contains i if all of C \ i is present and the boundary
//! of C is absent. C is one of the components that i would join if all of C is present, and no node of its
//! boundary is present except possibly i. With b = |B(C)| and the moments M of the semivalue, these events
//! have the probabilities M(|C| − 1, b) and M(|C|, b − 1). Each connected coalition is therefore evaluated
//! once, for all players that it affects.
//!
//! Only one batch is stored, for any number of coalitions.

use std::ops::ControlFlow;

use apportion_games::{Coalition, CoalitionView, Coalitions, ConnectedSet, Game, Graph, GraphShape};
use apportion_values::Semivalue;

use super::exact_result::{BATCH, ExactResult};
use super::moments::Moments;
use crate::error::GraphError;
use crate::error::Result;
use crate::run::Evaluations;

/// Returns the number of distinct coalitions that [`myerson`] evaluates.
///
/// # Errors
///
/// [`GraphError::ConnectedCoalitions`] for more than `limit` coalitions.
pub(crate) fn count(graph: &Graph, limit: usize) -> Result<usize> {
    let players = graph.nodes();
    let all = Coalition::full(players);
    let connected = graph.count_connected(None, all.view(), usize::MAX, limit);
    // Add v(∅), and v(N) if the graph is not connected.
    let others = 1 + usize::from(!graph.is_connected(all.view()));
    connected.map(|count| count + others).filter(|count| *count <= limit).ok_or(
        GraphError::ConnectedCoalitions {
            at_least: limit.saturating_add(1),
            limit,
            instead: "a sampled estimate of the graph-restricted game",
        }
        .into(),
    )
}

/// Computes the semivalue of `game` restricted to `graph`.
///
/// # Errors
///
/// Any error of the game.
pub(crate) fn myerson(game: &dyn Game, graph: &Graph, semivalue: &Semivalue) -> Result<ExactResult> {
    let (players, outputs) = (game.players(), game.outputs());
    let mut sums = Sums {
        graph,
        moments: Moments::new(semivalue),
        values: vec![0.0; players * outputs],
        rows: Coalitions::with_capacity(players, BATCH.min(1 << players.min(16))),
        evaluations: Evaluations::begin(game)?,
        members: Vec::new(),
        boundary: Vec::new(),
        seen: vec![false; players],
    };
    let all = Coalition::full(players);
    let visit = |set: ConnectedSet<'_>| match sums.push(set) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    };
    if let ControlFlow::Break(error) = graph.visit_all_connected(all.view(), usize::MAX, visit) {
        return Err(error);
    }
    sums.evaluate()?;
    Ok(ExactResult::new(sums.values, sums.evaluations))
}

/// The sums over all coalitions so far, except those that wait to be evaluated.
struct Sums<'a> {
    graph: &'a Graph,
    moments: Moments<'a>,
    values: Vec<f64>,
    rows: Coalitions,
    evaluations: Evaluations<'a>,
    /// Buffers for the current coalition: its members, its boundary, and whether each node was added to the
    /// boundary.
    members: Vec<usize>,
    boundary: Vec<usize>,
    seen: Vec<bool>,
}

/// Finds the members and the boundary of a coalition of `graph`; `seen` is all `false` before and after.
fn find(
    graph: &Graph,
    row: CoalitionView<'_>,
    members: &mut Vec<usize>,
    boundary: &mut Vec<usize>,
    seen: &mut [bool],
) {
    members.clear();
    members.extend(row.members());
    boundary.clear();
    if let (GraphShape::Line, Some(&first), Some(&last)) = (graph.shape(), members.first(), members.last()) {
        boundary.extend(first.checked_sub(1));
        boundary.extend(Some(last + 1).filter(|&next| next < graph.nodes()));
        return;
    }
    for &member in &*members {
        for &next in graph.neighbours(member) {
            if !row.contains(next) && !std::mem::replace(&mut seen[next], true) {
                boundary.push(next);
            }
        }
    }
    boundary.iter().for_each(|&node| seen[node] = false);
}

impl Sums<'_> {
    fn push(&mut self, set: ConnectedSet<'_>) -> Result<()> {
        self.rows.push(set.nodes);
        if self.rows.len() == BATCH { self.evaluate() } else { Ok(()) }
    }

    /// Evaluates the waiting coalitions. Adds each value to the sums of the players inside the coalition and
    /// in its boundary.
    fn evaluate(&mut self) -> Result<()> {
        let worths = self.evaluations.values(&self.rows)?;
        let outputs = self.evaluations.empty.len();
        for (row, worth) in self.rows.iter().zip(worths.chunks_exact(outputs)) {
            find(self.graph, row, &mut self.members, &mut self.boundary, &mut self.seen);
            let size = self.members.len();
            let empty = &self.evaluations.empty;
            let mut add = |player: usize, weight: f64| {
                let values = &mut self.values[player * outputs..(player + 1) * outputs];
                for ((value, worth), empty) in values.iter_mut().zip(worth).zip(empty) {
                    *value += weight * (worth - empty);
                }
            };
            let inside = self.moments.get(size - 1, self.boundary.len());
            self.members.iter().for_each(|&member| add(member, inside));
            if !self.boundary.is_empty() {
                let around = self.moments.get(size, self.boundary.len() - 1);
                self.boundary.iter().for_each(|&player| add(player, -around));
            }
        }
        self.rows.clear();
        Ok(())
    }
}
