//! The words of a categorical feature, and the numbers that they stand for.

use std::collections::HashMap;

/// The categories of a feature as the table held them that the model was trained on. Splits look at their codes, which are numbers.
///
/// A category is a word or a number (pandas knows both); booleans are the numbers 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    texts: HashMap<String, f64>,
    /// By the bits of the number, with one zero.
    numbers: HashMap<u64, f64>,
    /// In the order of the file.
    list: Vec<Category>,
    unknown: UnknownWord,
}

/// A category as a table holds it.
#[derive(Debug, Clone, PartialEq)]
pub enum Category {
    /// A word.
    Text(String),
    /// A number, or a boolean as 0 or 1.
    Number(f64),
}

/// What a library does with a category that it has not seen in training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownWord {
    /// It is a missing value (LightGBM).
    Missing,
    /// It is an error (XGBoost).
    Refused,
    /// It is a category that no set has (encoders of scikit-learn that ignore it): rows hold
    /// [`NO_CATEGORY`](Words::NO_CATEGORY).
    NoCategory,
}

impl Words {
    /// What a row holds for a category that is none of these, where that is [neither missing nor refused](UnknownWord::NoCategory).
    pub const NO_CATEGORY: f64 = -1.0;

    /// Categories with the codes 0, 1, 2, …
    pub(crate) fn new(list: Vec<Category>, unknown: UnknownWord) -> Self {
        let (mut texts, mut numbers) = (HashMap::new(), HashMap::new());
        for (code, category) in list.iter().enumerate() {
            // Of equal categories the first counts, as where a list is searched.
            match category {
                Category::Text(text) => texts.entry(text.clone()).or_insert(code as f64),
                Category::Number(number) => numbers.entry(bits(*number)).or_insert(code as f64),
            };
        }
        Self { texts, numbers, list, unknown }
    }

    /// The code of a word; `None` for one that was not there in training.
    pub fn code_of_text(&self, text: &str) -> Option<f64> {
        self.texts.get(text).copied()
    }

    /// The code of a category that is a number; `None` for one that was not there in training.
    pub fn code_of_number(&self, number: f64) -> Option<f64> {
        self.numbers.get(&bits(number)).copied()
    }

    /// The categories in the order of their codes, for messages and for reading results.
    pub fn list(&self) -> &[Category] {
        &self.list
    }

    /// What the library does with categories that are not here.
    pub fn unknown(&self) -> UnknownWord {
        self.unknown
    }
}

fn bits(number: f64) -> u64 {
    // Both zeros are one category.
    (number + 0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_have_codes_and_others_none() {
        let list = vec![
            Category::Text("no".to_owned()),
            Category::Text("1".to_owned()),
            Category::Number(0.0),
            Category::Number(2.5),
            Category::Text("no".to_owned()),
        ];
        let words = Words::new(list.clone(), UnknownWord::Missing);
        assert_eq!([words.code_of_text("no"), words.code_of_text("1")], [Some(0.0), Some(1.0)]);
        assert_eq!([words.code_of_number(-0.0), words.code_of_number(2.5)], [Some(2.0), Some(3.0)]);
        assert_eq!((words.code_of_text("NO"), words.code_of_number(1.0)), (None, None));
        assert_eq!((words.list(), words.unknown()), (&list[..], UnknownWord::Missing));
    }
}
