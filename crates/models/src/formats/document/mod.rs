//! The document that JSON and UBJ files hold alike, so that one schema reader serves both.

pub(crate) mod json;
mod memory;
mod packed;
pub(crate) mod ubj;
mod words;

use std::borrow::Cow;

use self::packed::Packed;
use crate::error::ModelError;

/// A value of the document. Lists of numbers, which are nearly all of a model file, are kept as plain `f64`, or left in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Numbers(Vec<f64>),
    Packed(Packed<'a>),
    List(Vec<Value<'a>>),
    Object(Vec<(String, Value<'a>)>),
}

/// Members of trees that nobody asks for. They are a third of a file, so they are read and dropped.
pub(crate) const UNUSED: [&str; 3] = ["base_weights", "loss_changes", "parents"];

/// Deepest nesting that either reader follows. Models need eight levels; of a tree that was dumped each split takes two.
pub(crate) const MAX_DEPTH: usize = 512;

/// Largest category: beyond, `f32` no longer tells whole numbers apart.
const MOST_CATEGORY: u32 = 16_777_215;

/// Collects the elements of a list; stays a list of plain numbers as long as all elements are numbers.
pub(crate) fn push_element<'a>(list: &mut Value<'a>, element: Value<'a>) {
    match (&mut *list, element) {
        (Value::Numbers(numbers), Value::Number(number)) => numbers.push(number),
        (Value::Numbers(numbers), element) => {
            let mut values: Vec<Value<'a>> = numbers.drain(..).map(Value::Number).collect();
            values.push(element);
            *list = Value::List(values);
        }
        (Value::List(values), element) => values.push(element),
        _ => unreachable!("only lists are collected into"),
    }
}

impl Value<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::Numbers(_) | Value::Packed(_) | Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

/// A value and where it stands, so that every complaint names the field.
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

    fn unexpected<T>(&self, wanted: &str) -> Result<T, ModelError> {
        Err(self.error(format!("{} where {wanted} is wanted", self.value.kind())))
    }

    /// The member `key`, if the object has one.
    pub(crate) fn find(&self, key: &str) -> Result<Option<Field<'a>>, ModelError> {
        let Value::Object(members) = self.value else { return self.unexpected("an object") };
        Ok(members.iter().find(|(name, _)| name == key).map(|(_, value)| {
            let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
            Field { value, path }
        }))
    }

    /// Whether this is an object with the member `key`.
    pub(crate) fn has(&self, key: &str) -> bool {
        matches!(self.value, Value::Object(members) if members.iter().any(|(name, _)| name == key))
    }

    /// What this is, for people: the names of the first members where it is an object, else its kind.
    pub(crate) fn description(&self) -> String {
        const NAMED: usize = 8;
        let Value::Object(members) = self.value else { return format!("{} at its root", self.value.kind()) };
        let names: Vec<String> = members.iter().take(NAMED).map(|(name, _)| format!("{name:.40?}")).collect();
        match members.len() {
            0 => "no members".to_owned(),
            1..=NAMED => format!("the members {}", names.join(", ")),
            count => format!("the members {} and {} more", names.join(", "), count - NAMED),
        }
    }

    /// The member `key`, which must be there.
    pub(crate) fn get(&self, key: &str) -> Result<Field<'a>, ModelError> {
        self.find(key)?.ok_or_else(|| self.error(format!("has no member {key:?}")))
    }

    /// Refuses members with other names than these.
    pub(crate) fn check_members(&self, known: &[&str]) -> Result<(), ModelError> {
        let Value::Object(members) = self.value else { return self.unexpected("an object") };
        match members.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => {
                Err(self
                    .error(format!("the member {name:.40?} is not known; known are {}", known.join(", "))))
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
            _ => self.unexpected("true or false"),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str, ModelError> {
        match self.value {
            Value::Text(text) => Ok(text),
            _ => self.unexpected("text"),
        }
    }

    /// A whole number in the range of `i64` that doubles hold exactly.
    pub(crate) fn integer(&self) -> Result<i64, ModelError> {
        match self.number()? {
            number if number.fract() == 0.0 && number.abs() < 9007199254740992.0 => Ok(number as i64),
            number => Err(self.error(format!("{number} where a whole number is wanted"))),
        }
    }

    /// A count, written as a number or, as XGBoost does, as text.
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
            Some(number) => Err(self.error(format!("{number} where a count is wanted"))),
            None => self.unexpected("a count"),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Whether this is a list without elements.
    pub(crate) fn is_empty_list(&self) -> bool {
        match self.value {
            Value::List(values) => values.is_empty(),
            Value::Numbers(numbers) => numbers.is_empty(),
            Value::Packed(packed) => packed.len() == 0,
            _ => false,
        }
    }

    /// The elements of a list of anything.
    pub(crate) fn elements(&self) -> Result<Vec<Field<'a>>, ModelError> {
        match self.value {
            Value::List(values) => Ok(values
                .iter()
                .enumerate()
                .map(|(index, value)| Field { value, path: format!("{}[{index}]", self.path) })
                .collect()),
            _ if self.is_empty_list() => Ok(Vec::new()),
            Value::Numbers(_) | Value::Packed(_) => {
                Err(self.error("numbers where other elements are wanted"))
            }
            _ => self.unexpected("a list"),
        }
    }

    /// The elements of a list of lists, which are numbers alone where all are empty or the list is.
    pub(crate) fn lists(&self) -> Result<Vec<Field<'a>>, ModelError> {
        let elements = self.elements()?;
        match elements.iter().find(|element| element.elements().is_err() && element.numbers().is_err()) {
            Some(other) => other.unexpected("a list"),
            None => Ok(elements),
        }
    }

    /// A list of numbers.
    pub(crate) fn numbers(&self) -> Result<Cow<'a, [f64]>, ModelError> {
        match self.value {
            Value::Numbers(numbers) => Ok(Cow::Borrowed(numbers)),
            Value::Packed(packed) => Ok(Cow::Owned(packed.decoded())),
            Value::List(_) => Err(self.error("a list that holds other things than numbers")),
            _ => self.unexpected("a list of numbers"),
        }
    }

    /// The length of a list of numbers.
    pub(crate) fn number_count(&self) -> Result<usize, ModelError> {
        match self.value {
            Value::Packed(packed) => Ok(packed.len()),
            _ => Ok(self.numbers()?.len()),
        }
    }

    /// A list of numbers of a given length.
    pub(crate) fn numbers_of(&self, length: usize) -> Result<Cow<'a, [f64]>, ModelError> {
        self.check_count(length)?;
        self.numbers()
    }

    /// Refuses a list of numbers of another length.
    pub(crate) fn check_count(&self, length: usize) -> Result<(), ModelError> {
        match self.number_count()? {
            count if count == length => Ok(()),
            count => Err(self.error(format!("{count} elements where {length} are wanted"))),
        }
    }

    /// A list of whole numbers in the range of `i64` that doubles hold exactly.
    pub(crate) fn integers(&self) -> Result<Vec<i64>, ModelError> {
        self.numbers()?
            .iter()
            .map(|&number| {
                if number.fract() == 0.0 && number.abs() < 9007199254740992.0 {
                    Ok(number as i64)
                } else {
                    Err(self.error(format!("{number} where whole numbers are wanted")))
                }
            })
            .collect()
    }

    /// A list of whole numbers of a given length.
    pub(crate) fn integers_of(&self, length: usize) -> Result<Vec<i64>, ModelError> {
        self.check_count(length)?;
        self.integers()
    }

    /// A list of categories.
    pub(crate) fn categories(&self) -> Result<Vec<u32>, ModelError> {
        let category = |number: i64| {
            let known = u32::try_from(number).ok().filter(|&category| category <= MOST_CATEGORY);
            known.ok_or_else(|| self.error(format!("{number} is no category: 0 to {MOST_CATEGORY} are")))
        };
        self.integers()?.into_iter().map(category).collect()
    }

    /// Refuses a count that is not that of what the file holds.
    pub(crate) fn check_says(&self, held: usize, what: &str) -> Result<(), ModelError> {
        match self.count()? {
            count if count == held => Ok(()),
            count => Err(self.error(format!("says {count}, but there are {held} {what}"))),
        }
    }

    /// A list of truth values of a given length, written as booleans or as 0 and 1.
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
            _ => return self.unexpected("a list of flags"),
        };
        match flags {
            Some(flags) if flags.len() == length => Ok(flags),
            Some(flags) => Err(self.error(format!("{} elements where {length} are wanted", flags.len()))),
            None => Err(self.error("elements other than 0 and 1 where flags are wanted")),
        }
    }

    /// A flat list of rows of `width` elements: a hash as text, and then numbers. The hashes, and all numbers.
    pub(crate) fn hashed_rows(&self, width: usize) -> Result<(Vec<u64>, Vec<f64>), ModelError> {
        let values = match self.value {
            Value::List(values) => &values[..],
            _ if self.is_empty_list() => &[],
            _ => return self.unexpected("a list of hashes and numbers"),
        };
        if width < 2 || values.len() % width != 0 {
            return Err(self.error(format!("{} elements where rows of {width} are wanted", values.len())));
        }
        let (mut hashes, mut numbers) = (Vec::new(), Vec::new());
        for (place, value) in values.iter().enumerate() {
            match value {
                Value::Text(text) if place % width == 0 => {
                    let hash = text.parse();
                    hashes.push(hash.map_err(|_| self.error(format!("{text:.40?} where a hash is wanted")))?);
                }
                Value::Number(number) if place % width != 0 => numbers.push(*number),
                _ => {
                    return Err(self.error(format!("{} where a hash or a number is wanted", value.kind())));
                }
            }
        }
        Ok((hashes, numbers))
    }

    /// Numbers that stand alone, in a list, or as text of either: `5E-1`, `[0E0,1E0]`.
    pub(crate) fn loose_numbers(&self) -> Result<Vec<f64>, ModelError> {
        match self.value {
            Value::Number(number) => Ok(vec![*number]),
            Value::Numbers(_) | Value::Packed(_) => Ok(self.numbers()?.into_owned()),
            Value::Text(text) => {
                let text = text.trim();
                let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
                // Read as f32 directly, so that no decimal is rounded twice.
                inner
                    .split(',')
                    .map(|number| number.trim().parse::<f32>().map(f64::from))
                    .collect::<Result<_, _>>()
                    .map_err(|_| self.error(format!("{text:?} where numbers are wanted")))
            }
            _ => self.unexpected("a number or a list of numbers"),
        }
    }
}
