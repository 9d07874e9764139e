//! Why options are not valid.

use std::fmt;

use apportion_estimators::EstimatorError;
use apportion_games::GameError;
use apportion_values::ValueError;

use super::names::NAMES;

/// Why options are not valid.
///
/// Its text has the names of [`Options::NAMES`](super::Options::NAMES). Doors that spell them otherwise use
/// [`in_words`](Self::in_words).
#[derive(Debug)]
#[non_exhaustive]
pub enum OptionError {
    /// An option that does not exist.
    Unknown {
        /// The given name.
        name: String,
    },
    /// A value that is not one of a few words.
    Word {
        /// The option.
        option: &'static str,
        /// The given value.
        given: String,
        /// The words.
        expected: Vec<&'static str>,
    },
    /// A value of another form.
    Form {
        /// The option.
        option: &'static str,
        /// The given value.
        given: String,
        /// The expected form.
        expected: String,
    },
    /// A value whose parser has its own message.
    Invalid {
        /// The option.
        option: &'static str,
        /// The message, which names the given value.
        problem: String,
    },
    /// An option that is used only with another one.
    Requires {
        /// The option.
        option: &'static str,
        /// The other option.
        other: &'static str,
    },
    /// An option of a distribution that the game does not have.
    Game {
        /// The option.
        option: &'static str,
        /// The games that have it.
        games: Vec<&'static str>,
        /// The game.
        game: &'static str,
    },
    /// An accuracy that cannot be reached.
    Accuracy(EstimatorError),
    /// Weights with a distribution that does not support them.
    Weights,
    /// A bandwidth that depends on the model, which cannot be evaluated while the distribution is fitted.
    NoModel,
    /// A name that is not a feature.
    Feature {
        /// The option.
        option: &'static str,
        /// The given name.
        name: String,
        /// Names of the features.
        features: Vec<String>,
    },
    /// Groups that do not have every feature once.
    Groups {
        /// What is wrong with them.
        source: GameError,
        /// Names of the features.
        features: Vec<String>,
    },
    /// An edge that is not two features.
    Edge {
        /// The edge.
        given: String,
    },
    /// A graph that is not one of the features.
    Graph(GameError),
    /// A value that does not fit its groups or its graph.
    Value(ValueError),
    /// A distribution that cannot be fitted.
    Distribution {
        /// The game.
        game: &'static str,
        /// What is wrong.
        source: GameError,
    },
}

impl OptionError {
    /// Returns the message with the names that a door has for options: `option` returns `--relative-to`, or
    /// `relative_to`, for `relative-to`.
    ///
    /// ```
    /// use apportion::options::Options;
    ///
    /// let error = Options::default().set("relative-to", "mean").unwrap_err();
    /// let message = error.in_words(|name| format!("--{name}"));
    /// assert_eq!(message, "unknown value \"mean\" of --relative-to; expected one of: norm, range, nothing");
    /// ```
    pub fn in_words(&self, option: impl Fn(&str) -> String) -> String {
        match self {
            Self::Unknown { name } => {
                let known = NAMES.map(&option).join(", ");
                format!("unknown option {}; expected one of: {known}", option(name))
            }
            Self::Word { option: name, given, expected } => {
                format!(
                    "unknown value {given:?} of {}; expected one of: {}",
                    option(name),
                    expected.join(", ")
                )
            }
            Self::Form { option: name, given, expected } => {
                format!("invalid value {given:?} of {}; expected {expected}", option(name))
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
            Self::Accuracy(error) => format!("{}: {error}", option("until")),
            Self::Weights => {
                let variant = option("variant");
                format!(
                    "{variant} shapr does not support weights; remove the weights, or use {variant} paper"
                )
            }
            Self::NoModel => format!(
                "{} aicc is supported only for tree ensembles here; use a number",
                option("bandwidth")
            ),
            Self::Feature { option: name, name: feature, features } => {
                let given = match feature.as_str() {
                    "" => "feature without a name, or group without features,".to_owned(),
                    feature => format!("unknown feature {feature:?}"),
                };
                format!("{given} in {}; available features: {}", option(name), listed(features))
            }
            Self::Groups { source, features } => {
                format!("{}: {source}; available features: {}", option("groups"), listed(features))
            }
            Self::Edge { given } => {
                format!(
                    "invalid edge {given:?} in {}; expected two features, as in age,sex;sex,bmi",
                    option("graph")
                )
            }
            Self::Graph(error) => format!("{}: {error}", option("graph")),
            Self::Value(error) => error.to_string(),
            Self::Distribution { game, source } => {
                format!("cannot fit the distribution of {} {game}: {source}", option("game"))
            }
        }
    }
}

/// The first features with their indices.
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
