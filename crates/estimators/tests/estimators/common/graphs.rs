//! Graphs of few players, and checks of values on all of them.

use apportion_estimators::OnGraph;
use apportion_games::{Adjacency, Game, Graph, Purpose, stream};
use apportion_values::{Coefficients, GraphValue, Outside};
use rand::RngExt;

use super::{Once, assert_close};

pub(crate) const COEFFICIENTS: [Coefficients; 4] =
    [Coefficients::Neighbourhood, Coefficients::Graph, Coefficients::Marginal, Coefficients::Printed];
pub(crate) const OUTSIDE: [Outside; 2] = [Outside::Absent, Outside::Present];

/// Returns a random graph that contains each edge with probability `density`.
pub(crate) fn random_graph(nodes: usize, density: f64, seed: u64) -> Graph {
    let mut rng = stream(seed, Purpose::Experiment, 1);
    let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
    Graph::from_edges(nodes, pairs.filter(|_| rng.random_bool(density))).expect("edges of the graph")
}

/// Returns graphs with up to 14 nodes.
pub(crate) fn graphs() -> Vec<Graph> {
    let edges = |nodes, edges: &[(usize, usize)]| {
        Graph::from_edges(nodes, edges.iter().copied()).expect("edges of the graph")
    };
    let mut graphs = vec![
        Graph::line(1),
        Graph::line(2),
        Graph::line(3),
        Graph::line(9),
        Graph::line(14),
        Graph::grid(3, 3, Adjacency::Four),
        Graph::grid(2, 5, Adjacency::Four),
        Graph::grid(3, 4, Adjacency::Four),
        Graph::grid(3, 3, Adjacency::Eight),
        Graph::grid(2, 4, Adjacency::Eight),
        Graph::grid(2, 5, Adjacency::Eight),
        Graph::complete(2),
        Graph::complete(6),
        Graph::complete(7),
        edges(2, &[]),
        edges(5, &[]),
        // A ring, a line and a single node, which are not connected with each other. Neighbourhoods can
        // contain the whole ring.
        edges(10, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (6, 7), (7, 8), (8, 9)]),
        // Two parts, one of them a star with its centre last.
        edges(11, &[(0, 1), (1, 2), (10, 3), (10, 5), (10, 7), (10, 9), (4, 6), (6, 8)]),
    ];
    for nodes in [3, 6, 7, 8, 9, 10, 12] {
        graphs.extend([0.1, 0.3, 0.6].map(|density| random_graph(nodes, density, nodes as u64)));
    }
    graphs
}

/// Returns the C-Shapley values of order `order`, in all their forms.
pub(crate) fn c_shapley(order: usize) -> impl Iterator<Item = GraphValue> {
    let of = move |coefficients| GraphValue::c_shapley(order).with_coefficients(coefficients);
    COEFFICIENTS
        .into_iter()
        .flat_map(move |coefficients| OUTSIDE.map(|outside| of(coefficients).with_outside(outside)))
}

/// Compares a value with its definition, and the number of coalitions with the number of evaluations. Also
/// checks the reported counts.
pub(crate) fn check(graph: &Graph, game: &dyn Game, value: &GraphValue) {
    let what = format!("{value} on {graph:?}");
    let expected = value.enumerate(game, graph).unwrap();
    let estimator = OnGraph::new(graph.clone(), value.clone());
    let game = Once::new(game);
    let got = estimator.values(&game).unwrap();
    assert_close(&got.values, &expected.values, 1e-12, &what);
    assert_eq!((&got.base, &got.prediction), (&expected.base, &expected.predictions));
    assert_eq!(game.evaluations(), estimator.coalitions().unwrap(), "{what}");
    assert_eq!((got.evaluations, got.distinct_coalitions), (game.evaluations(), game.evaluations()));
    assert_eq!(got.model_rows, 3 * game.evaluations());
    assert!(got.diagnostics.exact && got.seed.is_none());
}
