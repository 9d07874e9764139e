//! What an explainer is asked for, as the Python layer hands it over.

use apportion::estimators::{Measure, Scale};
use apportion::trees::{Kernel, Precision, Settings};
use apportion::values::InteractionIndex;
use apportion::{Background, Budget, Explainer, GameExplainer, Method, NullPlayers, Partition, Until, Value};
use pyo3::prelude::*;

use crate::errors::{of_explaining, usage};
use crate::value::{AskedGraph, value};

/// All options, by name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    pub(crate) game: String,
    value: String,
    method: String,
    budget: String,
    until: Option<AskedAccuracy>,
    pub(crate) seed: u64,
    groups: Option<Py<PyAny>>,
    graph: Option<AskedGraph>,
    pub(crate) linked: bool,
    kernel: Option<String>,
    precision: Option<String>,
    rows: Option<usize>,
    pub(crate) draws: Option<usize>,
    pub(crate) bandwidth: Option<String>,
    pub(crate) share: Option<f64>,
    pub(crate) variant: Option<String>,
    pub(crate) fallback: Option<String>,
    keep_null_players: bool,
}

/// Tolerance, what it is relative to, the measure of the error, the confidence, and the range of the game.
type AskedAccuracy = (f64, String, String, f64, Option<f64>);

/// What is asked of a model or a game.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) value: Value,
    method: Method,
    budget: Budget,
    until: Option<Until>,
    seed: u64,
    null_players: NullPlayers,
}

impl Options {
    /// What is asked of so many players.
    pub(crate) fn asked(&mut self, py: Python<'_>, players: usize) -> PyResult<Asked> {
        let groups = self.groups.as_ref().map(|groups| groups.bind(py));
        let explaining = |error| of_explaining(py, &error);
        Ok(Asked {
            value: value(py, &self.value, groups, self.graph.take(), players)?,
            method: self.method.parse().map_err(explaining)?,
            budget: self.budget.parse().map_err(explaining)?,
            until: self.until.as_ref().map(|asked| until(py, asked)).transpose()?,
            seed: self.seed,
            null_players: if self.keep_null_players { NullPlayers::Keep } else { NullPlayers::TakeOut },
        })
    }

    /// How the tree oracle computes.
    pub(crate) fn settings(&self, py: Python<'_>) -> PyResult<Settings> {
        let kernel = match self.kernel.as_deref() {
            None | Some("auto") => None,
            Some(name) => {
                Some(Kernel::ALL.into_iter().find(|kernel| kernel.name() == name).ok_or_else(|| {
                    let known = Kernel::ALL.map(Kernel::name).join(", ");
                    usage(py, format!("unknown kernel {name:?}; known are auto, {known}"))
                })?)
            }
        };
        let precision = match self.precision.as_deref() {
            None | Some("f64") => Precision::Double,
            Some("f32") => Precision::Single,
            Some(other) => {
                return Err(usage(py, format!("unknown precision {other:?}; known are f64, f32")));
            }
        };
        Ok(Settings::default().with_kernel(kernel).with_precision(precision).with_rows(self.rows))
    }
}

fn until(py: Python<'_>, asked: &AskedAccuracy) -> PyResult<Until> {
    let (tolerance, scale, measure, confidence, range) = asked;
    let scale = match scale.as_str() {
        "norm" => Scale::Norm,
        "range" => Scale::Range,
        "nothing" => Scale::Absolute,
        other => {
            return Err(usage(py, format!("relative_to={other:?}: known are norm, range, nothing")));
        }
    };
    let measure = match measure.as_str() {
        "euclidean" => Measure::Euclidean,
        "every-player" => Measure::EveryPlayer,
        other => return Err(usage(py, format!("error={other:?}: known are euclidean, every-player"))),
    };
    let until = Until::relative(*tolerance)
        .with_scale(scale)
        .with_measure(measure)
        .with_confidence(*confidence)
        .with_range(*range);
    until.check().map_err(|error| usage(py, format!("until: {error}")))?;
    Ok(until)
}

impl Asked {
    /// An explainer that is asked for this.
    /// The index of pairs that goes with the value, and the groups that it is of; none of values that have no such index.
    pub(crate) fn index(&self) -> Option<(InteractionIndex, Option<&Partition>)> {
        match &self.value {
            Value::Semivalue(value) => Some((value.clone().into(), None)),
            Value::Quotient(value, groups) => Some((value.clone().into(), Some(groups))),
            _ => None,
        }
    }

    pub(crate) fn of<'a>(&self, explainer: Explainer<'a>) -> Explainer<'a> {
        let explainer = explainer
            .value(self.value.clone())
            .method(self.method)
            .budget(self.budget)
            .seed(self.seed)
            .null_players(self.null_players);
        match self.until {
            Some(until) => explainer.until(until),
            None => explainer,
        }
    }

    /// The same of a game.
    pub(crate) fn of_game(&self) -> GameExplainer {
        let explainer = GameExplainer::new()
            .value(self.value.clone())
            .method(self.method)
            .budget(self.budget)
            .seed(self.seed);
        match self.until {
            Some(until) => explainer.until(until),
            None => explainer,
        }
    }

    /// Whether an accuracy is asked for.
    pub(crate) fn has_accuracy(&self) -> bool {
        self.until.is_some()
    }
}

/// The methods: name, and what each does in one line.
#[pyfunction]
pub(crate) fn methods() -> Vec<(&'static str, &'static str)> {
    Method::all().map(|method| (method.name(), method.help())).collect()
}

/// Which of `count` rows are a background of `most`, drawn by `seed`.
#[pyfunction]
pub(crate) fn sampled_rows(count: usize, most: usize, seed: u64) -> Vec<usize> {
    Background::sampled_rows(count, most, seed)
}
