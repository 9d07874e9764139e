//! What all rows have in common.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ResultsError;
use crate::medium::Medium;

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
    /// What else is known of the run, by name, in order: budget, seed, options.
    pub facts: Vec<(String, Value)>,
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

impl Form {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Remainder => "remainder",
        }
    }
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

    /// Refuses names that are not one for each thing that has one, and a text or an image that does not belong to the players.
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

    /// What is known of the run under this name.
    pub fn fact(&self, name: &str) -> Option<String> {
        let (_, value) = self.facts.iter().find(|(known, value)| known == name && !value.is_null())?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// The word that a feature's number is the code of.
    pub fn word(&self, feature: usize, code: f64) -> Option<&str> {
        let is_code = code >= 0.0 && code.fract() == 0.0;
        let words = self.categories.get(feature).filter(|_| is_code)?;
        words.get(code as usize).map(String::as_str)
    }

    /// Whether the inputs of a feature are words.
    pub fn is_of_words(&self, feature: usize) -> bool {
        self.categories.get(feature).is_some_and(|words| !words.is_empty())
    }
}
