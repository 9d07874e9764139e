//! The output of a model to explain.

use std::fmt;
use std::str::FromStr;

/// The output of a model to explain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum OutputName {
    /// The sum of the leaves, before the link function.
    #[default]
    Margin,
    /// The output after the link function: a probability, a rate, or a score.
    Probability,
    /// The loss of a classifier for rows of one class, given by its name or number.
    LogLoss(String),
}

impl OutputName {
    /// Returns whether this is an output after the link function.
    pub fn is_behind_link(&self) -> bool {
        *self != Self::Margin
    }

    /// Returns this output as the text stored in checkpoints.
    pub(super) fn words(&self) -> String {
        match self {
            Self::LogLoss(class) => serde_json::json!({"log-loss": class}).to_string(),
            Self::Margin | Self::Probability => self.to_string(),
        }
    }

    /// Returns the class of the rows, as given, for the loss of a classifier.
    pub fn class(&self) -> Option<&str> {
        match self {
            Self::LogLoss(class) => Some(class),
            Self::Margin | Self::Probability => None,
        }
    }
}

impl fmt::Display for OutputName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Margin => f.write_str("margin"),
            Self::Probability => f.write_str("probability"),
            Self::LogLoss(class) => write!(f, "log-loss={class}"),
        }
    }
}

/// The error for text that cannot be parsed as an output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected one of: margin, probability, log-loss=CLASS (the name or index of the true class of the rows)"
)]
#[non_exhaustive]
pub struct UnknownOutput;

impl FromStr for OutputName {
    type Err = UnknownOutput;

    fn from_str(text: &str) -> Result<Self, UnknownOutput> {
        match text {
            "margin" => Ok(Self::Margin),
            "probability" => Ok(Self::Probability),
            _ => match text.strip_prefix("log-loss=") {
                None | Some("") => Err(UnknownOutput),
                Some(class) => Ok(Self::LogLoss(class.to_owned())),
            },
        }
    }
}
