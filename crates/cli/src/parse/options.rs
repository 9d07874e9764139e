//! Conversion of command-line options to the options of the library.

use anyhow::Result;
use apportion::options::Options;
use clap::ValueEnum;

use super::args::{Accuracy, Explain};
use crate::option_error::usage;

impl Explain {
    /// Returns the options of the explainer, except the groups and the graph, which depend on the names of
    /// the features.
    pub(crate) fn options(&self) -> Result<Options> {
        let mut options = Options::default();
        options.value = self.value.clone();
        options.game = self.game;
        options.output = self.space.clone();
        options.method = self.method;
        options.budget = self.budget;
        options.seed = self.seed;
        self.accuracy.set(&mut options)?;
        set(&mut options, "kernel", Some(self.engine.kernel))?;
        set(&mut options, "precision", Some(self.engine.precision))?;
        let distribution = &self.distribution;
        // The value is at most 2^24, so the cast is lossless.
        options.distribution.draws = distribution.draws.map(|draws| draws as usize);
        options.distribution.bandwidth = distribution.bandwidth;
        options.distribution.share = distribution.share;
        set(&mut options, "variant", distribution.variant)?;
        set(&mut options, "fallback", distribution.fallback)?;
        Ok(options)
    }
}

impl Accuracy {
    /// Sets the accuracy options, or returns an error if they are invalid.
    pub(crate) fn set(&self, options: &mut Options) -> Result<()> {
        options.accuracy.tolerance = self.until;
        options.accuracy.confidence = self.confidence;
        options.accuracy.range = self.range;
        set(options, "relative-to", self.relative_to)?;
        set(options, "error", self.error)?;
        options.accuracy.until().map(drop).map_err(usage)
    }
}

/// Sets an option that has a fixed set of values.
fn set(options: &mut Options, name: &str, word: Option<impl ValueEnum>) -> Result<()> {
    match word.and_then(|word| word.to_possible_value()) {
        Some(word) => options.set(name, word.get_name()).map_err(usage),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::commands::Cli;
    use clap::CommandFactory;

    /// Options of `explain` that concern input, output and the run, and are not options of the library.
    const OF_FILES: [&str; 41] = [
        "model",
        "trees",
        "most-features",
        "model-output",
        "predict",
        "rows",
        "select",
        "target",
        "id",
        "weights",
        "ignore",
        "missing",
        "separator",
        "decimal-comma",
        "unpacked-limit",
        "background",
        "background-select",
        "background-compiled",
        "dependence",
        "linkage",
        "interactions",
        "order",
        "class",
        "top",
        "summary",
        "plot",
        "report",
        "show-command",
        "checkpoint",
        "checkpoint-every",
        "resume",
        "threads",
        "timings",
        "format",
        "out",
        "help",
        "predict-batch",
        "predict-format",
        "predict-restarts",
        "predict-timeout",
        "predict-workers",
    ];

    #[test]
    fn options_of_the_library_are_those_of_explain() {
        let command = Cli::command();
        let explain = command.find_subcommand("explain").unwrap();
        let names: Vec<&str> = explain.get_arguments().filter_map(clap::Arg::get_long).collect();
        for name in &names {
            assert!(Options::NAMES.contains(name) || OF_FILES.contains(name), "{name}");
        }
        // The command sets `rows` itself, so that the kernel is chosen for all rows of a file. It always
        // omits features without effect, so it has no option `keep-null-players`.
        let of_others = ["rows", "keep-null-players"];
        for name in Options::NAMES.iter().filter(|name| !of_others.contains(name)) {
            assert!(names.contains(name), "{name}");
        }
    }
}
