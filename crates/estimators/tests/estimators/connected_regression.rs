//! Compares regression C-Shapley with the dense formula of the paper.

use std::collections::HashSet;

use apportion_estimators::{ConnectedRegression, Estimator, EstimatorError, GraphError};
use apportion_games::{
    Additive, Adjacency, Coalitions, Counted, Game, GameError, Graph, SumOfUnanimity, TabulatedGame,
};

use crate::common::{ByBatch, choose, largest_difference, solve};

/// Returns the node sets for an order by definition: runs on a line, squares on a grid, and connected sets on
/// other graphs.
fn sets(graph: &Graph, order: usize, square: Option<(usize, usize)>) -> Vec<Vec<usize>> {
    let nodes = graph.nodes();
    let all =
        (1..1u64 << nodes).map(|mask| (0..nodes).filter(|node| mask >> node & 1 == 1).collect::<Vec<_>>());
    all.filter(|set| set.len() < nodes)
        .filter(|set| match square {
            Some((_, columns)) => (1..=order).any(|side| {
                let (top, left) = (set[0] / columns, set[0] % columns);
                let expected: Vec<usize> = (top..top + side)
                    .flat_map(|row| (left..left + side).map(move |at| row * columns + at))
                    .collect();
                left + side <= columns && *set == expected
            }),
            None => {
                let set = apportion_games::Coalition::from_members(nodes, set.iter().copied());
                set.view().size() <= order && graph.is_connected(set.view())
            }
        })
        .collect()
}

/// Computes (XᵀWX)⁻¹ XᵀW F, with a Lagrange multiplier if the sum is constrained.
fn dense(sets: &[Vec<usize>], gains: &[f64], players: usize, sum: Option<f64>) -> Vec<f64> {
    let d = players as f64;
    let weight = |size: usize| (d - 1.0) / (choose(players, size) * size as f64 * (d - size as f64));
    let unknowns = players + usize::from(sum.is_some());
    let mut rows = vec![vec![0.0; unknowns + 1]; unknowns];
    for (set, gain) in sets.iter().zip(gains) {
        let weight = weight(set.len());
        for &i in set {
            set.iter().for_each(|&j| rows[i][j] += weight);
            rows[i][unknowns] += weight * gain;
        }
    }
    if let Some(sum) = sum {
        let (of_players, of_sum) = rows.split_at_mut(players);
        of_players.iter_mut().for_each(|row| row[players] = 1.0);
        of_sum[0][..players].fill(1.0);
        of_sum[0][unknowns] = sum;
    }
    solve(rows)[..players].to_vec()
}

#[test]
fn the_answer_is_the_formula_of_the_paper() {
    let ring = Graph::from_edges(7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]).unwrap();
    let cases = [
        (Graph::line(2), None),
        (Graph::line(11), None),
        (Graph::grid(3, 3, Adjacency::Four), Some((3, 3))),
        (Graph::grid(3, 4, Adjacency::Eight), Some((3, 4))),
        (ring, None),
    ];
    for (graph, square) in cases {
        let nodes = graph.nodes();
        let table = TabulatedGame::from_game(&SumOfUnanimity::random(nodes, 30, 3, 9)).unwrap();
        let values: Vec<f64> = table.values_in_order().iter().map(|value| value + 5.0).collect();
        let total = values[values.len() - 1] - values[0];
        let game = TabulatedGame::new(values.clone(), 1).unwrap();
        for order in [1, 2, 3, nodes] {
            let sets = sets(&graph, order, square);
            let mask = |set: &Vec<usize>| set.iter().fold(0, |mask, node| mask | 1usize << node);
            let gains: Vec<f64> = sets.iter().map(|set| values[mask(set)] - values[0]).collect();
            let free = ConnectedRegression::new(graph.clone()).order(order);
            for (regression, sum) in [(free.clone(), None), (free.constrained(), Some(total))] {
                let counted = Counted::new(&game);
                let got = regression.estimate(&counted, usize::MAX, 1).unwrap();
                assert_eq!(counted.evaluations() as usize, got.evaluations);
                assert_eq!(
                    (got.evaluations, regression.coalitions(order)),
                    (sets.len() + 2, Some(sets.len() + 2))
                );
                let expected = dense(&sets, &gains, nodes, sum);
                let difference = largest_difference(&got.values, &expected);
                assert!(difference < 1e-11, "order {order} on {graph:?}: {difference}");
                assert!(sum.is_none() || got.efficiency_gap() < 1e-12);
                assert_eq!(got.diagnostics.rank, got.diagnostics.unknowns);
                assert_eq!(got.diagnostics.unknowns, Some(nodes - usize::from(sum.is_some())));
                assert!(!got.diagnostics.exact && got.std_errors.is_none() && got.seed.is_none());
            }
        }
    }
}

#[test]
fn additive_games_of_many_players_come_back() {
    for graph in [
        Graph::line(1),
        Graph::line(65),
        Graph::line(300),
        Graph::grid(28, 28, Adjacency::Four),
        Graph::from_edges(70, (1..70).map(|node| (node / 3, node)).collect::<Vec<_>>()).unwrap(),
    ] {
        let nodes = graph.nodes();
        let weights: Vec<f64> = (0..nodes).map(|player| ((player * 7) % 11) as f64 - 5.0).collect();
        let additive = Additive::new(weights.clone()).unwrap();
        // No coalition occurs twice in a batch.
        let game = ByBatch(nodes, |batch: &Coalitions, out: &mut [f64]| {
            let rows: HashSet<_> = batch.iter().map(|row| row.words().to_vec()).collect();
            assert_eq!(rows.len(), batch.len());
            additive.values(batch, out)
        });
        for regression in
            [ConnectedRegression::new(graph.clone()), ConnectedRegression::new(graph).constrained()]
        {
            let got = regression.estimate(&game, 4 * nodes, 0).unwrap();
            assert!(got.evaluations <= 4 * nodes);
            assert!(largest_difference(&got.values, &weights) < 1e-11);
        }
    }
}

#[test]
fn four_evaluations_for_each_player_are_those_of_the_paper() {
    let value = |graph: Graph| {
        let nodes = graph.nodes();
        let game = Additive::new(vec![1.0; nodes]).unwrap();
        let got = ConnectedRegression::new(graph).estimate(&game, 4 * nodes, 0).unwrap();
        (got.value.to_string(), got.evaluations)
    };
    // There are d + (d − 1) + (d − 2) + (d − 3) n-grams with n ≤ 4.
    assert_eq!(value(Graph::line(200)), ("c-shapley=4".to_owned(), 796));
    // There are 28² + 27² + 26² + 25² patches of up to 4 × 4.
    assert_eq!(value(Graph::grid(28, 28, Adjacency::Four)), ("c-shapley=4".to_owned(), 2816));
}

#[test]
fn budgets_and_orders_that_do_not_fit_are_refused() {
    let game = Additive::new(vec![1.0; 6]).unwrap();
    let regression = ConnectedRegression::new(Graph::line(6));
    assert_eq!(regression.minimum_budget(6), 8);
    let refused = regression.estimate(&game, 7, 0).unwrap_err();
    assert!(matches!(refused, EstimatorError::Budget { min: 8, .. }), "{refused}");
    assert_eq!(regression.estimate(&game, 8, 0).unwrap().evaluations, 8);
    assert_eq!(regression.clone().order(2).minimum_budget(6), 13);
    for refused in [regression.clone().order(0), regression.clone().order(3).max_coalitions(10)] {
        let refused = refused.estimate(&game, 1000, 0).unwrap_err();
        assert!(matches!(refused, EstimatorError::Graph(GraphError::ConnectedSets { .. })), "{refused}");
    }
    let refused = regression.estimate(&Additive::new(vec![1.0; 5]).unwrap(), 100, 0).unwrap_err();
    assert!(
        matches!(refused, EstimatorError::Game(GameError::GraphOfOthers { nodes: 6, players: 5 })),
        "{refused}"
    );
    // An order larger than the number of nodes includes all runs.
    let all = regression.order(1000).estimate(&game, 1000, 0).unwrap();
    assert_eq!(all.evaluations, 22);
}
