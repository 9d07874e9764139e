//! The commands.

use clap::{Parser, Subcommand};

use crate::args::{CompileBackground, Explain, FindGroups, Inspect, Predict};
use crate::manual::{Completions, Man};
#[cfg(feature = "networks")]
use crate::media::args::{ExplainImage, ExplainText};
use crate::methods::Methods;
use crate::version;
#[cfg(not(feature = "networks"))]
use crate::without_networks::{Any as ExplainImage, Any as ExplainText};

/// What each feature contributed to what a saved model said.
#[derive(Debug, Parser)]
#[command(name = "apportion", version, long_version = version::long(), about, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Divide the predictions of rows among their features
    Explain(Box<Explain>),
    /// Divide what a network says of a text among its words
    ExplainText(Box<ExplainText>),
    /// Divide what a network says of an image among its pixels or patches
    ExplainImage(Box<ExplainImage>),
    /// Find groups of features that depend on each other, and write their dendrogram
    Groups(FindGroups),
    /// Sort the rows of a background by what the trees of a model ask of them, for any number of explanations later
    CompileBackground(CompileBackground),
    /// Predict rows: raw margins, or outputs behind the link
    Predict(Predict),
    /// Say what a file holds: a model, rows, a compiled background, results, a checkpoint
    Inspect(Inspect),
    /// List the methods, and the values that each computes
    Methods(Methods),
    /// Write what completes the command in a shell
    Completions(Completions),
    /// Write a page of the manual
    Man(Man),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::{Extent, command};
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
        for extent in [Extent::Short, Extent::Long] {
            command(extent).debug_assert();
        }
    }
}
