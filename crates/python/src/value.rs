//! Values by name, with the groups or the graph that they are of.

use apportion::games::{Adjacency, Graph, Member};
use apportion::{Hierarchy, Partition, SolutionConcept, Value};
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::errors::{of_playing, usage};

/// A graph on the players.
#[derive(FromPyObject)]
pub(crate) enum AskedGraph {
    /// Rows, columns, and neighbours of a player inside.
    Grid(usize, usize, usize),
    /// Pairs of players.
    Edges(Vec<(usize, usize)>),
    /// The players in a row.
    #[pyo3(transparent)]
    Line(#[expect(dead_code, reason = "only its type tells it from others")] bool),
}

/// The value of this name, of players in these groups or on this graph.
pub(crate) fn value(
    py: Python<'_>,
    name: &str,
    groups: Option<&Bound<'_, PyAny>>,
    graph: Option<AskedGraph>,
    players: usize,
) -> PyResult<Value> {
    let concept: SolutionConcept = name.parse().map_err(|error| usage(py, error))?;
    let graph = graph.map(|asked| of_graph(py, asked, players)).transpose()?;
    let value = match groups {
        None => Value::of(concept, None, graph),
        Some(groups) => match structure(py, groups, players)? {
            Structure::Groups(partition) => Value::of(concept, Some(partition), graph),
            Structure::Levels(hierarchy) => Value::over(concept, hierarchy),
        },
    };
    value.map_err(|error| usage(py, error))
}

fn of_graph(py: Python<'_>, asked: AskedGraph, players: usize) -> PyResult<Graph> {
    let graph = match asked {
        AskedGraph::Line(_) => Graph::line(players),
        AskedGraph::Grid(rows, columns, neighbours) => {
            // A grid of other players would be refused in any case, before it takes all memory.
            if rows.checked_mul(columns) != Some(players) {
                let says =
                    format!("a grid of {rows} by {columns} is of other players than the {players} here");
                return Err(usage(py, says));
            }
            let adjacency = if neighbours == 8 { Adjacency::Eight } else { Adjacency::Four };
            Graph::grid(rows, columns, adjacency)
        }
        AskedGraph::Edges(edges) => {
            Graph::from_edges(players, edges).map_err(|error| of_playing(py, &error))?
        }
    };
    graph.check_players(players).map_err(|error| of_playing(py, &error))?;
    Ok(graph)
}

enum Structure {
    Groups(Partition),
    Levels(Hierarchy),
}

/// Groups of players, or groups within groups.
fn structure(py: Python<'_>, groups: &Bound<'_, PyAny>, players: usize) -> PyResult<Structure> {
    let members = members(groups, 0)?;
    let flat = |member: &Member| match member {
        Member::Group(inner) => inner
            .iter()
            .map(|member| match member {
                Member::Player(player) => Some(*player),
                Member::Group(_) => None,
            })
            .collect::<Option<Vec<usize>>>(),
        Member::Player(_) => None,
    };
    let refused = |error| usage(py, format!("groups: {error}"));
    if let Some(groups) = members.iter().map(flat).collect::<Option<Vec<_>>>() {
        return Partition::new(players, groups).map(Structure::Groups).map_err(refused);
    }
    let hierarchy = Hierarchy::new(players, members).map_err(refused)?;
    Ok(hierarchy.partition().map_or(Structure::Levels(hierarchy), Structure::Groups))
}

/// Groups deeper than that are a slip, and would take the whole stack.
const DEEPEST: usize = 500;

fn members(groups: &Bound<'_, PyAny>, depth: usize) -> PyResult<Vec<Member>> {
    if depth > DEEPEST {
        return Err(usage(groups.py(), format!("groups lie more than {DEEPEST} deep within each other")));
    }
    let member = |member: PyResult<Bound<'_, PyAny>>| {
        let member = member?;
        match member.extract::<usize>() {
            Ok(player) => Ok(Member::Player(player)),
            Err(_) => members(&member, depth + 1).map(Member::Group),
        }
    };
    groups.try_iter()?.map(member).collect()
}
