//! Summary of the runs: a figure of error over budget, and a table.

use apportion::Budget;

use super::record::{EstimateLine, Record, RunLine};
use super::styles;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Style};
use crate::reproduce::report::{Entry, Table, in_runs, significant};
use crate::reproduce::statistics::{Measurement, Summary};
use crate::reproduce::verdict::MIN_RUNS;

/// Relative squared errors up to this are rounding error and drawn as zero.
const FLOOR: f64 = 1e-20;

/// Returns whether the errors ‖φ̃ − φ‖ of two runs on the same row differ only by rounding: by at most the
/// square root of [`FLOOR`] times ‖φ‖.
pub(crate) fn differ_by_rounding(one: &RunLine, other: &RunLine) -> bool {
    match (one.relative_squared_error, other.relative_squared_error) {
        (Some(one), Some(other)) => (one.sqrt() - other.sqrt()).abs() <= FLOOR.sqrt(),
        _ => one.squared_error == other.squared_error,
    }
}

/// Summarizes the errors of one dataset, estimator and budget; returns `None` if there are none.
fn summary(runs: &[RunLine], dataset: &str, estimator: &str, budget: &str) -> Option<Summary> {
    let is_of =
        |line: &&RunLine| line.dataset == dataset && line.estimator == estimator && line.budget == budget;
    let errors: Vec<f64> = runs.iter().filter(is_of).filter_map(|line| line.relative_squared_error).collect();
    (!errors.is_empty()).then(|| Summary::from_sample(&errors))
}

/// Returns the estimators with runs, and their styles.
fn styles_of<'a>(record: &'a Record, runs: &[RunLine]) -> Vec<(&'a str, Style)> {
    let names = record.estimators.iter().map(|estimator| estimator.name.as_str());
    let with_runs = names.filter(|name| runs.iter().any(|line| line.estimator == *name));
    with_runs.enumerate().map(|(place, name)| (name, styles::style_of(place))).collect()
}

/// Returns the position on the x axis and the tick label of each budget.
pub(crate) fn ticks(budgets: &[String], players: usize) -> Vec<(f64, String)> {
    let place =
        |budget: &String| Some((budget.parse::<Budget>().ok()?.evaluations(players) as f64, budget.clone()));
    budgets.iter().filter_map(place).collect()
}

/// Creates the figure: a panel for each dataset, with the median over the runs and the quartiles as a band.
pub(crate) fn figure(record: &Record, runs: &[RunLine]) -> Figure {
    let drawn = styles_of(record, runs);
    let panels = record.datasets.iter().map(|dataset| {
        let ticks = ticks(&record.budgets, dataset.players);
        let points = |name: &str| -> Vec<(f64, Summary)> {
            let point = |(x, label): &(f64, String)| Some((*x, summary(runs, &dataset.name, name, label)?));
            let mut points: Vec<_> = ticks.iter().filter_map(point).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            points
        };
        let bands = drawn.iter().map(|(name, style)| Mark::Band {
            colour: style.colour,
            points: points(name).into_iter().map(|(x, summary)| (x, summary.first, summary.third)).collect(),
        });
        let lines = drawn.iter().map(|(name, style)| Mark::Line {
            style: *style,
            points: points(name).into_iter().map(|(x, summary)| (x, summary.median)).collect(),
        });
        let bands = bands.filter(|_| drawn.len() <= styles::MAX_BANDED_ESTIMATORS);
        Panel {
            title: styles::title(&dataset.name, dataset.players),
            x: Axis::log("evaluations", f64::MIN_POSITIVE).with_ticks(ticks.clone()),
            y: Axis::log("relative squared error", FLOOR),
            marks: bands.chain(lines).collect(),
        }
    });
    let note = match drawn.len() <= styles::MAX_BANDED_ESTIMATORS {
        true => "Lines: median over the runs; bands: first to third quartile.",
        false => "Lines: median over the runs.",
    };
    let has_zeros = runs.iter().filter_map(|line| line.relative_squared_error).any(|error| error <= FLOOR);
    let note =
        if has_zeros { format!("{note} Values up to {FLOOR:e} are drawn as 0.") } else { note.to_owned() };
    Figure {
        title: format!("{}: {} values", record.label, record.value),
        panels: panels.collect(),
        columns: styles::COLUMNS,
        legend: styles::legend(
            drawn.iter().map(|(name, style)| ((*name).to_owned(), *style)),
            record.datasets.len(),
        ),
        note,
    }
}

/// Number of standard errors beyond which a deviation is reported as bias. Even among hundreds of cases, such
/// a deviation is unlikely to occur by chance.
const TOLD: f64 = 5.0;

/// Lists clearly biased estimators: those for which ⟨φ̃, φ⟩ / ‖φ‖² differs from 1 on average over the runs.
/// Each run has a different explicand, so other kinds of bias cannot be detected with few runs.
pub(crate) fn biases(record: &Record, estimates: &[EstimateLine]) -> Vec<String> {
    let mut told = Vec::new();
    for dataset in record.datasets.iter().map(|dataset| &dataset.name) {
        for estimator in record.estimators.iter().map(|estimator| &estimator.name) {
            for budget in &record.budgets {
                let is_of = |line: &&EstimateLine| {
                    line.dataset == *dataset && line.estimator == *estimator && line.budget == *budget
                };
                let lines: Vec<&EstimateLine> = estimates.iter().filter(is_of).collect();
                let share = |run: &[&EstimateLine]| {
                    let norm: f64 = run.iter().map(|line| line.truth * line.truth).sum();
                    let product: f64 = run.iter().map(|line| line.estimate * line.truth).sum();
                    (norm > 0.0).then(|| product / norm)
                };
                let shares: Vec<f64> =
                    lines.chunk_by(|one, next| one.run == next.run).filter_map(share).collect();
                let mean = Measurement::mean(&shares);
                // Exact estimates differ from the truth by rounding.
                let is_biased = (mean.value - 1.0).abs() > (TOLD * mean.error).max(1e-6);
                if shares.len() >= MIN_RUNS && is_biased {
                    told.push(format!(
                        "{estimator} on {dataset} at {budget} is biased: its estimates are {} times the \
                         truth on average over the runs (standard error {})",
                        significant(mean.value),
                        significant(mean.error)
                    ));
                }
            }
        }
    }
    told
}

/// Returns a message for each estimator, dataset and budget with runs in which all true values are 0; such
/// runs have no relative error.
pub(crate) fn without_relative_errors(record: &Record, runs: &[RunLine]) -> Vec<String> {
    let mut told = Vec::new();
    for dataset in record.datasets.iter().map(|dataset| &dataset.name) {
        for estimator in record.estimators.iter().map(|estimator| &estimator.name) {
            for budget in &record.budgets {
                let is_of = |line: &&RunLine| {
                    line.dataset == *dataset && line.estimator == *estimator && line.budget == *budget
                };
                let lines: Vec<&RunLine> = runs.iter().filter(is_of).collect();
                let null: Vec<f64> = lines
                    .iter()
                    .filter(|line| line.relative_squared_error.is_none())
                    .map(|line| line.squared_error)
                    .collect();
                if !null.is_empty() {
                    told.push(format!(
                        "{estimator} on {dataset} at {budget}: in {} of {}, all true values are 0, so the \
                         relative error is undefined; the largest squared error in these runs is {}",
                        null.len(),
                        in_runs(lines.len()),
                        significant(null.iter().copied().fold(0.0, f64::max))
                    ));
                }
            }
        }
    }
    told
}

/// Creates a table with a row per dataset and estimator, and a column per budget: the median, with quartiles
/// in parentheses.
pub(crate) fn table(record: &Record, runs: &[RunLine]) -> Table {
    let caption = format!(
        "Relative squared error of {} values over {}: median (first to third quartile)",
        record.value,
        in_runs(record.runs)
    );
    let columns =
        ["dataset", "estimator"].into_iter().map(str::to_owned).chain(record.budgets.iter().cloned());
    let mut table = Table::new(caption, columns);
    for dataset in &record.datasets {
        for (name, _) in styles_of(record, runs) {
            let cells =
                record.budgets.iter().map(|budget| match summary(runs, &dataset.name, name, budget) {
                    None => Entry::ABSENT,
                    Some(summary) => {
                        let [first, median, third] =
                            [summary.first, summary.median, summary.third].map(significant);
                        Entry::from(format!("{median} ({first} to {third})"))
                    }
                });
            let names = [dataset.name.as_str(), name].map(Entry::from);
            table.push(names.into_iter().chain(cells).collect());
        }
    }
    table
}
