//! Conditions on the inputs and the predictions of rows.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::{Explained, shown};
use crate::error::PlotError;
use crate::names::listed;
use crate::scene::digits;

/// A condition on the input of a feature or on the prediction, such as `age >= 40`, `city = Paris` or
/// `prediction > 0.5`.
///
/// It consists of a feature, one of `<`, `<=`, `>`, `>=`, `=` and `!=`, and a number, a category of the
/// feature, or `missing`. Names may contain spaces and operators: if a condition can be read in several ways,
/// the one with the longest known feature name is used. Names and categories may be quoted; within quotes,
/// two quotes represent one. `prediction` is the prediction of the row, unless a feature has that name. If
/// the input of a row is missing, the row meets `= missing` but no other condition.
///
/// ```
/// use apportion_plots::{Condition, PlotError};
///
/// let condition: Condition = "hours per week >= 40".parse()?;
/// assert_eq!(condition.to_string(), "hours per week >= 40");
/// assert!("\"price in $\" < 10".parse::<Condition>().is_ok());
/// assert!("hours per week".parse::<Condition>().is_err());
/// # Ok::<(), PlotError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition(String);

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Different,
}

/// The operators, in the order in which they are tried: `<=` before `<`, which is a prefix of it.
const SIGNS: [(&str, Comparison); 7] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::Different),
    ("==", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=", Comparison::Equal),
];

/// One way to read a condition: left-hand side, operator, right-hand side.
type Interpretation<'c> = (Cow<'c, str>, Comparison, &'c str);

/// A quantity of a row that a condition compares.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Quantity {
    /// The input of the feature with this index.
    Input(usize),
    Prediction,
}

/// A condition after its left-hand side is resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ResolvedCondition {
    of: Quantity,
    comparison: Comparison,
    /// The number on the right-hand side; NaN for `missing`.
    number: f64,
}

impl FromStr for Condition {
    type Err = PlotError;

    fn from_str(text: &str) -> Result<Self, PlotError> {
        let condition = Self(text.trim().to_owned());
        let is_read = condition.ways().next().is_some();
        match is_read {
            true => Ok(condition),
            false => Err(condition.refused(
                "missing comparison; expected a feature, one of < <= > >= = !=, and a number or a category, \
                 e.g. \"age >= 40\"",
            )),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Condition {
    /// Returns the positions, among the kept rows, of the rows that meet the condition, in ascending order.
    /// If the condition is on the prediction, `output` selects the output.
    ///
    /// # Errors
    ///
    /// [`PlotError::Condition`] if the results have no such feature or no inputs, or if its inputs do not
    /// support the comparison.
    pub fn rows(&self, explained: &Explained, output: usize) -> Result<Vec<usize>, PlotError> {
        let ResolvedCondition { of, comparison, number } = self.read(explained)?;
        if of != Quantity::Prediction && !explained.has_inputs() {
            return Err(self.refused("the results contain no inputs; use a condition on the prediction"));
        }
        let is_met = |&row: &usize| comparison.is_met(of.number(explained, row, output), number);
        Ok((0..explained.rows()).filter(is_met).collect())
    }

    /// Returns the same as [`rows`](Self::rows), but an error if no row meets the condition.
    pub(crate) fn some_rows(&self, explained: &Explained, output: usize) -> Result<Vec<usize>, PlotError> {
        let rows = self.rows(explained, output)?;
        if !rows.is_empty() {
            return Ok(rows);
        }
        let of = self.read(explained)?.of;
        let rows = if explained.is_sample() { "stored row" } else { "row" };
        let numbers = (0..explained.rows()).map(|row| of.number(explained, row, output));
        let known: Vec<f64> = numbers.filter(|number| !number.is_nan()).collect();
        let min = known.iter().copied().reduce(f64::min);
        let why = match (min, known.iter().copied().reduce(f64::max)) {
            (Some(min), Some(max)) if of.words(explained).is_empty() => format!(
                "no {rows} satisfies it; {} range from {} to {}",
                of.shown(explained),
                digits(min, 5),
                digits(max, 5)
            ),
            _ => format!("no {rows} satisfies it; use a different condition"),
        };
        Err(self.refused(why))
    }

    /// Resolves the condition: its quantity, operator and right-hand side.
    fn read(&self, explained: &Explained) -> Result<ResolvedCondition, PlotError> {
        let known = self.ways().filter_map(|(name, comparison, text)| {
            let of = Quantity::named(&name, explained)?;
            Some(read(explained, of, comparison, text))
        });
        let found: Vec<Result<ResolvedCondition, String>> = known.collect();
        // Later interpretations have longer names, and a quoted name takes precedence.
        match found.iter().rev().find_map(|way| way.as_ref().ok()) {
            Some(&read) => Ok(read),
            None => {
                let why = found.into_iter().rev().find_map(Result::err).unwrap_or_else(|| {
                    let way = self.way_in_quotes().or_else(|| self.ways().next());
                    let name = way.map_or_else(String::new, |(name, ..)| name.into_owned());
                    let features = explained.heading.features.iter().map(String::as_str);
                    format!("unknown feature {name:?}; available features: {}", listed(&name, features))
                });
                Err(self.refused(why))
            }
        }
    }

    /// Iterates over all ways to split the condition at an operator.
    fn ways(&self) -> impl Iterator<Item = Interpretation<'_>> {
        // Skip to the end of each operator, so that its second character is not read as a separate operator.
        let mut end = 0;
        let ways = self.0.char_indices().filter_map(move |(at, _)| {
            let (sign, comparison) = sign(&self.0[at..]).filter(|_| at >= end)?;
            end = at + sign.len();
            let (name, text) = (self.0[..at].trim(), self.0[at + sign.len()..].trim());
            (!name.is_empty() && !text.is_empty()).then_some((Cow::Borrowed(name), comparison, text))
        });
        ways.chain(self.way_in_quotes())
    }

    /// Returns the way to read a condition that starts with a quoted name.
    fn way_in_quotes(&self) -> Option<Interpretation<'_>> {
        let (name, behind) = quoted(&self.0)?;
        let behind = behind.trim_start();
        let (sign, comparison) = sign(behind)?;
        let text = behind[sign.len()..].trim();
        (!text.is_empty()).then_some((Cow::Owned(name), comparison, text))
    }

    pub(crate) fn refused(&self, why: impl Into<String>) -> PlotError {
        PlotError::Condition { condition: self.0.clone(), why: why.into() }
    }
}

/// Returns the operator at the start of a text.
fn sign(text: &str) -> Option<(&'static str, Comparison)> {
    SIGNS.into_iter().find(|(sign, _)| text.starts_with(sign))
}

/// Returns the quoted text at the start of `text`, with doubled quotes replaced by single ones, and the text
/// after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut left = text.strip_prefix('"')?;
    let mut inside = String::new();
    loop {
        let (before, behind) = left.split_once('"')?;
        inside.push_str(before);
        let Some(more) = behind.strip_prefix('"') else { return Some((inside, behind)) };
        inside.push('"');
        left = more;
    }
}

fn read(
    explained: &Explained,
    of: Quantity,
    comparison: Comparison,
    text: &str,
) -> Result<ResolvedCondition, String> {
    let is_of_order = !matches!(comparison, Comparison::Equal | Comparison::Different);
    let words = of.words(explained);
    let inside = quoted(text).and_then(|(inside, behind)| behind.is_empty().then_some(inside));
    if !words.is_empty() {
        if is_of_order {
            return Err(format!("{} are categories, which support only = and !=", of.shown(explained)));
        }
        let code = |text: &str| words.iter().position(|word| word.trim() == text.trim());
        if let Some(code) = code(text).or_else(|| code(inside.as_deref()?)) {
            return Ok(ResolvedCondition { of, comparison, number: code as f64 });
        }
    }
    let text = inside.as_deref().unwrap_or(text);
    if text == "missing" {
        return match is_of_order {
            true => Err("missing supports only = and !=".to_owned()),
            false => Ok(ResolvedCondition { of, comparison, number: f64::NAN }),
        };
    }
    if !words.is_empty() {
        let known = listed(text, words.iter().map(String::as_str));
        return Err(format!("{} never equal {text:?}; categories: {known}", of.shown(explained)));
    }
    // Also accept the minus sign that figures use.
    match text.trim().replace('−', "-").parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(ResolvedCondition { of, comparison, number }),
        _ => Err(format!("{} are numbers; write a number instead of {text:?}", of.shown(explained))),
    }
}

impl Quantity {
    /// Returns the quantity with this name: the input of a feature, or the prediction if no feature has that
    /// name.
    fn named(name: &str, explained: &Explained) -> Option<Self> {
        let features = &explained.heading.features;
        let exactly = features.iter().position(|feature| feature == name);
        let feature = exactly.or_else(|| features.iter().position(|feature| feature.trim() == name.trim()));
        feature.map(Self::Input).or_else(|| (name == "prediction").then_some(Self::Prediction))
    }

    /// Returns the value of the quantity in a row, NaN if it is missing.
    fn number(self, explained: &Explained, row: usize, output: usize) -> f64 {
        match self {
            Self::Input(feature) => explained.any_input(row, feature),
            Self::Prediction => explained.prediction(row, output),
        }
    }

    /// Returns the category names if the values of the quantity are codes of categories.
    fn words(self, explained: &Explained) -> &[String] {
        match self {
            Self::Input(feature) => &explained.heading.categories[feature],
            Self::Prediction => &[],
        }
    }

    /// Returns the name of the quantity for error messages.
    fn shown(self, explained: &Explained) -> String {
        match self {
            Self::Input(feature) => format!("the inputs of {}", shown(&explained.heading.features[feature])),
            Self::Prediction => "predictions".to_owned(),
        }
    }
}

impl Comparison {
    /// Returns whether the comparison holds between the row's number `own` and the number in the condition,
    /// which is NaN for `missing`.
    fn is_met(self, own: f64, number: f64) -> bool {
        if number.is_nan() {
            return own.is_nan() == (self == Self::Equal);
        }
        if own.is_nan() {
            return false;
        }
        match self {
            Self::Less => own < number,
            Self::AtMost => own <= number,
            Self::Greater => own > number,
            Self::AtLeast => own >= number,
            Self::Equal => is_same(own, number),
            Self::Different => !is_same(own, number),
        }
    }
}

/// Returns whether `number`, from the condition, equals `own`, from the row, either exactly or after rounding
/// `number` to 32 bits, because rows may contain numbers rounded to 32 bits.
fn is_same(own: f64, number: f64) -> bool {
    own == number || f64::from(number as f32) == own
}
