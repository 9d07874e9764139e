//! Tests values for players on graphs against averages over orders of the players, and tests their names.

use apportion_games::{
    Additive, Adjacency, Coalition, Game, Graph, Purpose, SumOfUnanimity, TabulatedGame, stream,
};
use apportion_values::{Coefficients, GraphValue, Outside, Semivalue, ValueError, enumerate};
use rand::RngExt;

use crate::common::{assert_close, mask_of, members};

fn values(value: GraphValue, game: &impl Game, graph: &Graph) -> Vec<f64> {
    value.enumerate(game, graph).unwrap().values
}

/// Returns the Shapley value of `player` in the game `worth`, by the definition over all orders of `players`.
fn over_orders(players: &[usize], player: usize, worth: &dyn Fn(u64) -> f64) -> f64 {
    fn walk(left: &mut Vec<usize>, before: u64, player: usize, worth: &dyn Fn(u64) -> f64) -> (f64, f64) {
        let (mut sum, mut count) = (0.0, 0.0);
        for at in 0..left.len() {
            let next = left.remove(at);
            if next == player {
                let orders = (1..=left.len()).map(|k| k as f64).product::<f64>();
                sum += orders * (worth(before | 1 << player) - worth(before));
                count += orders;
            } else {
                let (more, orders) = walk(left, before | 1 << next, player, worth);
                sum += more;
                count += orders;
            }
            left.insert(at, next);
        }
        (sum, count)
    }
    let (sum, count) = walk(&mut players.to_vec(), 0, player, worth);
    sum / count
}

#[test]
fn values_on_graphs_are_averages_over_orders_of_the_neighbourhood() {
    let mut rng = stream(2, Purpose::Experiment, 0);
    let graphs = [
        Graph::line(1),
        Graph::line(2),
        Graph::line(6),
        Graph::grid(2, 3, Adjacency::Four),
        Graph::from_edges(6, [(0, 1), (1, 2), (2, 0), (4, 5)]).unwrap(),
    ];
    for graph in graphs {
        let nodes = graph.nodes();
        let table: Vec<f64> = (0..1 << nodes).map(|_| rng.random_range(-1.0..1.0)).collect();
        let game = TabulatedGame::new(table.clone(), 1).unwrap();
        let restricted = |mask: u64| {
            let set = Coalition::from_members(nodes, members(mask));
            let parts = graph.components(set.view());
            parts.iter().map(|part| table[part.view().words()[0] as usize] - table[0]).sum::<f64>()
        };
        for order in [0, 1, 2, 10] {
            let what = format!("{graph:?}, order {order}");
            let local = GraphValue::l_shapley(order);
            let of_local = values(local.clone(), &game, &graph);
            let with_others = values(local.with_outside(Outside::Present), &game, &graph);
            let connected = values(GraphValue::c_shapley(order), &game, &graph);
            for player in 0..nodes {
                let around = graph.neighbourhood(player, order);
                let outside = !mask_of(&around) & ((1 << nodes) - 1);
                let expected = [
                    over_orders(&around, player, &|mask| table[mask as usize]),
                    over_orders(&around, player, &|mask| table[(mask | outside) as usize]),
                    over_orders(&around, player, &restricted),
                ];
                let got = [of_local[player], with_others[player], connected[player]];
                assert_close(&got, &expected, 1e-12, &what);
            }
        }
        let all: Vec<usize> = (0..nodes).collect();
        let expected: Vec<f64> = all.iter().map(|&player| over_orders(&all, player, &restricted)).collect();
        assert_close(&values(GraphValue::myerson(), &game, &graph), &expected, 1e-12, "Myerson");
    }
}

#[test]
fn from_the_diameter_on_l_is_the_semivalue_and_c_that_of_the_restricted_game() {
    let game = SumOfUnanimity::random(7, 30, 4, 5);
    let graph = Graph::from_edges(7, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (4, 6)]).unwrap();
    for semivalue in [
        "shapley",
        "banzhaf",
        "weighted-banzhaf=0.3",
        "beta=4,1",
        "size-distribution=0.1,0.1,0.1,0.1,0.2,0.2,0.2",
    ] {
        let semivalue: Semivalue = semivalue.parse().unwrap();
        let close = |value: GraphValue, expected: &[f64]| {
            let got = values(value.with_semivalue(semivalue.clone()), &game, &graph);
            assert_close(&got, expected, 1e-12, &semivalue.to_string());
        };
        let order = graph.diameter();
        close(GraphValue::l_shapley(order), &enumerate(&game, semivalue.clone()).unwrap().values);
        let myerson = values(GraphValue::myerson().with_semivalue(semivalue.clone()), &game, &graph);
        close(GraphValue::c_shapley(order), &myerson);
        close(GraphValue::c_shapley(order).with_coefficients(Coefficients::Graph), &myerson);
    }
}

#[test]
fn an_additive_game_comes_back_whole_or_by_the_share_of_the_printed_weights() {
    let weights: Vec<f64> = (0..13).map(|player| f64::from(player) - 4.5).collect();
    let game = Additive::new(weights.clone()).unwrap();
    let line = Graph::line(13);
    for (order, share) in [(0, 1.0 / 3.0), (1, 8.0 / 15.0), (2, 9.0 / 14.0)] {
        let connected = GraphValue::c_shapley(order);
        let marginal = connected.clone().with_coefficients(Coefficients::Marginal);
        for whole in [connected.clone(), marginal, GraphValue::l_shapley(order)] {
            let name = whole.to_string();
            assert_close(&values(whole, &game, &line), &weights, 1e-12, &name);
        }
        let printed = values(connected.with_coefficients(Coefficients::Printed), &game, &line);
        assert_close(&[printed[6]], &[share * weights[6]], 1e-12, "printed");
    }
}

#[test]
fn printed_coefficients_of_weights_by_size_need_room_around() {
    let game = Additive::new([1.0, 2.0, 3.0, 4.0]).unwrap();
    let value: GraphValue = "connected=1,printed/size-distribution=0.25,0.25,0.25,0.25".parse().unwrap();
    let refused = value.enumerate(&game, &Graph::line(4)).unwrap_err();
    assert!(matches!(refused, ValueError::PrintedWeights { player: 1, players: 4 }), "{refused}");
    let apart = Graph::from_edges(4, [(0, 1)]).unwrap();
    let expected = GraphValue { semivalue: Semivalue::Shapley, ..value.clone() };
    assert_close(&values(value, &game, &apart), &values(expected, &game, &apart), 1e-12, "apart");
}
