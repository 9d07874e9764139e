//! What figures say in the same words.

use crate::explained::Explained;
use crate::scene::digits;

/// What is said below a figure about the rows that are kept, such as `Dots are 20 of 100 rows`; empty where they are all.
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

/// So many rows, in words.
pub(crate) fn rows_in_words(count: u64) -> String {
    match count {
        1 => "one row".to_owned(),
        count => format!("{count} rows"),
    }
}

/// What is said below a figure of all rows about the errors of its values; empty where they are exact.
pub(crate) fn of_estimates(explained: &Explained) -> String {
    if !explained.are_estimates() {
        return String::new();
    }
    let halves = explained.summary.half_widths.iter().copied().filter(|half| !half.is_nan());
    match halves.reduce(f64::max) {
        None => "Values are estimates, and nothing is known of their errors. ".to_owned(),
        Some(0.0) => String::new(),
        Some(most) => format!(
            "Values are estimates: their 95 % intervals are ± {} at most in the mean of a feature. ",
            digits(most, 2)
        ),
    }
}

/// The output that is explained, in words.
pub(crate) fn output_in_words(explained: &Explained, output: usize) -> String {
    match explained.output_name(output).as_str() {
        "" => "output".to_owned(),
        name if name.starts_with("output ") => name.to_owned(),
        name => format!("output {name}"),
    }
}

/// The value that is drawn, in words, with its output.
pub(crate) fn value_in_words(explained: &Explained, output: usize) -> String {
    let heading = &explained.heading;
    let value = with_capitals(&heading.value);
    match explained.output_name(output).as_str() {
        "" => format!("{value} value"),
        name => format!("{value} value for {name}"),
    }
}

/// The name of a value with those whom it is named after: `quotient-Shapley` for `quotient-shapley`.
pub(crate) fn with_capitals(value: &str) -> String {
    let named = [("shapley", "Shapley"), ("banzhaf", "Banzhaf"), ("owen", "Owen"), ("myerson", "Myerson")];
    named.into_iter().fold(value.to_owned(), |value, (name, capital)| value.replace(name, capital))
}
