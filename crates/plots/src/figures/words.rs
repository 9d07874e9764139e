//! Phrases that several figures share.

use crate::explained::Explained;
use crate::scene::digits;

/// Returns the sentence about the kept rows for captions, such as `Dots show 20 of 100 rows: a random sample
/// (seed 0) and the extremes.` The sentence is empty if all rows are kept. It starts with `what`.
pub(crate) fn of_sample(explained: &Explained, what: &str) -> String {
    match explained.is_sample() {
        false => String::new(),
        true => format!(
            "{what} {} of {} rows: a random sample (seed {}) and the extremes. ",
            explained.rows(),
            explained.summary.rows,
            explained.seed
        ),
    }
}

/// Formats a number of rows.
pub(crate) fn rows_in_words(count: u64) -> String {
    match count {
        1 => "one row".to_owned(),
        count => format!("{count} rows"),
    }
}

/// Returns the sentence about the errors of values, for captions of figures that show all rows. The sentence
/// is empty if values are exact.
pub(crate) fn of_estimates(explained: &Explained) -> String {
    if !explained.are_estimates() {
        return String::new();
    }
    let halves = explained.summary.half_widths.iter().copied().filter(|half| !half.is_nan());
    match halves.reduce(f64::max) {
        None => "Values are estimates with unknown errors. ".to_owned(),
        Some(0.0) => String::new(),
        Some(most) => format!(
            "Values are estimates: the mean 95% CI half-width of a feature is at most {}. ",
            digits(most, 2)
        ),
    }
}

/// Returns a phrase for the explained output.
pub(crate) fn output_in_words(explained: &Explained, output: usize) -> String {
    match explained.output_name(output).as_str() {
        "" => "output".to_owned(),
        name if name.starts_with("output ") => name.to_owned(),
        name => format!("output {name}"),
    }
}

/// Returns a phrase for the value and its output.
pub(crate) fn value_in_words(explained: &Explained, output: usize) -> String {
    let heading = &explained.heading;
    let value = with_capitals(&heading.value);
    match explained.output_name(output).as_str() {
        "" => format!("{value} value"),
        name => format!("{value} value for {name}"),
    }
}

/// Capitalizes the eponyms in the name of a value: `quotient-Shapley` for `quotient-shapley`.
pub(crate) fn with_capitals(value: &str) -> String {
    let named = [("shapley", "Shapley"), ("banzhaf", "Banzhaf"), ("owen", "Owen"), ("myerson", "Myerson")];
    named.into_iter().fold(value.to_owned(), |value, (name, capital)| value.replace(name, capital))
}
