//! The table of the fixtures, and the options for reading it.

use std::path::PathBuf;

use apportion_models::{Categories, Category, UnknownCategory};
use apportion_rows::{RowOptions, RowsError, Source, Table};

/// The features of the table; those with categories are at the end.
pub(crate) const FEATURES: [&str; 13] =
    ["money", "f64", "f32", "f16", "i8", "i64", "u16", "u32", "flag", "colour", "category", "large", "code"];
/// The features whose categories are colours.
const COLOURS: std::ops::Range<usize> = 9..12;

/// The names and categories that the options borrow.
pub(crate) struct FixtureOptions {
    names: Vec<String>,
    colours: Categories,
    codes: Categories,
}

impl FixtureOptions {
    pub(crate) fn new() -> Self {
        let text = |text: &str| Category::Text(text.to_owned());
        let colours = ["green", "a long word that is not in its view", "blue"].map(text).to_vec();
        let codes = [7.0, 5.0, 6.0].map(Category::Number).to_vec();
        Self {
            names: FEATURES.map(str::to_owned).to_vec(),
            colours: Categories::new(colours, UnknownCategory::Missing),
            codes: Categories::new(codes, UnknownCategory::Refused),
        }
    }

    /// Returns the options for the first `features` features.
    pub(crate) fn row_options(&self, features: usize) -> RowOptions<'_> {
        let words = |feature| match feature {
            feature if COLOURS.contains(&feature) => Some(&self.colours),
            12 => Some(&self.codes),
            _ => None,
        };
        RowOptions {
            names: Some(&self.names[..features]),
            named_by: "the model",
            categories: (0..features).map(words).collect(),
            id: Some("who"),
            ignored: vec!["day", "list", "group", "nothing"],
            ..RowOptions::default()
        }
    }
}

pub(crate) fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", name].iter().collect()
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

pub(crate) fn read(bytes: &[u8], wanted: &RowOptions<'_>) -> Result<Table, RowsError> {
    Source::stream("these rows", bytes).read(wanted)
}

/// Returns the bits of values, with the same bits for all NaN, so that they can be compared.
pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
}

/// Formats an error with all of its causes.
pub(crate) fn full_message(error: &RowsError) -> String {
    let mut told = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        told.push_str(&format!(": {error}"));
        source = error.source();
    }
    told
}
