//! Distances and neighbourhoods.

use super::{Adjacency, Graph, GraphShape};

impl Graph {
    /// Returns the neighbourhood `N_k(i)`: the nodes at distance at most `order` from `node`, including
    /// `node` itself, in ascending order (Chen et al. 2019, equation 4).
    ///
    /// Takes `O(|N_k(i)|)` time on lines and grids; otherwise `O(edges in the neighbourhood)` time, and one
    /// byte of memory per node.
    ///
    /// # Panics
    ///
    /// If the node does not exist.
    pub fn neighbourhood(&self, node: usize, order: usize) -> Vec<usize> {
        assert!(node < self.nodes(), "node {node} is out of range: the graph has {} nodes", self.nodes());
        match self.shape() {
            GraphShape::Line => {
                (node.saturating_sub(order)..=node.saturating_add(order).min(self.nodes() - 1)).collect()
            }
            GraphShape::Grid { rows, columns, adjacency } => {
                let (row, column) = (node / columns, node % columns);
                let near = |at: usize, reach: usize, end: usize| {
                    at.saturating_sub(reach)..at.saturating_add(reach).saturating_add(1).min(end)
                };
                let reach = |other: usize| match adjacency {
                    Adjacency::Four => order - other.abs_diff(row),
                    Adjacency::Eight => order,
                };
                near(row, order, rows)
                    .flat_map(|other| near(column, reach(other), columns).map(move |at| other * columns + at))
                    .collect()
            }
            GraphShape::General => {
                let mut nodes: Vec<usize> = self.layers(node, order).into_iter().flatten().collect();
                nodes.sort_unstable();
                nodes
            }
        }
    }

    /// Returns the largest distance from `node` to a node that can be reached from it.
    ///
    /// # Panics
    ///
    /// If the node does not exist.
    pub fn eccentricity(&self, node: usize) -> usize {
        self.layers(node, usize::MAX).len() - 1
    }

    /// Returns the largest distance between two nodes in the same component; 0 without nodes.
    ///
    /// At this order and above, `N_k(i)` is the whole component of i. Takes `O(n · edges)` time unless the
    /// graph is a line or a grid.
    pub fn diameter(&self) -> usize {
        match self.shape() {
            GraphShape::Line => self.nodes().saturating_sub(1),
            GraphShape::Grid { .. } if self.nodes() == 0 => 0,
            GraphShape::Grid { rows, columns, adjacency: Adjacency::Four } => rows + columns - 2,
            GraphShape::Grid { rows, columns, adjacency: Adjacency::Eight } => rows.max(columns) - 1,
            GraphShape::General => (0..self.nodes()).map(|node| self.eccentricity(node)).max().unwrap_or(0),
        }
    }

    /// Returns the nodes at distance 0, 1, …, `order` from `node`, one layer per distance. Trailing empty
    /// layers are omitted.
    fn layers(&self, node: usize, order: usize) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.nodes()];
        seen[node] = true;
        let mut layers = vec![vec![node]];
        while layers.len() <= order {
            let mut next = Vec::new();
            for &from in layers.last().map_or(&[][..], Vec::as_slice) {
                for &to in self.neighbours(from) {
                    if !std::mem::replace(&mut seen[to], true) {
                        next.push(to);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            layers.push(next);
        }
        layers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a graph with the same edges and the shape [`General`](GraphShape::General).
    fn plain(graph: &Graph) -> Graph {
        let nodes = 0..graph.nodes();
        let edges =
            nodes.flat_map(|a| graph.neighbours(a).iter().map(move |&b| (a, b))).filter(|(a, b)| a < b);
        Graph::from_edges(graph.nodes(), edges).unwrap()
    }

    /// Returns all distances, by the algorithm of Floyd and Warshall.
    fn distances(graph: &Graph) -> Vec<Vec<usize>> {
        let nodes = graph.nodes();
        let mut apart = vec![vec![usize::MAX / 2; nodes]; nodes];
        for (a, apart) in apart.iter_mut().enumerate() {
            apart[a] = 0;
            graph.neighbours(a).iter().for_each(|&b| apart[b] = 1);
        }
        for by in 0..nodes {
            for a in 0..nodes {
                for b in 0..nodes {
                    apart[a][b] = apart[a][b].min(apart[a][by] + apart[by][b]);
                }
            }
        }
        apart
    }

    #[test]
    fn neighbourhoods_and_diameters_are_those_of_all_distances() {
        let two_parts = Graph::from_edges(7, [(0, 1), (1, 2), (5, 3)]).unwrap();
        let graphs = [
            Graph::line(1),
            Graph::line(2),
            Graph::line(9),
            Graph::grid(1, 1, Adjacency::Four),
            Graph::grid(4, 6, Adjacency::Four),
            Graph::grid(5, 3, Adjacency::Eight),
            Graph::grid(9, 8, Adjacency::Eight),
            Graph::complete(5),
            two_parts,
        ];
        for graph in graphs {
            for graph in [plain(&graph), graph] {
                let apart = distances(&graph);
                for (node, apart) in apart.iter().enumerate() {
                    for order in [0, 1, 2, 3, 20, usize::MAX] {
                        let expected: Vec<usize> =
                            (0..graph.nodes()).filter(|&other| apart[other] <= order.min(1000)).collect();
                        assert_eq!(graph.neighbourhood(node, order), expected, "{graph:?} {node} {order}");
                    }
                }
                let expected = apart.iter().flatten().filter(|&&far| far < 1000).max().copied();
                assert_eq!(graph.diameter(), expected.unwrap_or(0));
            }
        }
        assert_eq!(Graph::line(0).diameter(), 0);
    }
}
