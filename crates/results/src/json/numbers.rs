//! Numbers in results: a number or (nested) lists of numbers, with `null` for missing numbers.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::INFINITE;

/// A number, or all numbers of nested lists, in order.
#[derive(Debug, Default)]
pub(super) struct Numbers(pub(super) Vec<f64>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut numbers = Vec::new();
        NumberSink(&mut numbers).deserialize(deserializer)?;
        Ok(Self(numbers))
    }
}

/// A deserializer that appends the numbers it finds to a list.
struct NumberSink<'a>(&'a mut Vec<f64>);

impl<'de> DeserializeSeed<'de> for NumberSink<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NumberSink<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, null, or a list of these")
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.0.push(number);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.0.push(number as f64);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.0.push(number as f64);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.push(f64::NAN);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(NumberSink(self.0))?.is_some() {}
        Ok(())
    }
}

/// The input of a feature, as read from JSON.
#[derive(Debug, PartialEq)]
pub(super) enum Input {
    Missing,
    Number(f64),
    /// An infinite number, read from its string. If the feature is categorical, the input is the category
    /// with this name instead.
    Infinite(f64),
    Word(String),
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Input;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a string or null")
            }

            fn visit_f64<E>(self, number: f64) -> Result<Input, E> {
                Ok(Input::Number(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Input, E> {
                Ok(Input::Number(number as f64))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Input, E> {
                Ok(Input::Number(number as f64))
            }

            fn visit_bool<E>(self, is_so: bool) -> Result<Input, E> {
                Ok(Input::Number(f64::from(u8::from(is_so))))
            }

            fn visit_str<E>(self, word: &str) -> Result<Input, E> {
                Ok(match INFINITE.iter().position(|infinite| *infinite == word) {
                    Some(0) => Input::Infinite(f64::INFINITY),
                    Some(_) => Input::Infinite(f64::NEG_INFINITY),
                    None => Input::Word(word.to_owned()),
                })
            }

            fn visit_unit<E>(self) -> Result<Input, E> {
                Ok(Input::Missing)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_within_lists_are_read_in_order() {
        let Numbers(numbers) = serde_json::from_str("[[1,[2.5]],-3,null,[]]").unwrap();
        assert_eq!(numbers[..3], [1.0, 2.5, -3.0]);
        assert!(numbers[3].is_nan() && numbers.len() == 4);
        assert!(serde_json::from_str::<Numbers>("\"1\"").is_err());
        let input = |text: &str| serde_json::from_str::<Input>(text).unwrap();
        assert_eq!(input("\"a\""), Input::Word("a".to_owned()));
        assert_eq!(input("\"-Infinity\""), Input::Infinite(f64::NEG_INFINITY));
    }
}
