//! Exact L-Shapley values, and the corresponding values for any semivalue. Each coalition is evaluated once
//! for all players.
//!
//! # Notation
//!
//! `N_k(i)` is the neighbourhood of order k of player i, and m_i is its size. M are the moments of the
//! semivalue. A *piece* is a set P of nodes inside some neighbourhood. If the players outside are absent, the
//! coalition of a piece is P itself. If they are present, it is N \ P, because T ∪ (N \ N_k(i)) is the
//! complement of N_k(i) \ T. In both cases, two players need the same coalition if their pieces are equal.
//!
//! # Method
//!
//! Grouped by coalition, the definition is a sum over the pieces of the neighbourhood:
//!
//! ```text
//! φ_i = Σ_{P ⊆ N_k(i)} c_i(P) (v_P − v_∅)
//! absent:   c_i(P) =  M(|P| − 1, m_i − |P|)  if i ∈ P,   −M(|P|, m_i − 1 − |P|)  if not
//! present:  c_i(P) = −M(m_i − |P|, |P| − 1)  if i ∈ P,    M(m_i − 1 − |P|, |P|)  if not
//! ```
//!
//! (v_P is the value of the piece's coalition. The c_i(P) of a player sum to zero, so adding a constant has
//! no effect.) Every piece is therefore visited once, and its value is added to the sums of all players whose
//! neighbourhood contains it. Only sums are stored.

mod pieces;

use std::sync::Arc;

use apportion_games::{Coalitions, Game, Graph, parallel};
use apportion_values::{Outside, Semivalue};

use self::pieces::{MAX_NODES, Owner};
use super::exact_result::{BATCH, ExactResult};
use crate::error::GraphError;
use crate::error::Result;
use crate::run::Evaluations;

/// The number of pieces that are summed as one unit of work, so that the order of summation does not depend
/// on threads.
const SEGMENT: usize = 1 << 12;

/// The maximum number of steps for counting further once there are known to be too many coalitions.
const STEPS_BEYOND: usize = 1 << 22;

/// Computes the exact values of all players, n × k. The value of a player is the `semivalue` of the game
/// restricted to its neighbourhood of order `order` (Chen et al. 2019, Definition 1).
///
/// Evaluates each of the [`count`] coalitions once, in batches of about 2^16. In addition to the evaluations,
/// takes time proportional to Σ_i 2^{m_i} k, and the memory of a batch. The values are bitwise identical for
/// any number of threads.
///
/// # Errors
///
/// [`GraphError::LocalCoalitions`] for more than `limit` coalitions, before anything is evaluated; an error
/// if the graph or the weights are for a different number of players; any error of the game.
pub(super) fn local(
    game: &dyn Game,
    graph: &Graph,
    semivalue: &Semivalue,
    order: usize,
    outside: Outside,
    limit: usize,
) -> Result<ExactResult> {
    let players = game.players();
    graph.check_players(players)?;
    semivalue.check_players(players)?;
    let neighbourhoods = neighbourhoods(graph, order);
    check_count(&neighbourhoods, order, limit)?;

    let mut evaluations = Evaluations::begin(game)?;
    let weights = Weights::for_neighbourhoods(&neighbourhoods, semivalue, outside);
    let mut values = vec![0.0; players * game.outputs()];
    let mut batch = Batch::new(players, outside);
    for node in 0..players {
        let owner = Arc::new(Owner::for_node(&neighbourhoods, node));
        owner.visit(|mask, common| {
            batch.push(&owner, mask, common);
            match batch.is_full() {
                true => batch.settle(&mut evaluations, &weights, &mut values),
                false => Ok(()),
            }
        })?;
    }
    batch.settle(&mut evaluations, &weights, &mut values)?;
    Ok(ExactResult::new(values, evaluations))
}

/// Returns the number of distinct coalitions in the neighbourhoods of order `order`, including v(∅) and v(N).
/// The number is the same whether the players outside are present or absent.
///
/// | graph | coalitions |
/// |---|---|
/// | line of n > 2k + 1 players | `(n − 2k + 1) 2^{2k} + 1`; 2^n for up to 2k + 1 players |
/// | grid, 4 neighbours | per interior node `2^{2k²+2k+1} − 4·2^{2k²} + 4·2^{2k²−k} − 2^{2k²−2k}`; 23, 7,408 and 32,632,832 for k = 1, 2 and 3 |
/// | grid, 8 neighbours | per interior node, with w = 2k + 1, `2^{w²} − 2·2^{w(w−1)} + 2^{(w−1)²}`; 400 and 31,522,816 for k = 1 and 2 |
///
/// The number per node counts the sets in its neighbourhood that are distinct up to shifts.
///
/// # Errors
///
/// [`GraphError::LocalCoalitions`] for more than `limit` coalitions.
pub(super) fn count(graph: &Graph, order: usize, limit: usize) -> Result<usize> {
    // Compute sizes first, because neighbourhoods that are too large to enumerate may be too large to store.
    let sizes: Vec<usize> = (0..graph.nodes()).map(|node| graph.neighbourhood(node, order).len()).collect();
    let (player, nodes) = largest(sizes.into_iter());
    if nodes > MAX_NODES {
        return Err(
            GraphError::LocalCoalitions { order, player, nodes, coalitions: power(nodes), limit }.into()
        );
    }
    check_count(&neighbourhoods(graph, order), order, limit)
}

/// Returns the neighbourhoods of all nodes.
pub(super) fn neighbourhoods(graph: &Graph, order: usize) -> Vec<Vec<usize>> {
    (0..graph.nodes()).map(|node| graph.neighbourhood(node, order)).collect()
}

/// Returns the result of [`count`] for given neighbourhoods.
fn check_count(neighbourhoods: &[Vec<usize>], order: usize, limit: usize) -> Result<usize> {
    if let Some(count) = count_within(neighbourhoods, limit) {
        return Ok(count);
    }
    let (player, nodes) = largest(neighbourhoods.iter().map(Vec::len));
    let mut coalitions = power(nodes);
    if nodes <= MAX_NODES {
        let mut steps = STEPS_BEYOND;
        let count = |node| Owner::for_node(neighbourhoods, node).count(&mut steps);
        let pieces: f64 = (0..neighbourhoods.len()).map_while(count).sum();
        coalitions = coalitions.max(pieces + beside(nodes, neighbourhoods.len()) as f64);
    }
    Err(GraphError::LocalCoalitions { order, player, nodes, coalitions, limit }.into())
}

/// Returns the result of [`count`] for given neighbourhoods, or `None` for more than `limit`.
pub(super) fn count_within(neighbourhoods: &[Vec<usize>], limit: usize) -> Option<usize> {
    let (_, nodes) = largest(neighbourhoods.iter().map(Vec::len));
    if nodes > MAX_NODES || 1usize.checked_shl(nodes as u32)? > limit {
        return None;
    }
    let beside = beside(nodes, neighbourhoods.len());
    let (mut pieces, mut unbounded) = (0, usize::MAX);
    for node in 0..neighbourhoods.len() {
        // The number of pieces of one node is below 2^63, so the cast does not truncate it.
        pieces += Owner::for_node(neighbourhoods, node).count(&mut unbounded)? as usize;
        if pieces > limit {
            return None;
        }
    }
    Some(pieces + beside).filter(|&count| count <= limit)
}

/// Returns the first player with a neighbourhood of maximum size, and that size.
fn largest(sizes: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator) -> (usize, usize) {
    sizes.enumerate().rev().max_by_key(|&(_, nodes)| nodes).unwrap_or_default()
}

/// Returns 2^nodes, or the largest finite number if that overflows.
fn power(nodes: usize) -> f64 {
    (nodes as f64).exp2().min(f64::MAX)
}

/// Returns the number of coalitions among ∅ and N that are not pieces; both are always evaluated. N is a
/// piece if the largest neighbourhood contains all players.
fn beside(nodes: usize, players: usize) -> usize {
    if nodes == players { 1 } else { 2 }
}

/// The coefficients c_i(P), by the size of the neighbourhood and the size of the piece.
struct Weights {
    /// For each size m of a neighbourhood that occurs, and each size of a piece, the weights of players
    /// inside and outside the piece.
    by_nodes: Vec<Vec<[f64; 2]>>,
}

impl Weights {
    fn for_neighbourhoods(neighbourhoods: &[Vec<usize>], semivalue: &Semivalue, outside: Outside) -> Self {
        let largest = neighbourhoods.iter().map(Vec::len).max().unwrap_or(0);
        let mut by_nodes = vec![Vec::new(); largest + 1];
        for nodes in neighbourhoods.iter().map(Vec::len) {
            if !by_nodes[nodes].is_empty() {
                continue;
            }
            let semivalue = semivalue.without_null_players(nodes);
            let moment = |present: usize, absent: usize| match outside {
                Outside::Absent => semivalue.moment(present, absent),
                Outside::Present => -semivalue.moment(absent, present),
            };
            let pair = |size: usize| {
                let inside = if size > 0 { moment(size - 1, nodes - size) } else { 0.0 };
                let beside = if size < nodes { -moment(size, nodes - 1 - size) } else { 0.0 };
                [inside, beside]
            };
            by_nodes[nodes] = (0..=nodes).map(pair).collect();
        }
        Self { by_nodes }
    }
}

/// Pieces whose coalitions wait to be evaluated.
struct Batch {
    outside: Outside,
    coalitions: Coalitions,
    segments: Vec<Segment>,
    words: Vec<u64>,
}

/// Pieces of one owner that are summed as one unit of work.
struct Segment {
    owner: Arc<Owner>,
    /// The row of the segment's first piece in the batch.
    first: usize,
    masks: Vec<u64>,
    /// The common sets of the pieces, one after another.
    common: Vec<u64>,
}

impl Batch {
    fn new(players: usize, outside: Outside) -> Self {
        let coalitions = Coalitions::new(players);
        let words = vec![0; coalitions.words_per_row()];
        Self { outside, coalitions, segments: Vec::new(), words }
    }

    fn is_full(&self) -> bool {
        self.coalitions.len() >= BATCH
    }

    fn push(&mut self, owner: &Arc<Owner>, mask: u64, common: &[u64]) {
        let is_open = |last: &Segment| Arc::ptr_eq(&last.owner, owner) && last.masks.len() < SEGMENT;
        if !self.segments.last().is_some_and(is_open) {
            let first = self.coalitions.len();
            let owner = Arc::clone(owner);
            self.segments.push(Segment { owner, first, masks: Vec::new(), common: Vec::new() });
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.masks.push(mask);
            segment.common.extend_from_slice(common);
        }
        self.words.fill(0);
        owner.nodes_of(mask).for_each(|node| self.words[node / 64] |= 1 << (node % 64));
        if self.outside == Outside::Present {
            self.words.iter_mut().for_each(|word| *word = !*word);
            let used = self.coalitions.players() % 64;
            if let Some(last) = self.words.last_mut().filter(|_| used > 0) {
                *last &= (1 << used) - 1;
            }
        }
        self.coalitions.push_words(&self.words);
    }

    /// Evaluates all pieces, adds their values to the sums of the players, and clears the batch.
    fn settle(
        &mut self,
        evaluations: &mut Evaluations<'_>,
        weights: &Weights,
        values: &mut [f64],
    ) -> Result<()> {
        let outputs = evaluations.empty.len();
        let mut gains = evaluations.values(&self.coalitions)?;
        let base = match self.outside {
            Outside::Absent => &evaluations.empty,
            Outside::Present => &evaluations.full,
        };
        for row in gains.chunks_exact_mut(outputs) {
            row.iter_mut().zip(base).for_each(|(value, base)| *value -= base);
        }
        let sums: Vec<Vec<f64>> =
            parallel::map(&self.segments, |segment| segment.sums(&gains, outputs, weights));
        for (segment, sums) in self.segments.iter().zip(sums) {
            for (&player, sums) in segment.owner.candidates().iter().zip(sums.chunks_exact(outputs)) {
                let own = &mut values[player * outputs..(player + 1) * outputs];
                own.iter_mut().zip(sums).for_each(|(value, sum)| *value += sum);
            }
        }
        self.coalitions.clear();
        self.segments.clear();
        Ok(())
    }
}

impl Segment {
    /// Returns the contributions of the pieces to the candidates of the owner, candidates × k.
    fn sums(&self, gains: &[f64], outputs: usize, weights: &Weights) -> Vec<f64> {
        let owner = &self.owner;
        let mut sums = vec![0.0; owner.candidates().len() * outputs];
        let weights: Vec<&[[f64; 2]]> =
            owner.sizes().iter().map(|&nodes| weights.by_nodes[nodes].as_slice()).collect();
        let gains = gains[self.first * outputs..].chunks_exact(outputs);
        let common = self.common.chunks_exact(owner.words());
        for ((&mask, common), gains) in self.masks.iter().zip(common).zip(gains) {
            let size = mask.count_ones() as usize;
            for (index, &word) in common.iter().enumerate() {
                let mut left = word;
                while left != 0 {
                    let candidate = index * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    let [inside, beside] = weights[candidate][size];
                    let weight = if owner.is_in(candidate, mask) { inside } else { beside };
                    let own = &mut sums[candidate * outputs..(candidate + 1) * outputs];
                    own.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += weight * gain);
                }
            }
        }
        sums
    }
}
