//! The words of a categorical feature, and the numbers that they stand for.

use std::collections::HashMap;

use super::category;

/// The categories of a feature as the table held them that the model was trained on. Splits look at their codes, which are numbers.
///
/// A category is a word or a number (pandas knows both); booleans are the numbers 0 and 1.
///
/// Most libraries list the categories. CatBoost has the hashes of their texts: there every text has a code, whole numbers stand for
/// themselves, as texts of their digits do, and other numbers are no categories. A text that was not there in training is one that no
/// split knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    known: Known,
    /// In the order of the file.
    list: Vec<Category>,
    unknown: UnknownWord,
}

/// What is known of categories.
#[derive(Debug, Clone, PartialEq)]
enum Known {
    /// Their codes.
    Listed {
        texts: HashMap<String, f64>,
        /// By the bits of the number, with one zero.
        numbers: HashMap<u64, f64>,
    },
    /// The hashes that splits look for, in ascending order.
    Hashed(Vec<u32>),
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
    pub fn new(list: Vec<Category>, unknown: UnknownWord) -> Self {
        let (mut texts, mut numbers) = (HashMap::new(), HashMap::new());
        for (code, category) in list.iter().enumerate() {
            // Of equal categories the first counts, as where a list is searched.
            match category {
                Category::Text(text) => texts.entry(text.clone()).or_insert(code as f64),
                Category::Number(number) => numbers.entry(bits(*number)).or_insert(code as f64),
            };
        }
        Self { known: Known::Listed { texts, numbers }, list, unknown }
    }

    /// Categories that are known by their hashes, `hashes` being those that splits look for, with such as the file names.
    pub(crate) fn hashed(mut hashes: Vec<u32>, list: Vec<Category>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        // Only numbers that are not whole have no code, and these the library refuses.
        Self { known: Known::Hashed(hashes), list, unknown: UnknownWord::Refused }
    }

    /// The categories of both where both are hashed, and a code does not depend on what is known.
    pub(super) fn union_of_hashed(&self, other: &Self) -> Option<Self> {
        let (Known::Hashed(own), Known::Hashed(others)) = (&self.known, &other.known) else { return None };
        let mut list = self.list.clone();
        list.extend(other.list.iter().filter(|category| !self.list.contains(category)).cloned());
        Some(Self::hashed(own.iter().chain(others).copied().collect(), list))
    }

    /// The code of a word; `None` for one that was not there in training, where categories are listed.
    pub fn code_of_text(&self, text: &str) -> Option<f64> {
        match &self.known {
            Known::Listed { texts, .. } => texts.get(text).copied(),
            Known::Hashed(hashes) => Some(code_of_hashed(text, hashes)),
        }
    }

    /// The code of a category that is a number; `None` for one that was not there in training, or for one that is not whole, where
    /// categories are hashed.
    pub fn code_of_number(&self, number: f64) -> Option<f64> {
        match &self.known {
            Known::Listed { numbers, .. } => numbers.get(&bits(number)).copied(),
            Known::Hashed(_) => category::code_of_number(number),
        }
    }

    /// The categories in the order of their codes, for messages and for reading results. Where they are hashed these are the words that
    /// the file happens to have, if any, in no order.
    pub fn list(&self) -> &[Category] {
        &self.list
    }

    /// What the library does with categories that are not here.
    pub fn unknown(&self) -> UnknownWord {
        self.unknown
    }
}

/// The code of a text by its hash. Tables write the booleans as words, CatBoost is given 0 and 1 for them.
fn code_of_hashed(text: &str, hashes: &[u32]) -> f64 {
    let knows = |text: &str| hashes.binary_search(&category::category_hash(text)).is_ok();
    match text {
        "True" | "False" if !knows("True") && !knows("False") && (knows("0") || knows("1")) => {
            f64::from(u8::from(text == "True"))
        }
        _ => category::code_of_text(text),
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

    #[test]
    fn every_text_and_every_whole_number_has_a_code_where_categories_are_hashed() {
        let words = Words::hashed(vec![category::category_hash("True"), 7], Vec::new());
        assert_eq!(words.code_of_text("42"), words.code_of_number(42.0));
        assert_ne!(words.code_of_text("a"), words.code_of_text("b"));
        assert_ne!(words.code_of_text("True"), Some(1.0));
        assert_eq!((words.code_of_number(0.5), words.unknown()), (None, UnknownWord::Refused));
        assert!(words.list().is_empty());
    }

    #[test]
    fn booleans_are_numbers_where_only_numbers_are_known() {
        let words = Words::hashed(vec![category::category_hash("0")], Vec::new());
        assert_eq!(["True", "False"].map(|text| words.code_of_text(text)), [Some(1.0), Some(0.0)]);
        let neither = Words::hashed(vec![3], Vec::new());
        assert_ne!(neither.code_of_text("True"), Some(1.0));
    }
}
