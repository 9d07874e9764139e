//! The most similar of several names, and the formatting of names in messages.

/// Returns the name with the smallest edit distance to `given`, ignoring case; `None` if more than a third of
/// the characters differ.
pub(crate) fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    /// Maximum number of characters and of names that are compared, to limit the time for a message.
    const LONG: usize = 200;
    const MANY: usize = 5000;
    let lower = |name: &str| name.chars().take(LONG).flat_map(char::to_lowercase).collect::<String>();
    let length = |name: &str| name.chars().count();
    let given = lower(given);
    let distances = names.into_iter().take(MANY).map(|name| {
        let other = lower(name);
        (strsim::levenshtein(&given, &other), length(&given).max(length(&other)), name)
    });
    let (changes, length, name) = distances.min_by_key(|&(changes, ..)| changes)?;
    (3 * changes <= length).then_some(name)
}

/// Returns a list of the first few names, in quotes.
pub(crate) fn list(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

/// Returns a string in quotes. Long strings are truncated, because a cell with a missing quote includes all
/// cells after it.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN: usize = 100;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_differs_least_and_not_much() {
        let names = ["age", "bmi", "blood pressure"];
        assert_eq!(nearest("Agee", names), Some("age"));
        assert_eq!(nearest("blood_presure", names), Some("blood pressure"));
        assert_eq!(nearest("BMI", names), Some("bmi"));
        assert_eq!(nearest("income", names), None);
        assert_eq!(nearest("income", []), None);
    }

    #[test]
    fn of_a_long_text_the_beginning_is_shown() {
        assert_eq!(shown("a\"b"), "\"a\\\"b\"");
        assert_eq!(shown(&"é".repeat(100)), format!("{:?}", "é".repeat(100)));
        assert_eq!(shown(&"é".repeat(1 << 20)), format!("{:?}…", "é".repeat(100)));
    }
}
