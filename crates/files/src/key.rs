//! What a run depends on.

use std::collections::BTreeMap;

/// What an answer depends on. A checkpoint resumes only with the same key, whichever program it is written
/// by.
///
/// Files, models and tables are given by their [digests](crate::digest), options as text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Key {
    /// The model: a digest of what it computes, or of its answers if only these are known.
    pub model: String,
    /// The rows that are explained.
    pub rows: String,
    /// The background, with its weights.
    pub background: String,
    /// The value, by name: `shapley`.
    pub value: String,
    /// The groups of features.
    pub groups: String,
    /// The graph of features.
    pub graph: String,
    /// The game, by name: `marginal`.
    pub game: String,
    /// The output of the model that is explained.
    pub output: String,
    /// Options of the tree algorithms.
    pub engine: String,
    /// Options of the distribution of a conditional game.
    pub distribution: String,
    /// The method, by name.
    pub method: String,
    /// The evaluations of each row.
    pub budget: String,
    /// The accuracy at which a run stops.
    pub accuracy: String,
    /// The seed of all draws.
    pub seed: String,
    /// What else the answer depends on, by name.
    pub more: Vec<(String, String)>,
}

impl Key {
    /// Returns the parts by name, as files store them.
    pub(crate) fn parts(&self) -> BTreeMap<String, String> {
        let parts = [
            ("model", &self.model),
            ("rows", &self.rows),
            ("background", &self.background),
            ("value", &self.value),
            ("groups", &self.groups),
            ("graph", &self.graph),
            ("game", &self.game),
            ("output", &self.output),
            ("engine", &self.engine),
            ("distribution", &self.distribution),
            ("method", &self.method),
            ("budget", &self.budget),
            ("accuracy", &self.accuracy),
            ("seed", &self.seed),
        ];
        let parts = parts.into_iter().map(|(name, part)| (name.to_owned(), part.clone()));
        parts.chain(self.more.iter().cloned()).collect()
    }
}
