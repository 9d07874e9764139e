//! Figures 2 and 3: squared error against evaluations.

use anyhow::Result;

use super::count::divides_by_two;
use super::method::Method;
use super::runs::{Curve, HIGH, LOW, Measured, is_below, judge, measure, passes};
use super::task::{Pairs, Setting, Task, budget};
use super::truth::variance_of_paper;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Style};
use crate::reproduce::report::{Entry, Table, row, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// Half-width of a 95% interval, as a multiple of the standard error.
const HALF_WIDTH: f64 = 1.96;

/// Minimum error that counts as evidence, as a multiple of the error of the reference values themselves.
const ABOVE_NOISE: f64 = 4.0;

/// The smallest T in the authors' plots of d = 16 (`idx = np.arange(100, n_iter, 100)` in their notebooks).
const FIRST_PLOTTED: usize = 100;

/// Number of iterations of optimized Monte Carlo from which the paper computes its reference values at d =
/// 300.
const TRUTH_OF_PAPER: usize = 5000;

/// Generates figure 2: d = 16.
pub(super) fn fig2(session: &Session) -> Result<ArtefactOutput> {
    let measured = [Task::Classification, Task::Regression]
        .into_iter()
        .map(|task| measured(session, task, LOW))
        .collect::<Result<Vec<_>>>()?;
    let settings: Vec<Setting> = measured.iter().map(|one| one.setting).collect();
    let claims = vec![
        all_outperform(&measured, Method::proposed(LOW), Classical::Drawn),
        all_outperform(&measured, Method::proposed(LOW), Classical::AsPlotted),
        divides_by_two(&settings, session.seed)?,
        halves(&measured),
    ];
    let mut notes = super::notes::notes();
    notes.push("the truth is exact, by enumeration of all 65 536 coalitions".to_owned());
    notes.push(format!(
        "the authors' notebooks (publications/experiments of their repository) plot d = 16 starting at T = \
         {FIRST_PLOTTED}, up to 30 000 evaluations; the curve labelled as classical Monte Carlo shows their \
         optimized Monte Carlo at half of T, not separate runs"
    ));
    let panels = measured
        .iter()
        .map(|one| panel(one, &own_methods(one), &x_axis(), ""))
        .chain(measured.iter().map(|one| panel(one, &all_methods(one), &x_axis(), ", with ours")));
    Ok(ArtefactOutput {
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

/// Generates figure 3: d = 300.
pub(super) fn fig3(session: &Session) -> Result<ArtefactOutput> {
    let measured = vec![measured(session, Task::Classification, HIGH)?];
    let of_paper = variance_of_paper(session, measured[0].setting, TRUTH_OF_PAPER)?;
    let claims = vec![
        outperforms(
            "with strong interactions and a strongly non-linear link Monte Carlo needs more time to decrease \
             its error than gradients",
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
        divides_by_two(&[measured[0].setting], session.seed)?,
        halves(&measured),
        precise_enough(&measured[0], of_paper),
    ];
    let mut notes = super::notes::notes();
    notes.push(format!(
        "the truth is the mean over {} random permutations and their reverses; its own squared error, \
         estimated from its standard errors, is {}; the squared error of the paper's truth, {TRUTH_OF_PAPER} \
         iterations of optimized Monte Carlo, is {}; errors below {ABOVE_NOISE} times the squared error of \
         the truth do not count as evidence",
        measured[0].truths.first().and_then(|truth| truth.orders).unwrap_or_default(),
        significant(measured[0].noise()),
        significant(of_paper),
    ));
    let one = &measured[0];
    let linear = Axis::linear("evaluations");
    let panels = vec![
        panel(one, &own_methods(one), &linear, ""),
        panel(one, &own_methods(one), &x_axis(), ", log x"),
        panel(one, &all_methods(one), &x_axis(), ", with ours"),
    ];
    let mut noise = Table::new(
        "Squared error of the reference values, from their standard errors: mean over the pairs",
        ["truth", "squared error"],
    );
    noise.push(row!["ours", one.noise()]);
    noise.push(row![format!("the paper's: {TRUTH_OF_PAPER} iterations"), of_paper]);
    noise.push(row!["for comparison: ‖φ‖²", one.square()]);
    Ok(ArtefactOutput {
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

/// Runs the methods of a figure on all pairs of individual and reference.
fn measured(session: &Session, task: Task, players: usize) -> Result<Measured> {
    let setting = Setting { task, players, pairs: Pairs::Shown, count: session.runs };
    measure(session, setting, &Method::of_figure(players), &passes(session, players))
}

/// Returns the measured methods that the paper proposes.
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
        "Mean over {} pairs with the 95 % interval of its logarithm; methods with a star are not in the \
         paper.",
        session.runs
    )
}

fn x_axis() -> Axis {
    Axis::log("evaluations", f64::MIN_POSITIVE)
}

/// Creates a panel that shows the errors of some methods against the number of evaluations.
fn panel(measured: &Measured, methods: &[Method], x: &Axis, remark: &str) -> Panel {
    let mut marks = Vec::new();
    let curves = || methods.iter().filter_map(|&method| measured.curve(method));
    let points = |curve: &Curve| -> Vec<(f64, Measurement)> {
        let cost = |level: usize| budget(curve.players, curve.passes[level]) as f64;
        (0..curve.passes.len()).filter_map(|level| Some((cost(level), curve.mean(level)?))).collect()
    };
    for curve in curves() {
        let band = points(curve).into_iter().map(|(x, mean)| {
            // Use the interval of the logarithm, as on the axis; the interval of the mean itself may reach
            // zero.
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

/// Returns, for each budget, the case that the error of `method` is below the error of `with`.
pub(super) fn cases(measured: &Measured, method: Method, with: Method) -> Vec<Case> {
    let noise = ABOVE_NOISE * measured.noise();
    let Some((curve, other)) = measured.curve(method).zip(measured.curve(with)) else { return Vec::new() };
    let case = |(level, &passes): (usize, &usize)| {
        let (errors, others) = (&curve.errors[level], &other.errors[level]);
        let evident = [errors, others]
            .iter()
            .all(|errors| !errors.is_empty() && Measurement::mean(errors).value > noise);
        let ratio = Measurement::mean(errors).value / Measurement::mean(others).value;
        let name = format!(
            "{}, {} against {}, T = {passes} (ratio {ratio:.2})",
            measured.setting.task.title(),
            method.title(),
            with.title()
        );
        evident.then(|| Case::new(name, is_below(errors, others)))
    };
    curve.passes.iter().enumerate().filter_map(case).collect()
}

/// Returns the claim that some methods have lower errors than others at every budget.
fn outperforms(
    claim: &str,
    source: &str,
    measured: &[Measured],
    methods: &[Method],
    others: &[Method],
) -> Claim {
    let mut all = Vec::new();
    for one in measured {
        for &method in methods {
            all.extend(others.iter().flat_map(|&other| cases(one, method, other)));
        }
    }
    judge(claim, source, "a proposed method on a task", all)
}

/// The errors that are used for classical Monte Carlo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Classical {
    /// Errors of classical Monte Carlo itself.
    Drawn,
    /// The errors that the authors plot as classical Monte Carlo: optimized Monte Carlo with T/2.
    AsPlotted,
}

/// Judges the claim of section 5.2 on d = 16 at the plotted T; for the other T, only the numbers are
/// reported.
fn all_outperform(measured: &[Measured], methods: Vec<Method>, classical: Classical) -> Claim {
    let (mut plotted, mut before) = (Vec::new(), Vec::new());
    for one in measured {
        let rival = if classical == Classical::Drawn { Method::Classical } else { Method::Optimized };
        let Some(rival) = one.curve(rival) else { continue };
        for curve in methods.iter().filter_map(|&method| one.curve(method)) {
            for (level, &passes) in curve.passes.iter().enumerate() {
                let level_of_rival = match classical {
                    Classical::Drawn => Some(level),
                    Classical::AsPlotted => rival.passes.iter().position(|&other| 2 * other == passes),
                };
                let Some(others) = level_of_rival.map(|level| &rival.errors[level]) else { continue };
                let errors = &curve.errors[level];
                let ratio = Measurement::mean(errors).value / Measurement::mean(others).value;
                let name = format!(
                    "{}, {}, T = {passes} (ratio {ratio:.2})",
                    one.setting.task.title(),
                    curve.method.title()
                );
                let cases = if passes < FIRST_PLOTTED { &mut before } else { &mut plotted };
                cases.push(Case::new(name, is_below(errors, others)));
            }
        }
    }
    let claim = judge(
        "all the proposed methods outperform the classical Monte Carlo algorithm both in classification and \
         regression",
        "section 5.2, figure 2; abstract",
        &format!(
            "a proposed method on a task against classical Monte Carlo, at T ≥ {FIRST_PLOTTED}, which is \
             where the plots of the authors begin,"
        ),
        plotted,
    );
    let smaller = judge("", "", "", before);
    let claim = claim.and(&format!("at the smaller T: {}", smaller.evidence));
    match classical {
        Classical::Drawn => claim,
        Classical::AsPlotted => claim
            .read_as("with what the authors plot as classical Monte Carlo, their optimized one at half of T"),
    }
}

/// Maximum ratio of errors that counts as "no larger".
const NO_MORE: f64 = 1.25;

/// Judges whether classical Monte Carlo needs twice as many evaluations. This is not in the paper, which
/// counts evaluations.
fn halves(measured: &[Measured]) -> Claim {
    let mut cases = Vec::new();
    for one in measured {
        let Some((curve, classical)) = one.curve(Method::Optimized).zip(one.curve(Method::Classical)) else {
            continue;
        };
        for level in 0..curve.passes.len().saturating_sub(1) {
            let (errors, others) = (&curve.errors[level], &classical.errors[level + 1]);
            let ratio = Measurement::mean(errors).value / Measurement::mean(others).value;
            let name =
                format!("{}, T = {} (ratio {ratio:.2})", one.setting.task.title(), curve.passes[level]);
            cases.push(Case::new(name, Test::ratio_below(errors, others, NO_MORE)));
        }
    }
    By::SignedRanks.in_most(
        "at half the evaluations optimized Monte Carlo has no larger error than classical Monte Carlo",
        "this project, beside section 3",
        &format!(
            "a task and a number T of permutations; it agrees if the error of optimized Monte Carlo is \
             below {NO_MORE} times that of classical Monte Carlo at twice the budget on the same pair"
        ),
        cases,
    )
}

/// Judges whether the reference values used in the paper are accurate enough for its figure.
fn precise_enough(measured: &Measured, of_paper: f64) -> Claim {
    let of_pairs = |method: Method| {
        let curve = measured.curve(method).filter(|_| method.is_of_paper())?;
        let levels = (0..curve.passes.len()).filter(|&level| curve.mean(level).is_some());
        let cases = levels.map(move |level| {
            let errors = &curve.errors[level];
            let name = format!(
                "{}, T = {} ({})",
                method.title(),
                curve.passes[level],
                significant(Measurement::mean(errors).value)
            );
            Case::new(name, Test::mean_below(errors, 10.0 * of_paper).opposite())
        });
        Some(cases)
    };
    By::StandardError.in_all(
        &format!("{TRUTH_OF_PAPER} iterations of optimized Monte Carlo can stand for the truth"),
        "section 5.2, figure 3",
        "a method of the paper at a budget; it agrees if its mean error over the pairs is above ten times \
         the squared error of that truth",
        own_methods(measured).into_iter().filter_map(of_pairs).flatten(),
    )
    .and(&format!("squared error of that truth {}", significant(of_paper)))
}

fn errors(measured: &[Measured]) -> Table {
    let caption = "Mean squared error ‖φ̂ − φ‖² by budget 2 + T(d − 1)";
    by_budget(caption, measured, |_| true, |_, curve, level| curve.mean(level).map(|mean| mean.value))
}

/// Creates a table of pairwise comparisons, since means may depend on a few pairs.
fn wins(measured: &[Measured]) -> Table {
    let caption = "Share of pairs on which the error is below that of classical Monte Carlo, by budget";
    by_budget(
        caption,
        measured,
        |method| method != Method::Classical,
        |one, curve, level| {
            let (errors, others) = (&curve.errors[level], &one.curve(Method::Classical)?.errors[level]);
            let won = errors.iter().zip(others).filter(|(error, other)| error < other).count();
            (!errors.is_empty()).then(|| won as f64 / errors.len() as f64)
        },
    )
}

/// Creates a table with a row for each task and each accepted method, and a column for each budget.
fn by_budget(
    caption: &str,
    measured: &[Measured],
    is_wanted: impl Fn(Method) -> bool,
    of: impl Fn(&Measured, &Curve, usize) -> Option<f64>,
) -> Table {
    let passes = &measured[0].curves[0].passes;
    let columns = ["task", "method"].map(str::to_owned).into_iter();
    let mut table = Table::new(caption, columns.chain(passes.iter().map(|passes| format!("T = {passes}"))));
    for one in measured {
        for curve in one.curves.iter().filter(|curve| is_wanted(curve.method)) {
            let mut row = vec![Entry::from(one.setting.task.title()), curve.method.title().into()];
            row.extend((0..passes.len()).map(|level| of(one, curve, level).into()));
            table.push(row);
        }
    }
    table
}

/// Creates the table of all numbers in the figure.
pub(super) fn data(measured: &[Measured]) -> Table {
    table!("data", [
        for one in measured;
        for curve in &one.curves;
        for (level, &passes) in curve.passes.iter().enumerate();
        let mean = curve.mean(level);
    ]
        "task" => one.setting.task.title(),
        "d" => one.setting.players,
        "method" => curve.method.title(),
        "in_paper" => if curve.method.is_of_paper() { "yes" } else { "no" },
        "T" => passes,
        "budget" => budget(curve.players, passes),
        "evaluations" => curve.evaluations[level],
        "pairs" => one.setting.count,
        "mean_squared_error" => mean.map(|mean| mean.value),
        "standard_error" => mean.and_then(Measurement::known_error),
        "truth_squared_error" => one.noise(),
    )
}
