//! Options of an explainer, as the Python layer passes them.

use apportion::options::{GameName, Options, Structure};
use apportion::trees::Settings;
use apportion::values::InteractionIndex;
use apportion::{Background, ExplainError, Explainer, GameExplainer, Method, Partition, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::errors::{of_options, usage};
use crate::value::{RequestedGraph, structure};

/// Options of an explainer, extracted from a dictionary with their Python names.
pub(crate) struct Request {
    pub(crate) options: Options,
    groups: Option<Py<PyAny>>,
    graph: Option<RequestedGraph>,
    /// Whether the output after the model's link is explained.
    pub(crate) linked: bool,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Request {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        let mut request = Self { options: Options::default(), groups: None, graph: None, linked: false };
        for (name, value) in given.cast::<PyDict>()?.iter() {
            if value.is_none() {
                continue;
            }
            match name.extract::<String>()?.as_str() {
                "groups" => request.groups = Some(value.unbind()),
                "graph" => request.graph = Some(value.extract()?),
                "linked" => request.linked = value.extract()?,
                name => {
                    let words = words(&value)?;
                    let set = request.options.set(&name.replace('_', "-"), &words);
                    set.map_err(|error| of_options(py, &error))?;
                }
            }
        }
        Ok(request)
    }
}

/// Returns an option value as the string that the library parses.
fn words(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    Ok(match value.cast::<PyString>() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => value.repr()?.to_string_lossy().into_owned(),
    })
}

/// A request, resolved for the players of a model or of a game.
#[derive(Clone)]
pub(crate) struct ResolvedRequest {
    pub(crate) value: Value,
    options: Options,
}

impl ResolvedRequest {
    /// Returns the requested method.
    pub(crate) fn method(&self) -> Method {
        self.options.method
    }
}

impl Request {
    /// Returns the request, resolved for this number of players.
    pub(crate) fn resolve(&mut self, py: Python<'_>, players: usize) -> PyResult<ResolvedRequest> {
        let groups = self.groups.as_ref().map(|groups| structure(groups.bind(py), players)).transpose()?;
        let graph = self.graph.take().map(|graph| graph.graph(py, players)).transpose()?;
        let value = Structure::value(self.options.value.clone(), groups, graph);
        let value = value.map_err(|error| usage(py, error))?;
        self.options.accuracy.until().map_err(|error| of_options(py, &error))?;
        Ok(ResolvedRequest { value, options: self.options.clone() })
    }

    /// Returns the game, or an error for options that its distribution does not use.
    pub(crate) fn game(&self, py: Python<'_>) -> PyResult<GameName> {
        let game = self.options.game.unwrap_or(GameName::Marginal);
        self.options.distribution.check(game).map_err(|error| of_options(py, &error))?;
        Ok(game)
    }

    /// Returns the settings of the algorithms for trees.
    pub(crate) fn settings(&self) -> Settings {
        self.options.engine.settings()
    }
}

impl ResolvedRequest {
    /// Returns the interaction index of pairs for the value, and its groups; `None` for values without such
    /// an index.
    pub(crate) fn index(&self) -> Option<(InteractionIndex, Option<&Partition>)> {
        match &self.value {
            Value::Semivalue(value) => Some((value.clone().into(), None)),
            Value::Quotient(value, groups) => Some((value.clone().into(), Some(groups))),
            _ => None,
        }
    }

    /// Returns the explainer, configured with these options.
    pub(crate) fn explainer<'a>(&self, explainer: Explainer<'a>) -> Result<Explainer<'a>, ExplainError> {
        Ok(self.options.explainer(explainer, self.value.clone())?)
    }

    /// Returns a game explainer configured with these options.
    pub(crate) fn game_explainer(&self) -> Result<GameExplainer, ExplainError> {
        Ok(self.options.game_explainer(self.value.clone())?)
    }

    /// Returns whether a tolerance is set.
    pub(crate) fn has_accuracy(&self) -> bool {
        self.options.accuracy.tolerance.is_some()
    }
}

/// Returns the requested accuracy as a string, as stored in results; None if there is no tolerance.
#[pyfunction]
pub(crate) fn accuracy_in_words(py: Python<'_>, options: Request) -> PyResult<Option<String>> {
    let until = options.options.accuracy.until().map_err(|error| of_options(py, &error))?;
    Ok(until.map(|until| until.words()))
}

/// Returns the names of all options of the library.
#[pyfunction]
pub(crate) fn option_names() -> Vec<&'static str> {
    Options::NAMES.to_vec()
}

/// Returns the methods, each as its name and a description in one line.
#[pyfunction]
pub(crate) fn methods() -> Vec<(&'static str, &'static str)> {
    Method::all().map(|method| (method.name(), method.help())).collect()
}

/// Returns the indices of the rows, out of `count`, that form a background of at most `most` rows drawn with
/// `seed`.
#[pyfunction]
pub(crate) fn sampled_rows(count: usize, most: usize, seed: u64) -> Vec<usize> {
    Background::sampled_rows(count, most, seed)
}
