//! Groups and graphs of features, as passed by Python.

use apportion::games::{Adjacency, Graph, Member};
use apportion::options::{GraphOption, OptionError, Structure};
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::errors::{of_options, of_playing, usage};

/// A graph of the players.
#[derive(FromPyObject)]
pub(crate) enum RequestedGraph {
    /// The rows of a grid, its columns, and the number of neighbours of an inner player.
    Grid(usize, usize, usize),
    /// Pairs of players.
    Edges(Vec<(usize, usize)>),
    /// Each player is connected to the next one.
    #[pyo3(transparent)]
    Line(#[expect(dead_code, reason = "only its type distinguishes it from the others")] bool),
}

impl RequestedGraph {
    /// Returns the graph of `players` players.
    pub(crate) fn graph(self, py: Python<'_>, players: usize) -> PyResult<Graph> {
        let option = match self {
            Self::Line(_) => GraphOption::Line,
            Self::Grid(rows, columns, neighbours) => {
                let adjacency = if neighbours == 8 { Adjacency::Eight } else { Adjacency::Four };
                GraphOption::Grid { rows, columns, adjacency }
            }
            Self::Edges(edges) => {
                let graph = Graph::from_edges(players, edges).map_err(|error| of_playing(py, &error))?;
                GraphOption::Graph(graph)
            }
        };
        option.graph(&vec![String::new(); players]).map_err(|error| of_options(py, &error))
    }
}

/// Returns the groups of `players` players, nested or not.
pub(crate) fn structure(groups: &Bound<'_, PyAny>, players: usize) -> PyResult<Structure> {
    let features = vec![String::new(); players];
    Structure::new(players, members(groups, 0)?)
        .map_err(|source| of_options(groups.py(), &OptionError::Groups { source, features }))
}

/// Maximum nesting depth of groups. Deeper nesting is a mistake, and would overflow the stack.
const MAX_DEPTH: usize = 500;

fn members(groups: &Bound<'_, PyAny>, depth: usize) -> PyResult<Vec<Member>> {
    if depth > MAX_DEPTH {
        return Err(usage(
            groups.py(),
            format!("groups are nested too deeply; expected at most {MAX_DEPTH} levels"),
        ));
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
