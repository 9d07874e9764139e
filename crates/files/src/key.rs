//! The key of a run: everything on which its results depend.

use std::collections::BTreeMap;

/// Everything on which the results of a run depend. A checkpoint can only be resumed with the same key,
/// regardless of the program that wrote it.
///
/// Files, models and tables are represented by their [digests](crate::digest), and options by text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Key {
    /// A digest of the model's definition, or of its predictions if only these are known.
    pub model: String,
    /// A digest of the rows that are explained.
    pub rows: String,
    /// A digest of the background and its weights.
    pub background: String,
    /// The name of the value, such as `shapley`.
    pub value: String,
    /// The groups of features.
    pub groups: String,
    /// The graph of features.
    pub graph: String,
    /// The name of the game, such as `marginal`.
    pub game: String,
    /// The explained output of the model.
    pub output: String,
    /// Options of the tree algorithms.
    pub engine: String,
    /// Options of the distribution of a conditional game.
    pub distribution: String,
    /// The name of the method.
    pub method: String,
    /// The number of evaluations per row.
    pub budget: String,
    /// The tolerance of the run and its settings.
    pub accuracy: String,
    /// The seed of all draws.
    pub seed: String,
    /// Other parts on which the results depend, with their names.
    pub more: Vec<(String, String)>,
}

impl Key {
    /// Returns the parts by name, as stored in files.
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
