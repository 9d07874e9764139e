//! Figures 2 and 3: squared error against evaluations.

use anyhow::Result;

use super::method::{Accounting, Method};
use super::runs::{
    Compared, Comparison, Curve, FEWEST_PAIRS, HIGH, LOW, Measured, Setting, compare, judge, measure, passes,
};
use super::task::{Pairs, Task};
use super::truth::variance_of_paper;
use crate::reproduce::catalogue::Made;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Style};
use crate::reproduce::report::{Entry, Table, significant};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{Claim, Needed, Verdict};

/// Half the width of a 95 % interval in standard errors.
const HALF_WIDTH: f64 = 1.96;

/// Errors below so many times that of the truth itself are no evidence.
const ABOVE_NOISE: f64 = 4.0;

/// Iterations of optimized Monte Carlo that the paper takes for the truth at d = 300.
const TRUTH_OF_PAPER: usize = 5000;

/// d = 16.
pub(super) fn fig2(session: &Session) -> Result<Made> {
    let measured = [Task::Classification, Task::Regression]
        .into_iter()
        .map(|task| measured(session, task, LOW))
        .collect::<Result<Vec<_>>>()?;
    let claims = vec![
        outperforms(
            "all the proposed methods outperform the classical Monte Carlo algorithm both in classification and regression",
            "section 5.2, figure 2; abstract",
            &measured,
            &Method::proposed(LOW),
            &[Method::Classical],
        ),
        halves(&measured),
    ];
    let mut notes = super::notes();
    notes.push("the truth is exact, by enumeration of all 65 536 coalitions".to_owned());
    let panels =
        measured.iter().map(|one| panel(one, &own_methods(one), Accounting::Ours, &x_axis(), "")).chain(
            measured
                .iter()
                .map(|one| panel(one, &all_methods(one), Accounting::Ours, &x_axis(), ", with ours")),
        );
    Ok(Made {
        data: data(&measured),
        figure: Some(Figure {
            title: "Figure 2: squared error against evaluations, d = 16".to_owned(),
            panels: panels.collect(),
            columns: 2,
            legend: legend(&measured[0]),
            note: note(session),
        }),
        tables: vec![errors(&measured), wins(&measured)],
        claims,
        notes,
        datasets: Vec::new(),
    })
}

/// d = 300.
pub(super) fn fig3(session: &Session) -> Result<Made> {
    let measured = vec![measured(session, Task::Classification, HIGH)?];
    let of_paper = variance_of_paper(session, measured[0].setting, TRUTH_OF_PAPER)?;
    let claims = vec![
        outperforms(
            "with strong interactions and a strongly non-linear link Monte Carlo needs more time to decrease its error than gradients",
            "section 5.2, figure 3",
            &measured,
            &Method::gradients(HIGH),
            &[Method::Optimized],
        ),
        outperforms(
            "these approaches outperform the classical Monte Carlo estimator",
            "abstract, conclusion",
            &measured,
            &Method::proposed(HIGH),
            &[Method::Classical],
        ),
        halves(&measured),
        precise_enough(&measured[0], of_paper),
    ];
    let mut notes = super::notes();
    notes.push(format!(
        "the truth is the mean over {} random orders and their reverses; its own squared error, by its standard errors, is {}; that of the \
         paper's truth, {TRUTH_OF_PAPER} iterations of optimized Monte Carlo, is {}; errors below {ABOVE_NOISE} times that of the truth are \
         no evidence",
        measured[0].truths.first().and_then(|truth| truth.orders).unwrap_or_default(),
        significant(measured[0].noise()),
        significant(of_paper),
    ));
    let one = &measured[0];
    let linear = Axis::linear("evaluations");
    let panels = vec![
        panel(one, &own_methods(one), Accounting::Ours, &linear, ""),
        panel(one, &own_methods(one), Accounting::Ours, &x_axis(), ", log x"),
        panel(one, &all_methods(one), Accounting::Ours, &x_axis(), ", with ours"),
    ];
    let mut noise = Table::new(
        "What the truth is off: the mean over the pairs of the sum of its squared standard errors",
        ["truth", "squared error"],
    );
    noise.push(vec!["ours".into(), one.noise().into()]);
    noise.push(vec![format!("the paper's: {TRUTH_OF_PAPER} iterations").into(), of_paper.into()]);
    noise.push(vec!["for comparison: ‖φ‖²".into(), one.square().into()]);
    Ok(Made {
        data: data(&measured),
        figure: Some(Figure {
            title: "Figure 3: squared error against evaluations, d = 300".to_owned(),
            panels,
            columns: 3,
            legend: legend(one),
            note: note(session),
        }),
        tables: vec![errors(&measured), wins(&measured), noise],
        claims,
        notes,
        datasets: Vec::new(),
    })
}

/// The methods of a figure on all its pairs.
pub(super) fn measured(session: &Session, task: Task, players: usize) -> Result<Measured> {
    let setting = Setting { task, players, pairs: Pairs::Shown, count: session.runs };
    measure(session, setting, &Method::of_figure(players), &passes(session, players))
}

/// The methods of the paper.
fn own_methods(measured: &Measured) -> Vec<Method> {
    all_methods(measured).into_iter().filter(|method| method.is_of_paper()).collect()
}

fn all_methods(measured: &Measured) -> Vec<Method> {
    measured.curves.iter().map(|curve| curve.method).collect()
}

fn legend(measured: &Measured) -> Vec<(String, Style)> {
    measured.curves.iter().map(|curve| (curve.method.title(), curve.method.style())).collect()
}

fn note(session: &Session) -> String {
    format!(
        "Mean over {} pairs with the 95 % interval of its logarithm; methods with a star are not in the paper.",
        session.runs
    )
}

pub(super) fn x_axis() -> Axis {
    Axis::log("evaluations", f64::MIN_POSITIVE)
}

/// Errors of some methods against what their draws cost.
pub(super) fn panel(
    measured: &Measured,
    methods: &[Method],
    accounting: Accounting,
    x: &Axis,
    remark: &str,
) -> Panel {
    let mut marks = Vec::new();
    let curves = || methods.iter().filter_map(|&method| measured.curve(method));
    let points = |curve: &Curve| -> Vec<(f64, Measurement)> {
        let cost = |level: usize| accounting.cost(curve.method, curve.players, curve.passes[level]) as f64;
        (0..curve.passes.len()).filter_map(|level| Some((cost(level), curve.mean(level)?))).collect()
    };
    for curve in curves() {
        let band = points(curve).into_iter().map(|(x, mean)| {
            // Of the logarithm, which is what the axis shows: that of the mean itself may reach zero.
            let factor = (HALF_WIDTH * mean.error / mean.value).exp();
            (x, mean.value / factor, mean.value * factor)
        });
        // A single pair has no interval.
        let band: Vec<_> = band.filter(|(_, low, high)| low.is_finite() && high.is_finite()).collect();
        if curve.method.is_of_paper() && !band.is_empty() {
            marks.push(Mark::Band { colour: curve.method.style().colour, points: band });
        }
    }
    for curve in curves() {
        let points = points(curve).into_iter().map(|(x, mean)| (x, mean.value)).collect();
        marks.push(Mark::Line { style: curve.method.style(), points });
    }
    Panel {
        title: format!("{}{remark}", measured.setting.task.title()),
        x: x.clone(),
        y: Axis::log("squared error", 1e-30),
        marks,
    }
}

/// Of two methods at each budget, by any accounting, on all pairs.
fn comparisons<'a>(
    measured: &'a Measured,
    method: Method,
    with: Method,
    accounting: Accounting,
) -> impl Iterator<Item = Compared> + 'a {
    let noise = ABOVE_NOISE * measured.noise();
    let curves = measured.curve(method).zip(measured.curve(with));
    curves.into_iter().flat_map(move |(curve, other)| {
        curve.passes.iter().enumerate().filter_map(move |(level, &passes)| {
            let cost = accounting.cost(method, curve.players, passes) as f64;
            let (errors, others) = (&curve.errors[level], other.at(accounting, cost)?);
            let evident = [errors, &others]
                .iter()
                .all(|errors| !errors.is_empty() && Measurement::mean(errors).value > noise);
            evident.then(|| compare(errors, &others))
        })
    })
}

/// The claim that some methods have lower errors than others at every budget.
fn outperforms(
    claim: &str,
    source: &str,
    measured: &[Measured],
    methods: &[Method],
    others: &[Method],
) -> Claim {
    claim_of_comparisons(claim, source, measured, methods, others, Accounting::Ours)
}

pub(super) fn claim_of_comparisons(
    claim: &str,
    source: &str,
    measured: &[Measured],
    methods: &[Method],
    others: &[Method],
    accounting: Accounting,
) -> Claim {
    let mut cases = Vec::new();
    for one in measured {
        for &method in methods {
            for &other in others {
                let of =
                    format!("{}, {} against {}", one.setting.task.title(), method.title(), other.title());
                let compared = comparisons(one, method, other, accounting);
                cases.extend(compared.map(|compared| Comparison { of: of.clone(), compared }));
            }
        }
    }
    judge(claim, source, "a proposed method on a task", &cases)
}

/// Section 3: half the evaluations of classical Monte Carlo do.
fn halves(measured: &[Measured]) -> Claim {
    let mut cases = Vec::new();
    for one in measured.iter().filter(|one| one.setting.count >= FEWEST_PAIRS) {
        let Some((curve, classical)) = one.curve(Method::Optimized).zip(one.curve(Method::Classical)) else {
            continue;
        };
        for level in 0..curve.passes.len().saturating_sub(1) {
            let compared = compare(&curve.errors[level], &classical.errors[level + 1]);
            let name = format!("{}, T = {}", one.setting.task.title(), curve.passes[level]);
            cases.push((name, compared != Compared::Higher));
        }
    }
    Claim::over_cases(
        "optimized Monte Carlo divides by two the use of the reward function",
        "section 3",
        "a task and a number T of orders; it agrees if the mean error of optimized Monte Carlo is not above that of the classical at twice the \
         budget by more than two standard errors of the difference",
        Needed::Most,
        cases,
    )
}

/// Whether the truth of the paper is good enough for its figure.
fn precise_enough(measured: &Measured, of_paper: f64) -> Claim {
    let methods = own_methods(measured);
    let least = methods
        .iter()
        .filter_map(|&method| measured.curve(method))
        .flat_map(|curve| (0..curve.passes.len()).filter_map(|level| curve.mean(level)))
        .map(|mean| mean.value)
        .fold(f64::INFINITY, f64::min);
    Claim {
        claim: format!("{TRUTH_OF_PAPER} iterations of optimized Monte Carlo can stand for the truth"),
        source: "section 5.2, figure 3".to_owned(),
        rule: "holds if their squared error is below a tenth of all mean errors of the paper's methods"
            .to_owned(),
        verdict: Verdict::of_truth(of_paper < 0.1 * least),
        evidence: format!("{} against {} and more", significant(of_paper), significant(least)),
    }
}

fn errors(measured: &[Measured]) -> Table {
    let passes = &measured[0].curves[0].passes;
    let columns = ["task", "method"].map(str::to_owned).into_iter();
    let mut table = Table::new(
        "Mean squared error ‖φ̂ − φ‖² by budget 2 + T(d − 1)",
        columns.chain(passes.iter().map(|passes| format!("T = {passes}"))),
    );
    for one in measured {
        for curve in &one.curves {
            let mut row = vec![Entry::from(one.setting.task.title()), curve.method.title().into()];
            row.extend((0..passes.len()).map(|level| curve.mean(level).map(|mean| mean.value).into()));
            table.push(row);
        }
    }
    table
}

/// Pair by pair, which says more than means that a few pairs decide.
fn wins(measured: &[Measured]) -> Table {
    let passes = &measured[0].curves[0].passes;
    let columns = ["task", "method"].map(str::to_owned).into_iter();
    let mut table = Table::new(
        "Share of pairs on which the error is below that of classical Monte Carlo, by budget",
        columns.chain(passes.iter().map(|passes| format!("T = {passes}"))),
    );
    for one in measured {
        let Some(classical) = one.curve(Method::Classical) else { continue };
        for curve in one.curves.iter().filter(|curve| curve.method != Method::Classical) {
            let share = |level: usize| -> Option<f64> {
                let (errors, others) = (&curve.errors[level], &classical.errors[level]);
                let won = errors.iter().zip(others).filter(|(error, other)| error < other).count();
                (!errors.is_empty()).then(|| won as f64 / errors.len() as f64)
            };
            let mut row = vec![Entry::from(one.setting.task.title()), curve.method.title().into()];
            row.extend((0..passes.len()).map(|level| share(level).into()));
            table.push(row);
        }
    }
    table
}

/// Every number of the figure.
pub(super) fn data(measured: &[Measured]) -> Table {
    let columns = [
        "task",
        "d",
        "method",
        "in_paper",
        "T",
        "budget",
        "evaluations",
        "pairs",
        "mean_squared_error",
        "standard_error",
        "truth_squared_error",
    ];
    let mut table = Table::new("data", columns);
    for one in measured {
        for curve in &one.curves {
            for (level, &passes) in curve.passes.iter().enumerate() {
                let mean = curve.mean(level);
                table.push(vec![
                    one.setting.task.title().into(),
                    one.setting.players.into(),
                    curve.method.title().into(),
                    if curve.method.is_of_paper() { "yes" } else { "no" }.into(),
                    passes.into(),
                    super::runs::budget(curve.players, passes).into(),
                    curve.evaluations[level].into(),
                    one.setting.count.into(),
                    mean.map(|mean| mean.value).into(),
                    mean.map(|mean| mean.error).filter(|error| error.is_finite()).into(),
                    one.noise().into(),
                ]);
            }
        }
    }
    table
}
