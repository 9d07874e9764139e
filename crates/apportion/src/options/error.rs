//! The error type of options.

use std::fmt;

use apportion_estimators::{EstimatorError, RunError};
use apportion_games::{GameError, HierarchyProblem, PartitionProblem};
use apportion_values::ValueError;

use super::names::NAMES;

/// The error for invalid options.
///
/// The message uses the names of [`Options::NAMES`](super::Options::NAMES). Interfaces with other spellings
/// use [`in_words`](Self::in_words).
#[derive(Debug)]
#[non_exhaustive]
pub enum OptionError {
    /// The option does not exist.
    Unknown {
        /// The given name.
        name: String,
    },
    /// The value is not one of the known names.
    Word {
        /// The option.
        option: &'static str,
        /// The given value.
        actual: String,
        /// The known names.
        expected: Vec<&'static str>,
    },
    /// The value does not have the expected form.
    Form {
        /// The option.
        option: &'static str,
        /// The given value.
        actual: String,
        /// The expected form.
        expected: String,
    },
    /// The value is invalid; the message comes from the parser of the value.
    Invalid {
        /// The option.
        option: &'static str,
        /// The message, which quotes the given value.
        problem: String,
    },
    /// The option requires another option.
    Requires {
        /// The option.
        option: &'static str,
        /// The required option.
        other: &'static str,
    },
    /// The option configures a distribution that the game does not use.
    Game {
        /// The option.
        option: &'static str,
        /// The games that use the option.
        games: Vec<&'static str>,
        /// The requested game.
        game: &'static str,
    },
    /// The tolerance or its settings are out of range.
    Accuracy(EstimatorError),
    /// The distribution does not support weights.
    Weights,
    /// The bandwidth depends on the model, which cannot be evaluated while the distribution is fitted.
    NoModel,
    /// There is no feature with this name.
    Feature {
        /// The option.
        option: &'static str,
        /// The given name.
        name: String,
        /// The names of the features.
        features: Vec<String>,
    },
    /// The groups do not contain every feature exactly once.
    Groups {
        /// The underlying error.
        source: GameError,
        /// The names of the features.
        features: Vec<String>,
    },
    /// The edge does not consist of two features.
    Edge {
        /// The given edge.
        actual: String,
    },
    /// The graph does not match the features.
    Graph {
        /// The underlying error.
        source: GameError,
        /// The names of the features.
        features: Vec<String>,
    },
    /// The value does not match its groups or its graph.
    Value(ValueError),
    /// The distribution cannot be fitted.
    Distribution {
        /// The game that requires the distribution.
        game: &'static str,
        /// The underlying error.
        source: GameError,
    },
}

impl OptionError {
    /// Returns the message with the option names of an interface: `option` maps `relative-to`, for example,
    /// to `--relative-to` or `relative_to`.
    ///
    /// ```
    /// use apportion::options::Options;
    ///
    /// let error = Options::default().set("relative-to", "mean").unwrap_err();
    /// let message = error.in_words(|name| format!("--{name}"));
    /// let expected = "unknown value \"mean\" for --relative-to; expected one of: norm, range, nothing";
    /// assert_eq!(message, expected);
    /// ```
    pub fn in_words(&self, option: impl Fn(&str) -> String) -> String {
        match self {
            Self::Unknown { name } => {
                let known = NAMES.map(&option).join(", ");
                format!("unknown option {}; expected one of: {known}", option(name))
            }
            Self::Word { option: name, actual, expected } => {
                format!(
                    "unknown value {actual:?} for {}; expected one of: {}",
                    option(name),
                    expected.join(", ")
                )
            }
            Self::Form { option: name, actual, expected } => {
                format!("invalid value {actual:?} for {}; expected {expected}", option(name))
            }
            Self::Invalid { problem, .. } => problem.clone(),
            Self::Requires { option: name, other } => format!("{} requires {}", option(name), option(other)),
            Self::Game { option: name, games, game } => {
                let games = match &games[..] {
                    [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                    games => games.join(", "),
                };
                format!("{} requires {} {games}, not {game}", option(name), option("game"))
            }
            Self::Accuracy(EstimatorError::Run(RunError::Until { what, actual, expected })) => {
                let name = match *what {
                    name @ ("confidence" | "range") => name,
                    _ => "until",
                };
                format!("invalid value {actual} for {}: must be {expected}", option(name))
            }
            Self::Accuracy(error) => format!("{}: {error}", option("until")),
            Self::Weights => {
                let variant = option("variant");
                format!(
                    "{variant} shapr does not support weights; remove the weights, or use {variant} paper"
                )
            }
            Self::NoModel => format!(
                "{} aicc is only supported for tree ensembles; pass a number as the bandwidth",
                option("bandwidth")
            ),
            Self::Feature { option: name, name: feature, features } => {
                let actual = match feature.as_str() {
                    "" => "empty feature name or empty group".to_owned(),
                    feature => format!("unknown feature {feature:?}"),
                };
                format!("{actual} in {}; available features: {}", option(name), listed(features))
            }
            Self::Groups { source, features } => {
                format!("{}: {}", option("groups"), problem_of_groups(source, features))
            }
            Self::Edge { actual } => {
                format!("invalid edge {actual:?} in {}; expected two features, e.g. age,sex", option("graph"))
            }
            Self::Graph { source: GameError::SelfLoop { node }, features } => format!(
                "invalid edge {0},{0} in {1}: it joins a feature to itself; remove it",
                quoted(*node, features),
                option("graph")
            ),
            Self::Graph { source: GameError::DuplicateEdge { edge }, features } => format!(
                "duplicate edge {},{} in {}; specify each edge once, in one direction",
                quoted(edge.0, features),
                quoted(edge.1, features),
                option("graph")
            ),
            Self::Graph { source, .. } => format!("{}: {source}", option("graph")),
            Self::Value(error) => error.to_string(),
            Self::Distribution { game, source } => {
                format!("cannot fit the distribution of {} {game}: {source}", option("game"))
            }
        }
    }
}

/// Returns the name of a feature in quotes, or its index if it has no name.
fn quoted(feature: usize, features: &[String]) -> String {
    match features.get(feature).map_or("", String::as_str) {
        "" => feature.to_string(),
        name => format!("{name:?}"),
    }
}

/// Describes the problem of invalid groups, with the names of the features.
fn problem_of_groups(source: &GameError, features: &[String]) -> String {
    let name = |feature: usize| quoted(feature, features);
    let lacked = |missing: &[usize]| {
        const SHOWN: usize = 8;
        let first: Vec<String> = missing.iter().take(SHOWN).map(|&feature| name(feature)).collect();
        let more = match missing.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let (count, all) = (missing.len(), features.len());
        format!("{count} of {all} features {verb} missing: {}{more}", first.join(", "))
    };
    match source {
        GameError::Partition { problem: PartitionProblem::Empty { group } } => {
            format!("group {group} is empty; remove it or add features")
        }
        GameError::Partition { problem: PartitionProblem::Twice { player, first, second } } => {
            let feature = name(*player);
            if first == second {
                format!("feature {feature} is listed twice in group {first}; list each feature once")
            } else {
                format!(
                    "feature {feature} is in both group {first} and group {second}; list each feature in \
                     exactly one group"
                )
            }
        }
        GameError::Partition { problem: PartitionProblem::Missing { missing, .. } } => {
            format!("{}; list each feature in exactly one group", lacked(missing))
        }
        GameError::Hierarchy { problem: problem @ HierarchyProblem::Empty { .. } } => problem.to_string(),
        GameError::Hierarchy { problem: HierarchyProblem::Twice { player } } => {
            format!("feature {} is listed twice; list each feature once", name(*player))
        }
        GameError::Hierarchy { problem: HierarchyProblem::Missing { missing, .. } } => {
            format!("{}; list every feature, at the top level if it belongs to no group", lacked(missing))
        }
        GameError::Partition { problem: PartitionProblem::UnknownPlayer { player, .. } }
        | GameError::Hierarchy { problem: HierarchyProblem::UnknownPlayer { player, .. } } => {
            format!("unknown feature {player}; available features: {}", listed(features))
        }
        error => error.to_string(),
    }
}

/// Lists the first features with their indices, for an error message.
fn listed(features: &[String]) -> String {
    const SHOWN: usize = 10;
    let first = features.iter().take(SHOWN).enumerate().map(|(index, name)| format!("{index} {name}"));
    let first = first.collect::<Vec<_>>().join(", ");
    match features.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(str::to_owned))
    }
}

impl std::error::Error for OptionError {}
