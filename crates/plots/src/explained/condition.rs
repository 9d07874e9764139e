//! Conditions on the inputs of rows.

use std::fmt;
use std::str::FromStr;

use super::{Explained, shown};
use crate::error::PlotError;

/// What a feature's input is compared with, such as `age >= 40` or `city = Paris`.
///
/// It is a feature, one of `<`, `<=`, `>`, `>=`, `=` and `!=`, and a number, or a word of a feature whose inputs are words, or `missing`. Names
/// may have spaces and signs in them: of all ways to read a condition, that with the longest name of a feature which there is counts. A
/// row whose input is missing meets `= missing`, and else no condition.
///
/// ```
/// use apportion_plots::{Condition, PlotError};
///
/// let condition: Condition = "hours per week >= 40".parse()?;
/// assert_eq!(condition.to_string(), "hours per week >= 40");
/// assert!("hours per week".parse::<Condition>().is_err());
/// # Ok::<(), PlotError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition(String);

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Different,
}

/// The signs, those that begin with others first.
const SIGNS: [(&str, Comparison); 7] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::Different),
    ("==", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=", Comparison::Equal),
];

/// A condition whose feature is known.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Read {
    feature: usize,
    comparison: Comparison,
    /// NaN for what is missing.
    number: f64,
}

impl FromStr for Condition {
    type Err = PlotError;

    fn from_str(text: &str) -> Result<Self, PlotError> {
        let condition = Self(text.trim().to_owned());
        let is_read = condition.ways().next().is_some();
        match is_read {
            true => Ok(condition),
            false => Err(condition.refused("it has no sign with something on both of its sides")),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Condition {
    /// The places, among the rows that are kept, of those that meet it, in order.
    ///
    /// # Errors
    ///
    /// [`PlotError::Condition`] where results have no such feature, no inputs, or its inputs cannot be compared so.
    pub fn rows(&self, explained: &Explained) -> Result<Vec<usize>, PlotError> {
        if !explained.has_inputs() {
            return Err(self.refused("the results have no inputs; keep them in the results"));
        }
        let read = self.read(explained)?;
        Ok((0..explained.rows()).filter(|&row| read.is_met(explained.input(row, read.feature))).collect())
    }

    /// The feature, the sign and what the input is compared with.
    fn read(&self, explained: &Explained) -> Result<Read, PlotError> {
        let features = &explained.heading.features;
        let place = |name: &str| features.iter().position(|feature| feature.trim() == name);
        let known = self.ways().filter_map(|(name, comparison, text)| Some((place(name)?, comparison, text)));
        let found: Vec<Result<Read, String>> =
            known.map(|(feature, comparison, text)| read(explained, feature, comparison, text)).collect();
        // Names get longer from way to way.
        match found.iter().rev().find_map(|way| way.as_ref().ok()) {
            Some(&read) => Ok(read),
            None => {
                let why = found.into_iter().rev().find_map(Result::err).unwrap_or_else(|| {
                    let name = self.ways().next().map_or("", |(name, ..)| name);
                    let first: Vec<_> = features.iter().take(12).map(|name| shown(name)).collect();
                    let more = if features.len() > 12 { ", …" } else { "" };
                    format!("there is no feature {name:?}, known are {}{more}", first.join(", "))
                });
                Err(self.refused(why))
            }
        }
    }

    /// All ways to read it: what is before a sign, the sign, and what is behind it.
    fn ways(&self) -> impl Iterator<Item = (&str, Comparison, &str)> {
        // Where the last sign ended: the second letter of one is none by itself.
        let mut end = 0;
        self.0.char_indices().filter_map(move |(at, _)| {
            let is_here = |&(sign, _): &(&str, Comparison)| at >= end && self.0[at..].starts_with(sign);
            let (sign, comparison) = SIGNS.into_iter().find(is_here)?;
            end = at + sign.len();
            let (name, text) = (self.0[..at].trim(), self.0[at + sign.len()..].trim());
            (!name.is_empty() && !text.is_empty()).then_some((name, comparison, text))
        })
    }

    pub(crate) fn refused(&self, why: impl Into<String>) -> PlotError {
        PlotError::Condition { condition: self.0.clone(), why: why.into() }
    }
}

fn read(explained: &Explained, feature: usize, comparison: Comparison, text: &str) -> Result<Read, String> {
    let is_of_order = !matches!(comparison, Comparison::Equal | Comparison::Different);
    let words = &explained.heading.categories[feature];
    let name = || shown(&explained.heading.features[feature]);
    if !words.is_empty() {
        if is_of_order {
            return Err(format!("the inputs of {} are words, which are compared by = and != alone", name()));
        }
        if let Some(code) = words.iter().position(|word| word.trim() == text) {
            return Ok(Read { feature, comparison, number: code as f64 });
        }
    }
    if text == "missing" {
        return match is_of_order {
            true => Err("what is missing is compared by = and != alone".to_owned()),
            false => Ok(Read { feature, comparison, number: f64::NAN }),
        };
    }
    if !words.is_empty() {
        let first: Vec<_> = words.iter().take(12).map(|word| shown(word)).collect();
        let more = if words.len() > 12 { ", …" } else { "" };
        return Err(format!("{} is never {text:?}, known are {}{more}", name(), first.join(", ")));
    }
    // A minus as figures write it is one, too.
    match text.replace('−', "-").parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(Read { feature, comparison, number }),
        _ => Err(format!("the inputs of {} are numbers, and {text:?} is none", name())),
    }
}

impl Read {
    fn is_met(&self, input: f64) -> bool {
        let number = self.number;
        if number.is_nan() {
            return input.is_nan() == (self.comparison == Comparison::Equal);
        }
        if input.is_nan() {
            return false;
        }
        match self.comparison {
            Comparison::Less => input < number,
            Comparison::AtMost => input <= number,
            Comparison::Greater => input > number,
            Comparison::AtLeast => input >= number,
            Comparison::Equal => is_same(input, number),
            Comparison::Different => !is_same(input, number),
        }
    }
}

/// Whether they are the same, or the input is what became of the number in 32 bits.
fn is_same(input: f64, number: f64) -> bool {
    input == number || f64::from(number as f32) == input
}
