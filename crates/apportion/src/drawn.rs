//! Explanations on their way to figures.

use apportion_estimators::{Certificate, Explanation};
use apportion_games::Rows;
use apportion_plots::{Batch, Certified, Explained, Gathering, Heading, Look, PlotError};

/// Explanations of rows as figures and reports take them: with the names of the n features, and the rows, where their inputs are to be seen.
///
/// ```
/// use apportion::plots::{Dress, Kind, Options, Report};
/// use apportion::{Background, Budget, Explainer, Rows, explained};
///
/// let model = |row: &[f64]| row[0] * row[1] + 3.0 * row[2];
/// let rows = [2.0, 3.0, 1.0, 0.5, 1.0, 2.0];
/// let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 3])?).budget(Budget::PerPlayer(20));
/// let explanations = explainer.explain_rows(Rows::new(&rows, 3))?;
///
/// let explained = explained(&explanations, ["width", "height", "depth"], Some(Rows::new(&rows, 3)))?;
/// let svg = Kind::Waterfall.lay_out(&explained, &Options::default())?.svg(Dress::Colours);
/// assert!(svg.contains("width = 2"));
/// assert!(Report::new(&explained).html()?.starts_with("<!DOCTYPE html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`PlotError::Count`] where names, rows and explanations are not of each other, [`PlotError::NotFinite`] for numbers that no figure has a place
/// for.
pub fn explained(
    explanations: &[Explanation],
    names: impl IntoIterator<Item = impl Into<String>>,
    rows: Option<Rows<'_>>,
) -> Result<Explained, PlotError> {
    let mut heading = Heading::of_features(names);
    if let Some(first) = explanations.first() {
        heading.value = first.value.to_string();
        heading.is_efficient = first.value.is_efficient();
        heading.method.clone_from(&first.method);
        heading.outputs = vec![String::new(); first.base.len().max(1)];
        heading.facts = first.seed.iter().map(|seed| ("seed".to_owned(), seed.to_string())).collect();
    }
    let each =
        |of: fn(&Explanation) -> &[f64]| explanations.iter().flat_map(of).copied().collect::<Vec<f64>>();
    // As the command does: values are estimates where any has an error.
    let are_estimates = explanations.iter().any(|explanation| {
        explanation.std_errors.as_ref().is_none_or(|errors| errors.iter().any(|&error| error != 0.0))
    });
    let errors = explanations.iter().flat_map(|explanation| match &explanation.std_errors {
        Some(errors) => errors.clone(),
        None => vec![f64::NAN; explanation.values.len()],
    });
    let degrees = explanations.iter().map(|explanation| {
        explanation.diagnostics.error_law.as_ref().map_or(f64::INFINITY, |law| law.degrees_of_freedom)
    });
    let mut gathering = Gathering::new(heading)?;
    gathering.add(Batch {
        rows: (0..explanations.len() as u64).collect(),
        base: each(|explanation| &explanation.base),
        predictions: each(|explanation| &explanation.prediction),
        values: each(|explanation| &explanation.values),
        std_errors: if are_estimates { errors.collect() } else { Vec::new() },
        degrees_of_freedom: degrees.collect(),
        inputs: rows.map(|rows| rows.values().to_vec()).unwrap_or_default(),
        evaluations: explanations.iter().map(|explanation| explanation.evaluations as u64).collect(),
        certificates: explanations
            .iter()
            .map(|explanation| explanation.certificate.as_ref().map(certified))
            .collect(),
        ids: None,
    })?;
    Ok(gathering.end())
}

/// A certificate as figures and reports take it.
pub fn certified(certificate: &Certificate) -> Certified {
    let looks = certificate.looks.iter();
    Certified {
        stopped_by: certificate.stopped_by.to_string(),
        guarantee: certificate.guarantee.to_string(),
        confidence: certificate.confidence,
        error_bounds: certificate.error_bounds.clone().unwrap_or_default(),
        tolerances: certificate.tolerances.clone(),
        looks: looks.map(|look| Look { evaluations: look.budget as u64, error: look.error }).collect(),
        says: certificate.says.clone(),
    }
}
