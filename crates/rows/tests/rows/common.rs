//! The table of the fixtures, and the options for reading it.

use std::path::PathBuf;

use apportion_models::{Category, UnknownWord, Words};
use apportion_rows::{RowsError, Source, Table, Wanted};

/// The features of the table; those with categories are at the end.
pub(crate) const FEATURES: [&str; 13] =
    ["money", "f64", "f32", "f16", "i8", "i64", "u16", "u32", "flag", "colour", "category", "large", "code"];
/// The features whose categories are colours.
const COLOURS: std::ops::Range<usize> = 9..12;

/// The names and categories that the options borrow.
pub(crate) struct Asked {
    names: Vec<String>,
    colours: Words,
    codes: Words,
}

impl Asked {
    pub(crate) fn new() -> Self {
        let text = |text: &str| Category::Text(text.to_owned());
        let colours = ["green", "a long word that is not in its view", "blue"].map(text).to_vec();
        let codes = [7.0, 5.0, 6.0].map(Category::Number).to_vec();
        Self {
            names: FEATURES.map(str::to_owned).to_vec(),
            colours: Words::new(colours, UnknownWord::Missing),
            codes: Words::new(codes, UnknownWord::Refused),
        }
    }

    /// Returns the options for the first `features` features.
    pub(crate) fn wanted(&self, features: usize) -> Wanted<'_> {
        let words = |feature| match feature {
            feature if COLOURS.contains(&feature) => Some(&self.colours),
            12 => Some(&self.codes),
            _ => None,
        };
        Wanted {
            names: Some(&self.names[..features]),
            named_by: "the model",
            words: (0..features).map(words).collect(),
            id: Some("who"),
            ignored: vec!["day", "list", "group", "nothing"],
            ..Wanted::default()
        }
    }
}

pub(crate) fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", name].iter().collect()
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

pub(crate) fn read(bytes: &[u8], wanted: &Wanted<'_>) -> Result<Table, RowsError> {
    Source::stream("these rows", bytes).read(wanted)
}

/// Returns the bits of values, with the same bits for all NaN, so that they can be compared.
pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
}

/// Formats an error with all of its causes.
pub(crate) fn told(error: &RowsError) -> String {
    let mut told = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        told.push_str(&format!(": {error}"));
        source = error.source();
    }
    told
}
