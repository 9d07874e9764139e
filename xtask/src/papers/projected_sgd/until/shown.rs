//! The numbers as tables and a figure.

use anyhow::Result;
use apportion::Method;
use apportion::estimators::{Guarantee, StopRule};

use super::asked::{DEFAULT, METHODS, TOLERANCES, confidence};
use super::price::price;
use super::runs::Measured;
use super::{Counts, LEAST_SHARE, MOST_RATIO};
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Shape, Style, palette};
use crate::reproduce::report::{Entry, Table};

/// Directions for which the price of confidence is shown.
const DIRECTIONS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0, 100.0];

/// Shares are shown from here, in per cent.
const LEAST_SHOWN: f64 = 80.0;

/// One row for each method, game and tolerance.
pub(super) fn data(measured: &[Measured]) -> Result<Table> {
    let columns = [
        "method",
        "game",
        "tolerance",
        "runs",
        "stopped_for_tolerance",
        "stopped_by_budget",
        "exact",
        "within",
        "mean_error_over_tolerance",
        "evaluations_spent",
        "least_evaluations",
        "spent_over_least",
        "directions",
        "price_of_confidence",
        "looks",
    ];
    let mut table = Table::new("data", columns);
    for one in measured {
        let counts = Counts::of([one]);
        let mean = |of: fn(&super::runs::Outcome) -> f64| {
            let sum: f64 = one.reached().map(of).sum();
            (counts.reached > 0).then(|| sum / counts.reached as f64)
        };
        table.push(vec![
            one.method.name().into(),
            one.game.as_str().into(),
            one.tolerance.into(),
            one.outcomes.len().into(),
            counts.reached.into(),
            one.outcomes.iter().filter(|outcome| outcome.stopped_by == StopRule::Budget).count().into(),
            one.reached().filter(|outcome| outcome.guarantee == Guarantee::Exact).count().into(),
            counts.within.into(),
            mean(|outcome| outcome.error).into(),
            one.spent().into(),
            one.least.into(),
            one.ratio().into(),
            one.directions().into(),
            one.directions().map(|directions| price(directions, confidence())).transpose()?.into(),
            mean(|outcome| outcome.looks as f64).into(),
        ]);
    }
    Ok(table)
}

/// One row for each method and tolerance, over all games.
pub(super) fn by_method(measured: &[Measured]) -> Table {
    let columns = [
        "method",
        "tolerance",
        "runs",
        "stopped by budget",
        "exact",
        "others that stopped for the tolerance",
        "within tolerance",
        "spent / least",
        "largest",
    ];
    let mut table = Table::new("Runs until an accuracy, over all games", columns);
    for method in METHODS {
        for tolerance in TOLERANCES {
            let cells: Vec<&Measured> =
                measured.iter().filter(|one| one.method == method && one.tolerance == tolerance).collect();
            if cells.is_empty() {
                continue;
            }
            let counts = Counts::of(cells.iter().copied());
            let ratios: Vec<f64> = cells.iter().filter_map(|one| one.ratio()).collect();
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            table.push(vec![
                method.name().into(),
                tolerance.into(),
                counts.runs.into(),
                (counts.runs - counts.reached).into(),
                (counts.reached - counts.uncertain).into(),
                counts.uncertain.into(),
                counts.share_of_uncertain().into(),
                (!ratios.is_empty()).then_some(mean).into(),
                ratios.iter().copied().reduce(f64::max).into(),
            ]);
        }
    }
    table
}

/// The cells of the default method.
pub(super) fn by_game(measured: &[Measured]) -> Result<Table> {
    let columns = [
        "game",
        "tolerance",
        "stopped for the tolerance",
        "within tolerance",
        "spent",
        "least",
        "spent / least",
        "price of confidence",
        "looks",
    ];
    let mut table = Table::new(format!("Runs of {DEFAULT}"), columns);
    for one in measured.iter().filter(|one| one.method == DEFAULT) {
        let counts = Counts::of([one]);
        let looks: usize = one.reached().map(|outcome| outcome.looks).sum();
        table.push(vec![
            one.game.as_str().into(),
            one.tolerance.into(),
            format!("{} of {}", counts.reached, counts.runs).into(),
            counts.share().into(),
            one.spent().into(),
            one.least.into(),
            one.ratio().into(),
            one.directions().map(|directions| price(directions, confidence())).transpose()?.into(),
            (counts.reached > 0).then(|| looks as f64 / counts.reached as f64).into(),
        ]);
    }
    Ok(table)
}

/// What confidence costs by the directions of the error.
pub(super) fn prices() -> Result<Table> {
    let columns = ["directions ν", "price of confidence"];
    let caption = "Budget at which the error is within the tolerance with confidence 0.95, over the budget at which its mean is the tolerance";
    let mut table = Table::new(caption, columns);
    for directions in DIRECTIONS {
        table.push(vec![Entry::Count(directions as usize), price(directions, confidence())?.into()]);
    }
    Ok(table)
}

fn style(tolerance: usize) -> Style {
    let looks = [
        Style { colour: palette::SKY, shape: Shape::Circle },
        Style { colour: palette::BLUE, shape: Shape::Square },
        Style { colour: palette::VERMILION, shape: Shape::Triangle },
    ];
    looks[tolerance % looks.len()]
}

/// Shares within the tolerance and evaluations spent, by method, and of the default method by game.
pub(super) fn figure(measured: &[Measured]) -> Figure {
    let ticks = METHODS.iter().rev().enumerate().map(|(row, method)| (row as f64, title(*method)));
    let rows = Axis::linear("").with_ticks(ticks.collect()).covering(-0.5, METHODS.len() as f64 - 0.5);
    let row = |method: Method| METHODS.iter().rev().position(|&other| other == method).unwrap_or(0) as f64;
    let upright = |x: f64| Mark::Dashes {
        colour: palette::BLACK,
        points: vec![(x, -0.5), (x, METHODS.len() as f64 - 0.5)],
    };
    let mut shares = vec![upright(100.0 * LEAST_SHARE), upright(100.0 * confidence())];
    let mut ratios = vec![upright(1.0), upright(MOST_RATIO)];
    let least: Vec<f64> = measured.iter().filter_map(|one| one.least).collect();
    let ends =
        [least.iter().copied().fold(f64::INFINITY, f64::min), least.iter().copied().fold(1.0, f64::max)];
    let level = |y: f64| Mark::Dashes { colour: palette::BLACK, points: ends.map(|x| (x, y)).to_vec() };
    let mut own_shares = vec![level(100.0 * LEAST_SHARE), level(100.0 * confidence())];
    let mut own_ratios = vec![level(1.0), level(MOST_RATIO)];
    for (at, &tolerance) in TOLERANCES.iter().enumerate() {
        // Next to each other in the row of their method.
        let beside = 0.2 * (1.0 - at as f64);
        let of_tolerance = || measured.iter().filter(move |one| one.tolerance == tolerance);
        let pooled = METHODS.into_iter().filter_map(|method| {
            let share = Counts::of(of_tolerance().filter(|one| one.method == method)).share_of_uncertain()?;
            Some(((100.0 * share).max(LEAST_SHOWN), row(method) + beside))
        });
        let cells = of_tolerance().filter_map(|one| Some((one.ratio()?, row(one.method) + beside)));
        let own = || of_tolerance().filter(|one| one.method == DEFAULT);
        let shares_of_cells =
            own().filter_map(|one| Some((one.least?, (100.0 * Counts::of([one]).share()?).max(LEAST_SHOWN))));
        let ratios_of_cells = own().filter_map(|one| Some((one.least?, one.ratio()?)));
        let points = |points: Vec<(f64, f64)>| Mark::Points { style: style(at), points };
        shares.push(points(pooled.collect()));
        ratios.push(points(cells.collect()));
        own_shares.push(points(shares_of_cells.collect()));
        own_ratios.push(points(ratios_of_cells.collect()));
    }
    let panel = |title: &str, x: Axis, y: Axis, marks| Panel { title: title.to_owned(), x, y, marks };
    let within = "runs within the tolerance, %";
    let spent = "spent / least evaluations";
    let budgets = || Axis::log("least evaluations", f64::MIN_POSITIVE);
    Figure {
        title: "Runs until an accuracy, with confidence 0.95".to_owned(),
        panels: vec![
            panel("all games", Axis::linear(within).covering(LEAST_SHOWN, 100.0), rows.clone(), shares),
            panel("each game", Axis::linear(spent).covering(0.0, MOST_RATIO), rows, ratios),
            panel(DEFAULT.name(), budgets(), Axis::linear(within).covering(LEAST_SHOWN, 100.0), own_shares),
            panel(DEFAULT.name(), budgets(), Axis::linear(spent).covering(0.0, MOST_RATIO), own_ratios),
        ],
        columns: 2,
        legend: TOLERANCES
            .iter()
            .enumerate()
            .map(|(at, tolerance)| (format!("tolerance {tolerance}"), style(at)))
            .collect(),
        note: format!(
            "Dashes: {:.0} and {:.0} %, 1 and {MOST_RATIO}. Above: runs that were not exact. Shares below {LEAST_SHOWN} % are drawn there. *: without replacement.",
            100.0 * LEAST_SHARE,
            100.0 * confidence()
        ),
    }
}

/// Short, beside an axis.
fn title(method: Method) -> String {
    match method.name() {
        "kernel-banzhaf-without-replacement" => "kernel-banzhaf*".to_owned(),
        "optimized-monte-carlo" => "optimized-mc".to_owned(),
        name => name.to_owned(),
    }
}
