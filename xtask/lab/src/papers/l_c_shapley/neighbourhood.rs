//! Figure 1: a neighbourhood on a grid, with subsets that L-Shapley and C-Shapley sum over.

use anyhow::Result;
use apportion::games::{Adjacency, Coalition, Graph};

use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Colour, Figure, Mark, Marker, Panel, Style, palette};
use crate::reproduce::report::{Table, notes, table};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::Claim;

/// Number of rows and columns of the grid.
const SIDE: usize = 7;

/// The target node, in the middle of the grid.
const TARGET: usize = SIDE * SIDE / 2;

/// The order of the neighbourhood.
const ORDER: usize = 2;

/// A disconnected set: the target, a node next to it, and two nodes two steps away in different directions.
const DISCONNECTED: [usize; 4] = [TARGET, TARGET - 1, TARGET + 2, TARGET - 2 * SIDE];

/// A path through the target.
const CONNECTED: [usize; 5] = [TARGET, TARGET - 1, TARGET - 1 - SIDE, TARGET + SIDE, TARGET + SIDE + 1];

/// The colour of the neighbourhood.
const SHADE: Colour = [222, 222, 222];

/// Properties of the drawn sets, computed with the library's graph.
struct Facts {
    distances: Vec<usize>,
    /// Nodes of the neighbourhood, which are drawn shaded.
    neighbourhood: Vec<usize>,
    subsets: [Subset; 2],
    /// Number of subsets of the neighbourhood that contain the target, and number of connected subsets among
    /// them.
    counted: [usize; 2],
}

struct Subset {
    nodes: Vec<usize>,
    is_connected: bool,
    is_inside: bool,
}

fn facts(graph: &Graph) -> Facts {
    let neighbourhood = graph.neighbourhood(TARGET, ORDER);
    let subset = |nodes: &[usize]| {
        let coalition = Coalition::from_members(graph.nodes(), nodes.iter().copied());
        Subset {
            nodes: nodes.to_vec(),
            is_connected: graph.is_connected(coalition.view()),
            is_inside: nodes.contains(&TARGET) && nodes.iter().all(|node| neighbourhood.contains(node)),
        }
    };
    let subsets = [subset(&DISCONNECTED), subset(&CONNECTED)];
    // Enumerate all subsets of the neighbourhood.
    let others: Vec<usize> = neighbourhood.iter().copied().filter(|&node| node != TARGET).collect();
    let mut counted = [0; 2];
    for mask in 0..1_usize << others.len() {
        let members =
            others.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, &node)| node);
        let coalition = Coalition::from_members(graph.nodes(), members.chain([TARGET]));
        counted[0] += 1;
        counted[1] += usize::from(graph.is_connected(coalition.view()));
    }
    let distance = |node: usize| (0..).find(|&order| graph.neighbourhood(TARGET, order).contains(&node));
    let distances = (0..graph.nodes()).filter_map(distance).collect();
    Facts { distances, neighbourhood, subsets, counted }
}

/// Generates figure 1.
pub(super) fn fig1(_: &Session) -> Result<ArtefactOutput> {
    let graph = Graph::grid(SIDE, SIDE, Adjacency::Four);
    let facts = facts(&graph);
    let style = |colour, marker| Style { colour, marker: Some(marker) };
    let figure = Figure {
        title: "Figure 1: the neighbourhood of order 2 on a grid, and two of its subsets".to_owned(),
        panels: vec![
            panel("(a) the neighbourhood", &graph, &facts.neighbourhood, &[]),
            panel("(b) not connected: L-Shapley alone", &graph, &facts.neighbourhood, &DISCONNECTED),
            panel("(c) connected: both", &graph, &facts.neighbourhood, &CONNECTED),
        ],
        columns: 3,
        legend: vec![
            ("target i".to_owned(), style(palette::VERMILION, Marker::Square)),
            ("in the subset".to_owned(), style(palette::BLUE, Marker::Square)),
            ("other nodes".to_owned(), style(palette::GREY, Marker::Square)),
        ],
        note: "Shaded: nodes at distance 2 or less.".to_owned(),
    };
    Ok(ArtefactOutput {
        data: data(&facts),
        figure: Some(figure),
        tables: vec![table(&facts)],
        claims: claims(&facts),
        notes: notes![
            "neighbourhoods and connectedness are computed with the library's own graph; the subsets are \
                     our choice, because those of the paper cannot be read off its figure"
        ],
        datasets: Vec::new(),
    })
}

fn place(node: usize) -> (f64, f64) {
    ((node % SIDE) as f64, (node / SIDE) as f64)
}

fn square(node: usize, half: f64, colour: Colour) -> Mark {
    let (x, y) = place(node);
    Mark::Bar { colour, from: (x - half, y - half), to: (x + half, y + half) }
}

fn panel(title: &str, graph: &Graph, shaded: &[usize], subset: &[usize]) -> Panel {
    let mut marks: Vec<Mark> = shaded.iter().map(|&node| square(node, 0.5, SHADE)).collect();
    for node in 0..graph.nodes() {
        let later = graph.neighbours(node).iter().filter(|&&other| other > node);
        marks.extend(
            later
                .map(|&other| Mark::Curve { colour: palette::GREY, points: vec![place(node), place(other)] }),
        );
    }
    for node in 0..graph.nodes() {
        let (half, colour) = match node {
            TARGET => (0.24, palette::VERMILION),
            node if subset.contains(&node) => (0.24, palette::BLUE),
            _ => (0.13, palette::GREY),
        };
        marks.push(square(node, half, colour));
    }
    let end = SIDE as f64 - 0.5;
    Panel {
        title: title.to_owned(),
        x: Axis::blank(240.0, -0.5, end),
        y: Axis::blank(240.0, end, -0.5),
        marks,
    }
}

fn claims(facts: &Facts) -> Vec<Claim> {
    let by_distance: Vec<usize> = (0..SIDE * SIDE).filter(|&node| facts.distances[node] <= ORDER).collect();
    let manhattan = (0..SIDE * SIDE).all(|node| {
        let (row, column) = (node / SIDE, node % SIDE);
        facts.distances[node] == row.abs_diff(TARGET / SIDE) + column.abs_diff(TARGET % SIDE)
    });
    let [disconnected, connected] = &facts.subsets;
    let claim = |claim: &str, source: &str, rule: &str, holds: bool, evidence: String| {
        Claim::fact(claim, source, rule, Some(holds), evidence)
    };
    vec![
        claim(
            "all nodes within the shaded area lie within the neighbourhood of order 2, and no others; \
             distances are Manhattan distances",
            "caption of figure 1; equations 3 and 4",
            "the shaded nodes are those whose distances in rows and in columns sum to at most 2",
            manhattan && by_distance == facts.neighbourhood,
            format!("{} nodes, 2k² + 2k + 1 = 13", facts.neighbourhood.len()),
        ),
        claim(
            "(b) is a disconnected subset of the neighbourhood, summed over in L-Shapley but not in \
             C-Shapley",
            "caption of figure 1; definitions 1 and 2",
            "the subset contains the target and is not connected in the graph",
            disconnected.is_inside && !disconnected.is_connected,
            format!("{} nodes; connected: {}", disconnected.nodes.len(), disconnected.is_connected),
        ),
        claim(
            "(c) is a connected subset of the neighbourhood, summed over in both",
            "caption of figure 1; definitions 1 and 2",
            "the subset contains the target and is connected in the graph",
            connected.is_inside && connected.is_connected,
            format!("{} nodes; connected: {}", connected.nodes.len(), connected.is_connected),
        ),
    ]
}

fn table(facts: &Facts) -> Table {
    table!("Subsets of the neighbourhood with the target", [
        for (value, subsets) in ["L-Shapley", "C-Shapley"].into_iter().zip(facts.counted);
    ]
        "summed over by" => value,
        "subsets" => subsets,
    )
}

fn data(facts: &Facts) -> Table {
    let is_in = |nodes: &[usize], node: usize| usize::from(nodes.contains(&node));
    let [b, c] = &facts.subsets;
    table!("data", [for (node, &distance) in facts.distances.iter().enumerate();]
        "node" => node,
        "row" => node / SIDE,
        "column" => node % SIDE,
        "distance" => distance,
        "in the neighbourhood" => is_in(&facts.neighbourhood, node),
        "in (b)" => is_in(&b.nodes, node),
        "in (c)" => is_in(&c.nodes, node),
    )
}
