//! Enumeration of connected sets of nodes, without repetitions.

use std::ops::ControlFlow;

use crate::coalition::{Coalition, CoalitionView};

use super::Graph;

/// A connected set of nodes, as passed to the `visit` callbacks.
#[derive(Debug, Clone, Copy)]
pub struct ConnectedSet<'a> {
    /// The nodes of the set.
    pub nodes: CoalitionView<'a>,
    /// Number of nodes in the set.
    pub size: usize,
    /// Number of nodes outside the set that have a neighbour in it: |B(U)|.
    pub boundary: usize,
    /// Number of nodes of the boundary in `within`, the nodes to which the enumeration is restricted.
    pub boundary_within: usize,
}

impl Graph {
    /// Calls `visit` once for every connected set that contains `root` and has at most `largest` nodes, all
    /// of them in `within`. Stops if `visit` breaks.
    ///
    /// The set `{root}` comes first; each later set adds a node to an earlier one. Each set takes
    /// `O(neighbours of the added node)` time, on any graph; the call takes `O(n)` additional time.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use apportion_games::{Adjacency, Coalition, Graph};
    ///
    /// // The connected sets that contain a pixel, among the pixels at distance at most 2.
    /// let graph = Graph::grid(28, 28, Adjacency::Four);
    /// let pixel = 14 * 28 + 14;
    /// let around = Coalition::from_members(784, graph.neighbourhood(pixel, 2));
    /// let mut count = 0;
    /// let end = graph.visit_connected(pixel, around.view(), usize::MAX, |_| {
    ///     count += 1;
    ///     ControlFlow::<()>::Continue(())
    /// });
    /// assert!(end.is_continue());
    /// assert_eq!(count, 1057);
    /// ```
    ///
    /// # Panics
    ///
    /// If `root` is not in `within`, or `within` has a different number of players than the graph has nodes.
    pub fn visit_connected<B>(
        &self,
        root: usize,
        within: CoalitionView<'_>,
        largest: usize,
        visit: impl FnMut(ConnectedSet<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        assert_eq!(
            within.players(),
            self.nodes(),
            "the coalition must have one player per node of the graph"
        );
        assert!(within.contains(root), "node {root} is not a member of `within`");
        Walk::new(self, within, 0).run(root, largest, visit)
    }

    /// Calls `visit` once for every connected set with at most `largest` nodes, all of them in `within`.
    /// Stops if `visit` breaks. The empty set is not visited.
    ///
    /// Sets are ordered by their first node; sets with the same first node are ordered as in
    /// [`visit_connected`](Self::visit_connected).
    ///
    /// # Panics
    ///
    /// If the number of players of `within` is not the number of nodes.
    pub fn visit_all_connected<B>(
        &self,
        within: CoalitionView<'_>,
        largest: usize,
        mut visit: impl FnMut(ConnectedSet<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        assert_eq!(
            within.players(),
            self.nodes(),
            "the coalition must have one player per node of the graph"
        );
        let mut walk = Walk::new(self, within, 0);
        for first in within.members() {
            walk.first = first;
            walk.run(first, largest, &mut visit)?;
        }
        ControlFlow::Continue(())
    }

    /// Counts the connected sets with at most `largest` nodes, all of them in `within`. If `root` is given,
    /// only sets that contain `root` are counted. Returns `None` if there are more than `limit`.
    ///
    /// # Panics
    ///
    /// Same as [`visit_connected`](Self::visit_connected).
    pub fn count_connected(
        &self,
        root: Option<usize>,
        within: CoalitionView<'_>,
        largest: usize,
        limit: usize,
    ) -> Option<usize> {
        let mut count = 0;
        let visit = |_: ConnectedSet<'_>| {
            count += 1;
            if count > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let end = match root {
            Some(root) => self.visit_connected(root, within, largest, visit),
            None => self.visit_all_connected(within, largest, visit),
        };
        end.is_continue().then_some(count)
    }
}

/// An enumeration of the connected sets that contain a given node.
///
/// A set grows by one candidate at a time. All earlier candidates in the list are excluded from the sets that
/// follow, so that no set is visited twice.
struct Walk<'a> {
    graph: &'a Graph,
    within: CoalitionView<'a>,
    /// Nodes with a lower number than this one are excluded.
    first: usize,
    nodes: Coalition,
    size: usize,
    /// For each node, the number of its neighbours in the current set.
    touched: Vec<u32>,
    boundary: usize,
    boundary_within: usize,
    /// Nodes that may be added next, and nodes that were added or skipped on the way to the current set.
    candidates: Vec<usize>,
    is_candidate: Vec<bool>,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph, within: CoalitionView<'a>, first: usize) -> Self {
        let nodes = graph.nodes();
        Self {
            graph,
            within,
            first,
            nodes: Coalition::empty(nodes),
            size: 0,
            touched: vec![0; nodes],
            boundary: 0,
            boundary_within: 0,
            candidates: Vec::new(),
            is_candidate: vec![false; nodes],
        }
    }

    fn run<B>(
        &mut self,
        root: usize,
        largest: usize,
        mut visit: impl FnMut(ConnectedSet<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if largest == 0 {
            return ControlFlow::Continue(());
        }
        // The nodes of the set in the order they were added, each with the index of the next candidate to try
        // and the number of candidates before it was added.
        let mut taken = vec![(root, 0, 0)];
        self.is_candidate[root] = true;
        self.take(root);
        visit(self.set())?;
        while let Some((node, next, before)) = taken.last_mut() {
            if *next < self.candidates.len() && self.size < largest {
                let candidate = self.candidates[*next];
                *next += 1;
                let (next, before) = (*next, self.candidates.len());
                self.take(candidate);
                visit(self.set())?;
                taken.push((candidate, next, before));
            } else {
                let (node, before) = (*node, *before);
                self.drop(node, before);
                taken.pop();
            }
        }
        self.is_candidate[root] = false;
        ControlFlow::Continue(())
    }

    fn set(&self) -> ConnectedSet<'_> {
        ConnectedSet {
            nodes: self.nodes.view(),
            size: self.size,
            boundary: self.boundary,
            boundary_within: self.boundary_within,
        }
    }

    /// Adds a node to the current set, and its neighbours to the candidates.
    fn take(&mut self, node: usize) {
        if self.touched[node] > 0 {
            self.boundary -= 1;
            self.boundary_within -= 1;
        }
        self.nodes.insert(node);
        self.size += 1;
        for &next in self.graph.neighbours(node) {
            let is_within = self.within.contains(next);
            self.touched[next] += 1;
            if self.touched[next] == 1 && !self.nodes.view().contains(next) {
                self.boundary += 1;
                self.boundary_within += usize::from(is_within);
            }
            if is_within && next >= self.first && !self.is_candidate[next] {
                self.is_candidate[next] = true;
                self.candidates.push(next);
            }
        }
    }

    /// Undoes [`take`](Self::take) for `node`, and truncates the list of candidates to the first `before`.
    fn drop(&mut self, node: usize, before: usize) {
        for candidate in self.candidates.drain(before..) {
            self.is_candidate[candidate] = false;
        }
        for &next in self.graph.neighbours(node) {
            self.touched[next] -= 1;
            if self.touched[next] == 0 && !self.nodes.view().contains(next) {
                self.boundary -= 1;
                self.boundary_within -= usize::from(self.within.contains(next));
            }
        }
        self.nodes.remove(node);
        self.size -= 1;
        if self.touched[node] > 0 {
            self.boundary += 1;
            self.boundary_within += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adjacency, Purpose, stream};
    use rand::RngExt;
    use std::collections::BTreeMap;

    type Sets = BTreeMap<u64, (usize, usize, usize)>;

    fn visited(graph: &Graph, root: Option<usize>, within: &Coalition, largest: usize) -> Sets {
        let mut sets = Sets::new();
        let visit = |set: ConnectedSet<'_>| {
            let known = (set.size, set.boundary, set.boundary_within);
            assert!(sets.insert(set.nodes.words()[0], known).is_none(), "each set is visited once");
            ControlFlow::<()>::Continue(())
        };
        let end = match root {
            Some(root) => graph.visit_connected(root, within.view(), largest, visit),
            None => graph.visit_all_connected(within.view(), largest, visit),
        };
        assert!(end.is_continue());
        sets
    }

    /// Returns the connected sets by testing all 2^n subsets against the definition.
    fn brute(graph: &Graph, root: Option<usize>, within: &Coalition, largest: usize) -> Sets {
        let nodes = graph.nodes();
        let members = |mask: u64| (0..nodes).filter(move |node| mask >> node & 1 == 1);
        (1..1u64 << nodes)
            .map(|mask| (mask, Coalition::from_members(nodes, members(mask))))
            .filter(|(_, set)| root.is_none_or(|root| set.view().contains(root)))
            .filter(|(_, set)| set.view().is_subset_of(within.view()) && set.view().size() <= largest)
            .filter(|(_, set)| graph.is_connected(set.view()))
            .map(|(mask, set)| {
                let boundary = graph.boundary(set.view());
                let within = boundary.view().members().filter(|&node| within.view().contains(node)).count();
                (mask, (set.view().size(), boundary.view().size(), within))
            })
            .collect()
    }

    #[test]
    fn every_connected_set_comes_once_with_its_boundary() {
        let mut rng = stream(1, Purpose::Experiment, 0);
        let mut graphs = vec![
            Graph::line(1),
            Graph::line(2),
            Graph::line(10),
            Graph::grid(3, 4, Adjacency::Four),
            Graph::grid(3, 3, Adjacency::Eight),
            Graph::complete(6),
        ];
        for nodes in [5, 8, 11] {
            for density in [0.2, 0.5] {
                let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
                graphs.push(Graph::from_edges(nodes, pairs.filter(|_| rng.random_bool(density))).unwrap());
            }
        }
        for graph in graphs {
            let nodes = graph.nodes();
            let all = Coalition::full(nodes);
            let some = Coalition::from_members(nodes, (0..nodes).filter(|_| rng.random_bool(0.7)));
            for within in [all, some] {
                for largest in [0, 1, 2, 4, usize::MAX] {
                    let expected = brute(&graph, None, &within, largest);
                    assert_eq!(visited(&graph, None, &within, largest), expected);
                    assert_eq!(
                        graph.count_connected(None, within.view(), largest, 1 << 20),
                        Some(expected.len())
                    );
                    for root in within.view().members() {
                        let expected = brute(&graph, Some(root), &within, largest);
                        assert_eq!(visited(&graph, Some(root), &within, largest), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_has_its_intervals_and_a_walk_can_be_broken_off() {
        for nodes in [1, 64, 65, 130, 201] {
            let graph = Graph::line(nodes);
            let all = Coalition::full(nodes);
            let intervals = nodes * (nodes + 1) / 2;
            assert_eq!(graph.count_connected(None, all.view(), usize::MAX, intervals), Some(intervals));
            assert_eq!(graph.count_connected(None, all.view(), usize::MAX, intervals - 1), None);
            let root = nodes / 2;
            let around = (root + 1) * (nodes - root);
            assert_eq!(graph.count_connected(Some(root), all.view(), usize::MAX, around), Some(around));
            assert_eq!(
                graph.count_connected(None, all.view(), 3, 1 << 20),
                Some((1..=nodes.min(3)).map(|size| nodes + 1 - size).sum())
            );
        }
    }
}
