//! L-Shapley and its relatives: exact values of neighbourhoods, how many coalitions they take, and their sampled forms.

use std::collections::HashSet;
use std::sync::Mutex;

use apportion_estimators::{Explanation, OnGraph};
use apportion_games::{
    Adjacency, Coalition, Coalitions, Game, GameError, Graph, Purpose, SumOfUnanimity, TabulatedGame, stream,
};
use apportion_values::{GraphValue, Outside, Semivalue};
use rand::RngExt;

/// A game that may be asked for each coalition once.
struct Once<G> {
    game: G,
    asked: Mutex<HashSet<Coalition>>,
}

impl<G: Game> Once<G> {
    fn new(game: G) -> Self {
        Self { game, asked: Mutex::default() }
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl<G: Game> Game for Once<G> {
    fn players(&self) -> usize {
        self.game.players()
    }
    fn outputs(&self) -> usize {
        self.game.outputs()
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let mut asked = self.asked.lock().unwrap();
        batch.iter().for_each(|row| assert!(asked.insert(row.to_coalition()), "{row} is asked for again"));
        self.game.values(batch, out)
    }
}

fn random_table(players: usize, outputs: usize, seed: u64) -> TabulatedGame {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let values = (0..outputs << players).map(|_| 10.0 + rng.random_range(-1.0..1.0)).collect();
    TabulatedGame::new(values, outputs).unwrap()
}

fn random_graph(nodes: usize, density: f64, seed: u64) -> Graph {
    let mut rng = stream(seed, Purpose::Experiment, 1);
    let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
    Graph::from_edges(nodes, pairs.filter(|_| rng.random_bool(density))).unwrap()
}

fn semivalues(players: usize) -> Vec<Semivalue> {
    let law: Vec<f64> = (1..=players).map(|size| size as f64).collect();
    let total: f64 = law.iter().sum();
    let law: Vec<f64> = law.iter().map(|weight| weight / total).collect();
    vec![
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.3).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        Semivalue::by_size_law(&law).unwrap(),
    ]
}

fn graphs() -> Vec<Graph> {
    let mut graphs = vec![
        Graph::line(1),
        Graph::line(2),
        Graph::complete(2),
        Graph::from_edges(2, []).unwrap(),
        Graph::from_edges(5, []).unwrap(),
        Graph::line(9),
        Graph::line(14),
        Graph::complete(7),
        Graph::grid(3, 4, Adjacency::Four),
        Graph::grid(2, 5, Adjacency::Eight),
        // Two parts, one of them a star whose centre comes last.
        Graph::from_edges(11, [(0, 1), (1, 2), (10, 3), (10, 5), (10, 7), (10, 9), (4, 6), (6, 8)]).unwrap(),
    ];
    for nodes in [3, 6, 9, 12] {
        graphs.extend([0.1, 0.3, 0.6].map(|density| random_graph(nodes, density, nodes as u64)));
    }
    graphs
}

fn close(got: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(got.len(), wanted.len());
    for (at, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() < tolerance * wanted.abs().max(1.0), "{at}: {got} for {wanted}");
    }
}

fn l_shapley(order: usize, outside: Outside) -> GraphValue {
    GraphValue::l_shapley(order).with_outside(outside)
}

fn explain(game: &dyn Game, graph: &Graph, value: GraphValue) -> Explanation {
    OnGraph::new(graph.clone(), value).values(game).unwrap()
}

const BOTH: [Outside; 2] = [Outside::Absent, Outside::Present];

#[test]
fn values_are_those_of_the_definition() {
    for (index, graph) in graphs().iter().enumerate() {
        let players = graph.nodes();
        let game = random_table(players, 1 + index % 3, index as u64);
        for order in 0..=graph.diameter() + 1 {
            for outside in BOTH {
                for semivalue in semivalues(players) {
                    let value = l_shapley(order, outside).of(semivalue);
                    let wanted = value.enumerate(&game, graph).unwrap();
                    let got = explain(&game, graph, value);
                    close(&got.values, &wanted.values, 1e-12);
                    assert_eq!((got.base, got.prediction), (wanted.base, wanted.full));
                }
            }
        }
    }
}

/// The different coalitions of all neighbourhoods, by listing them, with ∅ and N.
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
        for outside in BOTH {
            let game = Once::new(SumOfUnanimity::random(graph.nodes(), 10, 2, 3));
            let front = OnGraph::new(graph.clone(), l_shapley(order, outside));
            let got = front.values(&game).unwrap();
            let wanted = listed(&graph, order, outside);
            let counts =
                [front.coalitions().unwrap(), game.asked(), got.evaluations, got.distinct_coalitions];
            // Of one player ∅ and N are all there is.
            assert_eq!(counts, [wanted; 4], "{graph:?} {order}");
        }
    }
}

/// On a line: the pieces by their least member a have any of the 2k players that follow.
fn on_a_line(players: usize, order: usize) -> usize {
    let pieces: usize = (0..players).map(|least| 1 << (2 * order).min(players - 1 - least)).sum();
    pieces + if players > 2 * order + 1 { 2 } else { 1 }
}

fn counted(graph: Graph, order: usize) -> usize {
    OnGraph::new(graph, GraphValue::l_shapley(order)).coalitions().unwrap()
}

#[test]
fn counts_on_lines() {
    for players in 1..40 {
        for order in 0..6 {
            let wanted = on_a_line(players, order);
            assert_eq!(counted(Graph::line(players), order), wanted, "{players} {order}");
            if players > 2 * order + 1 {
                assert_eq!(wanted, ((players - 2 * order + 1) << (2 * order)) + 1);
            } else {
                assert_eq!(wanted, 1 << players);
            }
        }
    }
    for (players, order) in [(1000, 1), (1000, 2), (1000, 3), (1000, 5), (5000, 4)] {
        let count = counted(Graph::line(players), order);
        println!("line of {players}, k = {order}: {count} coalitions, 2^2k d = {}", players << (2 * order));
        assert_eq!(count, on_a_line(players, order));
        assert!(count <= players << (2 * order));
    }
}

/// On a grid by inclusion and exclusion: the nodes whose neighbourhoods a set lies in fill a box of rows, columns or diagonals, in which nodes
/// less pairs of neighbours (corners too) and squares, and more triples of a square, make one.
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
            // The sides above and to the left; the others belong to other squares.
            for [a, b] in [[0, 1], [0, 2], [0, 3], [1, 2]] {
                total -= sets(&[square[a], square[b]]);
            }
            for left_out in 0..4 {
                let rest: Vec<_> = (0..4).filter(|&at| at != left_out).map(|at| square[at]).collect();
                total += sets(&rest);
            }
        }
    }
    // ∅ is among them, N where a neighbourhood holds everything.
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
            if rows == 28 {
                println!("grid of 28×28, {adjacency:?}, k = {order}: {count} coalitions");
            }
        }
    }
    // What one more pixel inside adds: a row and a column more of a large image, twice.
    let inside = |order: usize, adjacency| {
        let graph = |side| OnGraph::new(Graph::grid(side, side, adjacency), GraphValue::l_shapley(order));
        let count = |side: usize| graph(side).most_coalitions(1 << 40).coalitions().unwrap();
        (count(16) + count(14) - 2 * count(15)) / 2
    };
    let four = |k: usize| {
        (1 << (2 * k * k + 2 * k + 1)) - (4 << (2 * k * k)) + (4 << (2 * k * k - k))
            - (1 << (2 * k * k - 2 * k))
    };
    let eight = |w: usize| (1 << (w * w)) - (2 << (w * (w - 1))) + (1 << ((w - 1) * (w - 1)));
    for (order, wanted) in [(1, 23), (2, 7408), (3, 32_632_832)] {
        assert_eq!((inside(order, Adjacency::Four), four(order)), (wanted, wanted));
        let one_neighbour = (1usize << (2 * order * order + 2 * order + 1)) - (1 << (2 * order * order));
        println!(
            "a pixel inside, k = {order}: {wanted} coalitions; {one_neighbour} if it shared with one neighbour"
        );
        assert!(wanted < one_neighbour);
    }
    for (order, wanted) in [(1, 400), (2, 31_522_816)] {
        assert_eq!((inside(order, Adjacency::Eight), eight(2 * order + 1)), (wanted, wanted));
    }
}
