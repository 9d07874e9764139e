//! The categories of a feature and their codes.

use std::collections::HashMap;

use super::category;

/// The categories of a feature as they occur in the training table. Splits compare their codes, which are
/// numbers.
///
/// A category is a string or a number (pandas supports both); booleans are the numbers 0 and 1.
///
/// Most libraries store a list of the categories. CatBoost stores hashes of their strings instead. With
/// hashes, every string has a code, an integer (or a string of its digits) is its own code, and other numbers
/// are not categories. The code of a string that did not occur in training is not used by any split.
#[derive(Debug, Clone, PartialEq)]
pub struct Categories {
    known: CategoryStorage,
    /// The categories in the order of the file.
    list: Vec<Category>,
    unknown: UnknownCategory,
}

/// How categories are stored.
#[derive(Debug, Clone, PartialEq)]
enum CategoryStorage {
    /// A list of the categories with their codes.
    Listed {
        texts: HashMap<String, f64>,
        /// For each numeric category, its code, keyed by the bits of the number, with −0 mapped to 0.
        numbers: HashMap<u64, f64>,
    },
    /// The hashes that splits compare, in ascending order.
    Hashed(Vec<u32>),
}

/// A category as it occurs in a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Category {
    /// A string.
    Text(String),
    /// A number, or a boolean as 0 or 1.
    Number(f64),
}

/// How a library treats a category that did not occur in training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownCategory {
    /// The category is treated as a missing value (LightGBM).
    Missing,
    /// The category is an error (XGBoost).
    Refused,
    /// The category is not in any set that splits test (encoders of scikit-learn that ignore unknown
    /// categories). Rows contain [`NO_CATEGORY`](Categories::NO_CATEGORY).
    NoCategory,
}

impl Categories {
    /// The value of an unknown category in rows, if unknown categories are [neither missing nor an
    /// error](UnknownCategory::NoCategory).
    pub const NO_CATEGORY: f64 = -1.0;

    /// Creates categories with the codes 0, 1, 2, …
    pub fn new(list: Vec<Category>, unknown: UnknownCategory) -> Self {
        let (mut texts, mut numbers) = (HashMap::new(), HashMap::new());
        for (code, category) in list.iter().enumerate() {
            // Keep the first of duplicate categories, as a linear search would.
            match category {
                Category::Text(text) => texts.entry(text.clone()).or_insert(code as f64),
                Category::Number(number) => numbers.entry(bits(*number)).or_insert(code as f64),
            };
        }
        Self { known: CategoryStorage::Listed { texts, numbers }, list, unknown }
    }

    /// Creates categories that are identified by hashes. `hashes` contains the hashes used in splits, and
    /// `list` the categories named in the model file.
    pub(crate) fn hashed(mut hashes: Vec<u32>, list: Vec<Category>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        // Every string and every integer has a code. CatBoost rejects all other numbers.
        Self { known: CategoryStorage::Hashed(hashes), list, unknown: UnknownCategory::Refused }
    }

    /// Returns the union of two sets of categories if both are hashed. Then the codes do not depend on a
    /// list.
    pub(super) fn union_of_hashed(&self, other: &Self) -> Option<Self> {
        let (CategoryStorage::Hashed(own), CategoryStorage::Hashed(others)) = (&self.known, &other.known)
        else {
            return None;
        };
        let mut list = self.list.clone();
        list.extend(other.list.iter().filter(|category| !self.list.contains(category)).cloned());
        Some(Self::hashed(own.iter().chain(others).copied().collect(), list))
    }

    /// Returns the code of a string, or `None` if categories are listed and the string did not occur in
    /// training.
    pub fn code_of_text(&self, text: &str) -> Option<f64> {
        match &self.known {
            CategoryStorage::Listed { texts, .. } => texts.get(text).copied(),
            CategoryStorage::Hashed(hashes) => Some(code_of_hashed(text, hashes)),
        }
    }

    /// Returns the code of a numeric category. Returns `None` if categories are listed and the number did not
    /// occur in training, or if categories are hashed and the number is not an integer below 2^53 in absolute
    /// value.
    pub fn code_of_number(&self, number: f64) -> Option<f64> {
        match &self.known {
            CategoryStorage::Listed { numbers, .. } => numbers.get(&bits(number)).copied(),
            CategoryStorage::Hashed(_) => category::code_of_number(number),
        }
    }

    /// Returns the categories in the order of their codes, for messages and for reading results. If
    /// categories are hashed, returns only the categories that the file names, in arbitrary order.
    pub fn list(&self) -> &[Category] {
        &self.list
    }

    /// Returns how the library treats categories that did not occur in training.
    pub fn unknown(&self) -> UnknownCategory {
        self.unknown
    }
}

/// Returns the code of a string by its hash. Tables contain booleans as text, but CatBoost receives them as 0
/// and 1.
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
    // Adding 0 maps −0 to 0, since both are the same category.
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
        let words = Categories::new(list.clone(), UnknownCategory::Missing);
        assert_eq!([words.code_of_text("no"), words.code_of_text("1")], [Some(0.0), Some(1.0)]);
        assert_eq!([words.code_of_number(-0.0), words.code_of_number(2.5)], [Some(2.0), Some(3.0)]);
        assert_eq!((words.code_of_text("NO"), words.code_of_number(1.0)), (None, None));
        assert_eq!((words.list(), words.unknown()), (&list[..], UnknownCategory::Missing));
    }

    #[test]
    fn every_text_and_every_whole_number_has_a_code_where_categories_are_hashed() {
        let words = Categories::hashed(vec![category::category_hash("True"), 7], Vec::new());
        assert_eq!(words.code_of_text("42"), words.code_of_number(42.0));
        assert_ne!(words.code_of_text("a"), words.code_of_text("b"));
        assert_ne!(words.code_of_text("True"), Some(1.0));
        assert_eq!((words.code_of_number(0.5), words.unknown()), (None, UnknownCategory::Refused));
        assert!(words.list().is_empty());
    }

    #[test]
    fn booleans_are_numbers_where_only_numbers_are_known() {
        let words = Categories::hashed(vec![category::category_hash("0")], Vec::new());
        assert_eq!(["True", "False"].map(|text| words.code_of_text(text)), [Some(1.0), Some(0.0)]);
        let neither = Categories::hashed(vec![3], Vec::new());
        assert_ne!(neither.code_of_text("True"), Some(1.0));
    }
}
