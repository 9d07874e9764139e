//! Errors of options, worded with the names of the command-line options.

use anyhow::Error;
use apportion::options::OptionError;
use apportion::plots;

use crate::failure::Usage;

/// Rewords an error of options for the command line.
pub(crate) fn usage(error: OptionError) -> Error {
    let says = match error {
        OptionError::Distribution { game, source } => {
            return Error::new(source).context(format!("cannot fit the distribution of --game {game}"));
        }
        OptionError::Feature { option, name, features } => {
            let given = match name.as_str() {
                "" => "empty feature name or empty group".to_owned(),
                name => format!("unknown feature {name:?}"),
            };
            let known = plots::listed(&name, features.iter().map(String::as_str));
            let indices = match features.len() {
                0 | 1 => "index 0".to_owned(),
                count => format!("indices 0 to {}", count - 1),
            };
            format!("{given} in --{option}; available features: {known} (or {indices})")
        }
        error => error.in_words(|name| format!("--{name}")),
    };
    Usage(says).into()
}
