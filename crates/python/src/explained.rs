//! Conversion of explanations to dictionaries of arrays.

use apportion::estimators::StopRule;
use apportion::results::{Certified, interval_factor};
use apportion::values::Interactions;
use apportion::{Explanation, Method, trees};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Class, raised, usage};

/// Returns a dictionary with the exact values of all rows. Arrays are flat, in row-major order: `values` are
/// rows × players × outputs, `predictions` are rows × outputs, and `base` has one number per output.
pub(crate) fn of_attributions<'py>(
    py: Python<'py>,
    found: trees::Attributions,
    method: Method,
) -> PyResult<Bound<'py, PyDict>> {
    of_exact(py, method, found.values, found.base, found.predictions)
}

/// Returns a dictionary with exact values or exact interactions. Arrays are flat, in row-major order: values
/// are rows × players × outputs, interactions are rows × players × players × outputs.
pub(crate) fn of_exact<'py>(
    py: Python<'py>,
    method: Method,
    values: Vec<f64>,
    base: Vec<f64>,
    predictions: Vec<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("method", method.name())?;
    told.set_item("values", PyArray1::from_vec(py, values))?;
    told.set_item("base", PyArray1::from_vec(py, base))?;
    told.set_item("predictions", PyArray1::from_vec(py, predictions))?;
    Ok(told)
}

/// Returns a dictionary with the interactions of all pairs for each row, and with standard errors if they are
/// estimates. `method` is the requested method. With `remainder`, which is only available for exact
/// interactions, the diagonal contains the remainders of the values. The base values are listed for each row:
/// rows × outputs.
pub(crate) fn of_pairs<'py>(
    py: Python<'py>,
    method: Method,
    found: &[Interactions],
    remainder: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let (mut values, mut errors, mut base, mut predictions) = (vec![], vec![], vec![], vec![]);
    for row in found {
        let matrix = if remainder { row.matrix_of_remainders() } else { row.matrix() };
        errors.extend(row.matrix_of_errors().unwrap_or_else(|| vec![f64::NAN; matrix.values.len()]));
        values.extend(matrix.values);
        base.extend(row.base());
        predictions.extend(row.predictions());
    }
    let are_estimates = found.iter().any(|row| row.std_errors().is_some());
    let told = of_exact(py, method.of_indices(are_estimates), values, base, predictions)?;
    told.set_item("std_errors", are_estimates.then(|| PyArray1::from_vec(py, errors)))?;
    Ok(told)
}

/// Returns the results of the finished rows, with the warnings about them.
pub(crate) fn of_runs<'py>(py: Python<'py>, done: Vec<(usize, Explanation)>) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    let warned = warnings(&done);
    if let Some((_, first)) = done.first() {
        told.set_item("method", &first.method)?;
        told.set_item("same_as", &first.diagnostics.same_as)?;
    }
    told.set_item("model_rows", PyArray1::from_vec(py, model_rows(&done)))?;
    told.set_item("rows", count_rows(py, &done))?;
    let batch = apportion::batch(done.into_iter().map(|(_, explanation)| explanation));
    told.set_item("warnings", warned)?;
    let (are_estimates, outputs) = (batch.has_errors(), batch.base.len() / batch.len().max(1));
    let evaluations = batch.evaluations.iter().map(|&count| count as i64).collect();
    told.set_item("evaluations", PyArray1::from_vec(py, evaluations))?;
    let draws = batch.draws.iter().map(|draws| draws.map_or(-1, |count| count as i64)).collect();
    told.set_item("draws", PyArray1::from_vec(py, draws))?;
    told.set_item("degrees_of_freedom", PyArray1::from_vec(py, batch.degrees_of_freedom))?;
    let certificate = |certified: &Option<Certified>| {
        let written = certified.as_ref().map(|certified| certified.to_json(outputs));
        written.transpose().map_err(|error| raised(py, Class::Data, error.to_string()))
    };
    let certificates = batch.certificates.iter().map(certificate).collect::<PyResult<Vec<_>>>()?;
    told.set_item("certificates", certificates)?;
    told.set_item("values", PyArray1::from_vec(py, batch.values))?;
    told.set_item("std_errors", are_estimates.then(|| PyArray1::from_vec(py, batch.std_errors)))?;
    told.set_item("base", PyArray1::from_vec(py, batch.base))?;
    told.set_item("predictions", PyArray1::from_vec(py, batch.predictions))?;
    Ok(told)
}

fn model_rows(done: &[(usize, Explanation)]) -> Vec<i64> {
    done.iter().map(|(_, explanation)| explanation.model_rows as i64).collect()
}

/// Returns the exact values of the finished rows, as [`of_attributions`] does, and the row numbers. Here, the
/// base value is listed for each row: rows × outputs.
pub(crate) fn of_exact_runs<'py>(
    py: Python<'py>,
    method: Method,
    done: Vec<(usize, Explanation)>,
) -> PyResult<Bound<'py, PyDict>> {
    let numbers = count_rows(py, &done);
    let (mut values, mut base, mut predictions) = (vec![], vec![], vec![]);
    for (_, explanation) in done {
        values.extend(explanation.values);
        base.extend(explanation.base);
        predictions.extend(explanation.prediction);
    }
    let found = of_exact(py, method, values, base, predictions)?;
    found.set_item("rows", numbers)?;
    Ok(found)
}

fn count_rows<'py>(py: Python<'py>, done: &[(usize, Explanation)]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_vec(py, done.iter().map(|&(row, _)| row as i64).collect())
}

/// Returns the warnings about the accuracy of the values.
fn warnings(done: &[(usize, Explanation)]) -> Vec<String> {
    let rows = done.len();
    let explanations = || done.iter().map(|(_, explanation)| explanation);
    let is_undetermined =
        |explanation: &&Explanation| explanation.diagnostics.rank < explanation.diagnostics.unknowns;
    let undetermined = explanations().filter(is_undetermined).count();
    let of_rank = explanations().find(is_undetermined).map(|first| {
        format!(
            "{undetermined} of {rows} rows: {} evaluations determine only {} of {} unknowns, so the values \
             (minimum-norm solution) may be far off; increase the budget (5n or more)",
            first.evaluations,
            first.diagnostics.rank.unwrap_or_default(),
            first.diagnostics.unknowns.unwrap_or_default()
        )
    });
    let stopped = |explanation: &Explanation| {
        let rule = explanation.certificate.as_ref().map(|certificate| certificate.stopped_by);
        rule.filter(|&rule| rule != StopRule::Tolerance)
    };
    let inaccurate = explanations().filter(|explanation| stopped(explanation).is_some()).count();
    let of_accuracy = explanations().find_map(stopped).map(|rule| {
        let what = match rule {
            StopRule::Draws => {
                "because of the sampling error of the draws, and the budget does not allow enough draws; \
                 increase budget=…, draws=… or until=…"
            }
            StopRule::MaxChecks => "within the maximum number of interim checks; increase until=…",
            StopRule::NoScale => {
                "because a relative tolerance is undefined for values that are (nearly) zero or equal; use \
                 relative_to=\"nothing\""
            }
            _ => "within the budget; increase budget=… or until=…",
        };
        format!("{inaccurate} of {rows} rows did not reach the tolerance {what}")
    });
    of_rank.into_iter().chain(of_accuracy).collect()
}

/// Returns, for each number of degrees of freedom, the half-width of a confidence interval as a multiple of
/// the standard error.
#[pyfunction]
pub(crate) fn interval_factors<'py>(
    py: Python<'py>,
    confidence: f64,
    degrees_of_freedom: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(usage(py, format!("invalid confidence {confidence}: must be above 0 and below 1")));
    }
    let factor = |&degrees: &f64| interval_factor(degrees, confidence);
    Ok(PyArray1::from_vec(py, degrees_of_freedom.as_slice()?.iter().map(factor).collect()))
}
