//! Tests L-Shapley and related values: exact values in neighbourhoods, the number of coalitions, and sampled
//! estimates.

use std::collections::HashSet;

use apportion_estimators::{
    Anytime, Estimator, EstimatorError, Explanation, GraphError, LocalMethod, LocalSampling, OnGraph,
};
use apportion_games::{Additive, Adjacency, Coalition, Game, Graph, SumOfUnanimity};
use apportion_values::{GraphValue, Outside, Semivalue};

use crate::common::graphs::{OUTSIDE, check, graphs, random_graph};
use crate::common::{
    Once, RecordingGame, assert_close, random_table, runs, semivalues, squared_error, untouched, value_of,
};

fn l_shapley(order: usize, outside: Outside) -> GraphValue {
    GraphValue::l_shapley(order).with_outside(outside)
}

fn explain(game: &dyn Game, graph: &Graph, value: GraphValue) -> Explanation {
    OnGraph::new(graph.clone(), value).values(game).expect("a graph of the game's players")
}

#[test]
fn values_are_those_of_the_definition() {
    for (index, graph) in graphs().iter().enumerate() {
        let players = graph.nodes();
        let game = random_table(players, 1 + index % 3, 10.0, index as u64);
        for order in 0..=graph.diameter() + 1 {
            for outside in OUTSIDE {
                for semivalue in semivalues(players) {
                    check(graph, &game, &l_shapley(order, outside).with_semivalue(semivalue));
                }
            }
        }
    }
}

/// Returns the number of distinct coalitions in all neighbourhoods, including ∅ and N, by listing them.
fn listed(graph: &Graph, order: usize, outside: Outside) -> usize {
    let players = graph.nodes();
    let mut all = HashSet::from([Coalition::empty(players), Coalition::full(players)]);
    for player in 0..players {
        let around = graph.neighbourhood(player, order);
        let mut rest = Coalition::empty(players);
        if outside == Outside::Present {
            rest = Coalition::from_members(players, around.iter().copied()).view().complement();
        }
        for mask in 0..1u32 << around.len() {
            let mut coalition = rest.clone();
            let members = around.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
            members.for_each(|(_, &node)| coalition.insert(node));
            all.insert(coalition);
        }
    }
    all.len()
}

#[test]
fn each_coalition_is_asked_for_once_and_they_are_as_many_as_was_said() {
    let larger = [
        (Graph::line(65), 3),
        (Graph::line(130), 2),
        (Graph::grid(8, 9, Adjacency::Four), 1),
        (Graph::grid(9, 8, Adjacency::Four), 2),
        (Graph::grid(7, 10, Adjacency::Eight), 1),
        (random_graph(70, 0.03, 5), 2),
    ];
    let small = graphs().into_iter().flat_map(|graph| [0, 1, 2, 20].map(|order| (graph.clone(), order)));
    for (graph, order) in small.chain(larger) {
        for outside in OUTSIDE {
            let game = Once::new(SumOfUnanimity::random(graph.nodes(), 10, 2, 3));
            let front = OnGraph::new(graph.clone(), l_shapley(order, outside));
            let got = front.values(&game).unwrap();
            let expected = listed(&graph, order, outside);
            let counts =
                [front.coalitions().unwrap(), game.evaluations(), got.evaluations, got.distinct_coalitions];
            // For a single player, there are no coalitions other than ∅ and N.
            assert_eq!(counts, [expected; 4], "{graph:?} {order}");
        }
    }
}

/// Counts the coalitions on a line. A coalition whose smallest member is a may contain any of the next 2k
/// players.
fn on_a_line(players: usize, order: usize) -> usize {
    let pieces: usize = (0..players).map(|least| 1 << (2 * order).min(players - 1 - least)).sum();
    pieces + if players > 2 * order + 1 { 2 } else { 1 }
}

fn counted(graph: Graph, order: usize) -> usize {
    OnGraph::new(graph, GraphValue::l_shapley(order)).coalitions().expect("few coalitions")
}

#[test]
fn counts_on_lines() {
    for players in 1..40 {
        for order in 0..6 {
            let expected = on_a_line(players, order);
            assert_eq!(counted(Graph::line(players), order), expected, "{players} {order}");
            if players > 2 * order + 1 {
                assert_eq!(expected, ((players - 2 * order + 1) << (2 * order)) + 1);
            } else {
                assert_eq!(expected, 1 << players);
            }
        }
    }
    for (players, order) in [(1000, 1), (1000, 2), (1000, 3), (1000, 5), (5000, 4)] {
        let count = counted(Graph::line(players), order);
        assert_eq!(count, on_a_line(players, order));
        assert!(count <= players << (2 * order));
    }
}

/// Counts the coalitions on a grid by inclusion and exclusion. The nodes whose neighbourhoods contain a set
/// form a box of rows, columns or diagonals. In such a box, the number of nodes, minus the pairs of
/// neighbours (including corners) and the squares, plus the triples in a square, is one.
fn on_a_grid(rows: usize, columns: usize, adjacency: Adjacency, order: usize) -> usize {
    let graph = Graph::grid(rows, columns, adjacency);
    let sets = |centres: &[(usize, usize)]| -> i64 {
        if centres.iter().any(|&(row, column)| row >= rows || column >= columns) {
            return 0;
        }
        let around = |&(row, column): &(usize, usize)| graph.neighbourhood(row * columns + column, order);
        let mut common = around(&centres[0]);
        for other in &centres[1..] {
            let other = around(other);
            common.retain(|node| other.contains(node));
        }
        1 << common.len()
    };
    let mut total = 0;
    for row in 0..rows {
        for column in 0..columns {
            let square = [(row, column), (row, column + 1), (row + 1, column), (row + 1, column + 1)];
            total += sets(&square[..1]) - sets(&square);
            // These are the top and the left side, and both diagonals. The other two sides belong to other
            // squares.
            for [a, b] in [[0, 1], [0, 2], [0, 3], [1, 2]] {
                total -= sets(&[square[a], square[b]]);
            }
            for left_out in 0..4 {
                let rest: Vec<_> = (0..4).filter(|&at| at != left_out).map(|at| square[at]).collect();
                total += sets(&rest);
            }
        }
    }
    // ∅ is included, and so is N if some neighbourhood contains all players.
    let largest = (0..graph.nodes()).map(|node| graph.neighbourhood(node, order).len()).max();
    total as usize + usize::from(largest < Some(graph.nodes()))
}

#[test]
fn counts_on_grids() {
    let sizes = [(1, 1), (1, 6), (2, 2), (3, 5), (6, 6), (7, 11), (28, 28)];
    for (rows, columns) in sizes {
        for (adjacency, order) in
            [(Adjacency::Four, 0), (Adjacency::Four, 1), (Adjacency::Four, 2), (Adjacency::Eight, 1)]
        {
            let count = counted(Graph::grid(rows, columns, adjacency), order);
            assert_eq!(count, on_a_grid(rows, columns, adjacency, order), "{rows} {columns} {order}");
        }
    }
    // The number of coalitions that one more interior pixel adds is half the second difference of the counts
    // for the side lengths of a large image.
    let inside = |order: usize, adjacency| {
        let count = |side: usize| counted(Graph::grid(side, side, adjacency), order);
        (count(16) + count(14) - 2 * count(15)) / 2
    };
    for order in [1, 2] {
        let (ball, shared) = (2 * order * order + 2 * order + 1, 2 * order * order);
        let (triple, square) = (shared - order, shared - 2 * order);
        let expected = (1 << ball) - (4 << shared) + (4 << triple) - (1 << square);
        assert_eq!(inside(order, Adjacency::Four), expected);
        let one_neighbour = (1 << ball) - (1 << shared);
        // The second number of each pair would be correct if a pixel shared coalitions with only one
        // neighbour.
        assert_eq!([(23, 28), (7408, 7936)][order - 1], (expected, one_neighbour));
    }
    assert_eq!(inside(1, Adjacency::Eight), (1 << 9) - (2 << 6) + (1 << 4));
}

/// Computes the values by definition, by evaluating the coalitions of each neighbourhood one by one.
fn written_out(
    game: &dyn Game,
    graph: &Graph,
    order: usize,
    outside: Outside,
    value: &Semivalue,
) -> Vec<f64> {
    let players = graph.nodes();
    let one =
        |members: &[usize]| value_of(game, &Coalition::from_members(players, members.iter().copied()))[0];
    let of = |player: usize| {
        let around = graph.neighbourhood(player, order);
        let others: Vec<usize> = around.iter().copied().filter(|&node| node != player).collect();
        let value = value.without_null_players(around.len());
        let contribution = |mask: u32| {
            let mut members: Vec<usize> =
                (0..others.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| others[bit]).collect();
            if outside == Outside::Present {
                members.extend((0..players).filter(|node| !around.contains(node)));
            }
            let before = one(&members);
            members.push(player);
            value.coefficient(around.len(), mask.count_ones() as usize) * (one(&members) - before)
        };
        (0..1 << others.len()).map(contribution).sum::<f64>()
    };
    (0..players).map(of).collect()
}

#[test]
fn many_players_have_the_values_of_the_definition() {
    let line = |players, order| (Graph::line(players), order);
    let graphs = [
        line(65, 1),
        line(130, 2),
        line(200, 3),
        (random_graph(129, 0.01, 4), 2),
        (Graph::grid(9, 15, Adjacency::Four), 1),
    ];
    for (graph, order) in graphs {
        let game = SumOfUnanimity::random(graph.nodes(), 400, 5, 8);
        for outside in OUTSIDE {
            for semivalue in [Semivalue::Shapley, Semivalue::weighted_banzhaf(0.3).unwrap()] {
                let expected = written_out(&game, &graph, order, outside, &semivalue);
                let got = explain(&game, &graph, l_shapley(order, outside).with_semivalue(semivalue));
                assert_close(&got.values, &expected, 1e-12, &format!("{} on {graph:?}", got.value));
            }
        }
    }
}

#[test]
fn a_large_constant_does_no_harm() {
    let of = |around: f64| {
        explain(&random_table(9, 1, around, 3), &Graph::line(9), GraphValue::l_shapley(2)).values
    };
    assert_close(&of(f64::from(1 << 20)), &of(0.0), 1e-9, "raised");
}

#[test]
fn neighbourhoods_that_are_too_large_are_refused_before_anything_is_asked() {
    let refusal = |graph: Graph, order: usize, limit: Option<usize>| {
        let front = OnGraph::new(graph.clone(), GraphValue::l_shapley(order));
        let front = limit.map_or(front.clone(), |limit| front.max_coalitions(limit));
        assert!(front.coalitions().is_err());
        front.values(&untouched(graph.nodes())).unwrap_err()
    };
    match refusal(Graph::grid(28, 28, Adjacency::Four), 3, None) {
        EstimatorError::Graph(GraphError::LocalCoalitions {
            order: 3,
            player: 87,
            nodes: 25,
            coalitions,
            limit: 16_777_216,
        }) => {
            assert_eq!(coalitions, on_a_grid(28, 28, Adjacency::Four, 3) as f64);
        }
        other => panic!("{other}"),
    }
    let message = refusal(Graph::line(100), 2, Some(1000)).to_string();
    for part in ["1553", "player 2", "5 players", "2^5", "1000", "smaller order", "patches", "sampling"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    // A neighbourhood that is far too large to enumerate must yield a readable message.
    let message = refusal(Graph::grid(28, 28, Adjacency::Four), 10, None).to_string();
    assert!(message.contains("3.37e66") && message.contains("2^221"), "{message}");
    // Use a limit that is one coalition too small, and one that is sufficient.
    refusal(Graph::line(100), 2, Some(1552));
    assert_eq!(
        OnGraph::new(Graph::line(100), GraphValue::l_shapley(2)).max_coalitions(1553).coalitions().unwrap(),
        1553
    );
    assert!(refusal(Graph::complete(70), 1, None).to_string().contains("2^70"));
    assert!(refusal(Graph::line(3000), usize::MAX, None).to_string().contains("2^3000"));
}

fn samplings(graph: &Graph, order: usize) -> [LocalSampling; 2] {
    [LocalSampling::permutations(graph.clone(), order), LocalSampling::leverage(graph.clone(), order)]
}

fn sampling(graph: &Graph, value: GraphValue, method: LocalMethod) -> LocalSampling {
    LocalSampling::new(graph.clone(), value, method).expect("a local value")
}

/// Returns sampling estimators for several values, on a graph whose neighbourhoods have many different sizes.
fn several(graph: &Graph, order: usize) -> Vec<LocalSampling> {
    let mut all = Vec::new();
    for outside in OUTSIDE {
        for semivalue in semivalues(graph.nodes()) {
            let value = l_shapley(order, outside).with_semivalue(semivalue);
            all.push(sampling(graph, value.clone(), LocalMethod::Contributions));
            if value.semivalue.least_squares().is_some() {
                all.push(sampling(graph, value, LocalMethod::Regression));
            }
        }
    }
    all
}

fn graph_value(estimator: &LocalSampling) -> GraphValue {
    match estimator.value() {
        apportion_values::SolutionConcept::OnGraph(value) => value,
        other => panic!("{other}"),
    }
}

#[test]
fn sampled_contributions_have_no_bias_and_true_standard_errors() {
    let graph = random_graph(11, 0.25, 2);
    let game = random_table(11, 2, 10.0, 4);
    let least = counted(graph.clone(), 2);
    for estimator in several(&graph, 2)
        .iter()
        .filter(|estimator| estimator.name().contains("perm") || estimator.name().contains("monte"))
    {
        let expected = graph_value(estimator).enumerate(&game, &graph).unwrap().values;
        let budget = 400;
        assert!(budget < least);
        let runs = runs(estimator, &game, budget, 200);
        assert!(runs.iter().all(|run| run.evaluations <= budget && !run.diagnostics.exact));
        for (at, expected) in expected.iter().enumerate() {
            let mean = |of: &dyn Fn(&Explanation) -> f64| runs.iter().map(of).sum::<f64>() / 200.0;
            let bias = mean(&|run| run.values[at] - expected);
            let square = mean(&|run| (run.values[at] - expected).powi(2));
            let claimed = mean(&|run| run.std_errors.as_ref().unwrap()[at].powi(2));
            let (name, spread) = (estimator.name(), (square / 200.0).sqrt());
            assert!(bias.abs() <= 4.5 * spread + 1e-12, "{name}, {at}: {bias} ± {spread}");
            // The mean of 200 squared errors is accurate to about a tenth.
            let is_true = claimed <= 1.9 * square + 1e-24 && square <= 1.6 * claimed + 1e-24;
            assert!(is_true, "{name}, {at}: {claimed} for {square}");
        }
    }
}

#[test]
fn errors_of_sampled_forms_fall_with_the_budget() {
    let graph = Graph::line(60);
    let game = SumOfUnanimity::random(60, 200, 4, 3);
    let expected = explain(&game, &graph, GraphValue::l_shapley(5)).values;
    for estimator in samplings(&graph, 5) {
        let error = |budget: usize| {
            let runs = runs(&estimator, &game, budget, 10);
            assert!(runs.iter().all(|run| run.evaluations <= budget), "{}", estimator.name());
            runs.iter().map(|run| squared_error(&run.values, &expected)).sum::<f64>()
        };
        let (small, large) = (error(2_000), error(20_000));
        assert!(large < small / 5.0, "{}", estimator.name());
    }
}

#[test]
fn sampled_forms_are_exact_once_they_may_ask_for_everything_and_say_which_players_are() {
    for graph in graphs() {
        let game = random_table(graph.nodes(), 2, 10.0, 7);
        for estimator in several(&graph, 1) {
            let expected = graph_value(&estimator).enumerate(&game, &graph).unwrap().values;
            let count = counted(graph.clone(), 1);
            for estimator in [Box::new(estimator.clone()) as Box<dyn Estimator>, estimator.growing()] {
                let got = estimator.estimate(&Once::new(&game), count, 1).unwrap();
                assert_close(&got.values, &expected, 1e-12, estimator.name());
                assert_eq!((got.evaluations, got.diagnostics.exact), (count, true));
                assert!(got.std_errors.unwrap().iter().all(|&error| error == 0.0));
            }
        }
    }
    // In a star, the neighbourhood of a leaf has two players, and the value of a leaf is exact long before
    // the value of the centre.
    let graph = Graph::from_edges(21, (1..21).map(|leaf| (0, leaf))).unwrap();
    let game = SumOfUnanimity::random(21, 100, 3, 2);
    let expected = written_out(&game, &graph, 1, Outside::Absent, &Semivalue::Shapley);
    for estimator in samplings(&graph, 1) {
        let got = estimator.estimate(&Once::new(&game), 600, 1).unwrap();
        let errors = got.std_errors.unwrap();
        assert!(errors[0] > 0.0 && errors[1..].iter().all(|&error| error == 0.0));
        assert!((got.values[0] - expected[0]).abs() < 4.5 * errors[0]);
        assert_close(&got.values[1..], &expected[1..], 1e-12, estimator.name());
    }
}

#[test]
fn additive_games_come_back_from_samples() {
    let graph = Graph::grid(12, 11, Adjacency::Four);
    let weights: Vec<f64> = (0..132).map(|player| f64::from(player) - 40.3).collect();
    let game = Additive::new(weights.clone()).unwrap();
    for outside in OUTSIDE {
        for estimator in [LocalMethod::Contributions, LocalMethod::Regression] {
            let estimator = sampling(&graph, l_shapley(4, outside), estimator);
            // Each neighbourhood has 41 players.
            let got = estimator.estimate(&game, 132 * 100, 3).unwrap();
            assert_close(&got.values, &weights, 1e-9, estimator.name());
        }
    }
}

#[test]
fn the_least_budget_is_enough_and_one_less_is_refused() {
    for (graph, order) in
        [(Graph::line(1), 1), (Graph::line(2), 1), (Graph::line(40), 9), (random_graph(30, 0.1, 3), 2)]
    {
        let game = SumOfUnanimity::random(graph.nodes(), 50, 3, 2);
        for estimator in several(&graph, order) {
            for estimator in [Box::new(estimator.clone()) as Box<dyn Estimator>, estimator.growing()] {
                let least = estimator.minimum_budget(graph.nodes());
                assert!(estimator.estimate(&Once::new(&game), least, 0).unwrap().evaluations <= least);
                let refused = estimator.estimate(&game, least - 1, 0).unwrap_err();
                assert!(matches!(refused, EstimatorError::Budget { .. }), "{refused}");
            }
        }
    }
    // Neighbourhoods have 31 to 60 players near the ends, and 61 players at the 40 nodes inside. The counts
    // are rounded up to even numbers.
    let least = |estimator: &LocalSampling| estimator.minimum_budget(0);
    assert_eq!(samplings(&Graph::line(100), 30).map(|estimator| least(&estimator)), [402, 5242]);
}

#[test]
fn what_growing_forms_ask_for_is_part_of_what_they_ask_for_later() {
    let graph = random_graph(40, 0.09, 6);
    let game = SumOfUnanimity::random(40, 200, 3, 2);
    for estimator in several(&graph, 2) {
        let growing = estimator.growing();
        let recorded = RecordingGame::new(&game);
        let mut before = HashSet::new();
        for budget in [800, 801, 1100, 1500, 1513, 4000, 16_000] {
            growing.estimate(&recorded, budget, 9).unwrap();
            let now = recorded.take_set();
            assert!(before.is_subset(&now), "{} {budget}", growing.name());
            before = now;
        }
    }
}

#[test]
fn runs_until_an_accuracy_go_on_from_what_was_asked() {
    let graph = Graph::line(30);
    let game = SumOfUnanimity::random(30, 200, 3, 2);
    for estimator in samplings(&graph, 8) {
        let once = Once::new(&game);
        let mut run = Anytime::new(&estimator, &once, 1).unwrap();
        let early = run.run(1500).unwrap().clone();
        let late = run.run(6000).unwrap();
        assert!(late.evaluations > early.evaluations && late.evaluations <= 6000);
        assert_eq!(late.values, estimator.growing().estimate(&game, 6000, 1).unwrap().values);
        assert_eq!(once.evaluations(), late.evaluations);
    }
}

#[test]
fn values_that_cannot_be_sampled_are_refused_with_what_can() {
    let refusal = |value: GraphValue, method| {
        LocalSampling::new(Graph::line(4), value, method).unwrap_err().to_string()
    };
    let early = Semivalue::beta_shapley(4.0, 1.0).unwrap();
    assert!(
        refusal(GraphValue::l_shapley(1).with_semivalue(early), LocalMethod::Regression)
            .contains("contributions")
    );
    assert!(refusal(GraphValue::myerson(), LocalMethod::Contributions).contains("OnGraph"));
    assert!(refusal(GraphValue::c_shapley(2), LocalMethod::Regression).contains("c-shapley=2"));
    let names = several(&Graph::line(3), 1).into_iter().map(|estimator| estimator.name());
    let expected = ["l-shapley-permutation", "l-shapley-leverage", "local-monte-carlo", "l-banzhaf-kernel"];
    assert!(expected.iter().all(|expected| names.clone().any(|name| name == *expected)));
    let error = LocalSampling::permutations(Graph::line(4), 1)
        .estimate(&SumOfUnanimity::random(5, 5, 2, 1), 100, 0)
        .unwrap_err();
    assert!(error.to_string().contains("5 players"), "{error}");
}
