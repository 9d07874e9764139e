//! The commands and their options, as parsed by clap.

use clap::{Parser, Subcommand};

use super::args::{CompileBackground, Explain, FindGroups, Inspect, Predict};
use super::manual::{Completions, Man};
#[cfg(feature = "networks")]
use super::media::{ExplainImage, ExplainText};
use super::methods::Methods;
use super::pictures::{Plot, Report};
#[cfg(not(feature = "networks"))]
use super::without_networks::{Any as ExplainImage, Any as ExplainText};
use crate::version;

/// Explain the predictions of saved models with feature attributions.
#[derive(Debug, Parser)]
#[command(name = "apportion", version, long_version = version::long(), max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Explain predictions with feature attributions
    Explain(Box<Explain>),
    /// Explain the output of a neural network for a text
    ExplainText(Box<ExplainText>),
    /// Explain the output of a neural network for an image
    ExplainImage(Box<ExplainImage>),
    /// Find groups of dependent features and their dendrogram
    Groups(FindGroups),
    /// Compile background rows for the trees of a model, to explain with them repeatedly
    CompileBackground(CompileBackground),
    /// Predict margins, or outputs after the link function
    Predict(Predict),
    /// Show the contents of a file: a model, rows, a compiled background, results or a checkpoint
    Inspect(Inspect),
    /// Draw figures of results, such as waterfall, beeswarm and scatter plots, as SVG or PNG
    Plot(Box<Plot>),
    /// Create an HTML report from results
    Report(Report),
    /// List the methods and the values that each computes
    Methods(Methods),
    /// Generate shell completions
    Completions(Completions),
    /// Generate a manual page
    Man(Man),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::help::{Extent, LONG, arrange};
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
        for extent in [Extent::Short, Extent::Long] {
            arrange(Cli::command(), extent).debug_assert();
        }
    }

    /// The lines and columns of a screen.
    const SCREEN: (usize, usize) = (48, 100);

    #[test]
    fn short_help_of_every_command_fits_on_a_screen() {
        for name in ["explain", "predict", "inspect", "groups", "compile-background", "methods"] {
            let mut command = arrange(Cli::command(), Extent::Short);
            command.build();
            let command = command.find_subcommand_mut(name).unwrap().clone().term_width(SCREEN.1);
            let help = command.clone().render_help().to_string();
            let lines: Vec<&str> = help.lines().collect();
            assert!(lines.len() <= SCREEN.0, "{name}: {} lines\n{help}", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= SCREEN.1), "{name}\n{help}");
        }
    }

    #[test]
    fn every_option_has_a_heading() {
        let command = arrange(Cli::command(), Extent::Long);
        for command in command.get_subcommands().filter(|command| LONG.contains(&command.get_name())) {
            for option in command.get_arguments().filter(|option| option.get_id() != "arguments") {
                assert!(option.get_help_heading().is_some(), "{}: {}", command.get_name(), option.get_id());
            }
        }
    }

    #[cfg(feature = "networks")]
    #[test]
    fn every_option_under_a_heading_is_one_of_a_command() {
        use crate::parse::help::HEADINGS;

        let command = arrange(Cli::command(), Extent::Long);
        for (_, options) in HEADINGS {
            for (id, _) in *options {
                let is_one = command
                    .get_subcommands()
                    .any(|command| command.get_arguments().any(|option| option.get_id().as_str() == *id));
                assert!(is_one, "{id}");
            }
        }
    }
}
