//! Converts explanations to the batches of result files.

use apportion_estimators::{Certificate, Explanation};
use apportion_results::{Batch, Certified, InterimCheck};

/// Converts explanations to a batch of results. Rows are numbered from 0; the caller adds IDs and inputs.
///
/// For a value without a standard error, the batch contains zero if the value is exact, and NaN if its error
/// is unknown. An example of the latter is an exact value of a game that was itself sampled.
/// [`Batch::has_errors`] returns whether any value is an estimate.
///
/// ```
/// use apportion::{Background, Explainer, Rows, batch};
///
/// let model = |row: &[f64]| row[0] * row[1];
/// let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 2])?);
/// let rows = batch(explainer.explain_rows(Rows::new(&[1.0, 3.0, 2.0, 4.0], 2))?);
/// assert_eq!(rows.values, [1.5, 1.5, 4.0, 4.0]);
/// assert!(rows.len() == 2 && !rows.has_errors());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn batch(explanations: impl IntoIterator<Item = Explanation>) -> Batch {
    let mut batch = Batch::default();
    for explanation in explanations {
        let diagnostics = explanation.diagnostics;
        match explanation.std_errors {
            Some(errors) => batch.std_errors.extend(errors),
            None => {
                // Exact values of a sampled game have the sampling error of its draws.
                let is_exact = diagnostics.exact && diagnostics.draws.is_none();
                let error = if is_exact { 0.0 } else { f64::NAN };
                batch.std_errors.extend(std::iter::repeat_n(error, explanation.values.len()));
            }
        }
        batch.rows.push(batch.rows.len() as u64);
        batch.base.extend(explanation.base);
        batch.predictions.extend(explanation.prediction);
        batch.values.extend(explanation.values);
        batch.evaluations.push(explanation.evaluations as u64);
        batch.draws.push(diagnostics.draws.map(|draws| draws as u64));
        let degrees = diagnostics
            .error_distribution
            .map_or(f64::INFINITY, |distribution| distribution.degrees_of_freedom);
        batch.degrees_of_freedom.push(degrees);
        batch.certificates.push(explanation.certificate.map(certified));
    }
    batch
}

fn certified(certificate: Certificate) -> Certified {
    let interim_check = |interim_check: apportion_estimators::InterimCheck| InterimCheck {
        evaluations: interim_check.budget as u64,
        spent: interim_check.spent,
        error: interim_check.error,
    };
    Certified {
        stopped_by: certificate.stopped_by.to_string(),
        guarantee: certificate.guarantee.to_string(),
        confidence: certificate.confidence,
        error_bounds: certificate.error_bounds.unwrap_or_default(),
        tolerances: certificate.tolerances,
        half_widths: certificate.half_widths.unwrap_or_default(),
        interim_checks: certificate.interim_checks.into_iter().map(interim_check).collect(),
        says: certificate.says,
    }
}

#[cfg(test)]
mod tests {
    use apportion_values::{Semivalue, SolutionConcept};

    use super::*;

    /// Returns an explanation of one output with two values, which have the given standard errors.
    fn explanation(std_errors: Option<[f64; 2]>, is_exact: bool, draws: Option<usize>) -> Explanation {
        let value = SolutionConcept::Semivalue(Semivalue::Shapley);
        let mut explanation =
            Explanation::estimate("by hand", value, vec![1.0, 2.0], (vec![0.0], vec![3.0]), (4, 1));
        explanation.std_errors = std_errors.map(Vec::from);
        explanation.diagnostics.exact = is_exact;
        explanation.diagnostics.draws = draws;
        explanation
    }

    #[test]
    fn each_value_has_an_error_that_is_zero_where_it_is_exact() {
        let exact = batch([explanation(Some([0.0; 2]), true, None), explanation(None, true, None)]);
        assert!(exact.std_errors == [0.0; 4] && !exact.has_errors());
        let estimates = batch([explanation(None, true, None), explanation(Some([0.5, 0.0]), false, None)]);
        assert!(estimates.std_errors == [0.0, 0.0, 0.5, 0.0] && estimates.has_errors());
        for unknown in [explanation(None, false, None), explanation(None, true, Some(1))] {
            let unknown = batch([unknown]);
            assert!(unknown.std_errors.len() == 2 && unknown.std_errors.iter().all(|error| error.is_nan()));
            assert!(unknown.has_errors());
        }
    }
}
