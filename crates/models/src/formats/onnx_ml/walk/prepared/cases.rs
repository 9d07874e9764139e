//! Functions of a string, with a value for each category.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::region::Region;
use super::split::Split;
use crate::ensemble::{Categories, Category, Rule, UnknownCategory};
use crate::formats::onnx_ml::decision::Decision;
use crate::formats::onnx_ml::graph::Element;
use crate::formats::onnx_ml::walk::stop::Stop;

/// The strings of a column that occur in the graph. Rows contain their indices in this list.
#[derive(Debug, Default)]
pub(in super::super) struct Texts {
    list: Vec<Rc<str>>,
    codes: HashMap<Rc<str>, u32>,
    /// Whether the runtime rejects rows with other strings.
    pub(in super::super) refuses_others: bool,
}

impl Texts {
    pub(super) fn code(&mut self, text: &Rc<str>) -> u32 {
        *self.codes.entry(text.clone()).or_insert_with(|| {
            self.list.push(text.clone());
            (self.list.len() - 1) as u32
        })
    }

    /// Returns the categories of the column.
    pub(in super::super) fn categories(&self) -> Categories {
        let list = self.list.iter().map(|text| Category::Text((**text).to_owned())).collect();
        Categories::new(
            list,
            if self.refuses_others { UnknownCategory::Refused } else { UnknownCategory::NoCategory },
        )
    }
}

/// A number or a string.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Datum {
    Number(f64),
    Text(Rc<str>),
}

/// A value for each string of a column of the table.
#[derive(Debug, Clone)]
pub(in super::super::super) struct Cases {
    feature: u32,
    /// The value for each code of a string.
    table: Rc<BTreeMap<u32, Datum>>,
    /// The value of all other strings, or `None` if it is the string itself.
    others: Option<Datum>,
    pub(super) element: Element,
}

impl Cases {
    /// Creates the identity function of a text column of the table.
    pub(in super::super) fn new(feature: u32) -> Self {
        Self { feature, table: Rc::default(), others: None, element: Element::Text }
    }

    /// Returns the column of the table.
    pub(in super::super) fn feature(&self) -> u32 {
        self.feature
    }

    /// Returns the number of strings with a separate value.
    pub(in super::super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the value of the string with this code.
    fn value(&self, code: u32, texts: &Texts) -> Datum {
        match (self.table.get(&code), &self.others) {
            (Some(value), _) | (None, Some(value)) => value.clone(),
            (None, None) => Datum::Text(texts.list[code as usize].clone()),
        }
    }

    /// Applies a lookup table from strings to values. All other strings have the value `others`, or are
    /// unchanged if it is `None`.
    pub(in super::super) fn encoded(
        &self,
        values: &HashMap<Rc<str>, Datum>,
        others: Option<&Datum>,
        texts: &mut Texts,
        element: Element,
    ) -> Result<Self, Stop> {
        let of = |value: &Datum| match value {
            Datum::Text(text) => Ok(values.get(text).or(others).unwrap_or(value).clone()),
            Datum::Number(_) => Err(Stop::because("it encodes text, but its input is numeric")),
        };
        let mut table = self
            .table
            .iter()
            .map(|(&code, value)| Ok((code, of(value)?)))
            .collect::<Result<BTreeMap<_, _>, Stop>>()?;
        let others = match &self.others {
            Some(value) => Some(of(value)?),
            // Other strings were unchanged so far.
            None => {
                for (text, value) in values {
                    table.entry(texts.code(text)).or_insert_with(|| value.clone());
                }
                others.cloned()
            }
        };
        Ok(Self { feature: self.feature, table: Rc::new(table), others, element })
    }

    pub(super) fn map_numbers(&self, of: impl Fn(f64) -> f64, element: Element) -> Result<Self, Stop> {
        let of = |value: &Datum| match value {
            Datum::Number(number) => Ok(Datum::Number(of(*number))),
            Datum::Text(_) => Err(text_as_number()),
        };
        let table =
            self.table.iter().map(|(&code, value)| Ok((code, of(value)?))).collect::<Result<_, Stop>>()?;
        let others = self.others.as_ref().map(of).ok_or_else(text_as_number)??;
        Ok(Self { table: Rc::new(table), others: Some(others), element, ..*self })
    }

    /// Creates the function that selects `one` for strings whose value under this function is a nonzero
    /// number, and `other` for all other strings. All three must be functions of the same column.
    pub(in super::super) fn choice(
        &self,
        one: Choice<'_>,
        other: Choice<'_>,
        texts: &Texts,
    ) -> Result<Self, Stop> {
        let is_set = |value: Datum| match value {
            Datum::Number(number) => Ok(number != 0.0),
            Datum::Text(_) => Err(text_as_number()),
        };
        let mut codes: Vec<u32> = self.table.keys().copied().collect();
        for choice in [&one, &other] {
            if let Choice::Column(cases) = choice {
                if cases.feature != self.feature {
                    return Err(Stop::because("it chooses between two columns"));
                }
                codes.extend(cases.table.keys());
            }
        }
        let mut table = BTreeMap::new();
        for code in codes {
            let chosen = if is_set(self.value(code, texts))? { &one } else { &other };
            table.insert(code, chosen.value(code, texts));
        }
        let others = self.others.clone().ok_or_else(text_as_number)?;
        let others = if is_set(others)? { &one } else { &other }.others();
        let element = one.element();
        Ok(Self { feature: self.feature, table: Rc::new(table), others, element })
    }

    /// Returns the codes of strings with their numbers, and the number of all other strings.
    pub(in super::super) fn numbers(&self) -> Result<(Vec<(u32, f64)>, f64), Stop> {
        let number = |value: &Datum| match value {
            Datum::Number(number) => Ok(*number),
            Datum::Text(_) => Err(text_as_number()),
        };
        let others = self.others.as_ref().map(number).ok_or_else(text_as_number)??;
        let known = self.table.iter().map(|(&code, value)| Ok((code, number(value)?)));
        Ok((known.collect::<Result<_, Stop>>()?, others))
    }

    pub(super) fn split(&self, decision: &Decision) -> Result<Split, Stop> {
        let (numbers, others) = self.numbers()?;
        let others = decision.holds(others);
        let exceptions = numbers.iter().filter(|(_, number)| decision.holds(*number) != others);
        let rule = Rule::exactly(exceptions.map(|&(code, _)| f64::from(code)).collect());
        let region = if others { Region::Outside(rule) } else { Region::Inside(rule) };
        // Rows with a missing string are rejected, so `missing_holds` has no effect.
        Ok(Split { feature: self.feature, region, missing_holds: false })
    }
}

/// One branch of a choice.
pub(in super::super) enum Choice<'a> {
    Constant(Datum),
    Column(&'a Cases),
}

impl Choice<'_> {
    fn value(&self, code: u32, texts: &Texts) -> Datum {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Column(cases) => cases.value(code, texts),
        }
    }

    fn others(&self) -> Option<Datum> {
        match self {
            Self::Constant(value) => Some(value.clone()),
            Self::Column(cases) => cases.others.clone(),
        }
    }

    fn element(&self) -> Element {
        match self {
            Self::Constant(Datum::Text(_)) => Element::Text,
            Self::Constant(Datum::Number(_)) => Element::Single,
            Self::Column(cases) => cases.element,
        }
    }
}

fn text_as_number() -> Stop {
    Stop::because("its input is text that is not encoded as numbers")
}
