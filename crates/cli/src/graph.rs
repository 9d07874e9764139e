//! Graphs on the features as they are typed.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result};
use apportion::games::{Adjacency, Graph};
use serde::{Serialize, Serializer};

use crate::failure::Usage;
use crate::groups::feature;

/// The graph that was asked for, not yet compared with the features.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GraphOption {
    /// The features in a row.
    Line,
    /// The features row by row in a grid.
    Grid {
        rows: usize,
        columns: usize,
        #[serde(serialize_with = "neighbours")]
        adjacency: Adjacency,
    },
    /// Edges between features, by name or number.
    Edges(Vec<String>),
    /// A file with an edge on each line.
    File(PathBuf),
}

impl FromStr for GraphOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.split_once('=') {
            None if text == "line" => Ok(Self::Line),
            Some(("file", path)) => Ok(Self::File(PathBuf::from(path))),
            Some(("grid", size)) => grid(size).ok_or_else(|| {
                format!("{text:?} is no grid; write grid=4x5, or grid=4x5,8 for neighbours at corners, too")
            }),
            _ => Ok(Self::Edges(text.trim_end_matches(';').split(';').map(str::to_owned).collect())),
        }
    }
}

/// How many neighbours a feature has inside a grid, as it is typed.
fn neighbours<S: Serializer>(adjacency: &Adjacency, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(match adjacency {
        Adjacency::Four => 4,
        Adjacency::Eight => 8,
    })
}

/// A grid as it is typed: 4x5, or 4x5,8.
fn grid(size: &str) -> Option<GraphOption> {
    let (size, adjacency) = match size.split_once(',') {
        None | Some((_, "4")) => (size.trim_end_matches(",4"), Adjacency::Four),
        Some((size, "8")) => (size, Adjacency::Eight),
        Some(_) => return None,
    };
    let (rows, columns) = size.split_once('x')?;
    let (rows, columns): (usize, usize) = (rows.parse().ok()?, columns.parse().ok()?);
    // A grid that has no feature, or more than any file.
    rows.checked_mul(columns).filter(|nodes| (1..=1 << 24).contains(nodes))?;
    Some(GraphOption::Grid { rows, columns, adjacency })
}

impl GraphOption {
    /// The graph on the features with these `names`.
    pub(crate) fn graph(&self, names: &[String]) -> Result<Graph> {
        let graph = match self {
            Self::Line => Graph::line(names.len()),
            Self::Grid { rows, columns, adjacency } => Graph::grid(*rows, *columns, *adjacency),
            Self::Edges(edges) => from_edges(edges.iter().map(String::as_str), names)?,
            Self::File(path) => {
                let says = || format!("cannot read the graph {}", path.display());
                let text = std::fs::read_to_string(path).with_context(says)?;
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                from_edges(lines, names).with_context(says)?
            }
        };
        graph.check_players(names.len()).map_err(|error| Usage(format!("--graph: {error}")))?;
        Ok(graph)
    }
}

fn from_edges<'a>(edges: impl Iterator<Item = &'a str>, names: &[String]) -> Result<Graph> {
    let edge = |edge: &str| -> Result<(usize, usize)> {
        match edge.split(',').map(str::trim).collect::<Vec<_>>()[..] {
            [a, b] => Ok((feature("--graph", a, names)?, feature("--graph", b, names)?)),
            _ => {
                Err(Usage(format!("--graph: {edge:?} is no edge; write two features, as in age,sex;sex,bmi"))
                    .into())
            }
        }
    };
    let edges = edges.map(edge).collect::<Result<Vec<_>>>()?;
    Graph::from_edges(names.len(), edges).map_err(|error| Usage(format!("--graph: {error}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(text: &str) -> Result<Graph> {
        let names = ["age", "sex", "0", "bmi", "bp", "s1"].map(str::to_owned);
        text.parse::<GraphOption>().map_err(anyhow::Error::msg)?.graph(&names)
    }

    #[test]
    fn lines_grids_and_edges_are_read() {
        assert_eq!(graph("line").unwrap(), Graph::line(6));
        assert_eq!(graph("grid=2x3").unwrap(), Graph::grid(2, 3, Adjacency::Four));
        assert_eq!(graph("grid=3x2,8").unwrap(), Graph::grid(3, 2, Adjacency::Eight));
        let wanted = Graph::from_edges(6, [(0, 1), (2, 3), (1, 5)]).unwrap();
        assert_eq!(graph("age,sex; 0,bmi ;1,5;").unwrap(), wanted);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.csv");
        std::fs::write(&path, "age,sex\r\n\n0,bmi\nsex,s1\n").unwrap();
        assert_eq!(graph(&format!("file={}", path.display())).unwrap(), wanted);
    }

    #[test]
    fn what_is_no_graph_of_the_features_is_refused() {
        for (text, wanted) in [
            ("grid=2", "grid=4x5"),
            ("grid=0x3", "grid=4x5"),
            ("grid=2x3,6", "grid=4x5"),
            ("grid=2x4", "8 nodes"),
            ("age", "no edge"),
            ("age,sex,bmi", "no edge"),
            ("age,weight", "\"weight\", which is no feature"),
            ("age,9", "\"9\", which is no feature"),
            ("age,age", "joins a node to itself"),
            ("age,sex;sex,age", "duplicate edge"),
            ("file=/nowhere/edges", "cannot read the graph"),
        ] {
            let message = format!("{:#}", graph(text).unwrap_err());
            assert!(message.contains(wanted), "{text}: {message}");
        }
    }
}
