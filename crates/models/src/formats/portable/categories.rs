//! Categories of features in the portable format.

use std::collections::HashSet;

use crate::ensemble::{Categories, Category, UnknownCategory};
use crate::error::ModelError;
use crate::formats::document::Field;

/// Reads the member `categories`. Returns one element per feature, up to the last feature that has
/// categories.
pub(super) fn read(root: &Field<'_>, features: usize) -> Result<Vec<Option<Categories>>, ModelError> {
    let Some(field) = root.find("categories")? else { return Ok(Vec::new()) };
    let mut words: Vec<Option<Categories>> = Vec::new();
    for field in field.elements()? {
        field.check_members(&["feature", "values", "unknown"])?;
        let feature_field = field.get("feature")?;
        let feature = feature_field.count()?;
        if feature >= features {
            return Err(
                feature_field.error(format!("feature {feature} is out of range (features: {features})"))
            );
        }
        if feature >= words.len() {
            words.resize(feature + 1, None);
        }
        let unknown = field.get("unknown")?;
        let unknown = match unknown.text()? {
            "missing" => UnknownCategory::Missing,
            "refused" => UnknownCategory::Refused,
            "no category" => UnknownCategory::NoCategory,
            other => {
                return Err(unknown
                    .error(format!("expected \"missing\", \"refused\" or \"no category\", got {other:?}")));
            }
        };
        let values = field.get("values")?;
        let list = values.words()?;
        if let Some(twice) = first_twice(&list) {
            return Err(values.error(format!("duplicate category {twice}")));
        }
        if words[feature].replace(Categories::new(list, unknown)).is_some() {
            return Err(feature_field.error(format!("feature {feature} has two lists of categories")));
        }
    }
    Ok(words)
}

/// Returns the first category in a list that equals an earlier category.
fn first_twice(list: &[Category]) -> Option<String> {
    let (mut texts, mut numbers) = (HashSet::new(), HashSet::new());
    list.iter().find_map(|category| match category {
        Category::Text(text) => (!texts.insert(text)).then(|| format!("{text:?}")),
        // Adding 0 maps −0 to 0, since both are the same category.
        Category::Number(number) => (!numbers.insert((number + 0.0).to_bits())).then(|| number.to_string()),
    })
}
