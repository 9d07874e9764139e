//! The columns of the rows that a program reads.

use std::fmt::Debug;
use std::sync::Arc;

/// The texts that the numbers of a column stand for, if these are known only while rows are read.
pub trait Texts: Debug + Send + Sync {
    /// Returns whether all numbers of the column are codes of texts.
    fn is_text(&self) -> bool;

    /// Calls `with` with the text of a number; returns `false` if it has none, and is written as a number.
    fn with_text(&self, number: f64, with: &mut dyn FnMut(&str)) -> bool;
}

/// A column of the rows: its name, and the words that its numbers stand for, where it has some.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    words: Vec<String>,
    texts: Option<Arc<dyn Texts>>,
    /// Whether its cells are texts: as they were when the column was made, as streams have a fixed type.
    is_text: bool,
}

impl Column {
    /// A column of numbers.
    pub fn new(name: impl Into<String>) -> Self {
        Self::of_words(name, Vec::new())
    }

    /// A column of words: the program reads `words[i]` where a row has the number `i`.
    ///
    /// Without any word it is a column of numbers.
    pub fn of_words(name: impl Into<String>, words: Vec<String>) -> Self {
        let is_text = !words.is_empty();
        Self { name: name.into(), words, texts: None, is_text }
    }

    /// A column of which the program reads `texts`.
    pub fn of_texts(name: impl Into<String>, texts: Arc<dyn Texts>) -> Self {
        let is_text = texts.is_text();
        Self { name: name.into(), words: Vec::new(), texts: Some(texts), is_text }
    }

    /// Returns whether the program reads texts, so that every number must have one.
    pub(crate) fn is_text(&self) -> bool {
        self.is_text
    }

    /// Calls `with` with the text of a number; returns `false` if it has none.
    pub(crate) fn with_text(&self, number: f64, with: &mut dyn FnMut(&str)) -> bool {
        match &self.texts {
            Some(texts) => texts.with_text(number, with),
            None => self.word(number).inspect(|word| with(word)).is_some(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its words by their numbers; empty where it is a column of numbers.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The word that a number stands for, if any does.
    fn word(&self, number: f64) -> Option<&str> {
        let index = number as usize;
        self.words.get(index).filter(|_| index as f64 == number).map(String::as_str)
    }
}
