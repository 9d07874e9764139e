//! `--class`: one output of several.

use anyhow::Result;
use apportion::plots::listed;
use serde_json::{Value, json};

use crate::failure::Usage;

/// The output of the class that is asked for, by its name or its number, among those with these `names`; none where none is asked for.
pub(crate) fn chosen(class: Option<&str>, names: Option<&[String]>, outputs: usize) -> Result<Option<usize>> {
    let Some(class) = class else { return Ok(None) };
    let by_name = names.and_then(|names| names.iter().position(|name| name == class));
    let by_number = || class.parse().ok().filter(|&output: &usize| output < outputs);
    if let Some(output) = by_name.or_else(by_number) {
        return Ok(Some(output));
    }
    let known = match names {
        Some(names) => listed(class, names.iter().map(String::as_str)),
        None if outputs == 1 => "the number 0, as there is one output".to_owned(),
        None => format!("the numbers 0 to {}", outputs - 1),
    };
    Err(Usage(format!("--class {class}: the model has no such output; it has {known}")).into())
}

/// A class as results have it: its name, else its number.
pub(crate) fn shown(class: usize, names: Option<&[String]>) -> Value {
    names.map_or_else(|| json!(class), |names| json!(names[class]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_found_by_its_name_or_its_number() {
        let names = ["no".to_owned(), "yes".to_owned(), "0".to_owned()];
        let of = |class| chosen(Some(class), Some(&names), 3).map_err(|error| error.to_string());
        assert_eq!((of("yes"), of("1"), of("0")), (Ok(Some(1)), Ok(Some(1)), Ok(Some(2))));
        assert!(of("maybe").unwrap_err().contains("no, yes, 0"));
        assert!(chosen(Some("2"), None, 2).unwrap_err().to_string().contains("0 to 1"));
        assert_eq!(chosen(None, None, 2).unwrap(), None);
    }
}
