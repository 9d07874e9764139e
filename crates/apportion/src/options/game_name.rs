//! Games by name.

use std::fmt;
use std::str::FromStr;

/// A game that defines how absent features are replaced when the predictions of a model are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GameName {
    /// The values of absent features come from background rows.
    Marginal,
    /// At a split on an absent feature, trees average over both branches, weighted by their cover.
    PathDependent,
    /// Absent features follow a Gaussian distribution, given the present features.
    Gaussian,
    /// Absent features follow a Gaussian copula, given the present features.
    Copula,
    /// The values of absent features come from rows that are similar to the explained row in the present
    /// features.
    Empirical,
    /// The values of absent features come from rows that agree with the explained row in the present
    /// features.
    Frequency,
}

impl GameName {
    /// All games.
    pub const ALL: [Self; 6] =
        [Self::Marginal, Self::PathDependent, Self::Gaussian, Self::Copula, Self::Empirical, Self::Frequency];

    /// Returns the name in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Marginal => "marginal",
            Self::PathDependent => "path-dependent",
            Self::Gaussian => "gaussian",
            Self::Copula => "copula",
            Self::Empirical => "empirical",
            Self::Frequency => "frequency",
        }
    }

    /// Returns whether absent features follow a distribution fitted on data.
    pub fn is_conditional(self) -> bool {
        !matches!(self, Self::Marginal | Self::PathDependent)
    }
}

impl fmt::Display for GameName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that is not a game.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown game {actual:?}; expected one of: {}", GameName::ALL.map(GameName::name).join(", "))]
pub struct UnknownGame {
    /// The given name.
    pub actual: String,
}

impl FromStr for GameName {
    type Err = UnknownGame;

    fn from_str(name: &str) -> Result<Self, UnknownGame> {
        // The R package shapr calls the marginal game "independence".
        let name_of = |name| if name == "independence" { "marginal" } else { name };
        let found = Self::ALL.into_iter().find(|game| game.name() == name_of(name));
        found.ok_or_else(|| UnknownGame { actual: name.to_owned() })
    }
}
