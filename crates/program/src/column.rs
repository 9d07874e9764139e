//! The columns of the rows that a program reads.

/// A column of the rows: its name, and the words that its numbers stand for, where it has some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    name: String,
    words: Vec<String>,
}

impl Column {
    /// A column of numbers.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), words: Vec::new() }
    }

    /// A column of words: the program reads `words[i]` where a row has the number `i`.
    ///
    /// Without any word it is a column of numbers.
    pub fn of_words(name: impl Into<String>, words: Vec<String>) -> Self {
        Self { name: name.into(), words }
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
    pub(crate) fn word(&self, number: f64) -> Option<&str> {
        let index = number as usize;
        self.words.get(index).filter(|_| index as f64 == number).map(String::as_str)
    }
}
