//! The description of the values of a summary.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::SummaryError;

/// The configuration and the names of the values of a summary. Only summaries with the same heading can be
/// merged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryHeading {
    /// The name of the value, such as `shapley`.
    pub value: String,
    /// Whether the values are interactions. If they are, `players` lists each player and each pair of
    /// players.
    pub interactions: bool,
    /// The name of the game.
    pub game: String,
    /// The name of the method.
    pub method: String,
    /// The names of the players.
    #[serde(rename = "features")]
    pub players: Vec<String>,
    /// The names of the outputs; `None` for a single output without a name.
    // Use `deserialize_with`, so that a missing member is an error and not `None`.
    #[serde(deserialize_with = "Option::deserialize")]
    pub outputs: Option<Vec<String>>,
    /// The seed of all draws.
    pub seed: u64,
    /// The number of inputs that rows of the sample contain; 0 if inputs are not known.
    pub inputs: usize,
}

impl SummaryHeading {
    /// Returns the number of outputs, which is at least 1.
    pub fn output_count(&self) -> usize {
        self.outputs.as_ref().map_or(1, |outputs| outputs.len().max(1))
    }

    /// Checks that another heading is the same.
    pub(super) fn check(&self, other: &Self) -> Result<(), SummaryError> {
        let differ = self.entries().into_iter().zip(other.entries()).find(|((_, a), (_, b))| a != b);
        match differ {
            None => Ok(()),
            Some(((name, first), (_, second))) => {
                Err(SummaryError::Different { name, first: first.to_string(), second: second.to_string() })
            }
        }
    }

    fn entries(&self) -> [(&'static str, Value); 8] {
        [
            ("value", json!(self.value)),
            ("interactions", json!(self.interactions)),
            ("game", json!(self.game)),
            ("method", json!(self.method)),
            ("features", json!(self.players)),
            ("outputs", json!(self.outputs)),
            ("seed", json!(self.seed)),
            ("inputs", json!(self.inputs)),
        ]
    }
}
