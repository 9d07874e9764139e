//! The columns of a program's input.

use std::fmt::Debug;
use std::sync::Arc;

/// A mapping from the numbers of a column to strings. It is complete only after all rows are read.
pub trait Texts: Debug + Send + Sync {
    /// Returns whether all numbers of the column are codes for strings.
    fn is_text(&self) -> bool;

    /// Calls `with` with the string for a number. Returns `false` if there is no string for the number, so
    /// that it is written as a number.
    fn with_text(&self, number: f64, with: &mut dyn FnMut(&str)) -> bool;
}

/// A column of a program's input: its name, and the categories that its numbers encode, if any.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    categories: Vec<String>,
    texts: Option<Arc<dyn Texts>>,
    /// Whether the cells are strings. This is determined when the column is created, because the type of a
    /// column cannot change within a stream.
    is_text: bool,
}

impl Column {
    /// Creates a column of numbers.
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_categories(name, Vec::new())
    }

    /// Creates a categorical column: the program reads `categories[i]` for the number `i`.
    ///
    /// If `categories` is empty, this is a column of numbers.
    pub fn with_categories(name: impl Into<String>, categories: Vec<String>) -> Self {
        let is_text = !categories.is_empty();
        Self { name: name.into(), categories, texts: None, is_text }
    }

    /// Creates a column whose numbers are converted to strings with `texts`.
    pub fn with_texts(name: impl Into<String>, texts: Arc<dyn Texts>) -> Self {
        let is_text = texts.is_text();
        Self { name: name.into(), categories: Vec::new(), texts: Some(texts), is_text }
    }

    /// Returns whether the cells are strings, so that every number must encode a string.
    pub(crate) fn is_text(&self) -> bool {
        self.is_text
    }

    /// Calls `with` with the string for a number. Returns `false` if there is no string for the number.
    pub(crate) fn with_text(&self, number: f64, with: &mut dyn FnMut(&str)) -> bool {
        match &self.texts {
            Some(texts) => texts.with_text(number, with),
            None => self.word(number).inspect(|word| with(word)).is_some(),
        }
    }

    /// Returns the name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the categories, indexed by their codes; empty for a column of numbers.
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// Returns the category whose code is `number`, or `None` if `number` is not a code.
    fn word(&self, number: f64) -> Option<&str> {
        let index = number as usize;
        self.categories.get(index).filter(|_| index as f64 == number).map(String::as_str)
    }
}
