//! Connected components and boundaries.

use crate::coalition::{Coalition, CoalitionView};

use super::Graph;

impl Graph {
    /// Returns the connected components of `coalition`, in the order of their first members; the empty
    /// coalition has no components.
    ///
    /// Takes `O(|S| + edges at nodes of S + c · n/64)` time for c components.
    ///
    /// # Panics
    ///
    /// If the coalition has a different number of players than the graph has nodes.
    pub fn components(&self, coalition: CoalitionView<'_>) -> Vec<Coalition> {
        assert_eq!(
            coalition.players(),
            self.nodes(),
            "the coalition must have one player per node of the graph"
        );
        let mut left = coalition.to_coalition();
        let mut components = Vec::new();
        let mut reached = Vec::new();
        for first in coalition.members() {
            if !left.view().contains(first) {
                continue;
            }
            let mut component = Coalition::empty(self.nodes());
            left.remove(first);
            reached.push(first);
            while let Some(node) = reached.pop() {
                component.insert(node);
                for &next in self.neighbours(node) {
                    if left.view().contains(next) {
                        left.remove(next);
                        reached.push(next);
                    }
                }
            }
            components.push(component);
        }
        components
    }

    /// Returns whether any two members of `coalition` are joined by a path inside it. The empty coalition is
    /// connected.
    ///
    /// # Panics
    ///
    /// Same as [`components`](Self::components).
    pub fn is_connected(&self, coalition: CoalitionView<'_>) -> bool {
        self.components(coalition).len() <= 1
    }

    /// Returns the boundary B(U): the nodes outside `coalition` that have a neighbour in it.
    ///
    /// # Panics
    ///
    /// Same as [`components`](Self::components).
    pub fn boundary(&self, coalition: CoalitionView<'_>) -> Coalition {
        assert_eq!(
            coalition.players(),
            self.nodes(),
            "the coalition must have one player per node of the graph"
        );
        let outside = coalition.members().flat_map(|member| self.neighbours(member).iter().copied());
        Coalition::from_members(self.nodes(), outside.filter(|&node| !coalition.contains(node)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Adjacency;

    #[test]
    fn components_and_boundaries_of_a_grid() {
        // The members of the set, by component:
        // A . B .
        // A . . .
        // . . C C
        let graph = Graph::grid(3, 4, Adjacency::Four);
        let set = Coalition::from_members(12, [0, 2, 4, 10, 11]);
        let members = |coalition: &Coalition| coalition.view().members().collect::<Vec<_>>();
        let components: Vec<_> = graph.components(set.view()).iter().map(members).collect();
        assert_eq!(components, [vec![0, 4], vec![2], vec![10, 11]]);
        assert_eq!(members(&graph.boundary(set.view())), [1, 3, 5, 6, 7, 8, 9]);
        assert!(!graph.is_connected(set.view()));
        // Even with diagonal edges, node 2 is separate from the component of nodes 0 and 4, because it does
        // not share a corner with either of them.
        let corners = Graph::grid(3, 4, Adjacency::Eight);
        assert_eq!(corners.components(set.view()).len(), 3);
    }

    #[test]
    fn the_empty_coalition_is_connected_and_has_no_boundary() {
        let graph = Graph::line(70);
        assert!(graph.is_connected(Coalition::empty(70).view()));
        assert!(graph.is_connected(Coalition::full(70).view()));
        assert_eq!(graph.boundary(Coalition::empty(70).view()).view().size(), 0);
        assert_eq!(
            graph.boundary(Coalition::from_members(70, [64]).view()),
            Coalition::from_members(70, [63, 65])
        );
    }
}
