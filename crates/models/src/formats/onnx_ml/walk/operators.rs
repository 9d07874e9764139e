//! The linear models of `ai.onnx.ml`: `LinearRegressor`, `LinearClassifier`, and `SVMRegressor` with a linear
//! kernel.

use super::columns::{Allowance, Columns};
use super::stop::Stop;
use super::value::Scores;
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::outputs::output_count;
use crate::formats::onnx_ml::post_transform::PostTransform;

/// Computes `post_transform(coefficients · x + intercepts)` for each target.
pub(super) fn regressor(
    attributes: Attributes<'_>,
    columns: &Columns,
    allowance: &mut Allowance,
) -> Result<Scores, Stop> {
    let targets = output_count(attributes, "targets", attributes.integer("targets")?.unwrap_or(1))?;
    let margins = margins(attributes, columns, targets, allowance)?;
    Ok(Scores::linked(margins, PostTransform::named(attributes)?.link()))
}

/// Computes `post_transform(coefficients · x + intercepts)` for each class. If there are two classes but
/// coefficients for only one, the margin belongs to the second class.
pub(super) fn classifier(
    attributes: Attributes<'_>,
    columns: &Columns,
    allowance: &mut Allowance,
) -> Result<Scores, Stop> {
    let labels =
        attributes.texts("classlabels_strings").len().max(attributes.integers("classlabels_ints").len());
    let classes = output_count(attributes, "classlabels_ints", labels as i64)?;
    let post_transform = PostTransform::named(attributes)?;
    let single = classes == 2 && attributes.numbers("coefficients")?.len() == columns.len();
    let margins = margins(attributes, columns, if single { 1 } else { classes }, allowance)?;
    let link = if single { post_transform.link_of_margin() } else { post_transform.link() };
    Ok(Scores::linked(margins, link))
}

fn margins(
    attributes: Attributes<'_>,
    columns: &Columns,
    outputs: usize,
    allowance: &mut Allowance,
) -> Result<Columns, Stop> {
    let count = columns.len();
    let coefficients = attributes.numbers("coefficients")?;
    attributes.check_count("coefficients", coefficients.len(), outputs.saturating_mul(count))?;
    let intercepts = attributes.numbers("intercepts")?;
    if !intercepts.is_empty() {
        attributes.check_count("intercepts", intercepts.len(), outputs)?;
    }
    let after = |output: usize| intercepts.get(output).copied().unwrap_or(0.0);
    columns.times(outputs, |column, output| coefficients[output * count + column], after, allowance)
}

/// Computes `Σ_s coefficient_s ⟨support_s, x⟩ + rho`. Without support vectors, the coefficients are the
/// weights of the features.
pub(super) fn support_vectors(
    attributes: Attributes<'_>,
    columns: &Columns,
    allowance: &mut Allowance,
) -> Result<Scores, Stop> {
    let kernel = attributes.text("kernel_type")?.unwrap_or("LINEAR");
    if kernel != "LINEAR" || attributes.integer("one_class")?.unwrap_or(0) != 0 {
        return Err(Stop::Error(ModelError::Unsupported {
            what: format!("an ONNX graph with an SVMRegressor for one class or with kernel {kernel}"),
            help: "pass the file to the command apportion, or the fitted model to apportion.Explainer \
                   (Python), which explain RBF kernels exactly",
        }));
    }
    let count = columns.len();
    let coefficients = attributes.numbers("coefficients")?;
    let rho = attributes.numbers("rho")?;
    attributes.check_count("rho", rho.len(), 1)?;
    let supports = attributes.integer("n_supports")?.unwrap_or(0);
    let weights = if supports == 0 {
        attributes.check_count("coefficients", coefficients.len(), count)?;
        coefficients
    } else {
        let supports = output_count(attributes, "n_supports", supports)?;
        attributes.check_count("coefficients", coefficients.len(), supports)?;
        let vectors = attributes.numbers("support_vectors")?;
        attributes.check_count("support_vectors", vectors.len(), supports.saturating_mul(count))?;
        let mut weights = vec![0.0; count];
        for (vector, coefficient) in vectors.chunks_exact(count).zip(&coefficients) {
            weights.iter_mut().zip(vector).for_each(|(weight, number)| *weight += coefficient * number);
        }
        weights
    };
    let margins = columns.times(1, |column, _| weights[column], |_| rho[0], allowance)?;
    Ok(Scores::linked(margins, PostTransform::named(attributes)?.link()))
}
