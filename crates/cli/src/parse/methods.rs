//! The methods on the command line: their names, and the arguments of `apportion methods`.

use anyhow::Result;
use apportion::{Method, SolutionConcept};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Methods {
    /// List only methods that compute this value, e.g. owen or beta=4,1
    #[arg(long, value_parser = str::parse::<SolutionConcept>)]
    pub(crate) value: Option<SolutionConcept>,
}

/// Parses the name of a method.
pub(crate) fn method(name: &str) -> Result<Method, String> {
    name.parse::<Method>().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(method("treeshap").unwrap_err().contains("unknown"));
    }
}
