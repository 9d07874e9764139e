//! The attributes of an operator, each of the kind that is asked for.

use super::messages::{AttributeProto, DOUBLE, FLOAT, NodeProto, TensorProto};
use super::tensor::Tensor;
use crate::error::ModelError;

/// The attributes of one node, whose complaints name operator and attribute.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'a> {
    node: &'a NodeProto,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(node: &'a NodeProto) -> Result<Self, ModelError> {
        let attributes = Self { node };
        for (index, attribute) in node.attribute.iter().enumerate() {
            if node.attribute[..index].iter().any(|earlier| earlier.name == attribute.name) {
                return Err(attributes.error(&attribute.name, "it is there twice"));
            }
        }
        Ok(attributes)
    }

    pub(super) fn error(self, name: &str, problem: impl Into<String>) -> ModelError {
        ModelError::Schema { at: format!("{}.{name}", self.node.op_type), problem: problem.into() }
    }

    fn find(self, name: &str) -> Option<&'a AttributeProto> {
        self.node.attribute.iter().find(|attribute| attribute.name == name)
    }

    /// A whole number; `None` where it is not there.
    pub(super) fn integer(self, name: &str) -> Result<Option<i64>, ModelError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        attribute.i.map(Some).ok_or_else(|| self.error(name, "a whole number is wanted"))
    }

    /// A number of the type float; `None` where it is not there.
    pub(super) fn number(self, name: &str) -> Result<Option<f64>, ModelError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        let number = attribute.f.map(f64::from);
        number.map(Some).ok_or_else(|| self.error(name, "a number is wanted"))
    }

    /// Text; `None` where it is not there.
    pub(super) fn text(self, name: &str) -> Result<Option<&'a str>, ModelError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        let text = attribute.s.as_deref().and_then(|text| std::str::from_utf8(text).ok());
        text.map(Some).ok_or_else(|| self.error(name, "text is wanted"))
    }

    /// A list of whole numbers, empty where it is not there.
    pub(super) fn integers(self, name: &str) -> &'a [i64] {
        self.find(name).map_or(&[], |attribute| &attribute.ints)
    }

    /// A list of so many whole numbers.
    pub(super) fn integers_of(self, name: &str, count: usize) -> Result<&'a [i64], ModelError> {
        let integers = self.integers(name);
        self.check_count(name, integers.len(), count)?;
        Ok(integers)
    }

    /// One flag for each of `count`; none are set where the list is not there.
    pub(super) fn flags_of(self, name: &str, count: usize) -> Result<Vec<bool>, ModelError> {
        if self.integers(name).is_empty() {
            return Ok(vec![false; count]);
        }
        let flag = |&flag: &i64| match flag {
            0 | 1 => Ok(flag == 1),
            other => Err(self.error(name, format!("{other} where 0 or 1 is wanted"))),
        };
        self.integers_of(name, count)?.iter().map(flag).collect()
    }

    /// A list of text, empty where it is not there.
    pub(super) fn texts(self, name: &str) -> &'a [Vec<u8>] {
        self.find(name).map_or(&[], |attribute| &attribute.strings)
    }

    pub(super) fn check_count(self, name: &str, given: usize, wanted: usize) -> Result<(), ModelError> {
        if given == wanted {
            return Ok(());
        }
        Err(self.error(name, format!("{given} elements where {wanted} are wanted")))
    }

    /// Numbers: the list `name`, or where that is not there the tensor of doubles `name_as_tensor`. Empty where neither is.
    pub(super) fn numbers(self, name: &str) -> Result<Vec<f64>, ModelError> {
        let singles = self.find(name).map_or(&[][..], |attribute| &attribute.floats);
        let doubles = format!("{name}_as_tensor");
        match (singles.is_empty(), self.find(&doubles)) {
            (false, Some(_)) => Err(self.error(&doubles, format!("it is there besides {name}"))),
            (true, Some(_)) => self.tensor(&doubles),
            (_, None) => Ok(singles.iter().map(|&number| f64::from(number)).collect()),
        }
    }

    /// The numbers of a tensor, empty where it is not there.
    pub(super) fn tensor(self, name: &str) -> Result<Vec<f64>, ModelError> {
        let Some(attribute) = self.find(name) else { return Ok(Vec::new()) };
        let Some(tensor) = &attribute.t else { return Err(self.error(name, "a tensor is wanted")) };
        Ok(Tensor::read(tensor, name, |problem| self.error(name, problem))?.numbers)
    }

    /// A tensor that is not read yet; `None` if it is not there.
    pub(super) fn raw_tensor(self, name: &str) -> Option<&'a TensorProto> {
        self.find(name).and_then(|attribute| attribute.t.as_ref())
    }

    /// Returns whether a tensor holds numbers of the type float.
    pub(super) fn is_float(self, name: &str) -> bool {
        self.raw_tensor(name).is_some_and(|tensor| tensor.data_type == FLOAT)
    }

    /// Whether numbers that the row is compared with are doubles.
    pub(super) fn is_double(self, name: &str) -> bool {
        self.raw_tensor(name).is_some_and(|tensor| tensor.data_type == DOUBLE)
    }
}
