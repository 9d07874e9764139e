//! Comparison of gradient methods with optimized Monte Carlo on tasks with increasingly strong interactions
//! (section 6: "when features interact less with each other according to the model (that is to say the
//! estimated model tends to an additive model), then the Monte Carlo methods are better suited"; "when the
//! model output depends more strongly on attribute associations (like in the previous simulated
//! classification task), gradient based alternatives offer interesting results"). The classification tasks
//! are taken from figures 2 and 3, with d = 16 and d = 300.

use anyhow::Result;
use apportion::games::TabulatedGame;

use super::convergence;
use super::method::Method;
use super::runs::{HIGH, LOW, Measured, is_below, judge, measure, passes};
use super::task::{Pairs, Setting, Task};
use super::theory::weights;
use crate::comparison::subset_sums;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, palette};
use crate::reproduce::report::{Table, notes, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{Case, Claim};

/// Numbers of permutations T. The budget of each method is the number of evaluations that optimized Monte
/// Carlo needs for T permutations.
const PASSES: [usize; 3] = [16, 64, 256];

/// The tasks, from nearly additive games to a threshold.
const TASKS: [Task; 5] = [
    Task::Softened { width: 64 },
    Task::Softened { width: 16 },
    Task::Softened { width: 4 },
    Task::Softened { width: 1 },
    Task::Classification,
];

/// The results of the methods on one task, and the share of its games' variation that is due to interactions.
struct Point {
    measured: Measured,
    /// Share of the game's variation not explained by additive games, averaged over the pairs.
    share: f64,
}

/// Generates the comparison of gradients with optimized Monte Carlo.
pub(super) fn interactions(session: &Session) -> Result<ArtefactOutput> {
    let methods = Method::proposed(LOW);
    let points = TASKS
        .into_iter()
        .map(|task| {
            let setting = Setting { task, players: LOW, pairs: Pairs::Shown, count: session.runs };
            let measured = measure(session, setting, &methods, &PASSES)?;
            Ok(Point { share: share_of_interactions(&measured, session.seed)?, measured })
        })
        .collect::<Result<Vec<Point>>>()?;
    // These settings reuse the cells of figure 3.
    let setting =
        Setting { task: Task::Classification, players: HIGH, pairs: Pairs::Shown, count: session.runs };
    let high = measure(session, setting, &Method::proposed(HIGH), &passes(session, HIGH))?;
    let mut notes = super::notes::notes();
    notes.extend(notes![
        "the reward is the logistic function of (Σz² − median)/width, from nearly additive (width 64) to the \
         paper's classification (width 0), on the same pairs",
        "classification with d = 300 is taken from figure 3, with the same truth and T; the share of \
         interactions is not computed for this many features",
        "share of interactions: Σ_S w_S (v(S) − Σ_{j∈S} φ_j)² divided by the same sum with v(M)/d instead of \
         φ_j, where w_S are the weights of the paper's regression; 0 in an additive game",
    ]);
    Ok(ArtefactOutput {
        data: table("data", &points),
        figure: Some(figure(&points)),
        tables: vec![table(
            "Mean squared errors, and those of gradients divided by the error of optimized Monte Carlo",
            &points,
        )],
        claims: vec![weak(&points), strong(&points, &high)],
        notes,
        datasets: Vec::new(),
    })
}

/// Returns the share of the games' variation that is due to interactions, averaged over the pairs.
fn share_of_interactions(measured: &Measured, seed: u64) -> Result<f64> {
    let setting = measured.setting;
    let weights = weights(LOW);
    let mut shares = 0.0;
    for (pair, truth) in measured.truths.iter().enumerate() {
        let game = TabulatedGame::from_game(&setting.game(pair, seed)?)?;
        let values = game.values_in_order();
        let base = values[0];
        let total: f64 = truth.values.iter().sum();
        let (mut left, mut all) = (0.0, 0.0);
        for ((mask, value), additive) in values.iter().enumerate().zip(subset_sums(&truth.values)) {
            let size = mask.count_ones() as usize;
            left += weights[size] * (value - base - additive).powi(2);
            all += weights[size] * (value - base - total * size as f64 / LOW as f64).powi(2);
        }
        shares += left / all;
    }
    Ok(shares / measured.truths.len() as f64)
}

/// Returns each method with its mean error, and with the ratio of this error to the mean error of optimized
/// Monte Carlo.
fn means(measured: &Measured, level: usize) -> Vec<(Method, Measurement, f64)> {
    let Some(own) = measured.curve(Method::Optimized).and_then(|curve| curve.mean(level)) else {
        return Vec::new();
    };
    measured
        .curves
        .iter()
        .filter_map(|curve| Some((curve.method, curve.mean(level)?)))
        .map(|(method, mean)| (method, mean, mean.value / own.value))
        .collect()
}

/// Returns, for each gradient method and budget, the case that the error of optimized Monte Carlo is smaller.
fn turned_cases(measured: &Measured) -> Vec<Case> {
    let Some(own) = measured.curve(Method::Optimized) else { return Vec::new() };
    let gradients = Method::gradients(LOW).into_iter().filter_map(|method| measured.curve(method));
    gradients
        .flat_map(|curve| {
            (0..PASSES.len()).map(|level| {
                let name = format!("{}, T = {}", curve.method.title(), PASSES[level]);
                Case::new(name, is_below(&own.errors[level], &curve.errors[level]))
            })
        })
        .collect()
}

/// Returns, for each gradient method and budget, the case that the error of the method is below the error of
/// optimized Monte Carlo.
fn cases(measured: &Measured) -> Vec<Case> {
    let players = measured.setting.players;
    let gradients = Method::gradients(players).into_iter();
    gradients
        .flat_map(|method| convergence::cases(measured, method, Method::Optimized))
        .map(|case| case.prefixed(&format!("d = {players}")))
        .collect()
}

fn weak(points: &[Point]) -> Claim {
    judge(
        "when features interact less, Monte Carlo methods are better suited",
        "section 6",
        "optimized Monte Carlo against a gradient on the game nearest to additive",
        turned_cases(&points[0].measured),
    )
    .and(&format!("share of interactions {}", significant(points[0].share)))
}

fn strong(points: &[Point], high: &Measured) -> Claim {
    let last = &points[points.len() - 1];
    judge(
        "when the output depends more strongly on associations of attributes, gradients offer interesting \
         results",
        "section 6",
        "a gradient against optimized Monte Carlo in classification with 16 or 300 features",
        cases(high).into_iter().chain(cases(&last.measured)).collect(),
    )
    .and(&format!("share of interactions with 16 features {}", significant(last.share)))
}

fn table(caption: &str, points: &[Point]) -> Table {
    table!(caption, [
        for point in points;
        for (level, &passes) in PASSES.iter().enumerate();
        for (method, mean, ratio) in means(&point.measured, level);
    ]
        "task" => point.measured.setting.task.title(),
        "share of interactions" => point.share,
        "method" => method.title(),
        "T" => passes,
        "mean squared error" => mean.value,
        "standard error" => mean.known_error(),
        "over optimized" => ratio,
    )
}

fn figure(points: &[Point]) -> Figure {
    let panel = |level: usize| {
        let mut marks: Vec<Mark> = Method::gradients(LOW)
            .into_iter()
            .map(|method| {
                let at = |point: &Point| {
                    let means = means(&point.measured, level);
                    let (_, _, ratio) = means.into_iter().find(|(known, ..)| *known == method)?;
                    Some((point.share, ratio))
                };
                Mark::Line { style: method.style(), points: points.iter().filter_map(at).collect() }
            })
            .collect();
        let ends = [points[0].share, points[points.len() - 1].share];
        marks.push(Mark::Dashes { colour: palette::BLACK, points: ends.map(|share| (share, 1.0)).to_vec() });
        Panel {
            title: format!("T = {}", PASSES[level]),
            x: Axis::log("share of interactions", f64::MIN_POSITIVE),
            y: Axis::log("error over that of optimized", 1e-30),
            marks,
        }
    };
    Figure {
        title: "Squared error of gradients over that of optimized Monte Carlo, d = 16".to_owned(),
        panels: (0..PASSES.len()).map(panel).collect(),
        columns: PASSES.len(),
        legend: Method::gradients(LOW).into_iter().map(|method| (method.title(), method.style())).collect(),
        note: "Dashes: as good as optimized Monte Carlo. Left nearly additive, right the paper's \
            classification."
            .to_owned(),
    }
}
