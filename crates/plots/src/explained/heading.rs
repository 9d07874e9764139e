//! What all rows have in common.

use serde::{Deserialize, Serialize};

use super::medium::Medium;

/// What was asked for, and what things are called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heading {
    /// The name of the value, such as `shapley`.
    pub value: String,
    /// The name of the game, such as `marginal`.
    pub game: String,
    /// The name of the method.
    pub method: String,
    /// Whether the values of a row sum to its prediction less the base.
    pub is_efficient: bool,
    /// What else is known of what was asked, by name, in order.
    pub facts: Vec<(String, String)>,
    /// The names of the players.
    pub players: Vec<String>,
    /// The names of the features, which are the columns of the inputs.
    pub features: Vec<String>,
    /// The features of each player.
    pub members: Vec<Vec<usize>>,
    /// The words that the codes of each feature stand for; none where its inputs are numbers.
    pub categories: Vec<Vec<String>>,
    /// The names of the outputs: at least one, which is empty where it has none.
    pub outputs: Vec<String>,
    /// The groups of players, where there are some.
    pub groups: Vec<Member>,
    /// The form of interactions, where results have those.
    pub interactions: Option<Form>,
    /// The text or the image that the players are parts of, where there is one.
    pub medium: Option<Medium>,
}

/// A player, or a group of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Member {
    /// A feature, by its name.
    Feature(String),
    /// What is in a group.
    Group(Vec<Member>),
}

/// The form of interactions between pairs of players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The index of each pair; values on the diagonal.
    Index,
    /// Each index shared between the two; what is left of the value on the diagonal.
    Remainder,
}

impl Heading {
    /// Players that are features, each with its name.
    pub fn of_features(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let features: Vec<String> = names.into_iter().map(Into::into).collect();
        Self {
            value: "shapley".to_owned(),
            is_efficient: true,
            members: (0..features.len()).map(|feature| vec![feature]).collect(),
            categories: vec![Vec::new(); features.len()],
            players: features.clone(),
            features,
            outputs: vec![String::new()],
            ..Self::default()
        }
    }

    /// How many rows of such results are kept where nobody says: those with four million numbers, at least 200 and at most 50 000.
    pub fn usual_rows(&self) -> usize {
        let of_row = 2 * self.players.len() * self.outputs.len() + self.features.len();
        (4_000_000 / of_row.max(1)).clamp(200, 50_000)
    }

    /// The word that a feature's number is the code of.
    pub(crate) fn word(&self, feature: usize, code: f64) -> Option<&str> {
        let is_code = code >= 0.0 && code.fract() == 0.0;
        let words = self.categories.get(feature).filter(|_| is_code)?;
        words.get(code as usize).map(String::as_str)
    }

    /// Whether the inputs of a feature are words.
    pub(crate) fn is_of_words(&self, feature: usize) -> bool {
        self.categories.get(feature).is_some_and(|words| !words.is_empty())
    }

    /// What an output is called in a sentence; empty where there is one without a name.
    pub(crate) fn output_name(&self, output: usize) -> String {
        match self.outputs[output].as_str() {
            "" if self.outputs.len() > 1 => format!("output {output}"),
            name => super::shown(name).into_owned(),
        }
    }
}
