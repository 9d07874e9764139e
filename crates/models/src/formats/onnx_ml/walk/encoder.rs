//! The lookup table of a `LabelEncoder`, whose keys and values are numbers or strings.

use std::rc::Rc;

use super::prepared::Datum;
use super::stop::Stop;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::graph::Element;
use crate::formats::onnx_ml::tensor::Tensor;

/// The lookup table of a `LabelEncoder`.
pub(super) struct Encoder {
    pub(super) keys: Vec<Datum>,
    pub(super) values: Vec<Datum>,
    pub(super) default: Datum,
    pub(super) element: Element,
}

impl Encoder {
    pub(super) fn read(attributes: Attributes<'_>) -> Result<Self, Stop> {
        let classes = attributes.texts("classes_strings");
        if !classes.is_empty() {
            // The first version of the operator maps strings to their indices.
            return Ok(Self {
                keys: classes
                    .iter()
                    .map(|text| Ok(Datum::Text(text_of(text)?)))
                    .collect::<Result<_, Stop>>()?,
                values: (0..classes.len()).map(|place| Datum::Number(place as f64)).collect(),
                default: Datum::Number(attributes.integer("default_int64")?.unwrap_or(-1) as f64),
                element: Element::Other,
            });
        }
        let (keys, _) = list(attributes, "keys")?;
        let (values, element) = list(attributes, "values")?;
        attributes.check_count("values", values.len(), keys.len())?;
        let default = match (element, attributes.tensor_data("default_tensor")?) {
            (_, Some(mut data)) if data.len() == 1 => data.remove(0),
            (Element::Text, _) => {
                let default = attributes.text("default_string")?.unwrap_or("_Unused");
                Datum::Text(default.into())
            }
            (Element::Other, _) => Datum::Number(attributes.integer("default_int64")?.unwrap_or(-1) as f64),
            _ => Datum::Number(attributes.number("default_float")?.unwrap_or(-0.0)),
        };
        Ok(Self { keys, values, default, element })
    }

    /// Returns the value to which the table maps a number.
    pub(super) fn value(&self, number: f64) -> &Datum {
        let place = self.keys.iter().position(|key| *key == Datum::Number(number));
        place.map_or(&self.default, |place| &self.values[place])
    }
}

/// Returns the keys or the values of a `LabelEncoder`, and their type. The name of the attribute depends on
/// the type.
fn list(attributes: Attributes<'_>, name: &str) -> Result<(Vec<Datum>, Element), Stop> {
    let texts = attributes.texts(&format!("{name}_strings"));
    if !texts.is_empty() {
        let texts = texts.iter().map(|text| Ok(Datum::Text(text_of(text)?))).collect::<Result<_, Stop>>()?;
        return Ok((texts, Element::Text));
    }
    let whole = attributes.integers(&format!("{name}_int64s"));
    if !whole.is_empty() {
        return Ok((whole.iter().map(|&number| Datum::Number(number as f64)).collect(), Element::Other));
    }
    if let Some(data) = attributes.tensor_data(&format!("{name}_tensor"))? {
        let element = match data.first() {
            Some(Datum::Text(_)) => Element::Text,
            _ if attributes.is_double(&format!("{name}_tensor")) => Element::Double,
            _ if attributes.is_float(&format!("{name}_tensor")) => Element::Single,
            _ => Element::Other,
        };
        return Ok((data, element));
    }
    let numbers = attributes.numbers(&format!("{name}_floats"))?;
    Ok((numbers.into_iter().map(Datum::Number).collect(), Element::Single))
}

impl Attributes<'_> {
    /// Returns the numbers or strings of a tensor, or `None` if it is missing.
    fn tensor_data(self, name: &str) -> Result<Option<Vec<Datum>>, Stop> {
        let Some(tensor) = self.raw_tensor(name) else { return Ok(None) };
        if !tensor.string_data.is_empty() {
            let texts = tensor.string_data.iter().map(|text| Ok(Datum::Text(text_of(text)?)));
            return Ok(Some(texts.collect::<Result<_, Stop>>()?));
        }
        let read = Tensor::read(tensor, name, |problem| self.error(name, problem))?;
        Ok(Some(read.numbers.into_iter().map(Datum::Number).collect()))
    }
}

pub(super) fn text_of(bytes: &[u8]) -> Result<Rc<str>, Stop> {
    let text = std::str::from_utf8(bytes);
    text.map(Rc::from).map_err(|_| Stop::because("its categories are not UTF-8 text"))
}
