//! Graphs of features.

use std::str::FromStr;

use apportion_games::{Adjacency, Graph};
use serde_json::json;

use super::error::OptionError;
use super::groups::feature;

/// A graph of features, not yet checked against the features of a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GraphOption {
    /// The features in a line, in their order.
    Line,
    /// The features in a grid, row by row.
    Grid {
        /// The number of rows of the grid.
        rows: usize,
        /// The number of columns of the grid.
        columns: usize,
        /// Which cells are neighbours.
        adjacency: Adjacency,
    },
    /// Edges between features by name or index, such as `age,sex`.
    Edges(Vec<String>),
    /// A given graph.
    Graph(Graph),
}

impl FromStr for GraphOption {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let text = text.trim();
        match text.split_once('=') {
            None if text == "line" => Ok(Self::Line),
            Some(("grid", size)) => grid(size).ok_or_else(|| OptionError::Invalid {
                option: "graph",
                problem: format!(
                    "invalid grid {text:?}; expected grid=ROWSxCOLUMNS, e.g. grid=4x5, or grid=4x5,8 to \
                     connect diagonal neighbours as well"
                ),
            }),
            _ => Ok(Self::Edges(text.trim_end_matches(';').split(';').map(str::to_owned).collect())),
        }
    }
}

/// Parses the size of a grid: `4x5`, or `4x5,8`.
fn grid(size: &str) -> Option<GraphOption> {
    let (size, adjacency) = match size.split_once(',') {
        None | Some((_, "4")) => (size.trim_end_matches(",4"), Adjacency::Four),
        Some((size, "8")) => (size, Adjacency::Eight),
        Some(_) => return None,
    };
    let (rows, columns) = size.split_once('x')?;
    let (rows, columns): (usize, usize) = (rows.parse().ok()?, columns.parse().ok()?);
    // Reject grids without features, and grids with more features than any table.
    rows.checked_mul(columns).filter(|nodes| (1..=1 << 24).contains(nodes))?;
    Some(GraphOption::Grid { rows, columns, adjacency })
}

impl GraphOption {
    /// Returns the graph of the features with these `names`.
    ///
    /// # Errors
    ///
    /// [`OptionError::Edge`] for an edge that does not consist of two features, [`OptionError::Feature`] for
    /// an unknown feature, and [`OptionError::Graph`] if the graph does not match the features.
    pub fn graph(&self, names: &[String]) -> Result<Graph, OptionError> {
        let players = names.len();
        let invalid = |source| OptionError::Graph { source, features: names.to_vec() };
        let graph = match self {
            Self::Line => Graph::line(players),
            // Check the size first, because a large grid could exhaust the memory.
            Self::Grid { rows, columns, adjacency } if rows.checked_mul(*columns) == Some(players) => {
                Graph::grid(*rows, *columns, *adjacency)
            }
            Self::Grid { rows, columns, .. } => {
                return Err(OptionError::Form {
                    option: "graph",
                    actual: format!("grid={rows}x{columns}"),
                    expected: format!("a grid of the {players} features"),
                });
            }
            Self::Edges(edges) => {
                let edges = edges.iter().map(|edge| ends(edge, names)).collect::<Result<Vec<_>, _>>()?;
                Graph::from_edges(players, edges).map_err(invalid)?
            }
            Self::Graph(graph) => graph.clone(),
        };
        graph.check_players(players).map_err(invalid)?;
        Ok(graph)
    }
}

impl GraphOption {
    /// Returns this graph as the text stored in checkpoints.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Line => "line".to_owned(),
            Self::Grid { rows, columns, adjacency } => {
                let adjacency = match adjacency {
                    Adjacency::Four => 4,
                    Adjacency::Eight => 8,
                };
                json!({"grid": {"rows": rows, "columns": columns, "adjacency": adjacency}}).to_string()
            }
            Self::Edges(edges) => json!({"edges": edges}).to_string(),
            Self::Graph(graph) => {
                let later = |node: usize| graph.neighbours(node).iter().filter(move |&&other| other > node);
                let of_node = |node: usize| later(node).map(move |other| format!("{node},{other}"));
                let edges: Vec<String> = (0..graph.nodes()).flat_map(of_node).collect();
                json!({"edges": edges}).to_string()
            }
        }
    }
}

/// Returns the two features of an edge.
fn ends(edge: &str, names: &[String]) -> Result<(usize, usize), OptionError> {
    match edge.split(',').map(str::trim).collect::<Vec<_>>()[..] {
        [a, b] => Ok((feature("graph", a, names)?, feature("graph", b, names)?)),
        _ => Err(OptionError::Edge { actual: edge.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(text: &str) -> Result<Graph, OptionError> {
        let names = ["age", "sex", "0", "bmi", "bp", "s1"].map(str::to_owned);
        text.parse::<GraphOption>()?.graph(&names)
    }

    #[test]
    fn lines_grids_and_edges_are_read() {
        assert_eq!(graph("line").unwrap(), Graph::line(6));
        assert_eq!(graph("grid=2x3").unwrap(), Graph::grid(2, 3, Adjacency::Four));
        assert_eq!(graph("grid=3x2,8").unwrap(), Graph::grid(3, 2, Adjacency::Eight));
        let wanted = Graph::from_edges(6, [(0, 1), (2, 3), (1, 5)]).unwrap();
        assert_eq!(graph("age,sex; 0,bmi ;1,5;").unwrap(), wanted);
    }

    #[test]
    fn what_is_no_graph_of_the_features_is_refused() {
        for (text, wanted) in [
            ("grid=2", "grid=4x5"),
            ("grid=0x3", "grid=4x5"),
            ("grid=2x3,6", "grid=4x5"),
            ("grid=2x4", "expected a grid of the 6 features"),
            ("age", "invalid edge"),
            ("age,sex,bmi", "invalid edge"),
            ("age,weight", "unknown feature \"weight\""),
            ("age,9", "unknown feature \"9\""),
            ("age,age", "invalid edge \"age\",\"age\" in graph: it joins a feature to itself"),
            ("age,sex;sex,age", "duplicate edge \"age\",\"sex\" in graph"),
        ] {
            let message = graph(text).unwrap_err().to_string();
            assert!(message.contains(wanted), "{text}: {message}");
        }
    }
}
