//! The classes of a model: the outputs that `--class` and `--output log-loss=CLASS` name.

use anyhow::Result;
use apportion::Ensemble;
use apportion::plots::listed;
use apportion::trees::Link;
use serde_json::{Value, json};

use crate::failure::Usage;
use crate::parse::args::Space;
use crate::read::model::AnyModel;

/// The classes of a model, by name if they have names.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    /// The names of the classes: one for each output, or two if two classes share a single margin.
    names: Option<Vec<String>>,
    outputs: usize,
    /// Whether the only output is the margin of the second of two classes.
    are_two: bool,
    /// Whether the model has a loss for each class: a logistic function or a softmax of its margins.
    have_losses: bool,
}

impl Classes {
    /// Returns the classes of a model.
    pub(crate) fn new(model: &AnyModel) -> Self {
        let (names, outputs) = (model.classes(), model.outputs());
        let trees = model.trees();
        let is_logistic = matches!(trees.and_then(Ensemble::link), Some(Link::Logistic { .. }));
        let is_softmax = trees.and_then(Ensemble::link) == Some(Link::Softmax);
        let of_trees = trees.and_then(Ensemble::class_names).map(<[String]>::to_vec);
        let are_two = outputs == 1 && (is_logistic || of_trees.is_some());
        Self { names: of_trees.or(names), outputs, are_two, have_losses: is_logistic || is_softmax }
    }

    /// Returns the output that `--class` selects, if it is given.
    ///
    /// # Errors
    ///
    /// A [`Usage`] for a class that the model does not have, and for the first of two classes that share a
    /// margin.
    pub(crate) fn output(&self, class: Option<&str>) -> Result<Option<usize>> {
        let Some(class) = class else { return Ok(None) };
        let place = self.place("--class", class)?;
        match (self.are_two, place) {
            (false, place) => Ok(Some(place)),
            (true, 1) => Ok(Some(0)),
            (true, _) => {
                let second = self.names.as_ref().map_or("1", |names| &names[1]);
                Err(Usage(format!(
                    "invalid value {class} for --class: the only output of the model is for class {second}; \
                     use --class {second}"
                ))
                .into())
            }
        }
    }

    /// Returns the class whose loss `--output log-loss=CLASS` explains, or `None` for any other output.
    ///
    /// # Errors
    ///
    /// A [`Usage`] for a class that the model does not have, and for models without such losses.
    pub(crate) fn of_rows(&self, space: &Space) -> Result<Option<usize>> {
        let Some(class) = space.class() else { return Ok(None) };
        if !self.have_losses {
            let says = "--output log-loss requires a classifier with a logistic or softmax link; use \
                        --output margin";
            return Err(Usage(says.to_owned()).into());
        }
        self.place("--output log-loss", class).map(Some)
    }

    /// Returns the output of the class whose loss is explained, if there are several outputs.
    ///
    /// # Errors
    ///
    /// Same as for [`of_rows`](Self::of_rows).
    pub(crate) fn output_of_rows(&self, space: &Space) -> Result<Option<usize>> {
        Ok(self.of_rows(space)?.filter(|_| self.outputs > 1))
    }

    /// Returns the index of a class, given by name or by number. If some names are numbers, only names are
    /// accepted.
    fn place(&self, option: &str, class: &str) -> Result<usize> {
        let count = if self.are_two { 2 } else { self.outputs };
        let number = || class.parse().ok().filter(|&place: &usize| place < count);
        let Some(names) = &self.names else {
            let known = match count {
                1 => format!("the model has a single output, 0; remove {option}"),
                _ => format!("the model has classes 0 to {} and stores no class names", count - 1),
            };
            let invalid = || Usage(format!("invalid value {class} for {option}: {known}")).into();
            return number().ok_or_else(invalid);
        };
        let are_numbers = names.iter().any(|name| name.parse::<f64>().is_ok());
        let place = names.iter().position(|name| name == class).or_else(|| same_number(class, names));
        place.or_else(|| number().filter(|_| !are_numbers)).ok_or_else(|| {
            let known = listed(class, names.iter().map(String::as_str));
            let or = if are_numbers { String::new() } else { format!(" (or 0 to {})", count - 1) };
            Usage(format!("unknown class \"{class}\" in {option}; available classes: {known}{or}")).into()
        })
    }
}

/// Returns the index of the name that is the same number as `class` in a different notation (1.0 and 1), if
/// there is exactly one such name.
fn same_number(class: &str, names: &[String]) -> Option<usize> {
    let number: f64 = class.parse().ok()?;
    let is_same = |name: &String| name.parse::<f64>() == Ok(number);
    let place = names.iter().position(is_same)?;
    (!names[place + 1..].iter().any(is_same)).then_some(place)
}

/// Returns a class as stored in results: its name, or its number if there are no names.
pub(crate) fn shown(class: usize, names: Option<&[String]>) -> Value {
    names.map_or_else(|| json!(class), |names| json!(names[class]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(names: &[&str], outputs: usize, are_two: bool) -> Classes {
        let names = names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        Classes { names: Some(names).filter(|names| !names.is_empty()), outputs, are_two, have_losses: true }
    }

    fn output(classes: &Classes, class: &str) -> Result<usize, String> {
        classes.output(Some(class)).map(Option::unwrap).map_err(|error| error.to_string())
    }

    #[test]
    fn a_class_is_found_by_its_name_or_its_number() {
        let words = classes(&["no", "so-so", "yes"], 3, false);
        assert_eq!((output(&words, "yes"), output(&words, "1")), (Ok(2), Ok(1)));
        assert!(output(&words, "maybe").unwrap_err().contains("no, so-so, yes (or 0 to 2)"));
        assert!(output(&words, "3").is_err());
        assert_eq!(words.output(None).unwrap(), None);
        let nameless = classes(&[], 3, false);
        assert_eq!(output(&nameless, "2"), Ok(2));
        assert!(output(&nameless, "3").unwrap_err().contains("classes 0 to 2"));
        assert!(output(&classes(&[], 1, false), "1").unwrap_err().contains("a single output, 0"));
    }

    #[test]
    fn a_number_is_a_name_if_names_are_numbers() {
        for (names, class, place) in [
            (&["1", "2", "3"], "1", Ok(0)),
            (&["1", "2", "3"], "3", Ok(2)),
            (&["1", "2", "3"], "3.0", Ok(2)),
            (&["1", "2", "3"], "0", Err("available classes: 1, 2, 3")),
            (&["2", "1", "0"], "0", Ok(2)),
            (&["-1", "0", "1"], "-1", Ok(0)),
            (&["-1", "0", "1"], "2", Err("unknown class \"2\"")),
            (&["0.5", "1.5", "2.5"], "1", Err("unknown class \"1\"")),
            (&["no", "yes", "0"], "0", Ok(2)),
            (&["no", "yes", "0"], "1", Err("unknown class \"1\" in --class")),
        ] {
            let found = output(&classes(names, 3, false), class);
            match place {
                Ok(place) => assert_eq!(found, Ok(place), "{names:?} {class}"),
                Err(words) => assert!(found.unwrap_err().contains(words), "{names:?} {class}"),
            }
        }
    }

    #[test]
    fn a_single_margin_is_that_of_the_second_class() {
        let named = classes(&["good", "bad"], 1, true);
        assert_eq!((output(&named, "bad"), output(&named, "1")), (Ok(0), Ok(0)));
        for class in ["good", "0"] {
            assert!(output(&named, class).unwrap_err().contains("use --class bad"));
        }
        let nameless = classes(&[], 1, true);
        assert_eq!(output(&nameless, "1"), Ok(0));
        assert!(output(&nameless, "0").unwrap_err().contains("for class 1"));
        assert!(output(&nameless, "2").unwrap_err().contains("classes 0 to 1"));
        let negative = classes(&["-1", "1"], 1, true);
        let loss = |class: &str| {
            negative.of_rows(&Space::LogLoss(class.to_owned())).map_err(|error| error.to_string())
        };
        assert_eq!((loss("-1"), loss("1")), (Ok(Some(0)), Ok(Some(1))));
        assert!(loss("0").unwrap_err().contains("--output log-loss; available classes: -1, 1"));
        assert_eq!(negative.output_of_rows(&Space::LogLoss("1".to_owned())).unwrap(), None);
    }
}
