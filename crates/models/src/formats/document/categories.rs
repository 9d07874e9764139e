//! Lists of categories in a document.

use super::{Field, Value};
use crate::ensemble::Category;
use crate::error::ModelError;

impl Field<'_> {
    /// Returns the categories in a list of strings, finite numbers and booleans. Booleans become the numbers
    /// 0 and 1.
    pub(crate) fn words(&self) -> Result<Vec<Category>, ModelError> {
        let number = |index: usize, number: f64| match number.is_finite() {
            true => Ok(Category::Number(number)),
            false => Err(self.error(format!("element {index}: invalid category {number}"))),
        };
        match self.value {
            Value::List(values) => {
                let category = |(index, value): (usize, &Value<'_>)| match value {
                    Value::Text(text) => Ok(Category::Text(text.clone())),
                    Value::Number(value) => number(index, *value),
                    Value::Bool(flag) => Ok(Category::Number(f64::from(u8::from(*flag)))),
                    other => Err(self.error(format!(
                        "element {index}: expected a string, a number or a boolean, got {}",
                        other.kind()
                    ))),
                };
                values.iter().enumerate().map(category).collect()
            }
            Value::Numbers(_) | Value::Packed(_) => {
                self.numbers()?.iter().enumerate().map(|(index, &value)| number(index, value)).collect()
            }
            _ => self.unexpected("a list of strings and numbers"),
        }
    }
}
