//! Options of the distribution of a conditional game.

use std::str::FromStr;

#[cfg(feature = "conditional")]
use apportion_games::Fallback;
use serde_json::{Value, json};

use super::error::OptionError;
use super::game_name::GameName;

/// Options of the distribution of a conditional game.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Distribution {
    /// The number of rows drawn per coalition (gaussian, copula), or the maximum number kept (empirical); 500
    /// by default.
    pub draws: Option<usize>,
    /// The kernel width of the empirical distribution; 0.1 by default.
    pub bandwidth: Option<Bandwidth>,
    /// The fraction of the total weight in the rows that the empirical distribution keeps; 0.95 by default.
    pub share: Option<f64>,
    /// The variant of the empirical distribution; the variant in the paper by default.
    pub variant: Option<Variant>,
    /// The fallback of the frequency distribution if no row of the data matches; an error by default.
    #[cfg(feature = "conditional")]
    pub fallback: Option<Fallback>,
}

/// The width of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bandwidth {
    /// A given width.
    Given(f64),
    /// The width with the smallest AICc, for each row and coalition.
    Aicc,
}

/// A variant of the empirical distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// The variant in the paper.
    Paper,
    /// The variant in the R package shapr.
    Shapr,
}

/// The variants with their names.
pub(super) const VARIANTS: [(&str, Variant); 2] = [("paper", Variant::Paper), ("shapr", Variant::Shapr)];

/// The fallbacks with their names.
#[cfg(feature = "conditional")]
pub(super) const FALLBACKS: [(&str, Fallback); 3] =
    [("refuse", Fallback::Refuse), ("marginal", Fallback::Marginal), ("nearest", Fallback::Nearest)];

/// The error for text that cannot be parsed as a bandwidth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a number above 0, or aicc")]
#[non_exhaustive]
pub struct UnknownBandwidth;

impl FromStr for Bandwidth {
    type Err = UnknownBandwidth;

    fn from_str(text: &str) -> Result<Self, UnknownBandwidth> {
        match text.to_ascii_lowercase().as_str() {
            "aicc" => Ok(Self::Aicc),
            number => number.parse().map(Self::Given).map_err(|_| UnknownBandwidth),
        }
    }
}

impl Distribution {
    /// Checks that the distribution of `game` uses every option that is set.
    ///
    /// # Errors
    ///
    /// [`OptionError::Game`] for the first option that it does not use.
    pub fn check(&self, game: GameName) -> Result<(), OptionError> {
        let drawn = [GameName::Gaussian, GameName::Copula, GameName::Empirical];
        let empirical = &[GameName::Empirical][..];
        let given = [
            ("draws", self.draws.is_some(), &drawn[..]),
            ("bandwidth", self.bandwidth.is_some(), empirical),
            ("share", self.share.is_some(), empirical),
            ("variant", self.variant.is_some(), empirical),
            #[cfg(feature = "conditional")]
            ("fallback", self.fallback.is_some(), &[GameName::Frequency][..]),
        ];
        match given.into_iter().find(|(_, is_given, games)| *is_given && !games.contains(&game)) {
            Some((option, _, games)) => Err(OptionError::Game {
                option,
                games: games.iter().map(|game| game.name()).collect(),
                game: game.name(),
            }),
            None => Ok(()),
        }
    }

    /// Returns these options as the text stored in checkpoints.
    pub(super) fn words(&self) -> String {
        let bandwidth = self.bandwidth.map(|bandwidth| match bandwidth {
            Bandwidth::Given(width) => json!({"given": width}),
            Bandwidth::Aicc => json!("aicc"),
        });
        let variant = self.variant.map(|variant| name_of(&VARIANTS, variant));
        #[cfg(feature = "conditional")]
        let fallback = self.fallback.map(|fallback| name_of(&FALLBACKS, fallback));
        #[cfg(not(feature = "conditional"))]
        let fallback = Value::Null;
        let words: Value = json!({
            "draws": self.draws,
            "bandwidth": bandwidth,
            "share": self.share,
            "variant": variant,
            "fallback": fallback,
        });
        words.to_string()
    }
}

/// Returns the name of `value` in a table of names.
pub(super) fn name_of<T: Copy + PartialEq>(
    names: &'static [(&'static str, T)],
    value: T,
) -> Option<&'static str> {
    names.iter().find(|(_, known)| *known == value).map(|(name, _)| *name)
}
