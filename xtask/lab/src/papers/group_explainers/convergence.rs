//! Figures 1 to 6: MISE and RMISE against the number of draws K.

use anyhow::Result;

use super::experiment::{ALL, Experiment};
use super::runs::{DRAWS, HALF_WIDTH, Runs, runs};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Colour, Figure, Mark, Marker, Panel, Style, palette};
use crate::reproduce::report::{Entry, Table, notes, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::{Measurement, log_log_slope};
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// Limits between which a slope counts as −1, in the claim that MISE decreases like 1/K as in the theory.
const SLOPES_OF_THEORY: (f64, f64) = (-1.1, -0.9);
/// Limits between which a slope counts as −1, in this project's target.
const SLOPES: (f64, f64) = (-1.05, -0.95);

/// Limits between which a ratio counts as 1.
const RATIOS: (f64, f64) = (0.9, 1.1);

/// Results of the runs with one number of predictors.
struct Series {
    predictors: usize,
    runs: usize,
    /// Mean integrated squared error (MISE) for each number of draws.
    mise: Vec<Measurement>,
    /// Mean of the variances that the estimator reports, for each number of draws.
    estimated: Vec<Measurement>,
    /// σ², averaged over the explicands, computed exactly.
    variance: f64,
    /// Ratio of RMISE, the relative MISE, to MISE.
    relative: f64,
    slope: Measurement,
}

impl Series {
    fn from_runs(runs: &Runs) -> Self {
        let mean = |of: fn(&super::runs::Measured) -> f64| {
            let by_draws = runs.measured.iter();
            by_draws
                .map(|runs| Measurement::mean(&runs.iter().map(of).collect::<Vec<_>>()))
                .collect::<Vec<_>>()
        };
        let mise = mean(|run| run.error);
        let points: Vec<_> = DRAWS.iter().map(|&draws| draws as f64).zip(mise.iter().copied()).collect();
        Self {
            predictors: runs.predictors,
            runs: runs.measured.first().map_or(0, Vec::len),
            estimated: mean(|run| run.variance),
            variance: runs.variance(),
            relative: 1.0 / runs.square(),
            slope: log_log_slope(&points),
            mise,
        }
    }

    fn title(&self) -> String {
        format!("p = {}", self.predictors)
    }

    /// Returns the log of the geometric mean of MISE over all K.
    fn log_mise(&self) -> Measurement {
        let count = self.mise.len() as f64;
        let relative = self.mise.iter().map(|mise| (mise.error / mise.value).powi(2)).sum::<f64>();
        Measurement {
            value: self.mise.iter().map(|mise| mise.value.ln()).sum::<f64>() / count,
            error: relative.sqrt() / count,
        }
    }

    /// Returns MISE · K / σ², averaged over all K.
    fn of_rate(&self) -> Measurement {
        let ratios =
            self.mise.iter().zip(DRAWS).map(|(mise, draws)| mise.times(draws as f64 / self.variance));
        let (value, square) =
            ratios.fold((0.0, 0.0), |sum, ratio| (sum.0 + ratio.value, sum.1 + ratio.error.powi(2)));
        Measurement { value, error: f64::sqrt(square) }.times(1.0 / self.mise.len() as f64)
    }
}

/// Generates figure `number`, which shows the experiment with the same position in the list.
pub(super) fn figure(session: &Session, number: usize) -> Result<ArtefactOutput> {
    let experiment = &ALL[number - 1];
    let runs = runs(session, experiment)?;
    let series: Vec<Series> = runs.iter().map(Series::from_runs).collect();
    let mut claims = vec![decays(&series), project_slope(&series), theorem(&series)];
    if series.len() > 1 {
        claims.extend([size_hardly_matters(&series), relative_error_grows(&series)]);
    }
    Ok(ArtefactOutput {
        data: data(&series),
        figure: Some(convergence_figure(experiment, number, &series, session.runs)),
        tables: vec![slopes(&series), errors(&series)],
        claims,
        notes: notes(session, experiment),
        datasets: Vec::new(),
    })
}

fn notes(session: &Session, experiment: &Experiment) -> Vec<String> {
    let mut notes = super::notes::notes(session);
    notes.push(format!(
        "experiment {}: {} in the empirical marginal game, from K independent draws from coalitions × \
         background for each explicand; draws are independent across K and runs",
        experiment.name, experiment.quantity
    ));
    notes.extend(notes![
        "MISE: mean over the explicands of (ĝ − g)² (equation 4.1); RMISE: MISE divided by the mean of g² \
         (equation 4.2); both are means over the runs, with standard errors. Exact rate: σ²/K, where σ² is \
         the variance of one draw, computed by enumeration. Estimated variance: mean of s²/K, where s² is \
         the sample variance of each estimate",
    ]);
    if experiment.sizes.len() > 1 {
        notes.push(
            "models of more predictors have the same explicands and background in the predictors that \
            they share"
                .to_owned(),
        );
    }
    notes
}

fn in_words(slope: Measurement) -> String {
    // A single run has no standard error.
    let error = if slope.error.is_nan() { String::new() } else { format!(" ± {:.3}", slope.error) };
    format!("{:.3}{error}", slope.value).replace('-', "−")
}

/// Returns a case for each series: whether its slope is between the limits.
fn slope_cases(series: &[Series], limits: (f64, f64)) -> impl Iterator<Item = Case> {
    series.iter().map(move |one| {
        let name = format!("{} ({})", one.title(), in_words(one.slope));
        Case::new(name, Test::measured_within(one.slope, one.runs, limits))
    })
}

fn decays(series: &[Series]) -> Claim {
    By::StandardError
        .in_all(
            "the error decays as the theory dictates: MISE as 1/K",
            "section 4.2, conclusion; Theorems 3.1 to 3.3",
            "a number of predictors; it agrees if the slope of log MISE against log K is within 0.1 of −1",
            slope_cases(series, SLOPES_OF_THEORY),
        )
        .prints("a slope of −1")
}

fn project_slope(series: &[Series]) -> Claim {
    By::StandardError.in_all(
        "the slope of log MISE against log K is between −1.05 and −0.95",
        "target of this project",
        "a number of predictors",
        slope_cases(series, SLOPES),
    )
}

fn theorem(series: &[Series]) -> Claim {
    let cases = series.iter().map(|one| {
        let ratio = one.of_rate();
        let name = format!("{} ({:.3} ± {:.3})", one.title(), ratio.value, ratio.error);
        Case::new(name, Test::measured_within(ratio, one.runs, RATIOS))
    });
    By::StandardError.in_all(
        "MISE is the variance of a draw over K",
        "Theorems 3.1 to 3.3; theoretical rate in the figure",
        "a number of predictors; it agrees if the mean over K of MISE · K / σ², with the exact σ², is within \
         10 % of 1",
        cases,
    )
}

fn size_hardly_matters(series: &[Series]) -> Claim {
    let mut cases = Vec::new();
    for (at, one) in series.iter().enumerate() {
        for other in &series[at + 1..] {
            let (log, limit) = (log_ratio(other, one), 2f64.ln());
            let name = format!("p = {} and {} (×{:.2})", one.predictors, other.predictors, log.value.exp());
            cases.push(Case::new(name, Test::measured_within(log, one.runs, (-limit, limit))));
        }
    }
    By::StandardError.in_all(
        "the increase in number of predictors has minimal impact on the absolute error",
        "section 4.2, conclusion",
        "two numbers of predictors; it agrees if MISE (geometric mean over K) differs by a factor of at most \
         2, for which one doubling of K compensates",
        cases,
    )
}

/// Returns the log ratio of the MISE of one series to the MISE of the other.
fn log_ratio(one: &Series, other: &Series) -> Measurement {
    let (one, other) = (one.log_mise(), other.log_mise());
    Measurement { value: one.value - other.value, error: one.error.hypot(other.error) }
}

fn relative_error_grows(series: &[Series]) -> Claim {
    let cases = series.windows(2).map(|pair| {
        let mut log = log_ratio(&pair[1], &pair[0]);
        log.value += (pair[1].relative / pair[0].relative).ln();
        let name =
            format!("p from {} to {} (×{:.2})", pair[0].predictors, pair[1].predictors, log.value.exp());
        Case::new(name, Test::measured_within(log, pair[0].runs, (0.0, 2f64.ln())))
    });
    By::StandardError.in_all(
        "the relative error increases slightly for more predictors",
        "section 4.2, conclusion",
        "a step from one number of predictors to the next; it agrees if RMISE (geometric mean over K) grows, \
         by a factor of at most 2",
        cases,
    )
}

const COLOURS: [Colour; 4] = [palette::BLUE, palette::VERMILION, palette::GREEN, palette::PURPLE];
const MARKERS: [Marker; 4] = [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond];

fn convergence_figure(experiment: &Experiment, number: usize, series: &[Series], runs: usize) -> Figure {
    let style = |at: usize| Style { colour: COLOURS[at], marker: Some(MARKERS[at]) };
    let ticks: Vec<(f64, String)> = DRAWS.iter().map(|&draws| (draws as f64, draws.to_string())).collect();
    // A panel shows the MISE, the exact rate and the estimated variance of each series, all multiplied by a
    // factor that may depend on the series and on K.
    let panel = |title: &str, y: Axis, factor: &dyn Fn(&Series, f64) -> f64| {
        let points = |one: &Series, of: &dyn Fn(usize, f64) -> f64| -> Vec<(f64, f64)> {
            let by_draws = DRAWS.iter().enumerate();
            by_draws
                .map(|(at, &draws)| (draws as f64, of(at, draws as f64) * factor(one, draws as f64)))
                .collect()
        };
        let mut marks = Vec::new();
        for (at, one) in series.iter().enumerate() {
            let half = |at: usize| HALF_WIDTH * one.mise[at].error;
            let lower = points(one, &|at, _| one.mise[at].value - half(at));
            let upper = points(one, &|at, _| one.mise[at].value + half(at));
            let band = lower.into_iter().zip(upper).map(|(lower, upper)| (lower.0, lower.1, upper.1));
            marks.push(Mark::Band { colour: COLOURS[at], points: band.collect() });
        }
        for (at, one) in series.iter().enumerate() {
            marks.push(Mark::Line { style: style(at), points: points(one, &|at, _| one.mise[at].value) });
            marks.push(Mark::Dashes {
                colour: COLOURS[at],
                points: points(one, &|_, draws| one.variance / draws),
            });
            marks.push(Mark::Points {
                style: Style { colour: COLOURS[at], marker: Some(Marker::Cross) },
                points: points(one, &|at, _| one.estimated[at].value),
            });
        }
        Panel {
            title: title.to_owned(),
            x: Axis::log("draws K", f64::MIN_POSITIVE).with_ticks(ticks.clone()),
            y,
            marks,
        }
    };
    Figure {
        title: format!("Figure {number}: Monte Carlo error of {}", experiment.quantity),
        panels: vec![
            panel("(a) MISE", Axis::log("MISE", f64::MIN_POSITIVE), &|_, _| 1.0),
            panel("(b) RMISE", Axis::log("RMISE", f64::MIN_POSITIVE), &|one, _| one.relative),
            panel("MISE over the exact rate", Axis::linear("MISE · K / σ²"), &|one, draws| {
                draws / one.variance
            }),
        ],
        columns: 3,
        legend: series
            .iter()
            .enumerate()
            .map(|(at, one)| (format!("{}, slope {}", one.title(), in_words(one.slope)), style(at)))
            .chain([(
                "estimated variance".to_owned(),
                Style { colour: palette::GREY, marker: Some(Marker::Cross) },
            )])
            .collect(),
        note: format!(
            "Mean over {runs} runs with its 95 % interval; dashes: the theoretical rate σ²/K, σ² exact."
        ),
    }
}

fn slopes(series: &[Series]) -> Table {
    let estimated = |one: &Series| {
        let of_draws = one.estimated.iter().zip(DRAWS).map(|(one, draws)| one.value * draws as f64);
        of_draws.sum::<f64>() / DRAWS.len() as f64
    };
    table!("Slope of log MISE against log K; variance of a draw", [for one in series;]
        "p" => one.predictors,
        "slope" => one.slope.value,
        "standard error" => one.slope.error,
        "σ²" => one.variance,
        "estimated σ²" => estimated(one),
        "mean of g²" => 1.0 / one.relative,
    )
}

fn errors(series: &[Series]) -> Table {
    let columns = ["p", "of"].map(str::to_owned).into_iter();
    let mut table =
        Table::new("Errors by draws K", columns.chain(DRAWS.iter().map(|draws| format!("K = {draws}"))));
    for one in series {
        for (what, factor) in [("MISE", 1.0), ("RMISE", one.relative)] {
            let mut row = vec![Entry::from(one.predictors), Entry::from(what)];
            row.extend(one.mise.iter().map(|mise| Entry::from(mise.value * factor)));
            table.push(row);
        }
    }
    table
}

/// Creates the table of all numbers in the figure.
fn data(series: &[Series]) -> Table {
    table!("data", [
        for one in series;
        for ((mise, estimated), draws) in one.mise.iter().zip(&one.estimated).zip(DRAWS);
        let rmise = mise.times(one.relative);
    ]
        "p" => one.predictors,
        "K" => draws,
        "mise" => mise.value,
        "mise_standard_error" => mise.error,
        "rmise" => rmise.value,
        "rmise_standard_error" => rmise.error,
        "exact_rate" => one.variance / draws as f64,
        "estimated_variance" => estimated.value,
    )
}
