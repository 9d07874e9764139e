//! Distributions of conditional games, fitted on data.

use std::sync::Arc;

use apportion::games::{ConditionalDistribution, Model};
use apportion::options::GameName;
use apportion::{Ensemble, Rows, Shared};
use pyo3::prelude::*;

use crate::errors::{of_options, usage};
use crate::options::Request;
use crate::serve::beside;

/// Returns the distribution of a conditional game, fitted on `rows`; `trees` is the model, if it is an
/// ensemble.
pub(crate) fn distribution(
    py: Python<'_>,
    (request, game): (&Request, GameName),
    rows: Rows<'_>,
    weights: Option<&[f64]>,
    trees: Option<&Arc<Ensemble>>,
) -> PyResult<Shared<'static, dyn ConditionalDistribution>> {
    let (distribution, seed) = (request.options.distribution, request.options.seed);
    let model = trees.map(|trees| move || -> Shared<'static, dyn Model> { Arc::clone(trees).into() });
    let fitted = beside(py, || distribution.fit(game, rows, weights, seed, model))?;
    let fitted = fitted.map_err(|error| of_options(py, &error))?;
    fitted.ok_or_else(|| {
        usage(py, format!("game={game:?} does not use a distribution of the features", game = game.name()))
    })
}
