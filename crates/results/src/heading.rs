//! The heading of results, which applies to all rows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ResultsError;
use crate::medium::Medium;

/// The configuration and the names that apply to all rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heading {
    /// The name of the value, such as `shapley`.
    pub value: String,
    /// The name of the game, such as `marginal`.
    pub game: String,
    /// The name of the method.
    pub method: String,
    /// Whether the values of a row sum to its prediction minus the base value.
    pub is_efficient: bool,
    /// Other information about the run as pairs of name and value, in the order of the file: budget, seed,
    /// options.
    pub facts: Vec<(String, Value)>,
    /// The names of the players.
    pub players: Vec<String>,
    /// The names of the features, which are the columns of the inputs.
    pub features: Vec<String>,
    /// The indices of each player's features.
    pub members: Vec<Vec<usize>>,
    /// The categories of each feature, in the order of their codes; empty for numeric features.
    pub categories: Vec<Vec<String>>,
    /// The names of the outputs. There is at least one name. It is empty if the only output does not have a
    /// name.
    pub outputs: Vec<String>,
    /// The groups of players, if any.
    pub groups: Vec<Member>,
    /// The form of the interaction matrices, if the results are interactions.
    pub interactions: Option<Form>,
    /// The text or image whose parts are the players, if any.
    pub medium: Option<Medium>,
}

/// A feature, or a group of features and groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Member {
    /// A feature, by its name.
    Feature(String),
    /// A group, with its members.
    Group(Vec<Member>),
}

/// The form of the matrices of interactions between pairs of players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each pair's interaction index off the diagonal, with the players' values on the diagonal.
    Index,
    /// Each pair's interaction index is split equally between the entries (i, j) and (j, i). The diagonal
    /// contains each player's value minus the other entries of its row (the main effect).
    Remainder,
}

impl Form {
    /// Returns the name used in result files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Remainder => "remainder",
        }
    }
}

impl Heading {
    /// Creates a heading whose players are features with these names.
    pub fn for_features(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
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

    /// Checks that there is one name for each player, feature and output, and that the text or image matches
    /// the players.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Names`], [`ResultsError::Medium`].
    pub fn check(&self) -> Result<(), ResultsError> {
        let (players, features, outputs) = (self.players.len(), self.features.len(), self.outputs.len());
        let named = |what, count, names| match count == names {
            true => Ok(()),
            false => Err(ResultsError::Names { what, count, names }),
        };
        named("players", self.members.len(), players)?;
        named("features", self.categories.len(), features)?;
        named("outputs", outputs.max(1), outputs)?;
        let most = self.members.iter().flatten().max().map_or(0, |most| most + 1);
        named("features of players", most.max(features), features)?;
        self.medium.as_ref().map_or(Ok(()), |medium| medium.check(players))
    }

    /// Returns the entry of [`facts`](Self::facts) with this name as text; `None` if it is missing or null.
    pub fn fact(&self, name: &str) -> Option<String> {
        let (_, value) = self.facts.iter().find(|(known, value)| known == name && !value.is_null())?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// Returns the category of a feature with this code.
    pub fn category(&self, feature: usize, code: f64) -> Option<&str> {
        let is_code = code >= 0.0 && code.fract() == 0.0;
        let words = self.categories.get(feature).filter(|_| is_code)?;
        words.get(code as usize).map(String::as_str)
    }

    /// Returns whether a feature is categorical.
    pub fn is_of_words(&self, feature: usize) -> bool {
        self.categories.get(feature).is_some_and(|words| !words.is_empty())
    }
}
