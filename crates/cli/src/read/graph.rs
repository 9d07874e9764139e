//! The graph of the features, read from a file if the options name one.

use anyhow::{Context, Result};
use apportion::options;

use crate::option_error::usage;
use crate::parse::graph::GraphOption;

impl GraphOption {
    /// Returns the graph of the features with these `names`. A graph from the command line is returned
    /// unchanged; a file is read.
    pub(crate) fn read(&self, names: &[String]) -> Result<options::GraphOption> {
        let path = match self {
            Self::Words(graph) => return Ok(graph.clone()),
            Self::File(path) => path,
        };
        let says = || format!("cannot read the graph from {}", path.display());
        let text = std::fs::read_to_string(path).with_context(says)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let edges = options::GraphOption::Edges(lines.map(str::to_owned).collect());
        edges.graph(names).map(options::GraphOption::Graph).map_err(usage).with_context(says)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_read_from_a_file() {
        let names = ["age", "sex", "0", "bmi", "bp", "s1"].map(str::to_owned);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.csv");
        std::fs::write(&path, "age,sex\r\n\n0,bmi\nsex,s1\n").unwrap();
        let read =
            |text: &str| text.parse::<GraphOption>().unwrap().read(&names).unwrap().graph(&names).unwrap();
        assert_eq!(read(&format!("file={}", path.display())), read("age,sex;0,bmi;sex,s1"));
        let message =
            format!("{:#}", "file=/nowhere/edges".parse::<GraphOption>().unwrap().read(&names).unwrap_err());
        assert!(message.contains("cannot read the graph"), "{message}");
    }
}
