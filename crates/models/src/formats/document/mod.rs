//! A common representation of JSON and UBJ files, so that both are read by the same code.

mod categories;
pub(crate) mod json;
mod memory;
mod packed;
pub(crate) mod ubj;

use std::borrow::Cow;

use self::packed::PackedNumbers;
use crate::error::ModelError;

/// A value in a document. Lists of numbers, which account for most of a model file, are stored as plain
/// `f64`, or remain encoded as in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Numbers(Vec<f64>),
    Packed(PackedNumbers<'a>),
    List(Vec<Value<'a>>),
    Object(Vec<(String, Value<'a>)>),
}

/// Members of trees that are not used. They account for a third of a file, so they are dropped while parsing.
pub(crate) const UNUSED: [&str; 3] = ["base_weights", "loss_changes", "parents"];

/// Maximum nesting depth for both parsers. Models need eight levels, but in dumped trees, each split takes
/// two levels.
pub(crate) const MAX_DEPTH: usize = 512;

/// The largest category. Larger integers cannot all be distinguished in `f32`.
const MAX_CATEGORY: u32 = 16_777_215;

/// Appends an element to a list, which stays a list of plain numbers as long as all elements are numbers.
pub(crate) fn push_element<'a>(list: &mut Value<'a>, element: Value<'a>) {
    match (&mut *list, element) {
        (Value::Numbers(numbers), Value::Number(number)) => numbers.push(number),
        (Value::Numbers(numbers), element) => {
            let mut values: Vec<Value<'a>> = numbers.drain(..).map(Value::Number).collect();
            values.push(element);
            *list = Value::List(values);
        }
        (Value::List(values), element) => values.push(element),
        _ => unreachable!("elements are only appended to lists"),
    }
}

impl Value<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Numbers(_) | Value::Packed(_) | Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

/// A value and its path, so that every error names the field.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    value: &'a Value<'a>,
    path: String,
}

impl<'a> Field<'a> {
    pub(crate) fn root(value: &'a Value<'a>) -> Self {
        Self { value, path: String::new() }
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> ModelError {
        let at = if self.path.is_empty() { "the document".to_owned() } else { self.path.clone() };
        ModelError::Schema { at, problem: problem.into() }
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, ModelError> {
        Err(self.error(format!("expected {expected}, got {}", self.value.kind())))
    }

    /// Returns the member `key`, if the object has it.
    pub(crate) fn find(&self, key: &str) -> Result<Option<Field<'a>>, ModelError> {
        let Value::Object(members) = self.value else { return self.unexpected("an object") };
        Ok(members.iter().find(|(name, _)| name == key).map(|(_, value)| {
            let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
            Field { value, path }
        }))
    }

    /// Returns whether this is an object with the member `key`.
    pub(crate) fn has(&self, key: &str) -> bool {
        matches!(self.value, Value::Object(members) if members.iter().any(|(name, _)| name == key))
    }

    /// Describes the value for error messages: the names of the first members of an object, or the kind of
    /// any other value.
    pub(crate) fn description(&self) -> String {
        const NAMED: usize = 8;
        let Value::Object(members) = self.value else { return format!("{} at its root", self.value.kind()) };
        let names: Vec<String> = members.iter().take(NAMED).map(|(name, _)| format!("{name:.40?}")).collect();
        match members.len() {
            0 => "no fields".to_owned(),
            1..=NAMED => format!("the fields {}", names.join(", ")),
            count => format!("the fields {} and {} more", names.join(", "), count - NAMED),
        }
    }

    /// Returns the member `key`, which must be present.
    pub(crate) fn get(&self, key: &str) -> Result<Field<'a>, ModelError> {
        self.find(key)?.ok_or_else(|| self.error(format!("missing field {key:?}")))
    }

    /// Checks that all members have one of these names.
    pub(crate) fn check_members(&self, known: &[&str]) -> Result<(), ModelError> {
        let Value::Object(members) = self.value else { return self.unexpected("an object") };
        match members.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => {
                Err(self.error(format!("unknown field {name:.40?}; expected one of: {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn number(&self) -> Result<f64, ModelError> {
        match self.value {
            Value::Number(number) => Ok(*number),
            _ => self.unexpected("a number"),
        }
    }

    pub(crate) fn flag(&self) -> Result<bool, ModelError> {
        match self.value {
            Value::Bool(flag) => Ok(*flag),
            _ => self.unexpected("a boolean"),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str, ModelError> {
        match self.value {
            Value::Text(text) => Ok(text),
            _ => self.unexpected("a string"),
        }
    }

    /// Returns an integer in the range that doubles represent exactly.
    pub(crate) fn integer(&self) -> Result<i64, ModelError> {
        match self.number()? {
            number if number.fract() == 0.0 && number.abs() < 9007199254740992.0 => Ok(number as i64),
            number => Err(self.error(format!("expected an integer, got {number}"))),
        }
    }

    /// Returns a count, which is a number or, in files of XGBoost, a string.
    pub(crate) fn count(&self) -> Result<usize, ModelError> {
        let number = match self.value {
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.trim().parse::<u32>().ok().map(f64::from),
            _ => None,
        };
        match number {
            Some(number) if number.fract() == 0.0 && (0.0..4294967296.0).contains(&number) => {
                Ok(number as usize)
            }
            Some(number) => Err(self.error(format!("expected a count, got {number}"))),
            None => self.unexpected("a count"),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Returns whether this is an empty list.
    pub(crate) fn is_empty_list(&self) -> bool {
        match self.value {
            Value::List(values) => values.is_empty(),
            Value::Numbers(numbers) => numbers.is_empty(),
            Value::Packed(packed) => packed.len() == 0,
            _ => false,
        }
    }

    /// Returns the elements of a list. Fails for a nonempty list of numbers only, which is stored
    /// differently; see [`numbers`](Self::numbers).
    pub(crate) fn elements(&self) -> Result<Vec<Field<'a>>, ModelError> {
        match self.value {
            Value::List(values) => Ok(values
                .iter()
                .enumerate()
                .map(|(index, value)| Field { value, path: format!("{}[{index}]", self.path) })
                .collect()),
            _ if self.is_empty_list() => Ok(Vec::new()),
            Value::Numbers(_) | Value::Packed(_) => {
                Err(self.error("expected a list of values other than numbers, got numbers"))
            }
            _ => self.unexpected("a list"),
        }
    }

    /// Returns the elements of a list of lists. Only checks that they are lists.
    pub(crate) fn lists(&self) -> Result<Vec<Field<'a>>, ModelError> {
        let elements = self.elements()?;
        match elements.iter().find(|element| element.elements().is_err() && element.numbers().is_err()) {
            Some(other) => other.unexpected("a list"),
            None => Ok(elements),
        }
    }

    /// Returns a list of numbers.
    pub(crate) fn numbers(&self) -> Result<Cow<'a, [f64]>, ModelError> {
        match self.value {
            Value::Numbers(numbers) => Ok(Cow::Borrowed(numbers)),
            Value::Packed(packed) => Ok(Cow::Owned(packed.decoded())),
            Value::List(_) => Err(self.error("expected a list of numbers, got other values")),
            _ => self.unexpected("a list of numbers"),
        }
    }

    /// Returns the length of a list of numbers.
    pub(crate) fn number_count(&self) -> Result<usize, ModelError> {
        match self.value {
            Value::Packed(packed) => Ok(packed.len()),
            _ => Ok(self.numbers()?.len()),
        }
    }

    /// Returns a list of numbers of a given length.
    pub(crate) fn numbers_of(&self, length: usize) -> Result<Cow<'a, [f64]>, ModelError> {
        self.check_count(length)?;
        self.numbers()
    }

    /// Checks the length of a list of numbers.
    pub(crate) fn check_count(&self, length: usize) -> Result<(), ModelError> {
        match self.number_count()? {
            count if count == length => Ok(()),
            count => Err(self.error(format!("expected {length} elements, got {count}"))),
        }
    }

    /// Returns a list of integers in the range that doubles represent exactly.
    pub(crate) fn integers(&self) -> Result<Vec<i64>, ModelError> {
        self.numbers()?
            .iter()
            .map(|&number| {
                if number.fract() == 0.0 && number.abs() < 9007199254740992.0 {
                    Ok(number as i64)
                } else {
                    Err(self.error(format!("expected integers, got {number}")))
                }
            })
            .collect()
    }

    /// Returns a list of integers of a given length.
    pub(crate) fn integers_of(&self, length: usize) -> Result<Vec<i64>, ModelError> {
        self.check_count(length)?;
        self.integers()
    }

    /// Returns a list of categories.
    pub(crate) fn categories(&self) -> Result<Vec<u32>, ModelError> {
        let category = |number: i64| {
            let known = u32::try_from(number).ok().filter(|&category| category <= MAX_CATEGORY);
            known
                .ok_or_else(|| self.error(format!("invalid category {number}; expected 0 to {MAX_CATEGORY}")))
        };
        self.integers()?.into_iter().map(category).collect()
    }

    /// Checks that this field, a count, equals `held`, the actual number of elements.
    pub(crate) fn check_says(&self, held: usize, what: &str) -> Result<(), ModelError> {
        match self.count()? {
            count if count == held => Ok(()),
            count => Err(self.error(format!("expected {held} (the number of {what}), got {count}"))),
        }
    }

    /// Returns a list of booleans of a given length, written as booleans or as 0 and 1.
    pub(crate) fn flags_of(&self, length: usize) -> Result<Vec<bool>, ModelError> {
        let flags: Option<Vec<bool>> = match self.value {
            Value::Numbers(_) | Value::Packed(_) => self
                .numbers()?
                .iter()
                .map(|&number| (number == 0.0 || number == 1.0).then_some(number == 1.0))
                .collect(),
            Value::List(values) => values
                .iter()
                .map(|value| match value {
                    Value::Bool(flag) => Some(*flag),
                    _ => None,
                })
                .collect(),
            _ => return self.unexpected("a list of booleans"),
        };
        match flags {
            Some(flags) if flags.len() == length => Ok(flags),
            Some(flags) => Err(self.error(format!("expected {length} elements, got {}", flags.len()))),
            None => Err(self.error("expected booleans (or 0 and 1), got other values")),
        }
    }

    /// Returns the hashes and the numbers in a flat list of rows. Each row has `width` elements: a hash as
    /// text, followed by numbers.
    pub(crate) fn hashed_rows(&self, width: usize) -> Result<(Vec<u64>, Vec<f64>), ModelError> {
        let values = match self.value {
            Value::List(values) => &values[..],
            _ if self.is_empty_list() => &[],
            _ => return self.unexpected("a list of hashes and numbers"),
        };
        if width < 2 || values.len() % width != 0 {
            return Err(
                self.error(format!("expected rows of {width} elements, got {} elements", values.len()))
            );
        }
        let (mut hashes, mut numbers) = (Vec::new(), Vec::new());
        for (place, value) in values.iter().enumerate() {
            match value {
                Value::Text(text) if place % width == 0 => {
                    let hash = text.parse();
                    hashes.push(hash.map_err(|_| self.error(format!("expected a hash, got {text:.40?}")))?);
                }
                Value::Number(number) if place % width != 0 => numbers.push(*number),
                _ => {
                    return Err(self.error(format!("expected a hash or a number, got {}", value.kind())));
                }
            }
        }
        Ok((hashes, numbers))
    }

    /// Returns numbers that are written as a single number, as a list, or as a string that contains either:
    /// `5E-1`, `[0E0,1E0]`.
    pub(crate) fn loose_numbers(&self) -> Result<Vec<f64>, ModelError> {
        match self.value {
            Value::Number(number) => Ok(vec![*number]),
            Value::Numbers(_) | Value::Packed(_) => Ok(self.numbers()?.into_owned()),
            Value::Text(text) => {
                let text = text.trim();
                let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
                // Parse as f32 directly, to avoid rounding twice.
                inner
                    .split(',')
                    .map(|number| number.trim().parse::<f32>().map(f64::from))
                    .collect::<Result<_, _>>()
                    .map_err(|_| self.error(format!("expected numbers, got {text:?}")))
            }
            _ => self.unexpected("a number or a list of numbers"),
        }
    }
}
