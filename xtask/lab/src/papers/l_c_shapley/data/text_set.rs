//! Texts as token ids, with the classes they belong to.

use anyhow::{Context, Result, ensure};

/// The id of what stands in for absent tokens.
pub(crate) const PADDING: usize = 0;

/// The id of tokens that the vocabulary lacks.
pub(crate) const UNKNOWN: usize = 1;

/// A text with the class it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sentence {
    pub(crate) text: String,
    pub(crate) tokens: Vec<String>,
    /// One for each token.
    pub(crate) ids: Vec<usize>,
    /// The class.
    pub(crate) target: usize,
    /// Whether the model has not seen it.
    pub(crate) is_test: bool,
}

/// Texts and their vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextSet {
    /// Tokens by id; the first two are `<pad>` and `<unk>`.
    pub(crate) vocabulary: Vec<String>,
    pub(crate) sentences: Vec<Sentence>,
    /// What the targets mean.
    pub(crate) classes: &'static [&'static str],
}

impl TextSet {
    pub(crate) fn train(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.iter().filter(|sentence| !sentence.is_test)
    }

    pub(crate) fn test(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.iter().filter(|sentence| sentence.is_test)
    }

    /// The id of a token, [`UNKNOWN`] for those that are not in the vocabulary. Takes time in proportion to
    /// the vocabulary.
    pub(crate) fn id(&self, token: &str) -> usize {
        self.vocabulary.iter().position(|known| known == token).unwrap_or(UNKNOWN)
    }

    /// Refuses vocabularies that do not begin as they must, ids beyond them, and targets without a class.
    pub(super) fn checked(self) -> Result<Self> {
        ensure!(
            self.vocabulary.first().is_some_and(|token| token == "<pad>")
                && self.vocabulary.get(1).is_some_and(|token| token == "<unk>"),
            "the vocabulary begins with {:?}, not with <pad> and <unk>",
            self.vocabulary.iter().take(2).collect::<Vec<_>>()
        );
        for (index, sentence) in self.sentences.iter().enumerate() {
            ensure!(
                sentence.ids.len() == sentence.tokens.len(),
                "text {index} has {} tokens, but {} ids",
                sentence.tokens.len(),
                sentence.ids.len()
            );
            ensure!(
                sentence.ids.iter().all(|&id| id < self.vocabulary.len()),
                "text {index} has an id beyond the vocabulary of {}",
                self.vocabulary.len()
            );
            ensure!(sentence.target < self.classes.len(), "text {index} is of class {}", sentence.target);
        }
        Ok(self)
    }
}

/// Whether a row is of the test part, by the cell that says so.
pub(super) fn is_test(split: &str) -> Result<bool> {
    match split {
        "train" => Ok(false),
        "test" => Ok(true),
        other => anyhow::bail!("the split is {other:?}, neither train nor test"),
    }
}

/// The class that a cell names by its number.
pub(super) fn class(cell: &str) -> Result<usize> {
    cell.parse().with_context(|| format!("the target {cell:?} is no class"))
}
