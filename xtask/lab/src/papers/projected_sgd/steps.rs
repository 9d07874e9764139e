//! The choice of step sizes on held-out pairs (section 5.2: "we select interesting decreasing step size
//! strategies on out-of-experiment samples and only display the best ones found").

use anyhow::Result;

use super::method::{Answer, Method, Rule, Step};
use super::runs::{Curve, HIGH, LOW, Measured, measure};
use super::task::{Pairs, Setting, Task};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::cli::Preset;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Style};
use crate::reproduce::report::{Entry, Table, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{By, Case, Claim, Resamples};

/// Values of γ: the size of constant steps, or of the first of the decreasing steps.
const SIZES: [f64; 9] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

/// Maximum ratio of a step's error to the smallest error, up to which the step counts as among the best.
const AMONG_THE_BEST: f64 = 1.5;

/// Tasks on which steps are chosen.
const TASKS: [(Task, usize); 3] =
    [(Task::Classification, LOW), (Task::Regression, LOW), (Task::Classification, HIGH)];

/// Returns the two budgets for each task, as numbers of permutations T.
fn passes(session: &Session, players: usize) -> [usize; 2] {
    match (players > LOW, session.preset) {
        (false, _) => [64, 1024],
        (true, Preset::Quick) => [8, 64],
        (true, Preset::Paper) => [8, 128],
    }
}

/// Returns the number of held-out pairs.
fn pairs(session: &Session) -> usize {
    session.runs.div_ceil(2)
}

fn step(rule: Rule, size: f64) -> Step {
    Step { rule, size }
}

/// Generates the comparison of errors by step size, rule, budget and average.
pub(super) fn steps(session: &Session) -> Result<ArtefactOutput> {
    let mut methods: Vec<Method> = Rule::ALL
        .into_iter()
        .flat_map(|rule| SIZES.map(|size| Method::Gradient(step(rule, size), Answer::Mean)))
        .collect();
    methods.extend(SIZES.map(|size| Method::Gradient(step(Rule::Constant, size), Answer::Last)));
    let measured = TASKS
        .into_iter()
        .map(|(task, players)| {
            let setting = Setting { task, players, pairs: Pairs::HeldOut, count: pairs(session) };
            measure(session, setting, &methods, &passes(session, players))
        })
        .collect::<Result<Vec<Measured>>>()?;
    let mut notes = super::notes::notes();
    notes.push(format!(
        "{} pairs for each task, different from the pairs of figures 2 and 3; step sizes {}; there is no \
         mean for a step size at which the iterates of a pair diverge",
        pairs(session),
        SIZES.map(|size| size.to_string()).join(", ")
    ));
    Ok(ArtefactOutput {
        data: data(&measured),
        figure: Some(figure(&measured)),
        tables: vec![best_steps(&measured)],
        claims: vec![
            steps_of_paper_are_good(&measured),
            square_root_beats_inverse(&measured),
            last_iterate_flattens(&measured),
        ],
        notes,
        datasets: Vec::new(),
    })
}

fn curve(measured: &Measured, rule: Rule, size: f64, answer: Answer) -> Option<&Curve> {
    measured.curve(Method::Gradient(step(rule, size), answer))
}

/// Returns the step size with the smallest mean error, together with its curve and this error.
fn best(measured: &Measured, rule: Rule, answer: Answer, level: usize) -> Option<(f64, &Curve, Measurement)> {
    SIZES
        .into_iter()
        .filter_map(|size| {
            let curve = curve(measured, rule, size, answer)?;
            Some((size, curve, curve.mean(level)?))
        })
        .min_by(|one, other| one.2.value.total_cmp(&other.2.value))
}

/// Formats a case, e.g. `classification, d = 16, T = 64`.
fn case(measured: &Measured, level: usize) -> String {
    format!("{}, {}", title(measured), budget_title(measured, level))
}

fn title(measured: &Measured) -> String {
    format!("{}, d = {}", measured.setting.task.title(), measured.setting.players)
}

fn budget_title(measured: &Measured, level: usize) -> String {
    format!("T = {}", measured.curves[0].passes[level])
}

fn levels(measured: &Measured) -> std::ops::Range<usize> {
    0..measured.curves[0].passes.len()
}

/// Returns the steps of the paper that were tried, with their curves.
fn of_paper(measured: &Measured) -> impl Iterator<Item = (Step, &Curve)> {
    Step::of_paper(measured.setting.players)
        .into_iter()
        .filter_map(|step| Some((step, curve(measured, step.rule, step.size, Answer::Mean)?)))
}

/// Returns the smallest mean error over all sizes of a rule, for the given pairs.
fn min_error(measured: &Measured, rule: Rule, level: usize, pairs: &[usize]) -> f64 {
    let of_size = |size: f64| {
        let errors = &curve(measured, rule, size, Answer::Mean)?.errors[level];
        (!errors.is_empty()).then(|| mean_of(errors, pairs))
    };
    SIZES.into_iter().filter_map(of_size).fold(f64::INFINITY, f64::min)
}

fn mean_of(errors: &[f64], pairs: &[usize]) -> f64 {
    pairs.iter().map(|&pair| errors[pair]).sum::<f64>() / pairs.len() as f64
}

fn steps_of_paper_are_good(measured: &[Measured]) -> Claim {
    let mut cases = Vec::new();
    for one in measured {
        for (step, curve) in of_paper(one) {
            for level in levels(one) {
                let Some((size, ..)) = best(one, step.rule, Answer::Mean, level) else { continue };
                let errors = &curve.errors[level];
                let ratio = Resamples::draw(errors.len(), |pairs| {
                    mean_of(errors, pairs) / min_error(one, step.rule, level, pairs)
                });
                let (at, step) = (case(one, level), step.title());
                let name = format!("{at}, {step}: {:.1} times that of {size}", ratio.value);
                cases.push(Case::new(name, ratio.below(AMONG_THE_BEST)));
            }
        }
    }
    By::Resampling.in_all(
        "the step sizes displayed are the best ones found",
        "section 5.2",
        &format!(
            "a task, a rule and a budget; it agrees if the mean error with the paper's step is at most \
             {AMONG_THE_BEST} times the least of all sizes with this rule"
        ),
        cases,
    )
}

fn square_root_beats_inverse(measured: &[Measured]) -> Claim {
    let mut cases = Vec::new();
    for one in measured {
        for level in levels(one) {
            let ratio = Resamples::draw(one.setting.count, |pairs| {
                min_error(one, Rule::SquareRoot, level, pairs) / min_error(one, Rule::Inverse, level, pairs)
            });
            cases.push(Case::new(
                format!("{} ({:.2} times)", case(one, level), ratio.value),
                ratio.below(1.0),
            ));
        }
    }
    By::Resampling.in_all(
        "of decreasing steps 1/√t is best",
        "section 5.2: the only decreasing rule that is displayed",
        "a task and a budget; it agrees if the mean error with the best 1/√t step is below that with the \
         best 1/t step",
        cases,
    )
}

/// Judges the claim of section 4.2: fast convergence towards an imprecise solution.
fn last_iterate_flattens(measured: &[Measured]) -> Claim {
    let cases = measured.iter().filter_map(|one| {
        let constant = Step::of_paper(one.setting.players)[0];
        let curve = curve(one, Rule::Constant, constant.size, Answer::Last)?;
        let (first, last) = (&curve.errors[0], &curve.errors[levels(one).len() - 1]);
        if first.is_empty() || last.is_empty() {
            return None;
        }
        let fall = Resamples::draw(first.len(), |pairs| mean_of(first, pairs) / mean_of(last, pairs));
        Some(Case::new(format!("{}: {:.2} times", title(one), fall.value), fall.below(2.0)))
    });
    By::Resampling.in_all(
        "the last iterate of a constant step converges fast towards an imprecise solution",
        "section 4.2",
        "a task with the paper's constant step; it agrees if from the smaller budget to the larger, at least \
         8 times it, the mean error of the last iterate falls by less than a factor of 2",
        cases,
    )
}

fn best_steps(measured: &[Measured]) -> Table {
    let paper = |one: &Measured, rule: Rule, answer: Answer, level: usize| {
        let step = Step::of_paper(one.setting.players).into_iter().find(|step| step.rule == rule)?;
        Some((step.size, curve(one, rule, step.size, answer)?.mean(level)?.value))
    };
    let size = |of: Option<(f64, f64)>| of.map_or(Entry::ABSENT, |of| of.0.to_string().into());
    table!("The best of the step sizes on held-out pairs, and those of the paper", [
        for one in measured;
        for level in levels(one);
        for (rule, answer) in kinds();
        let paper = paper(one, rule, answer, level);
        let best = best(one, rule, answer, level).map(|(size, _, mean)| (size, mean.value));
    ]
        "task" => title(one),
        "budget" => budget_title(one, level),
        "rule" => rule.title(),
        "answer" => answer.title(),
        "best step" => size(best),
        "its error" => best.map(|best| best.1),
        "paper's step" => size(paper),
        "its error" => paper.map(|paper| paper.1),
        "ratio" => paper.zip(best).map(|(paper, best)| paper.1 / best.1),
    )
}

/// Returns all combinations of rule and result; constant steps are combined with both results.
fn kinds() -> impl Iterator<Item = (Rule, Answer)> {
    Rule::ALL.map(|rule| (rule, Answer::Mean)).into_iter().chain([(Rule::Constant, Answer::Last)])
}

/// Returns the style of a rule, which is the same as for the corresponding method in the figures of the
/// paper.
fn style(rule: Rule, answer: Answer) -> Style {
    Method::Gradient(step(rule, 1.0), answer).style()
}

fn figure(measured: &[Measured]) -> Figure {
    let panel = |one: &Measured, level: usize| {
        let errors = |rule, answer| -> Vec<(f64, f64)> {
            let point = |size| Some((size, curve(one, rule, size, answer)?.mean(level)?.value));
            SIZES.into_iter().filter_map(point).collect()
        };
        let mut marks: Vec<Mark> = kinds()
            .map(|(rule, answer)| Mark::Line { style: style(rule, answer), points: errors(rule, answer) })
            .collect();
        // Steps that are far too long would compress the other curves, so errors far above the error of the
        // zero estimate are drawn at the top edge.
        let top = 10.0 * one.square();
        for mark in &mut marks {
            if let Mark::Line { points, .. } = mark {
                points.iter_mut().for_each(|point| point.1 = point.1.min(top));
            }
        }
        let ends: Vec<f64> = marks
            .iter()
            .filter_map(|mark| if let Mark::Line { points, .. } = mark { Some(points) } else { None })
            .flatten()
            .map(|point| point.1)
            .collect();
        let (low, high) =
            ends.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &end| (low.min(end), high.max(end)));
        for step in Step::of_paper(one.setting.players) {
            marks.push(Mark::Dashes {
                colour: style(step.rule, Answer::Mean).colour,
                points: vec![(step.size, low), (step.size, high)],
            });
        }
        Panel {
            title: case(one, level),
            x: Axis::log("step size γ", f64::MIN_POSITIVE),
            y: Axis::log("squared error", 1e-30),
            marks,
        }
    };
    Figure {
        title: "Squared error against step size on held-out pairs".to_owned(),
        panels: (0..2)
            .flat_map(|level| measured.iter().map(move |one| (one, level)))
            .map(|(o, l)| panel(o, l))
            .collect(),
        columns: measured.len(),
        legend: kinds()
            .map(|(rule, answer)| (format!("{}, {}", rule.title(), answer.title()), style(rule, answer)))
            .collect(),
        note:
            "Dashes: the step of the paper with this rule. Errors above ten times the mean squared norm of \
            φ are drawn there."
                .to_owned(),
    }
}

/// Creates the table of all numbers in the figure.
fn data(measured: &[Measured]) -> Table {
    let of_gradient = |curve: &Curve| match curve.method {
        Method::Gradient(step, answer) => Some((step, answer)),
        _ => None,
    };
    table!("data", [
        for one in measured;
        for (curve, (step, answer)) in
            one.curves.iter().filter_map(|curve| Some((curve, of_gradient(curve)?)));
        for (level, &passes) in curve.passes.iter().enumerate();
        let mean = curve.mean(level);
    ]
        "task" => one.setting.task.title(),
        "d" => one.setting.players,
        "rule" => step.rule.title(),
        "answer" => answer.title(),
        "step" => step.size,
        "T" => passes,
        "pairs" => one.setting.count,
        "mean_squared_error" => mean.map(|mean| mean.value),
        "standard_error" => mean.and_then(Measurement::known_error),
    )
}
