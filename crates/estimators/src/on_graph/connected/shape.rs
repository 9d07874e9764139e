//! The coalitions of a player in its neighbourhood, with their coefficients.
//!
//! Players with identical neighbourhoods, such as those inside a line or a grid, share one list.

use std::ops::ControlFlow;

use apportion_games::{Coalition, CoalitionView, ConnectedSet, Graph};
use apportion_values::{Coefficients, Outside};

use crate::error::Result;
use crate::on_graph::moments::Moments;

/// A neighbourhood with its own numbering of nodes: its nodes in order, followed by the adjacent nodes for
/// [`Coefficients::Graph`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Neighbourhood {
    /// The index of the player whose neighbourhood this is.
    pub(crate) root: u32,
    /// The number of nodes in the neighbourhood.
    pub(crate) size: u32,
    /// The number of adjacent nodes that count as the boundary.
    pub(crate) around: u32,
    /// The edges with an end in the neighbourhood, with the smaller end first.
    pub(crate) edges: Vec<(u32, u32)>,
}

impl Neighbourhood {
    fn graph(&self) -> Result<Graph> {
        let edges = self.edges.iter().map(|&(a, b)| (a as usize, b as usize));
        Ok(Graph::from_edges((self.size + self.around) as usize, edges)?)
    }

    /// Returns the number of connected coalitions of the neighbourhood that contain the player, or `None` for
    /// more than `limit`.
    pub(crate) fn count(&self, limit: usize) -> Result<Option<usize>> {
        let graph = self.graph()?;
        if self.leaves(&graph) > limit.checked_ilog2().unwrap_or(0) as usize {
            return Ok(None);
        }
        let inside = Coalition::from_members(graph.nodes(), 0..self.size as usize);
        Ok(graph.count_connected(Some(self.root as usize), inside.view(), usize::MAX, limit))
    }

    /// Returns the number of leaves of a shortest-path tree from the player to all nodes of the
    /// neighbourhood. If any of its leaves are removed, the tree is still connected, so there are at least
    /// 2^leaves connected coalitions.
    fn leaves(&self, graph: &Graph) -> usize {
        let mut seen = vec![false; self.size as usize];
        seen[self.root as usize] = true;
        let (mut reached, mut next, mut leaves) = (vec![self.root as usize], 0, 0);
        while let Some(&node) = reached.get(next) {
            next += 1;
            let before = reached.len();
            for &to in graph.neighbours(node) {
                if seen.get(to) == Some(&false) {
                    seen[to] = true;
                    reached.push(to);
                }
            }
            leaves += usize::from(reached.len() == before && node != self.root as usize);
        }
        leaves
    }
}

/// The sets X that determine the coalitions of a player, sorted by their first members.
///
/// For a coalition T of the neighbourhood N_k(i), X is T if the players outside are absent, and N_k(i) \ T if
/// they are present. The coalition to evaluate is therefore X or N \ X. The empty X is omitted, because
/// values are relative to the value of its coalition.
pub(crate) struct Shape {
    /// The number of 64-bit words per set.
    width: usize,
    words: Vec<u64>,
    coefficients: Vec<f64>,
    /// The start index of the sets with each first member, followed by the end index of the last sets.
    starts: Vec<usize>,
    /// The coefficient of the set X of all players, which is not in the list.
    pub(crate) everyone: f64,
}

impl Shape {
    /// Returns the sets with first member `first`.
    pub(crate) fn sets(&self, first: usize) -> impl ExactSizeIterator<Item = &[u64]> {
        let (start, end) = (self.starts[first], self.starts[first + 1]);
        self.words[start * self.width..end * self.width].chunks_exact(self.width)
    }

    /// Returns the coefficients of the sets with first member `first`.
    pub(crate) fn coefficients(&self, first: usize) -> &[f64] {
        &self.coefficients[self.starts[first]..self.starts[first + 1]]
    }

    /// Creates the list for `neighbourhood` in a game of `players` players.
    pub(crate) fn new(
        neighbourhood: &Neighbourhood,
        players: usize,
        coefficients: Coefficients,
        outside: Outside,
        moments: &mut Moments<'_>,
    ) -> Result<Self> {
        let graph = neighbourhood.graph()?;
        let mut list = List {
            inside: Coalition::from_members(graph.nodes(), 0..neighbourhood.size as usize),
            outside,
            words: Vec::new(),
            coefficients: Vec::new(),
        };
        let root = neighbourhood.root as usize;
        match coefficients {
            Coefficients::Neighbourhood => list.by_boundaries(&graph, root, moments),
            Coefficients::Graph => list.by_components(&graph, root, moments),
            Coefficients::Marginal => {
                list.by_marginals(&graph, root, |set| moments.get(set.size - 1, set.boundary))
            }
            Coefficients::Printed => list.by_marginals(&graph, root, |set| moments.get(set.size - 1, 2)),
        }
        Ok(list.sorted(neighbourhood.size as usize, players))
    }
}

/// The list under construction, in the order in which coalitions are visited.
struct List {
    inside: Coalition,
    outside: Outside,
    /// The 64-bit words of all sets X, one after another, over the nodes of the neighbourhood and the
    /// adjacent nodes.
    words: Vec<u64>,
    coefficients: Vec<f64>,
}

impl List {
    fn push(&mut self, coalition: CoalitionView<'_>, coefficient: f64) {
        let words = coalition.words();
        match self.outside {
            Outside::Absent => self.words.extend_from_slice(words),
            Outside::Present => {
                self.words.extend(
                    self.inside.view().words().iter().zip(words).map(|(inside, word)| inside & !word),
                );
            }
        }
        self.coefficients.push(coefficient);
    }

    /// Appends the coalition of the empty set, whose value is subtracted from all other values.
    fn push_base(&mut self) {
        let rest = -self.coefficients.iter().sum::<f64>();
        self.push(Coalition::empty(self.inside.view().players()).view(), rest);
    }

    /// Appends each connected coalition once: either it contains the player, or the player joins it.
    ///
    /// For a coalition U with b neighbouring nodes, the coefficient is M(|U| − 1, b) if U contains the
    /// player, and −M(|U|, b − 1) if the player is one of these nodes, as for Myerson values.
    fn by_boundaries(&mut self, graph: &Graph, root: usize, moments: &mut Moments<'_>) {
        let mut within = self.inside.clone();
        visit(graph, root, within.view(), |set| {
            self.push(set.nodes, moments.get(set.size - 1, set.boundary));
        });
        within.remove(root);
        // Each coalition that is adjacent to the player is visited from the first neighbour that it contains.
        for &neighbour in graph.neighbours(root) {
            visit(graph, neighbour, within.view(), |set| {
                self.push(set.nodes, -moments.get(set.size, set.boundary - 1));
            });
            within.remove(neighbour);
        }
        self.push_base();
    }

    /// Appends coalitions by definition: the value of U minus the values of the components of U \ i. A
    /// component occurs once per U, because all U are restricted to the neighbourhood.
    fn by_components(&mut self, graph: &Graph, root: usize, moments: &mut Moments<'_>) {
        visit(graph, root, self.inside.clone().view(), |set| {
            let weight = moments.get(set.size - 1, set.boundary);
            self.push(set.nodes, weight);
            let mut rest = set.nodes.to_coalition();
            rest.remove(root);
            graph.components(rest.view()).iter().for_each(|part| self.push(part.view(), -weight));
        });
        self.push_base();
    }

    /// Appends the coalitions in equation 6 of Chen et al. (2019): the value of U minus the value of U \ i,
    /// times a coefficient.
    fn by_marginals(&mut self, graph: &Graph, root: usize, mut weight: impl FnMut(&ConnectedSet<'_>) -> f64) {
        visit(graph, root, self.inside.clone().view(), |set| {
            let weight = weight(&set);
            self.push(set.nodes, weight);
            let mut rest = set.nodes.to_coalition();
            rest.remove(root);
            self.push(rest.view(), -weight);
        });
    }

    fn sorted(self, size: usize, players: usize) -> Shape {
        let (old, width) = (self.inside.view().words().len(), size.div_ceil(64));
        let sets = || self.words.chunks_exact(old).zip(&self.coefficients);
        let mut everyone = 0.0;
        let mut starts = vec![0; size + 1];
        // Returns the first member of a set, or `None` for the empty set and for the set of all players.
        let place = |set: &[u64]| {
            let members: usize = set.iter().map(|word| word.count_ones() as usize).sum();
            let first = set.iter().position(|&word| word != 0)?;
            (members < players).then(|| first * 64 + set[first].trailing_zeros() as usize)
        };
        for (set, coefficient) in sets() {
            match place(set) {
                Some(first) => starts[first + 1] += 1,
                None if set.iter().any(|&word| word != 0) => everyone += coefficient,
                None => {}
            }
        }
        for first in 0..size {
            starts[first + 1] += starts[first];
        }
        let mut ends = starts.clone();
        let kept = starts[size];
        let (mut words, mut coefficients) = (vec![0; kept * width], vec![0.0; kept]);
        for (set, coefficient) in sets() {
            if let Some(first) = place(set) {
                let at = ends[first];
                words[at * width..(at + 1) * width].copy_from_slice(&set[..width]);
                coefficients[at] = *coefficient;
                ends[first] += 1;
            }
        }
        Shape { width, words, coefficients, starts, everyone }
    }
}

/// Visits the connected coalitions of `within` that contain `root`.
fn visit(graph: &Graph, root: usize, within: CoalitionView<'_>, mut each: impl FnMut(ConnectedSet<'_>)) {
    let end = graph.visit_connected(root, within, usize::MAX, |set| {
        each(set);
        ControlFlow::<()>::Continue(())
    });
    debug_assert!(end.is_continue());
}
