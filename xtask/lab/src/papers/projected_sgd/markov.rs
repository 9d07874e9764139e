//! The high-probability bounds of section 4.2, from Markov's inequality: `P(‖φ̄ − φ*‖² ≥ ε) ≤ A/ε`, where A
//! is the printed bound on the mean squared error for the step rule.
//!
//! ```text
//! γ_t = 2/(μ(t+1))     4κ²/(εT)
//! γ_t = 2D/(B√t)       4Dκ/(ε√T)
//! γ < 1/μ              (1 − γμ)^T ‖φ_0 − φ*‖²/ε + γB²/(εμ)
//! ```
//!
//! Markov's inequality holds for every non-negative random variable, so these bounds hold if the bounds on
//! the mean hold. The experiment shows whether runs exceed them, whether errors can be as large as ε at all,
//! and how far the runs are from the bounds.

use anyhow::Result;

use super::descent::PrintedRule;
use super::tails::{MAX_ERROR, STEPS, Tail, tails};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, palette, styles};
use crate::reproduce::report::{Table, notes, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::quantile;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// Values of ε/A. The bound on the probability is A/ε.
const TIMES: [f64; 4] = [1.5, 2.0, 5.0, 10.0];

pub(super) fn markov(session: &Session) -> Result<ArtefactOutput> {
    let tails = tails(session)?;
    let claims = [
        ("with steps 2/(μ(t+1)) P(‖φ̄ − φ*‖² ≥ ε) is at most 4κ²/(εT)", PrintedRule::Inverse),
        ("with steps 2D/(B√t) P(‖φ̄ − φ*‖² ≥ ε) is at most 4Dκ/(ε√T)", PrintedRule::SquareRoot),
        (
            "with a constant step P(‖φ_T − φ*‖² ≥ ε) is at most ((1 − γμ)^T ‖φ_0 − φ*‖² + γB²/μ)/ε",
            PrintedRule::Constant(0.0),
        ),
    ];
    Ok(ArtefactOutput {
        data: shares("data", &tails),
        figure: Some(figure(&tails)),
        tables: vec![
            levels(&tails),
            shares("Share of the runs with an error of at least ε, and its bound A/ε", &tails),
        ],
        claims: claims.into_iter().map(|(claim, rule)| judge(claim, &tails_of(&tails, rule))).collect(),
        notes: notes(&tails),
        datasets: Vec::new(),
    })
}

/// Returns the notes in reports on high-probability bounds.
pub(super) fn notes(tails: &[Tail]) -> Vec<String> {
    let runs = tails.first().map_or(0, Tail::runs);
    notes![
        "the paper's simulated regression task with 3 and 4 features, the first game of each, with all \
         coalition values known: C is the largest |v(S)|, D is 1.1 ‖φ*‖; iterates are projected on Σφ = \
         v(M), ‖φ‖ ≤ D; importance sampling; one coalition per step; steps, averages and bounds with the \
         printed μ = 1 − 1/d, κ = B/μ",
        format!(
            "{runs} runs of each rule in each game; errors are in units of D² and cannot exceed {MAX_ERROR}, \
             the squared diameter of the ball"
        ),
    ]
}

/// Returns whether two rules are of the same kind. Constant steps are of one kind, whatever their sizes.
pub(super) fn is_alike(one: PrintedRule, other: PrintedRule) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}

/// Returns the tails whose rule is of the same kind as `rule`.
fn tails_of(tails: &[Tail], rule: PrintedRule) -> Vec<&Tail> {
    tails.iter().filter(|tail| is_alike(tail.rule, rule)).collect()
}

/// Returns the values of ε for a game and a number of steps: the multiples of A that an error can reach.
fn limits(tail: &Tail, level: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
    let bound = tail.bound(level);
    TIMES.into_iter().map(move |times| (times, times * bound)).filter(|(_, limit)| *limit <= MAX_ERROR)
}

fn judge(claim: &str, tails: &[&Tail]) -> Claim {
    let (mut cases, mut nearest) = (Vec::new(), 0.0f64);
    for tail in tails {
        for level in 0..STEPS.len() {
            let largest = tail.errors(level).into_iter().fold(0.0, f64::max);
            nearest = nearest.max(largest / tail.bound(level));
            for (times, limit) in limits(tail, level) {
                let count = tail.exceeding(level, limit);
                let test = Test::share_above(count, tail.runs(), 1.0 / times).opposite();
                cases.push(Case::new(
                    format!("{}, ε = {times} A: {count} of {}", tail.title(level), tail.runs()),
                    test,
                ));
            }
        }
    }
    By::Counts
        .in_all(
            claim,
            "section 4.2",
            &format!(
                "a number of features, a T and an ε, {} times the bound A of the mean, as long as an error \
                 can be as large; it agrees if the share of runs with an error of at least ε is below A/ε",
                TIMES.map(|times| times.to_string()).join(", ")
            ),
            cases,
        )
        .and(&format!("the largest error is {} A", significant(nearest)))
}

fn levels(tails: &[Tail]) -> Table {
    let sorted = |tail: &Tail, level: usize| {
        let mut errors = tail.errors(level);
        errors.sort_by(f64::total_cmp);
        errors
    };
    table!("Mean and 90% quantile of the errors, with their bounds", [
        for tail in tails;
        for (level, steps) in STEPS.into_iter().enumerate();
        let errors = sorted(tail, level);
    ]
        "d" => tail.known.players(),
        "step" => tail.rule.title(),
        "T" => steps,
        "mean error / D²" => errors.iter().sum::<f64>() / errors.len() as f64,
        "A / D²" => tail.bound(level),
        "error that a tenth exceeds / D²" => quantile(&errors, 0.9),
        "by Markov / D²" => 10.0 * tail.bound(level),
        "largest / D²" => errors.last().copied(),
    )
}

fn shares(caption: &str, tails: &[Tail]) -> Table {
    table!(caption, [
        for tail in tails;
        for (level, steps) in STEPS.into_iter().enumerate();
        for (times, limit) in limits(tail, level);
        let count = tail.exceeding(level, limit);
    ]
        "d" => tail.known.players(),
        "step" => tail.rule.title(),
        "T" => steps,
        "ε / D²" => limit,
        "runs" => tail.runs(),
        "at least ε" => count,
        "share" => count as f64 / tail.runs() as f64,
        "A/ε" => 1.0 / times,
    )
}

/// Creates the figure: for each game and rule, the share of runs beyond ε at the last T, and the bound.
fn figure(tails: &[Tail]) -> Figure {
    let level = STEPS.len() - 1;
    let panel = |tail: &Tail| {
        let mut errors = tail.errors(level);
        errors.sort_by(f64::total_cmp);
        let count = errors.len() as f64;
        let points: Vec<(f64, f64)> =
            errors.iter().enumerate().map(|(at, &error)| (error, 1.0 - at as f64 / count)).collect();
        let bound = tail.bound(level);
        let limits = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
        Panel {
            title: format!("{}, d = {}", tail.rule.title(), tail.known.players()),
            x: Axis::log("ε / D²", f64::MIN_POSITIVE),
            y: Axis::log("share of runs with error ≥ ε", f64::MIN_POSITIVE),
            marks: vec![
                Mark::Dashes {
                    colour: palette::BLACK,
                    points: limits.map(|times| (times * bound, 1.0 / times)).to_vec(),
                },
                Mark::Curve { colour: styles::GRADIENT_INVERSE.colour, points },
            ],
        }
    };
    Figure {
        title: format!("How often errors exceed ε, and Markov's bound, T = {}", STEPS[level]),
        panels: tails.iter().map(panel).collect(),
        columns: tails.len() / 2,
        legend: Vec::new(),
        note: "Dashes: the bound of section 4.2. Line: the share of the runs.".to_owned(),
    }
}
