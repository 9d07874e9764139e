//! Compares C-Shapley and Myerson values with their definitions, and tests their cost.

use std::collections::HashMap;

use apportion_estimators::OnGraph;
use apportion_games::{
    Additive, Adjacency, Coalition, CoalitionView, Coalitions, Game, GameError, Graph, Purpose, stream,
};
use apportion_values::{Coefficients, GraphForm, GraphValue, Outside, Semivalue};
use rand::RngExt;

use crate::common::graphs::{COEFFICIENTS, OUTSIDE, c_shapley, check, graphs, random_graph};
use crate::common::{Once, assert_close, random_table, value_of};

/// A game without symmetry. Each member of a coalition adds a number that depends on the next member and on
/// the number of members. All outputs differ.
struct Ragged {
    weights: Vec<f64>,
    outputs: usize,
}

impl Ragged {
    fn new(players: usize, outputs: usize, seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        Self { weights: (0..players).map(|_| rng.random_range(-1.0..1.0)).collect(), outputs }
    }

    fn worth(&self, set: CoalitionView<'_>, output: usize) -> f64 {
        let mut last = set.players();
        let mut sum = 0.25;
        for member in set.members() {
            sum += self.weights[member] * (1.0 + ((member - last.min(member)) * (output + 1)) as f64).sqrt();
            last = member;
        }
        sum + (sum * (output + 2) as f64).sin()
    }
}

impl Game for Ragged {
    fn players(&self) -> usize {
        self.weights.len()
    }
    fn outputs(&self) -> usize {
        self.outputs
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (row, out) in batch.iter().zip(out.chunks_exact_mut(self.outputs)) {
            out.iter_mut().enumerate().for_each(|(output, out)| *out = self.worth(row, output));
        }
        Ok(())
    }
}

#[test]
fn every_form_of_every_order_is_its_definition() {
    for graph in graphs().into_iter().filter(|graph| graph.nodes() <= 10) {
        let table = random_table(graph.nodes(), 2, 0.0, 11);
        check(&graph, &table, &GraphValue::myerson());
        for order in 0..=graph.diameter() + 1 {
            c_shapley(order).for_each(|value| check(&graph, &table, &value));
        }
    }
}

#[test]
fn every_semivalue_has_its_moments() {
    for graph in [Graph::line(7), Graph::grid(2, 4, Adjacency::Four), random_graph(9, 0.3, 12)] {
        let nodes = graph.nodes();
        let table = random_table(nodes, 1, 0.0, 12);
        let distribution: Vec<String> = (0..nodes).map(|_| (1.0 / nodes as f64).to_string()).collect();
        let distribution = format!("size-distribution={}", distribution.join(","));
        for name in ["banzhaf", "weighted-banzhaf=0.3", "beta=4,1", "beta=2,3", distribution.as_str()] {
            let semivalue: Semivalue = name.parse().unwrap();
            check(&graph, &table, &GraphValue::myerson().with_semivalue(semivalue.clone()));
            for order in [1, 2] {
                for coefficients in COEFFICIENTS {
                    let value = GraphValue::c_shapley(order).with_coefficients(coefficients);
                    let is_told =
                        coefficients != Coefficients::Printed || !name.starts_with("size-distribution");
                    for outside in OUTSIDE.into_iter().filter(|_| is_told) {
                        check(
                            &graph,
                            &table,
                            &value.clone().with_outside(outside).with_semivalue(semivalue.clone()),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn to_the_diameter_c_shapley_with_true_boundaries_is_myerson_on_500_random_graphs() {
    let mut rng = stream(13, Purpose::Experiment, 0);
    for round in 0..500 {
        let nodes = rng.random_range(1..=14);
        let density = [0.1, 0.2, 0.3, 0.5][round as usize % 4];
        let graph = random_graph(nodes, density, round);
        let table = random_table(nodes, 1, 0.0, round);
        let myerson = GraphValue::myerson().enumerate(&table, &graph).unwrap().values;
        for coefficients in [Coefficients::Neighbourhood, Coefficients::Graph] {
            for order in [nodes, graph.diameter()] {
                let value = GraphValue::c_shapley(order).with_coefficients(coefficients);
                let got = OnGraph::new(graph.clone(), value).values(&table).unwrap().values;
                assert_close(&got, &myerson, 1e-12, &format!("{graph:?}"));
            }
        }
    }
}

#[test]
fn up_to_14_players_the_definition_holds() {
    for round in 0..12 {
        let nodes = 11 + round / 3;
        let graph = random_graph(nodes, [0.1, 0.2, 0.3][round % 3], round as u64);
        let table = random_table(nodes, 1, 0.0, round as u64);
        let coefficients = COEFFICIENTS[round % 3];
        let outside = OUTSIDE[round % 2];
        let value = GraphValue::c_shapley(round % 4).with_coefficients(coefficients).with_outside(outside);
        check(&graph, &table, &value);
        check(&graph, &table, &GraphValue::myerson());
    }
}

/// Computes C-Shapley values on a line from their definition with intervals.
fn on_a_line(game: &Ragged, order: usize, coefficients: Coefficients, outside: Outside) -> Vec<f64> {
    let players = game.players();
    let mut values = Vec::new();
    for player in 0..players {
        let (low, high) = (player.saturating_sub(order), (player + order).min(players - 1));
        let worth = |members: &mut dyn Iterator<Item = usize>| {
            let mut set = Coalition::from_members(players, members);
            if outside == Outside::Present {
                (0..players).filter(|node| !(low..=high).contains(node)).for_each(|node| set.insert(node));
            }
            game.worth(set.view(), 0)
        };
        let empty = worth(&mut std::iter::empty());
        let mut value = 0.0;
        for first in low..=player {
            for last in player..=high {
                let ends = match coefficients {
                    Coefficients::Neighbourhood | Coefficients::Marginal => {
                        usize::from(first > low) + usize::from(last < high)
                    }
                    Coefficients::Graph => usize::from(first > 0) + usize::from(last < players - 1),
                    Coefficients::Printed => 2,
                };
                let gain = if matches!(coefficients, Coefficients::Printed | Coefficients::Marginal) {
                    worth(&mut (first..=last)) - worth(&mut (first..=last).filter(|&node| node != player))
                } else {
                    worth(&mut (first..=last)) - worth(&mut (first..player)) - worth(&mut (player + 1..=last))
                        + empty
                };
                // For u = `size` and b = `ends`, the coefficient is (u − 1)! b! / (u + b)!.
                let size = last - first + 1;
                let weight = (1..=ends).fold(1.0, |weight, b| weight * b as f64)
                    / (size..=size + ends).fold(1.0, |product, factor| product * factor as f64);
                value += weight * gain;
            }
        }
        values.push(value);
    }
    values
}

#[test]
fn long_lines_have_the_values_of_their_intervals() {
    for (players, orders) in [(65, &[1, 2, 40][..]), (130, &[0, 3]), (200, &[2, 11])] {
        let game = Ragged::new(players, 1, 5);
        for &order in orders {
            for coefficients in COEFFICIENTS {
                for outside in OUTSIDE {
                    let value =
                        GraphValue::c_shapley(order).with_coefficients(coefficients).with_outside(outside);
                    let expected = on_a_line(&game, order, coefficients, outside);
                    let game = Once::new(&game);
                    let got = OnGraph::new(Graph::line(players), value.clone()).values(&game).unwrap();
                    assert_close(&got.values, &expected, 1e-12, &format!("{value} of {players}"));
                    assert_eq!(got.evaluations, game.evaluations());
                }
            }
        }
        if players > 130 {
            continue;
        }
        let expected = on_a_line(&game, players, Coefficients::Neighbourhood, Outside::Absent);
        let game = Once::new(&game);
        let got = OnGraph::new(Graph::line(players), GraphValue::myerson()).values(&game).unwrap();
        assert_close(&got.values, &expected, 1e-12, "myerson");
        assert_eq!(got.evaluations, players * (players + 1) / 2 + 1);
    }
}

/// Computes C-Shapley values by definition, for each player separately, with cached coalition values. Also
/// returns the number of cached coalitions.
fn remembered(game: &dyn Game, graph: &Graph, value: &GraphValue) -> (Vec<f64>, usize) {
    let GraphForm::Connected { order, coefficients, outside } = value.form else {
        panic!("a value of connected coalitions")
    };
    let (players, outputs) = (game.players(), game.outputs());
    let mut known: HashMap<Coalition, Vec<f64>> = HashMap::new();
    let mut ask = |set: &Coalition, absent: &Coalition| -> Vec<f64> {
        let mut set = set.clone();
        if outside == Outside::Present {
            absent.view().members().for_each(|node| set.insert(node));
        }
        known.entry(set.clone()).or_insert_with(|| value_of(game, &set)).clone()
    };
    let nothing = Coalition::empty(players);
    ask(&nothing, &nothing);
    ask(&Coalition::full(players), &nothing);
    let mut values = Vec::new();
    for player in 0..players {
        let around = Coalition::from_members(players, graph.neighbourhood(player, order));
        let others = around.view().complement();
        let mut sums = vec![0.0; outputs];
        let mut sets = Vec::new();
        let end = graph.visit_connected(player, around.view(), usize::MAX, |set| {
            sets.push((set.nodes.to_coalition(), set.size, set.boundary, set.boundary_within));
            std::ops::ControlFlow::<()>::Continue(())
        });
        assert!(end.is_continue());
        for (set, size, boundary, within) in sets {
            let mut rest = set.clone();
            rest.remove(player);
            let (boundary, parts) = match coefficients {
                Coefficients::Neighbourhood => (within, graph.components(rest.view())),
                Coefficients::Graph => (boundary, graph.components(rest.view())),
                Coefficients::Marginal => (within, vec![rest]),
                Coefficients::Printed => (2, vec![rest]),
            };
            let weight = value.semivalue.moment(size - 1, boundary);
            let (whole, empty) = (ask(&set, &others), ask(&nothing, &others));
            let parts: Vec<_> = parts.iter().map(|part| ask(part, &others)).collect();
            for (output, sum) in sums.iter_mut().enumerate() {
                let of_parts: f64 = parts.iter().map(|part| part[output] - empty[output]).sum();
                *sum += weight * (whole[output] - empty[output] - of_parts);
            }
        }
        values.extend(sums);
    }
    (values, known.len())
}

#[test]
fn grids_and_graphs_of_many_nodes_have_the_values_of_a_memory_of_coalitions() {
    let sparse = random_graph(140, 0.012, 15);
    let cases = [
        (Graph::grid(9, 9, Adjacency::Four), 2),
        (Graph::grid(9, 15, Adjacency::Eight), 1),
        (Graph::grid(2, 66, Adjacency::Four), 3),
        (sparse.clone(), 1),
        (sparse, 2),
    ];
    for (graph, order) in cases {
        let game = Ragged::new(graph.nodes(), 2, 8);
        for value in c_shapley(order) {
            let (expected, distinct) = remembered(&game, &graph, &value);
            let estimator = OnGraph::new(graph.clone(), value.clone());
            let once = Once::new(&game);
            let got = estimator.values(&once).unwrap();
            assert_close(&got.values, &expected, 1e-12, &value.to_string());
            assert_eq!(estimator.coalitions().unwrap(), once.evaluations(), "{value}");
            assert_eq!(once.evaluations(), distinct, "{value}");
        }
    }
}

#[test]
fn additive_games_come_back_by_the_share_of_the_printed_weights() {
    let weights: Vec<f64> = (0..30).map(|player| 10.5 - f64::from(player)).collect();
    let game = Additive::new(weights.clone()).unwrap();
    for (order, share) in [(0, 1.0 / 3.0), (1, 8.0 / 15.0), (2, 9.0 / 14.0)] {
        let value = GraphValue::c_shapley(order).with_coefficients(Coefficients::Printed);
        let got = OnGraph::new(Graph::line(30), value).values(&game).unwrap().values;
        for player in order..30 - order {
            assert_close(&[got[player]], &[share * weights[player]], 1e-12, "printed");
        }
    }
}

#[test]
fn coalitions_are_as_many_as_the_formulas_say() {
    let count = |graph: Graph, value: GraphValue| OnGraph::new(graph, value).coalitions().unwrap();
    let printed = |order| GraphValue::c_shapley(order).with_coefficients(Coefficients::Printed);
    // On a line, the coalitions are intervals of at most 2k + 1 nodes; v(∅) and v(N) are evaluated, too.
    for (players, order) in [(1000, 2), (1000, 1), (1000, 10), (50, 3)] {
        let expected = (2 * order + 1) * players - order * (2 * order + 1) + 2;
        assert_eq!(count(Graph::line(players), GraphValue::c_shapley(order)), expected);
    }
    // With the printed coefficients, the count includes pairs of runs that are separated by a gap of one
    // node, each at most k long. There are k² such pairs for each node inside the line.
    let gaps = |players: usize, order: usize| -> usize {
        (0..players).map(|gap| gap.min(order) * (players - 1 - gap).min(order)).sum()
    };
    for (players, order, known) in [(1000, 1, 3997), (1000, 2, 8980), (70, 5, 0)] {
        let expected = (2 * order + 1) * players - order * (2 * order + 1) + 2 + gaps(players, order);
        assert!(known == 0 || expected == known);
        assert_eq!(count(Graph::line(players), printed(order)), expected);
    }
    // For k = 1 on a grid of 28 × 28, an independent count in another language yields 10152 without v(∅) and
    // v(N). With the printed coefficients, it yields 16551 with v(∅).
    let grid = || Graph::grid(28, 28, Adjacency::Four);
    assert_eq!((count(grid(), GraphValue::c_shapley(1)), count(grid(), printed(1))), (10_154, 16_552));
    assert_eq!((count(grid(), GraphValue::c_shapley(2)), count(grid(), printed(2))), (712_181, 1_174_409));
}
