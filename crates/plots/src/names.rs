//! Lists of known names in error messages about an unknown name.

use std::cmp::Reverse;

use crate::shown::shown;

/// Maximum number of names in a message.
const MAX_NAMES: usize = 10;
/// Maximum number of characters of a name that are shown and compared.
const LETTERS: usize = 100;
/// Maximum number of names that are compared, so that messages are created quickly.
const MAX_COMPARED_NAMES: usize = 5000;

/// Lists the known `names` for a message about the unknown name `given`: at most ten, and the number of
/// others. The most similar name comes first: the one with the smallest edit distance, if that is at most a
/// third of the length of the longer name.
///
/// ```
/// use apportion_plots::listed;
///
/// assert_eq!(listed("incme", ["age", "income", "city"]), "income, age, city");
/// let many: Vec<String> = (0..500).map(|place| format!("x{place}")).collect();
/// let many = many.iter().map(String::as_str);
/// assert_eq!(listed("wieght", many), "x0, x1, x2, x3, x4, x5, x6, x7, x8, x9 and 490 more");
/// ```
pub fn listed<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    let given = letters(given);
    let nearness = |(place, name): (usize, &&str)| {
        let name = letters(name);
        let changes = strsim::levenshtein(&given, &name);
        (3 * changes <= given.chars().count().max(name.chars().count()))
            .then_some((Reverse(changes), Reverse(place)))
    };
    let nearest = names.iter().take(MAX_COMPARED_NAMES).enumerate().filter_map(nearness).max();
    if let Some((_, Reverse(place))) = nearest {
        names[..=place].rotate_right(1);
    }
    let first: Vec<String> = names.iter().take(MAX_NAMES).map(|name| beginning(name)).collect();
    match names.len().saturating_sub(MAX_NAMES) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Returns the characters that are compared, ignoring case.
fn letters(name: &str) -> String {
    name.chars().take(LETTERS).flat_map(char::to_lowercase).collect()
}

/// Returns a name for display, truncated if it is long.
fn beginning(name: &str) -> String {
    match name.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", shown(&name[..end])),
        None => shown(name).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_was_meant_comes_first() {
        let names = ["age", "bmi", "blood pressure", "s1", "s2"];
        assert_eq!(listed("blood_presure", names), "blood pressure, age, bmi, s1, s2");
        assert_eq!(listed("BMI", names), "bmi, age, blood pressure, s1, s2");
        // The most similar name is listed first if it is similar enough. In case of ties, it is the first of
        // these names.
        assert_eq!(listed("sample 3", ["x", "sample 1", "sample 2"]), "sample 1, x, sample 2");
        assert_eq!(listed("s3", ["x", "s1"]), "x, s1");
        assert_eq!(listed("income", names), names.join(", "));
        assert_eq!(listed("income", []), "");
    }

    #[test]
    fn the_name_that_was_meant_is_found_among_many() {
        let names: Vec<String> = (0..500).map(|place| format!("feature {place}")).collect();
        let listed = listed("featur 321", names.iter().map(String::as_str));
        assert!(
            listed.starts_with("feature 321, feature 0, ") && listed.ends_with("feature 8 and 490 more"),
            "{listed}"
        );
        let long = "é".repeat(10_000);
        assert_eq!(super::listed("x", [long.as_str()]), format!("{}…", "é".repeat(100)));
    }
}
