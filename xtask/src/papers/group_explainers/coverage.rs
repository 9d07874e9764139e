//! Coverage: how often the 95 % intervals of the estimates hold the truth, in all experiments and both modes. Not in the paper.

use anyhow::Result;

use super::experiment::ALL;
use super::runs::{DRAWS, Mode, Runs, explicands, runs};
use crate::reproduce::catalogue::Made;
use crate::reproduce::figure::{Axis, Colour, Figure, Mark, Panel, Shape, Style, palette};
use crate::reproduce::report::{Entry, Table};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};

/// In the true marginal mode one of so many explicands, and models of at most so many predictors: the truth is a sample of its own there,
/// and each explicand of a run has fresh rows.
const ONE_OF: usize = 5;
const MOST_PREDICTORS: usize = 10;

/// What is wanted of 95 % intervals.
const WANTED: (f64, f64) = (0.93, 0.97);

/// Intervals, and how many of them held the truth.
#[derive(Debug, Clone, Copy, Default)]
struct Coverage {
    covered: usize,
    intervals: usize,
}

impl Coverage {
    fn share(self) -> f64 {
        self.covered as f64 / self.intervals as f64
    }

    fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(Self::default(), |sum, part| Self {
            covered: sum.covered + part.covered,
            intervals: sum.intervals + part.intervals,
        })
    }
}

/// The coverage in one experiment with p predictors.
struct Series {
    experiment: &'static str,
    mode: Mode,
    predictors: usize,
    /// By the number of draws.
    coverage: Vec<Coverage>,
    /// Over all numbers of draws, by run.
    by_run: Vec<Coverage>,
}

impl Series {
    fn of(experiment: &'static str, mode: Mode, runs: &Runs) -> Self {
        let intervals = runs.truths.len();
        let of_draws = |runs: &Vec<super::runs::Measured>| {
            Coverage::sum(runs.iter().map(|run| Coverage { covered: run.covered, intervals }))
        };
        let coverage = runs.measured.iter().map(of_draws).collect();
        let count = runs.measured.first().map_or(0, Vec::len);
        let of_run = |run: usize| {
            let by_draws = runs.measured.iter();
            Coverage::sum(by_draws.map(|runs| Coverage { covered: runs[run].covered, intervals }))
        };
        let by_run = (0..count).map(of_run).collect();
        Self { experiment, mode, predictors: runs.predictors, coverage, by_run }
    }
}

/// Coverage of ĝ ± 1.96 standard errors, by experiment and number of draws, and pooled.
pub(super) fn coverage(session: &Session) -> Result<Made> {
    let mut series = Vec::new();
    for mode in [Mode::Empirical, Mode::True] {
        let all = explicands(session);
        let (most, explicands) = match mode {
            Mode::Empirical => (usize::MAX, all),
            Mode::True => (MOST_PREDICTORS, all.div_ceil(ONE_OF)),
        };
        for experiment in &ALL {
            let runs = runs(session, experiment, mode, most, explicands)?;
            series.extend(runs.iter().map(|runs| Series::of(experiment.name, mode, runs)));
        }
    }
    let mut notes = super::notes(session);
    notes.push("empirical marginal: the runs of figures 1 to 6".to_owned());
    notes.push(format!(
        "true marginal: each explicand of each run has K fresh rows from the law of X, each used once; {} explicands and models \
         of up to {MOST_PREDICTORS} predictors. The truth is the mean of the exact values over up to 2^19 rows of another sample; its \
         variance is added to that of the estimate",
        explicands(session).div_ceil(ONE_OF)
    ));
    Ok(Made {
        data: data(&series),
        figure: Some(figure(&series)),
        tables: vec![table(&series)],
        claims: [Mode::Empirical, Mode::True].map(|mode| claim(&series, mode)).to_vec(),
        notes,
        datasets: Vec::new(),
    })
}

fn of_mode(series: &[Series], mode: Mode) -> impl Iterator<Item = &Series> {
    series.iter().filter(move |one| one.mode == mode)
}

fn claim(series: &[Series], mode: Mode) -> Claim {
    let of_draws = |at: usize| Coverage::sum(of_mode(series, mode).map(|one| one.coverage[at]));
    let all = Coverage::sum(of_mode(series, mode).flat_map(|one| one.coverage.iter().copied()));
    let by_draws: Vec<String> = DRAWS
        .iter()
        .enumerate()
        .map(|(at, draws)| format!("{:.1} % at K = {draws}", 100.0 * of_draws(at).share()))
        .collect();
    let count = of_mode(series, mode).map(|one| one.by_run.len()).min().unwrap_or_default();
    let of_run = |run: usize| Coverage::sum(of_mode(series, mode).map(|one| one.by_run[run])).share();
    let shares: Vec<f64> = (0..count).map(of_run).collect();
    let name =
        format!("{:.2} % of {} intervals; {}", 100.0 * all.share(), all.intervals, by_draws.join(", "));
    Claim::over_cases(
        &format!(
            "95 % intervals cover the truth in 93 to 97 % of the cases over all experiments, {} mode",
            mode.title()
        ),
        "target of this project",
        "all experiments; it agrees if the coverage pooled over them, numbers of predictors and of draws and explicands, its mean over the runs, \
         is 93 to 97 %",
        By::StandardError,
        Needed::All,
        [Case::new(name, Test::mean_within(&shares, WANTED))],
    )
}

/// One row per mode, experiment and number of predictors, one column per number of draws.
fn table(series: &[Series]) -> Table {
    let columns = ["mode", "experiment", "p"].map(str::to_owned).into_iter();
    let columns = columns.chain(DRAWS.iter().map(|draws| format!("K = {draws}"))).chain(["all".to_owned()]);
    let mut table = Table::new("Coverage of nominal 95 % intervals", columns);
    for one in series {
        let mut row: Vec<Entry> = vec![one.mode.title().into(), one.experiment.into(), one.predictors.into()];
        row.extend(one.coverage.iter().map(|coverage| Entry::from(coverage.share())));
        row.push(Coverage::sum(one.coverage.iter().copied()).share().into());
        table.push(row);
    }
    table
}

fn data(series: &[Series]) -> Table {
    let columns = ["mode", "experiment", "p", "K", "intervals", "covered", "coverage"];
    let mut table = Table::new("data", columns);
    for one in series {
        for (coverage, draws) in one.coverage.iter().zip(DRAWS) {
            table.push(vec![
                one.mode.title().into(),
                one.experiment.into(),
                one.predictors.into(),
                draws.into(),
                coverage.intervals.into(),
                coverage.covered.into(),
                coverage.share().into(),
            ]);
        }
    }
    table
}

const COLOURS: [Colour; 6] =
    [palette::BLUE, palette::SKY, palette::VERMILION, palette::ORANGE, palette::GREEN, palette::PURPLE];
const SHAPES: [Shape; 6] =
    [Shape::Circle, Shape::Circle, Shape::Square, Shape::Square, Shape::Triangle, Shape::Triangle];

fn figure(series: &[Series]) -> Figure {
    let ticks: Vec<(f64, String)> =
        DRAWS.iter().map(|&draws| (draws as f64, format!("2^{}", draws.ilog2()))).collect();
    let style = |at: usize| Style { colour: COLOURS[at], shape: SHAPES[at] };
    let panel = |mode: Mode| {
        let level = |level: f64| DRAWS.iter().map(|&draws| (draws as f64, level)).collect::<Vec<_>>();
        let wanted = DRAWS.iter().map(|&draws| (draws as f64, 100.0 * WANTED.0, 100.0 * WANTED.1));
        let mut marks = vec![
            Mark::Band { colour: palette::BLACK, points: wanted.collect() },
            Mark::Dashes { colour: palette::BLACK, points: level(95.0) },
        ];
        for (at, experiment) in ALL.iter().enumerate() {
            let of_draws = |k: usize| {
                let parts = of_mode(series, mode).filter(|one| one.experiment == experiment.name);
                100.0 * Coverage::sum(parts.map(|one| one.coverage[k])).share()
            };
            let points = DRAWS.iter().enumerate().map(|(k, &draws)| (draws as f64, of_draws(k))).collect();
            marks.push(Mark::Line { style: style(at), points });
        }
        Panel {
            title: format!("{} mode", mode.title()),
            x: Axis::log("draws K", f64::MIN_POSITIVE).with_ticks(ticks.clone()),
            y: Axis::linear("coverage, %"),
            marks,
        }
    };
    Figure {
        title: "Coverage of 95 % intervals".to_owned(),
        panels: [Mode::Empirical, Mode::True].map(panel).to_vec(),
        columns: 2,
        legend: ALL.iter().enumerate().map(|(at, one)| (one.name.to_owned(), style(at))).collect(),
        note: "By experiment, pooled over numbers of predictors; band: 93 to 97 %.".to_owned(),
    }
}
