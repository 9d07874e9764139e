//! Curves of log-odds by share of masked players: figures, tables and data of the measurements.

use super::masking::Measured;
use super::subject::AvailableSubjects;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Style};
use crate::reproduce::report::{Table, table};
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::Claim;

/// Small print below figures with curves. It is short, since a figure may have a single panel.
const NOTE: &str = "Lower is better. Bands: ± one standard error. In brackets: samples.";

/// Creates the panel of a dataset: means over the samples, with a band of one standard error on either side.
pub(super) fn panel(measured: &Measured<'_>, players: &str) -> Panel {
    let mut marks = Vec::new();
    let lines = measured.curves.iter().map(|curve| {
        let points: Vec<(f64, Measurement)> =
            measured.levels.iter().enumerate().map(|(level, &x)| (x as f64, curve.mean(level))).collect();
        (curve.method.style(), points)
    });
    let lines: Vec<(Style, Vec<(f64, Measurement)>)> = lines.collect();
    for (style, points) in &lines {
        // A single sample has no standard error.
        let edges = points.iter().filter(|(_, mean)| mean.error.is_finite());
        let edges: Vec<_> =
            edges.map(|(x, mean)| (*x, mean.value - mean.error, mean.value + mean.error)).collect();
        if !edges.is_empty() {
            marks.push(Mark::Band { colour: style.colour, points: edges });
        }
    }
    // Draw the first methods, the subject of the paper, last and thus on top.
    for (style, points) in lines.iter().rev() {
        let points = points.iter().map(|(x, mean)| (*x, mean.value)).collect();
        marks.push(Mark::Line { style: *style, points });
    }
    Panel {
        title: measured.subject.heading(measured.samples.len()),
        x: Axis::linear(&format!("{players} masked, %")),
        y: Axis::linear("change of log-odds of the class"),
        marks,
    }
}

/// Creates a figure of curves, with its data and tables. Figures with four panels have two columns.
pub(super) fn artefact_output(
    found: &AvailableSubjects,
    all: &[Measured<'_>],
    (title, panels, most): (&str, Vec<Panel>, usize),
    claims: Vec<Claim>,
    notes: Vec<String>,
) -> ArtefactOutput {
    ArtefactOutput {
        data: data(all),
        figure: Some(Figure {
            title: title.to_owned(),
            columns: if panels.len() == 4 { 2 } else { panels.len().min(most) },
            panels,
            legend: legend(all),
            note: NOTE.to_owned(),
        }),
        tables: [Some(summary(all)), found.trained()].into_iter().flatten().collect(),
        claims,
        notes,
        datasets: Vec::new(),
    }
}

/// Returns the titles and styles of the measured methods.
fn legend(all: &[Measured<'_>]) -> Vec<(String, Style)> {
    let mut legend: Vec<(String, Style)> = Vec::new();
    for curve in all.iter().flat_map(|measured| &measured.curves) {
        let title = curve.method.title();
        if legend.iter().all(|(known, _)| known != title) {
            legend.push((title.to_owned(), curve.method.style()));
        }
    }
    legend
}

/// Creates the table of all points of the curves.
fn data(all: &[Measured<'_>]) -> Table {
    table!("data", [
        for measured in all;
        for curve in &measured.curves;
        for (level, &percent) in measured.levels.iter().enumerate();
        let mean = curve.mean(level);
    ]
        "dataset" => measured.subject.name,
        "method" => curve.method.title(),
        "percent masked" => percent,
        "samples" => curve.outcomes.len(),
        "change of log-odds" => mean.value,
        "standard error" => mean.known_error(),
    )
}

/// Creates the summary table, with the evaluations and results of each method on each dataset.
fn summary(all: &[Measured<'_>]) -> Table {
    table!("Evaluations, and the change of log-odds averaged over all shares masked", [
        for measured in all;
        for curve in &measured.curves;
        let area = Measurement::mean(&curve.areas());
    ]
        "dataset" => measured.subject.name,
        "method" => curve.method.title(),
        "samples" => curve.outcomes.len(),
        "evaluations per player" => curve.evaluations_per_player(),
        "at most" => curve.max_evaluations_per_player(),
        "mean change of log-odds" => area.value,
        "standard error" => area.known_error(),
        "change at the last share" => curve.mean(measured.levels.len() - 1).value,
    )
}
