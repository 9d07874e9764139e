//! Converts explanations to the input of figures and reports.

use apportion_estimators::Explanation;
use apportion_games::Rows;
use apportion_plots::{Explained, Gathering, PlotError};
use apportion_results::{Batch, Heading};

use crate::batch::batch;

/// Converts explanations to the input of figures and reports, with the names of the features. If the
/// explained rows are passed, figures also show their inputs.
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
/// [`PlotError::Results`] if the number of names or rows does not match the explanations;
/// [`PlotError::NotFinite`] for numbers that cannot be plotted.
pub fn explained(
    explanations: &[Explanation],
    names: impl IntoIterator<Item = impl Into<String>>,
    rows: Option<Rows<'_>>,
) -> Result<Explained, PlotError> {
    let mut heading = Heading::for_features(names);
    if let Some(first) = explanations.first() {
        heading.value = first.value.to_string();
        heading.is_efficient = first.value.is_efficient();
        heading.method.clone_from(&first.method);
        heading.outputs = vec![String::new(); first.base.len().max(1)];
        heading.facts = first.seed.iter().map(|seed| ("seed".to_owned(), seed.to_string().into())).collect();
    }
    let mut gathering = Gathering::new(heading)?;
    let inputs = rows.map(|rows| rows.values().to_vec()).unwrap_or_default();
    gathering.add(Batch { inputs, ..batch(explanations.iter().cloned()) })?;
    Ok(gathering.end())
}
