//! Tests the interface of values for players on a graph: budgets, counts, limits and invalid requests.

use apportion_estimators::{Estimator, EstimatorError, GraphError, LocalSampling, OnGraph};
use apportion_games::{Additive, Adjacency, Coalitions, Game, GameError, Graph, SumOfUnanimity};
use apportion_values::{
    Coefficients, GraphForm, GraphValue, Outside, Semivalue, SolutionConcept, ValueError, enumerate,
};

use crate::common::graphs::{OUTSIDE, c_shapley};
use crate::common::{ByBatch, Several, assert_close, largest_difference, on_threads, untouched};

/// Returns a game with finite values whose sums are infinite.
fn huge(players: usize) -> impl Game {
    ByBatch(players, |batch: &Coalitions, out: &mut [f64]| {
        let worth = |&size: &u32| if size % 2 == 0 { -1.5e308 } else { 1.5e308 };
        out.iter_mut().zip(batch.sizes()).for_each(|(out, size)| *out = worth(size));
        Ok(())
    })
}

fn forms() -> [GraphValue; 5] {
    [
        GraphValue::l_shapley(1),
        GraphValue::l_shapley(1).with_outside(Outside::Present),
        GraphValue::c_shapley(1),
        GraphValue::c_shapley(1).with_coefficients(Coefficients::Printed).with_outside(Outside::Present),
        GraphValue::myerson(),
    ]
}

#[test]
fn a_budget_that_suffices_gives_the_value_and_a_smaller_one_says_the_least() {
    let game = SumOfUnanimity::random(9, 25, 3, 4);
    for value in forms() {
        let estimator = OnGraph::new(Graph::line(9), value.clone());
        let least = estimator.minimum_budget(9);
        assert_eq!(least, estimator.coalitions().unwrap());
        let got = estimator.estimate(&game, least, 7).unwrap();
        assert_eq!(got, estimator.values(&game).unwrap());
        assert_eq!(got, estimator.estimate(&game, usize::MAX, 0).unwrap());
        assert_eq!(got, estimator.growing().estimate(&game, least, 0).unwrap());
        assert_eq!((got.method.as_str(), estimator.name()), ("on-graph", "on-graph"));
        assert_eq!(got.value, SolutionConcept::OnGraph(value.clone()));
        assert_eq!(estimator.value(), got.value);
        assert_eq!(got.std_errors, Some(vec![0.0; 9]));
        let expected = value.enumerate(&game, &Graph::line(9)).unwrap();
        assert!(largest_difference(&got.values, &expected.values) < 1e-12);
        let refused = estimator.estimate(&untouched(9), least - 1, 0).unwrap_err();
        assert!(matches!(refused, EstimatorError::Budget { min: said, .. } if said == least), "{refused}");
    }
}

#[test]
fn where_all_are_neighbours_all_three_are_the_semivalue() {
    let game = SumOfUnanimity::random(7, 30, 4, 6);
    for semivalue in [Semivalue::Shapley, Semivalue::Banzhaf] {
        let expected = enumerate(&game, semivalue.clone()).unwrap();
        for value in [GraphValue::l_shapley(1), GraphValue::c_shapley(1), GraphValue::myerson()] {
            let estimator = OnGraph::new(Graph::complete(7), value.with_semivalue(semivalue.clone()));
            assert_eq!(estimator.coalitions().unwrap(), 128);
            let got = estimator.values(&game).unwrap();
            assert_eq!(got.evaluations, 128);
            assert!(largest_difference(&got.values, &expected.values) < 1e-12);
        }
    }
}

#[test]
fn limits_are_found_before_anything_is_evaluated() {
    let pixels = Graph::grid(28, 28, Adjacency::Four);
    let refusal = |graph: &Graph, value: GraphValue, limit: usize| {
        let estimator = OnGraph::new(graph.clone(), value).max_coalitions(limit);
        assert!(estimator.coalitions().is_err());
        assert_eq!(estimator.minimum_budget(graph.nodes()), graph.nodes());
        estimator.values(&untouched(graph.nodes())).unwrap_err()
    };
    // Either a single neighbourhood has too many coalitions, or all neighbourhoods together do.
    for (order, limit) in [(3, 1 << 16), (2, 1000), (2, 700_000)] {
        let error = refusal(&pixels, GraphValue::c_shapley(order), limit);
        let EstimatorError::Graph(GraphError::Neighbourhood { size, coalitions, .. }) = error else {
            panic!("{error}")
        };
        // For order 3, the neighbourhood of a pixel near the edge is already too large.
        assert!(if order == 3 { size > 16 } else { size == 13 });
        assert_eq!(coalitions, if limit < 10_000 || order == 3 { limit + 1 } else { 1057 });
        let message = error.to_string();
        let parts = ["smaller order", "patches", "regression"];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let error = refusal(&pixels, GraphValue::myerson(), 1 << 12);
    assert!(
        matches!(
            error,
            EstimatorError::Graph(GraphError::ConnectedCoalitions { at_least: 4097, limit: 4096, .. })
        ),
        "{error}"
    );
    // A limit equal to the number of coalitions must be accepted; a limit that is smaller by one must not.
    for value in forms() {
        let all = OnGraph::new(Graph::line(12), value.clone()).coalitions().unwrap();
        assert_eq!(
            OnGraph::new(Graph::line(12), value.clone()).max_coalitions(all).coalitions().unwrap(),
            all
        );
        refusal(&Graph::line(12), value, all - 1);
    }
}

#[test]
fn what_cannot_be_asked_for_is_said() {
    for value in forms() {
        let estimator = OnGraph::new(Graph::line(5), value.clone());
        for refused in [estimator.values(&untouched(6)), estimator.estimate(&untouched(6), 100, 0)] {
            let error = refused.unwrap_err();
            let EstimatorError::Value(ValueError::Game(error)) = error else { panic!("{error}") };
            assert!(matches!(error, GameError::GraphOfOthers { nodes: 5, players: 6 }), "{error}");
        }
        let none = OnGraph::new(Graph::line(0), value.clone());
        let refused = none.values(&untouched(0)).unwrap_err();
        assert!(matches!(refused, EstimatorError::NoPlayers), "{refused}");
        let refused = none.coalitions().unwrap_err();
        assert!(matches!(refused, EstimatorError::NoPlayers), "{refused}");
        let distribution = Semivalue::from_size_distribution(&[0.5, 0.5]).unwrap();
        let refused = OnGraph::new(Graph::line(5), value.clone().with_semivalue(distribution))
            .coalitions()
            .unwrap_err();
        assert!(
            matches!(
                refused,
                EstimatorError::Value(ValueError::WeightsForOtherPlayers { weights: 2, players: 5 })
            ),
            "{refused}"
        );
        let refused = OnGraph::new(Graph::line(5), value).values(&huge(5)).unwrap_err();
        assert!(matches!(refused, EstimatorError::Value(ValueError::Overflow { .. })), "{refused}");
    }
    // With order 2, the neighbourhood of player 1 has four players. The printed coefficients require weights
    // for two more players, but the distribution is for five players only.
    let distribution = Semivalue::from_size_distribution(&[0.2; 5]).unwrap();
    let printed = GraphValue::c_shapley(1)
        .with_coefficients(Coefficients::Printed)
        .with_semivalue(distribution.clone());
    assert!(OnGraph::new(Graph::line(5), printed.clone()).coalitions().is_ok());
    let GraphForm::Connected { coefficients, outside, .. } = printed.form else { panic!() };
    let wide = GraphValue {
        form: GraphForm::Connected { order: 2, coefficients, outside },
        semivalue: distribution,
    };
    let refused = OnGraph::new(Graph::line(5), wide).values(&untouched(5)).unwrap_err();
    assert!(
        matches!(refused, EstimatorError::Value(ValueError::PrintedWeights { player: 1, players: 5 })),
        "{refused}"
    );
}

#[test]
fn bits_do_not_depend_on_threads() {
    let tree = Graph::from_edges(40, (1..40).map(|node| ((node - 1) / 2, node))).unwrap();
    for graph in [Graph::grid(12, 11, Adjacency::Four), tree] {
        let game = Several(SumOfUnanimity::random(graph.nodes(), 60, 4, 1), 1.0);
        let mut estimators: Vec<Box<dyn Estimator>> = vec![
            Box::new(OnGraph::new(graph.clone(), GraphValue::l_shapley(2))),
            Box::new(LocalSampling::permutations(graph.clone(), 3)),
            Box::new(LocalSampling::leverage(graph.clone(), 3)),
        ];
        for value in c_shapley(2) {
            estimators.push(Box::new(OnGraph::new(graph.clone(), value)));
        }
        for estimator in estimators {
            let budget = estimator.minimum_budget(graph.nodes()).max(12_000);
            let of = |threads| on_threads(threads, || estimator.estimate(&game, budget, 5).unwrap());
            assert_eq!(of(3), of(1), "{} {}", estimator.name(), estimator.value());
        }
    }
}

#[test]
fn additive_games_come_back_whole() {
    let sparse = Graph::from_edges(8, [(1, 2), (2, 5)]).unwrap();
    for graph in [Graph::line(30), Graph::grid(6, 7, Adjacency::Four), sparse] {
        let weights: Vec<f64> = (0..graph.nodes()).map(|player| 10.5 - 1.5 * player as f64).collect();
        let game = Additive::new(weights.clone()).unwrap();
        for order in [0, 1, 2] {
            for value in [GraphValue::l_shapley(order), GraphValue::c_shapley(order)] {
                for outside in OUTSIDE {
                    let value = value.clone().with_outside(outside);
                    let got = OnGraph::new(graph.clone(), value).values(&game).unwrap();
                    assert_close(&got.values, &weights, 1e-12, &got.value.to_string());
                }
            }
        }
    }
}

#[test]
fn one_player_gets_all() {
    let game = SumOfUnanimity::unanimity(1, [0]).unwrap();
    for value in
        [GraphValue::l_shapley(3), GraphValue::c_shapley(0), GraphValue::c_shapley(2), GraphValue::myerson()]
    {
        let got = OnGraph::new(Graph::line(1), value).values(&game).unwrap();
        assert_eq!((got.values.as_slice(), got.evaluations), (&[1.0][..], 2));
    }
}
