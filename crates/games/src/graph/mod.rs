//! Graphs of players.
//!
//! # Notation
//!
//! G = (N, E) is an undirected graph whose nodes are the players. The *distance* of two nodes is the length
//! of a shortest path between them, in edges. The *neighbourhood* `N_k(i)` is the set of nodes at distance at
//! most k from i. The *boundary* B(U) of a set U is the set of nodes outside U that have a neighbour in it. A
//! set is *connected* if any two of its nodes are joined by a path inside it.
//!
//! # Source
//!
//! Chen, Song, Wainwright and Jordan, *L-Shapley and C-Shapley: efficient model interpretation for structured
//! data*, 2019, section 3; Myerson, *Graphs and cooperation in games*, 1977.

mod components;
mod connected;
mod neighbourhood;
mod restricted;

pub use connected::ConnectedSet;
pub use restricted::GraphRestrictedGame;

use crate::error::GameError;

/// The shape of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphShape {
    /// A line: each node has an edge to the next one, like the words of a text.
    Line,
    /// A grid: nodes in rows and columns, numbered row by row, like the pixels of an image.
    Grid {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// The rule that determines which nodes are neighbours.
        adjacency: Adjacency,
    },
    /// Any other graph.
    General,
}

/// The rule that determines which nodes of a grid are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Adjacency {
    /// The nodes to the left, to the right, above and below. Distances are Manhattan distances, as in Chen et
    /// al. (2019).
    #[default]
    Four,
    /// The four nodes of [`Four`](Self::Four) and the diagonal neighbours. Distances are the larger of the
    /// row distance and the column distance.
    Eight,
}

/// An undirected graph on the nodes `0..n`, without loops or parallel edges.
///
/// Graphs need not be connected. A graph takes `O(n + edges)` memory. Two graphs are equal if they have the
/// same edges and the same [shape](Self::shape): a line built with [`from_edges`](Self::from_edges) is a
/// general graph.
///
/// ```
/// use apportion_games::{Adjacency, Graph};
///
/// let image = Graph::grid(28, 28, Adjacency::Four);
/// assert_eq!(image.neighbours(0), [1, 28]);
/// assert_eq!(image.neighbourhood(14 * 28 + 14, 2).len(), 13);
///
/// let molecule = Graph::from_edges(4, [(0, 1), (1, 2), (3, 1)])?;
/// assert_eq!(molecule.neighbours(1), [0, 2, 3]);
/// assert_eq!(molecule.diameter(), 2);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// For each node, the start of its list in `neighbours`; the last entry is the end of the last list.
    starts: Vec<usize>,
    /// The neighbours of node 0, then of node 1, …; each list is ascending.
    neighbours: Vec<usize>,
    shape: GraphShape,
}

impl Graph {
    /// Creates the line graph 0 – 1 – … – (n−1).
    pub fn line(nodes: usize) -> Self {
        let edges = (1..nodes).map(|node| (node - 1, node)).collect();
        Self::of_edges(nodes, edges, GraphShape::Line)
    }

    /// Creates the grid of rows × columns, with nodes numbered row by row.
    ///
    /// # Panics
    ///
    /// If rows × columns overflows.
    pub fn grid(rows: usize, columns: usize, adjacency: Adjacency) -> Self {
        let node = |row: usize, column: usize| row * columns + column;
        assert!(rows.checked_mul(columns).is_some(), "a grid of {rows} × {columns} is too large");
        let mut edges = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                if column + 1 < columns {
                    edges.push((node(row, column), node(row, column + 1)));
                }
                if row + 1 == rows {
                    continue;
                }
                edges.push((node(row, column), node(row + 1, column)));
                if adjacency == Adjacency::Eight {
                    if column > 0 {
                        edges.push((node(row, column), node(row + 1, column - 1)));
                    }
                    if column + 1 < columns {
                        edges.push((node(row, column), node(row + 1, column + 1)));
                    }
                }
            }
        }
        Self::of_edges(rows * columns, edges, GraphShape::Grid { rows, columns, adjacency })
    }

    /// Creates the complete graph, in which any two nodes are neighbours.
    pub fn complete(nodes: usize) -> Self {
        let edges = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b))).collect();
        Self::of_edges(nodes, edges, GraphShape::General)
    }

    /// Creates a graph from its edges, each given once, in either direction.
    ///
    /// # Errors
    ///
    /// [`GameError::NoSuchNode`], [`GameError::SelfLoop`] and [`GameError::DuplicateEdge`] for invalid edges.
    pub fn from_edges(
        nodes: usize,
        edges: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, GameError> {
        let edges: Vec<(usize, usize)> = edges.into_iter().collect();
        for &edge in &edges {
            if edge.0 >= nodes || edge.1 >= nodes {
                return Err(GameError::NoSuchNode { edge, nodes });
            }
            if edge.0 == edge.1 {
                return Err(GameError::SelfLoop { node: edge.0 });
            }
        }
        let mut sorted: Vec<(usize, usize)> = edges.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(GameError::DuplicateEdge { edge: pair[0] });
        }
        Ok(Self::of_edges(nodes, sorted, GraphShape::General))
    }

    /// Creates a graph from valid edges: all distinct, each between two different existing nodes.
    fn of_edges(nodes: usize, edges: Vec<(usize, usize)>, shape: GraphShape) -> Self {
        let mut starts = vec![0; nodes + 1];
        for &(a, b) in &edges {
            starts[a + 1] += 1;
            starts[b + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut ends = starts.clone();
        let mut neighbours = vec![0; 2 * edges.len()];
        for (a, b) in edges {
            for (from, to) in [(a, b), (b, a)] {
                neighbours[ends[from]] = to;
                ends[from] += 1;
            }
        }
        let mut graph = Self { starts, neighbours, shape };
        for node in 0..nodes {
            graph.neighbours[graph.starts[node]..graph.starts[node + 1]].sort_unstable();
        }
        graph
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Returns the shape of the graph.
    pub fn shape(&self) -> GraphShape {
        self.shape
    }

    /// Returns the neighbours of `node` in ascending order.
    ///
    /// # Panics
    ///
    /// If the node does not exist.
    pub fn neighbours(&self, node: usize) -> &[usize] {
        &self.neighbours[self.starts[node]..self.starts[node + 1]]
    }

    /// Checks that the graph has a node for each of `players` players.
    ///
    /// # Errors
    ///
    /// [`GameError::GraphOfOthers`] if the numbers differ.
    pub fn check_players(&self, players: usize) -> Result<(), GameError> {
        match self.nodes() {
            nodes if nodes == players => Ok(()),
            nodes => Err(GameError::GraphOfOthers { nodes, players }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_edges(graph: &Graph) -> Vec<(usize, usize)> {
        let nodes = 0..graph.nodes();
        nodes.flat_map(|a| graph.neighbours(a).iter().map(move |&b| (a, b))).filter(|(a, b)| a < b).collect()
    }

    #[test]
    fn lines_and_grids_have_the_edges_of_their_definition() {
        for nodes in [0, 1, 2, 5, 130] {
            let graph = Graph::line(nodes);
            let wanted: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
            assert_eq!(all_edges(&graph), wanted);
            assert_eq!((graph.nodes(), graph.edges()), (nodes, nodes.saturating_sub(1)));
        }
        for (rows, columns) in [(0, 3), (1, 1), (1, 4), (3, 1), (3, 5), (9, 8)] {
            for adjacency in [Adjacency::Four, Adjacency::Eight] {
                let apart = |a: usize, b: usize| {
                    let (rows, columns) =
                        ((a / columns).abs_diff(b / columns), (a % columns).abs_diff(b % columns));
                    if adjacency == Adjacency::Four { rows + columns } else { rows.max(columns) }
                };
                let nodes = rows * columns;
                let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
                let wanted: Vec<_> = pairs.filter(|&(a, b)| apart(a, b) == 1).collect();
                assert_eq!(all_edges(&Graph::grid(rows, columns, adjacency)), wanted);
            }
        }
        assert_eq!(Graph::complete(5).edges(), 10);
    }

    #[test]
    #[should_panic(expected = "too large")]
    fn a_grid_of_more_nodes_than_can_be_numbered_is_refused() {
        Graph::grid(1 << 40, 1 << 40, Adjacency::Four);
    }

    #[test]
    fn the_order_and_direction_of_edges_do_not_matter() {
        let graph = Graph::from_edges(4, [(2, 1), (3, 2), (0, 1)]).unwrap();
        assert_eq!(all_edges(&graph), all_edges(&Graph::line(4)));
    }

    #[test]
    fn edges_that_no_graph_has_are_refused() {
        let refusal = |edges: &[(usize, usize)]| Graph::from_edges(3, edges.iter().copied()).unwrap_err();
        assert!(matches!(refusal(&[(0, 1), (1, 3)]), GameError::NoSuchNode { edge: (1, 3), nodes: 3 }));
        assert!(matches!(refusal(&[(0, 1), (2, 2)]), GameError::SelfLoop { node: 2 }));
        assert!(matches!(refusal(&[(0, 1), (2, 1), (1, 0)]), GameError::DuplicateEdge { edge: (0, 1) }));
        assert!(refusal(&[(0, 1), (1, 0)]).to_string().contains("once"));
        assert!(Graph::from_edges(0, [(0, 1)]).unwrap_err().to_string().contains("there is no node"));
        assert!(Graph::from_edges(0, []).is_ok());
        assert!(Graph::line(3).check_players(4).is_err());
    }
}
