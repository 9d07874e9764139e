//! Datasets of texts, stored as token IDs, with their classes.

use anyhow::{Context, Result, ensure};

/// ID that replaces absent tokens.
pub(crate) const PADDING: usize = 0;

/// ID of tokens that are not in the vocabulary.
pub(crate) const UNKNOWN: usize = 1;

/// A text with its class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sentence {
    pub(crate) text: String,
    pub(crate) tokens: Vec<String>,
    /// One ID per token.
    pub(crate) ids: Vec<usize>,
    /// Index of the class.
    pub(crate) target: usize,
    /// Whether the text belongs to the test part.
    pub(crate) is_test: bool,
}

/// Texts and their vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextSet {
    /// Tokens by ID; the first two are `<pad>` and `<unk>`.
    pub(crate) vocabulary: Vec<String>,
    pub(crate) sentences: Vec<Sentence>,
    /// Names of the classes.
    pub(crate) classes: &'static [&'static str],
}

impl TextSet {
    pub(crate) fn train(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.iter().filter(|sentence| !sentence.is_test)
    }

    pub(crate) fn test(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.iter().filter(|sentence| sentence.is_test)
    }

    /// Returns the ID of a token, or [`UNKNOWN`] if it is not in the vocabulary. Takes time proportional to
    /// the vocabulary size.
    pub(crate) fn id(&self, token: &str) -> usize {
        self.vocabulary.iter().position(|known| known == token).unwrap_or(UNKNOWN)
    }

    /// Returns an error if the vocabulary lacks its special tokens, a text does not have one ID per token, an
    /// ID is out of range, or a target has no class.
    pub(super) fn checked(self) -> Result<Self> {
        ensure!(
            self.vocabulary.first().is_some_and(|token| token == "<pad>")
                && self.vocabulary.get(1).is_some_and(|token| token == "<unk>"),
            "the vocabulary starts with {:?}; expected <pad> and <unk>",
            self.vocabulary.iter().take(2).collect::<Vec<_>>()
        );
        for (index, sentence) in self.sentences.iter().enumerate() {
            ensure!(
                sentence.ids.len() == sentence.tokens.len(),
                "text {index} has {} tokens, but {} IDs",
                sentence.tokens.len(),
                sentence.ids.len()
            );
            ensure!(
                sentence.ids.iter().all(|&id| id < self.vocabulary.len()),
                "text {index} contains an ID beyond the vocabulary of {} tokens",
                self.vocabulary.len()
            );
            ensure!(
                sentence.target < self.classes.len(),
                "text {index} has the unknown class {}",
                sentence.target
            );
        }
        Ok(self)
    }
}

/// Parses the split of a row, and returns whether it belongs to the test part.
pub(super) fn is_test(split: &str) -> Result<bool> {
    match split {
        "train" => Ok(false),
        "test" => Ok(true),
        other => anyhow::bail!("invalid split {other:?}; expected train or test"),
    }
}

/// Parses the cell of a class, which contains its index.
pub(super) fn class(cell: &str) -> Result<usize> {
    cell.parse().with_context(|| format!("the target {cell:?} is not the index of a class"))
}
