//! The result of `apportion inspect` and `apportion groups`: facts in order, by name.

use serde_json::Value;

/// Facts in order, by name.
#[derive(Debug)]
pub(crate) struct Facts(pub(crate) Vec<(&'static str, Value)>);

impl Facts {
    /// Each fact's name and its entries as text without quotes, with `missing` for what is not known.
    pub(super) fn lines(&self, missing: &str) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        let text = move |value: &Value| match value {
            Value::Null => missing.to_owned(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        self.0.iter().map(move |(name, value)| match value {
            Value::Array(values) => (*name, values.iter().map(text).collect()),
            value => (*name, vec![text(value)]),
        })
    }
}
