//! Typed access to the attributes of an operator.

use super::messages::{AttributeProto, DOUBLE, FLOAT, NodeProto, TensorProto};
use super::tensor::Tensor;
use crate::error::ModelError;

/// The attributes of a node. Errors name the operator and the attribute.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'a> {
    node: &'a NodeProto,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(node: &'a NodeProto) -> Result<Self, ModelError> {
        let attributes = Self { node };
        for (index, attribute) in node.attribute.iter().enumerate() {
            if node.attribute[..index].iter().any(|earlier| earlier.name == attribute.name) {
                return Err(attributes.error(&attribute.name, "duplicate attribute"));
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

    /// Returns an integer, or `None` if the attribute is missing.
    pub(super) fn integer(self, name: &str) -> Result<Option<i64>, ModelError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        attribute.i.map(Some).ok_or_else(|| self.error(name, "expected an integer"))
    }

    /// Returns a number of type float, or `None` if the attribute is missing.
    pub(super) fn number(self, name: &str) -> Result<Option<f64>, ModelError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        let number = attribute.f.map(f64::from);
        number.map(Some).ok_or_else(|| self.error(name, "expected a number"))
    }

    /// Returns a string, or `None` if the attribute is missing.
    pub(super) fn text(self, name: &str) -> Result<Option<&'a str>, ModelError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        let text = attribute.s.as_deref().and_then(|text| std::str::from_utf8(text).ok());
        text.map(Some).ok_or_else(|| self.error(name, "expected a string"))
    }

    /// Returns a list of integers, which is empty if the attribute is missing.
    pub(super) fn integers(self, name: &str) -> &'a [i64] {
        self.find(name).map_or(&[], |attribute| &attribute.ints)
    }

    /// Returns a list of `count` integers.
    pub(super) fn integers_of(self, name: &str, count: usize) -> Result<&'a [i64], ModelError> {
        let integers = self.integers(name);
        self.check_count(name, integers.len(), count)?;
        Ok(integers)
    }

    /// Returns `count` flags, which are all false if the attribute is missing.
    pub(super) fn flags_of(self, name: &str, count: usize) -> Result<Vec<bool>, ModelError> {
        if self.integers(name).is_empty() {
            return Ok(vec![false; count]);
        }
        let flag = |&flag: &i64| match flag {
            0 | 1 => Ok(flag == 1),
            other => Err(self.error(name, format!("expected 0 or 1, got {other}"))),
        };
        self.integers_of(name, count)?.iter().map(flag).collect()
    }

    /// Returns a list of strings, which is empty if the attribute is missing.
    pub(super) fn texts(self, name: &str) -> &'a [Vec<u8>] {
        self.find(name).map_or(&[], |attribute| &attribute.strings)
    }

    pub(super) fn check_count(self, name: &str, given: usize, wanted: usize) -> Result<(), ModelError> {
        if given == wanted {
            return Ok(());
        }
        Err(self.error(name, format!("expected {wanted} elements, got {given}")))
    }

    /// Returns the numbers of the list `name` or, if it is missing, of the tensor of doubles
    /// `name_as_tensor`. Empty if both are missing.
    pub(super) fn numbers(self, name: &str) -> Result<Vec<f64>, ModelError> {
        let singles = self.find(name).map_or(&[][..], |attribute| &attribute.floats);
        let doubles = format!("{name}_as_tensor");
        match (singles.is_empty(), self.find(&doubles)) {
            (false, Some(_)) => Err(self.error(&doubles, format!("cannot be combined with {name}"))),
            (true, Some(_)) => self.tensor(&doubles),
            (_, None) => Ok(singles.iter().map(|&number| f64::from(number)).collect()),
        }
    }

    /// Returns the numbers of a tensor, which are empty if the attribute is missing.
    pub(super) fn tensor(self, name: &str) -> Result<Vec<f64>, ModelError> {
        let Some(attribute) = self.find(name) else { return Ok(Vec::new()) };
        let Some(tensor) = &attribute.t else { return Err(self.error(name, "expected a tensor")) };
        Ok(Tensor::read(tensor, name, |problem| self.error(name, problem))?.numbers)
    }

    /// Returns a tensor without parsing it, or `None` if the attribute is missing.
    pub(super) fn raw_tensor(self, name: &str) -> Option<&'a TensorProto> {
        self.find(name).and_then(|attribute| attribute.t.as_ref())
    }

    /// Returns whether a tensor contains numbers of type float.
    pub(super) fn is_float(self, name: &str) -> bool {
        self.raw_tensor(name).is_some_and(|tensor| tensor.data_type == FLOAT)
    }

    /// Returns whether a tensor contains numbers of type double.
    pub(super) fn is_double(self, name: &str) -> bool {
        self.raw_tensor(name).is_some_and(|tensor| tensor.data_type == DOUBLE)
    }
}
