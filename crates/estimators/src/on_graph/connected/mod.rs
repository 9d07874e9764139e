//! C-Shapley values: each distinct coalition is evaluated once for all players that need it.
//!
//! # Method
//!
//! The coalitions of a player i in its neighbourhood N_k(i) of order k, and their coefficients, are listed
//! once for all players with identical neighbourhoods ([`shape`]). A coalition is given by a set X in one
//! neighbourhood. The coalition is X itself if the players outside are absent, or N \ X if they are present.
//! Sets are processed by their first member, the node a. A player that needs such a set has the node a in its
//! neighbourhood, and all members of the set have distance at most 2k from a. The lists of the players in
//! N_k(a) are therefore converted to the nodes of N_2k(a) from a on ([`bits`]) and sorted, so that equal
//! coalitions of different players are adjacent ([`window`]). Different nodes a have different sets, so
//! nothing is stored from one node to the next.
//!
//! # Coefficients
//!
//! If the size b of the boundary is counted within the neighbourhood, each connected C has one coefficient
//! for player i,
//!
//! ```text
//! φ_i = Σ_{C ∋ i} M(|C| − 1, b(C)) w(C) − Σ_{C ∌ i, i ∈ B(C)} M(|C|, b(C) − 1) w(C)
//! ```
//!
//! over the connected C ⊆ N_k(i), as for Myerson values (see [`myerson`](super::myerson)).
//!
//! # Cost
//!
//! Takes `O(p log p')` word operations, once to count and once to evaluate. Here p is the number of pairs of
//! a player and a coalition, and p' is the number of these pairs at one node. The memory is that of the lists
//! of distinct neighbourhoods, about 16 bytes per set, and of one batch. Pairs are processed in parallel, and
//! sums are computed in the order of nodes.

mod bits;
mod shape;
mod sums;
mod window;

use std::ops::Range;

use apportion_games::{Game, Graph, GraphShape, parallel};
use apportion_values::{Coefficients, GraphValue, Outside};
use hashbrown::HashMap;

use super::exact_result::ExactResult;
use super::moments::Moments;
use crate::error::GraphError;
use crate::error::Result;
use bits::Bits;
use shape::{Neighbourhood, Shape};
use sums::Sums;
use window::{DistinctSets, Window};

/// The number of pairs of a player and a coalition to process in one step.
const PAIRS: usize = 1 << 18;

/// The lists may always contain this number of sets in total, regardless of the limit.
const MIN_TOTAL_SETS: usize = 1 << 24;

/// If a neighbourhood has too many coalitions, they are counted up to at least this number, for the error
/// message.
const COUNTED: usize = 1 << 16;

/// The number of neighbourhoods to list in one step.
const LISTED: usize = 64;

/// Calls a method of the plan that is generic in [`Bits`], with sets as wide as the largest room.
macro_rules! with_bits {
    ($plan:ident, $method:ident($argument:expr)) => {
        match $plan.largest_room().div_ceil(64) {
            0 | 1 => $plan.$method::<[u64; 1]>($argument),
            2 => $plan.$method::<[u64; 2]>($argument),
            3 | 4 => $plan.$method::<[u64; 4]>($argument),
            5..=8 => $plan.$method::<[u64; 8]>($argument),
            _ => $plan.$method::<Vec<u64>>($argument),
        }
    };
}

/// The neighbourhoods and their coalitions, before anything is evaluated.
pub(crate) struct Plan<'a> {
    graph: &'a Graph,
    order: usize,
    outside: Outside,
    /// The nodes in the neighbourhood of each player.
    nodes: Vec<Vec<u32>>,
    /// The index of the shape of each player's neighbourhood.
    shape_of: Vec<u32>,
    shapes: Vec<Shape>,
    /// The number of distinct coalitions except v(∅) and v(N).
    coalitions: usize,
}

impl<'a> Plan<'a> {
    /// Lists and counts the coalitions.
    ///
    /// # Errors
    ///
    /// [`GraphError::Neighbourhood`] for more than `limit` coalitions.
    pub(crate) fn new(
        graph: &'a Graph,
        value: &GraphValue,
        order: usize,
        coefficients: Coefficients,
        outside: Outside,
        limit: usize,
    ) -> Result<Self> {
        let players = graph.nodes();
        let node =
            |node: usize| graph.neighbourhood(node, order).into_iter().map(|near| near as u32).collect();
        let nodes: Vec<Vec<u32>> = (0..players).map(node).collect();
        let (neighbourhoods, shape_of) = neighbourhoods(graph, &nodes, coefficients);
        let mut first_of = vec![usize::MAX; neighbourhoods.len()];
        for (player, &shape) in shape_of.iter().enumerate().rev() {
            first_of[shape as usize] = player;
        }
        let too_many = |shape: usize, coalitions: usize| {
            GraphError::Neighbourhood {
                value: Box::new(value.clone().into()),
                player: first_of[shape],
                size: neighbourhoods[shape].size as usize,
                coalitions,
                limit,
                instead: "the regression on small connected coalitions",
            }
            .into()
        };

        // A coalition is shared by at most as many players as it has members. Therefore, if each of the
        // players with the most common shape has more than `enough` coalitions, the total exceeds the limit.
        let mut sharing = vec![0usize; neighbourhoods.len()];
        shape_of.iter().for_each(|&shape| sharing[shape as usize] += 1);
        let max_members = nodes.iter().map(Vec::len).max().unwrap_or(0);
        if let Some((shape, &with_it)) = sharing.iter().enumerate().max_by_key(|&(_, &with_it)| with_it) {
            let enough = limit.min((limit.saturating_mul(max_members) / with_it.max(1)).max(COUNTED));
            if neighbourhoods[shape].count(enough)?.is_none() {
                return Err(too_many(shape, enough.saturating_add(1)));
            }
        }
        // Count before listing, because large lists could be allocated in vain.
        let (mut largest, mut kept) = ((0, 0), 0usize);
        for (start, some) in (0..).step_by(LISTED).zip(neighbourhoods.chunks(LISTED)) {
            let counts: Vec<_> = parallel::map(some, |one| one.count(limit));
            for (shape, count) in (start..).zip(counts) {
                let Some(count) = count? else {
                    return Err(too_many(shape, limit.saturating_add(1)));
                };
                largest = largest.max((count, shape));
                kept = kept.saturating_add(count);
            }
            if kept > limit.saturating_mul(4).max(MIN_TOTAL_SETS) {
                return Err(too_many(largest.1, largest.0));
            }
        }
        let tasks = neighbourhoods.chunks(LISTED.min(1 + neighbourhoods.len() / 64));
        let shapes = parallel::try_map(tasks, |some| {
            let mut moments = Moments::new(&value.semivalue);
            let shape = |one| Shape::new(one, players, coefficients, outside, &mut moments);
            some.iter().map(shape).collect::<Result<Vec<_>, _>>()
        })?;
        let shapes = shapes.into_iter().flatten().collect();
        let mut plan = Self { graph, order, outside, nodes, shape_of, shapes, coalitions: 0 };
        plan.coalitions = plan.count(limit).ok_or_else(|| too_many(largest.1, largest.0))?;
        Ok(plan)
    }

    /// Returns the number of distinct coalitions, including v(∅) and v(N).
    pub(crate) fn coalitions(&self) -> usize {
        self.coalitions + 2
    }

    /// Returns the list of sets that determine the coalitions of the player.
    fn shape(&self, player: usize) -> &Shape {
        &self.shapes[self.shape_of[player] as usize]
    }

    /// Returns the room of `first`: the nodes that may occur in sets whose first member is `first`.
    fn room(&self, first: usize) -> Vec<usize> {
        let mut nodes = self.graph.neighbourhood(first, self.order.saturating_mul(2));
        nodes.drain(..nodes.partition_point(|&node| node < first));
        nodes
    }

    /// Returns the maximum number of nodes in any [`room`](Self::room).
    fn largest_room(&self) -> usize {
        let of_line = self.order.saturating_mul(2).saturating_add(1).min(self.graph.nodes());
        match self.graph.shape() {
            GraphShape::Line => of_line,
            _ => {
                let rooms = parallel::map(0..self.graph.nodes(), |node| self.room(node).len());
                rooms.into_iter().max().unwrap_or(0)
            }
        }
    }

    /// Returns the number of distinct coalitions except v(∅) and v(N), or `None` if there are more than
    /// `limit` in total.
    fn count(&self, limit: usize) -> Option<usize> {
        with_bits!(self, count_in(limit))
    }

    fn count_in<B: Bits>(&self, limit: usize) -> Option<usize> {
        let mut count = 2usize;
        for nodes in self.groups() {
            count +=
                parallel::map(nodes, |first| self.window::<B>(first).distinct()).into_iter().sum::<usize>();
            if count > limit {
                return None;
            }
        }
        (count <= limit).then_some(count - 2)
    }

    /// Computes the values of `game`.
    ///
    /// # Errors
    ///
    /// Any error of the game.
    pub(crate) fn values(&self, game: &dyn Game) -> Result<ExactResult> {
        let mut sums = Sums::new(game, self.outside)?;
        with_bits!(self, add_to(&mut sums))?;
        sums.evaluate()?;
        let everyone = sums.gain_of_everyone();
        for (player, values) in sums.values.chunks_exact_mut(game.outputs()).enumerate() {
            let coefficient = self.shape(player).everyone;
            values.iter_mut().zip(&everyone).for_each(|(value, gain)| *value += coefficient * gain);
        }
        Ok(ExactResult::new(sums.values, sums.evaluations))
    }

    fn add_to<B: Bits>(&self, sums: &mut Sums<'_>) -> Result<()> {
        for nodes in self.groups() {
            let windows: Vec<DistinctSets<B>> =
                parallel::map(nodes, |first| self.window::<B>(first).joined());
            windows.iter().try_for_each(|window| sums.add(window))?;
        }
        Ok(())
    }

    /// Splits the nodes into ranges, each with at least [`PAIRS`] pairs of a player and a set, except the
    /// last one.
    fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let (start, mut pairs) = (next, 0);
            while next < self.graph.nodes() && (pairs < PAIRS) {
                pairs += self
                    .users(next)
                    .map(|(player, place)| self.shape(player).sets(place).len())
                    .sum::<usize>();
                next += 1;
            }
            (start < next).then_some(start..next)
        })
    }

    /// Returns the players whose neighbourhood contains `node`, each with the position of `node` there.
    fn users(&self, node: usize) -> impl Iterator<Item = (usize, usize)> {
        // Distances are symmetric: a player's neighbourhood contains `node` if the neighbourhood of `node`
        // contains the player.
        self.nodes[node].iter().filter_map(move |&player| {
            let player = player as usize;
            self.nodes[player].binary_search(&(node as u32)).ok().map(|place| (player, place))
        })
    }

    /// Returns the sets with the first member `first`, from the lists of all players that need them.
    fn window<B: Bits>(&self, first: usize) -> Window<B> {
        let mut window = Window::new(self.room(first));
        for (player, place) in self.users(first) {
            let shape = self.shape(player);
            let nodes = self.nodes[player][place..].iter().map(|&node| node as usize);
            window.push(player, (place..).zip(nodes), shape.sets(place), shape.coefficients(place));
        }
        window
    }
}

/// Returns the distinct neighbourhoods, and the index of each player's neighbourhood.
fn neighbourhoods(
    graph: &Graph,
    nodes: &[Vec<u32>],
    coefficients: Coefficients,
) -> (Vec<Neighbourhood>, Vec<u32>) {
    let mut known: HashMap<Neighbourhood, u32> = HashMap::new();
    let mut place = vec![u32::MAX; nodes.len()];
    let shape_of = (nodes.iter().enumerate())
        .map(|(player, inside)| {
            let mut here: Vec<usize> = inside.iter().map(|&node| node as usize).collect();
            (0..).zip(&here).for_each(|(at, &node)| place[node] = at);
            let root = place[player];
            let (size, mut edges) = (here.len(), Vec::new());
            for at in 0..size {
                for &next in graph.neighbours(here[at]) {
                    if place[next] == u32::MAX {
                        if coefficients != Coefficients::Graph {
                            continue;
                        }
                        place[next] = here.len() as u32;
                        here.push(next);
                    }
                    if place[next] > at as u32 {
                        edges.push((at as u32, place[next]));
                    }
                }
            }
            here.iter().for_each(|&node| place[node] = u32::MAX);
            let around = (here.len() - size) as u32;
            let count = known.len() as u32;
            *known.entry(Neighbourhood { root, size: size as u32, around, edges }).or_insert(count)
        })
        .collect();
    let mut all: Vec<(Neighbourhood, u32)> = known.into_iter().collect();
    all.sort_unstable_by_key(|&(_, at)| at);
    (all.into_iter().map(|(one, _)| one).collect(), shape_of)
}
