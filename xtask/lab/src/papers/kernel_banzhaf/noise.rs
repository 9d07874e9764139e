//! Figures 3 and 4: error against noise on the value function.

use anyhow::{Context, Result};

use super::contender::Contender::{self, KernelBanzhaf, KernelBanzhafUnpaired, MonteCarlo, Msr};
use super::experiment::{Curves, MULTIPLE, Metric, curves, datasets, experiment, judged, look};
use super::notes::{notes, shapley_notes};
use crate::comparison::{Compete, FigureLayout, Noise, by_noise};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::notes;
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// Maximum noise level that counts as low; the paper does not specify its levels.
const LOW: f64 = 0.1;

/// Generates figure 3: median and quartiles of the error, for the estimators of Banzhaf values.
pub(crate) fn fig3(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session)?;
    let steps = by_noise(MULTIPLE, Noise::absolute);
    let curves = curves(&experiment, &Contender::BANZHAF, &steps, Metric::SquaredError)?;
    let look = FigureLayout {
        x: "standard deviation σ",
        ..look("Figure 3: error against noise on v, m = 20n (trees, path-dependent game)", "squared error")
    };
    let made = curves.artefact_output(["dataset", "sigma"], &look, "Median of ‖φ̃ − φ‖² by noise");
    let sigmas: Vec<f64> = steps.iter().map(|step| step.noise.sigma).collect();
    let claims = judged(&curves, |curves| {
        vec![
            best_when_low(curves, &sigmas),
            more_robust(curves, &sigmas),
            matches_when_loud(curves, &sigmas),
            mc_is_worst(curves),
        ]
    });
    let mut notes = notes();
    notes.extend(notes![
        "σ is a standard deviation in the units of the prediction, so its effect is smaller if predictions \
         are large (communities: hundreds); every evaluation of a coalition has the same noise",
    ]);
    notes.push(format!("σ ≤ {LOW} counts as low, since the paper does not specify which levels it means"));
    Ok(ArtefactOutput { claims, notes, datasets: datasets(|_| true), ..made })
}

/// Returns the points with 0 < σ ≤ [`LOW`] and m < 2^n.
fn low<'a>(curves: &'a Curves, sigmas: &'a [f64]) -> impl Iterator<Item = (usize, usize)> + 'a {
    curves.open_places().filter(|&(_, level)| sigmas[level] > 0.0 && sigmas[level] <= LOW)
}

fn median(curves: &Curves, (panel, level): (usize, usize), contender: Contender) -> f64 {
    curves.point(panel, contender, level).map_or(f64::NAN, |point| point.summary.median)
}

/// Tests that the error of each of `ones` is below the error of each of `others`.
fn all_below(curves: &Curves, place: (usize, usize), ones: &[Contender], others: &[Contender]) -> Case {
    let worst = ones.iter().map(|&one| median(curves, place, one)).fold(0.0, f64::max);
    let best = others.iter().map(|&other| median(curves, place, other)).fold(f64::INFINITY, f64::min);
    let pairs = ones.iter().flat_map(|&one| others.iter().map(move |&other| (one, other)));
    Case::new(
        format!("{} (ratio {:.2})", curves.place(place.0, place.1), worst / best),
        Test::all(pairs.map(|pair| curves.is_below(place, pair, 1.0))),
    )
}

fn best_when_low(curves: &Curves, sigmas: &[f64]) -> Claim {
    let others = [KernelBanzhafUnpaired, MonteCarlo, Msr];
    By::SignedRanks.in_all(
        "Kernel Banzhaf outperforms for lower noise levels",
        "caption of figure 3",
        "a dataset and a low σ; it agrees if Kernel Banzhaf is below each of the three others in the same \
         run",
        low(curves, sigmas).map(|place| all_below(curves, place, &[KernelBanzhaf], &others)),
    )
}

fn more_robust(curves: &Curves, sigmas: &[f64]) -> Claim {
    let (ones, others) = ([KernelBanzhaf, KernelBanzhafUnpaired], [MonteCarlo, Msr]);
    By::SignedRanks.in_all(
        "Kernel Banzhaf and its variant without pairs are more robust to noise than the other algorithms, \
         especially when it is low",
        "section 4.1",
        "a dataset and a low σ; it agrees if both are below MC and MSR in the same run",
        low(curves, sigmas).map(|place| all_below(curves, place, &ones, &others)),
    )
}

fn matches_when_loud(curves: &Curves, sigmas: &[f64]) -> Claim {
    let last = sigmas.len() - 1;
    let cases = [KernelBanzhafUnpaired, Msr].into_iter().flat_map(|other| {
        let places = curves.open_places().filter(|place| place.1 == last);
        let cases = curves.alike_cases(places, (other, KernelBanzhaf), 1.5);
        cases.into_iter().map(move |case| case.prefixed(other.title()))
    });
    By::SignedRanks.in_most(
        "for larger noise Kernel Banzhaf eventually matches its variant without pairs and MSR",
        "caption of figure 3",
        "a dataset and one of the two, at the largest σ; it agrees if the errors of the same run are within \
         a factor of 1.5",
        cases,
    )
}

fn mc_is_worst(curves: &Curves) -> Claim {
    let others = [KernelBanzhaf, KernelBanzhafUnpaired, Msr];
    By::SignedRanks.in_all(
        "MC is worse for all noise settings",
        "caption of figure 3",
        "a dataset and σ; it agrees if each of the three others is below MC in the same run",
        curves.open_places().map(|place| all_below(curves, place, &others, &[MonteCarlo])),
    )
}

/// An interpretation of "normalized based on the raw output of the set function", which the paper does not
/// specify further.
struct Reading {
    noise: fn(f64) -> Noise,
    /// Name of the noise in claims and tables.
    title: &'static str,
    /// Name of the noise on axes, whose font lacks the symbol ∅.
    axis: &'static str,
}

/// The readings of the paper's noise. The first follows the paper's summary: the noise of each output is
/// proportional to that output.
const READINGS: [Reading; 3] = [
    Reading { noise: Noise::relative, title: "σ·v(S)", axis: "σ·v(S)" },
    Reading { noise: Noise::of_prediction, title: "σ·v(N)", axis: "σ·v(N)" },
    Reading { noise: Noise::of_gain, title: "σ·(v(N) − v(∅))", axis: "σ·(v(N) − v({}))" },
];

/// A choice of when noise is drawn: its name in titles, and a function that applies it to a noise.
type NoiseTiming = (&'static str, fn(Noise) -> Noise);

/// The two choices: noise is drawn once per run, or at each evaluation.
const DRAWN: [NoiseTiming; 2] =
    [("drawn once", |noise| noise), ("drawn each time", Noise::at_each_evaluation)];

/// Generates figure 4: median and quartiles of the normalized error of the three regressions, for each
/// reading of its noise and of its game.
pub(crate) fn fig4(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session)?;
    let (mut all, mut readings) = (Vec::new(), Vec::new());
    for (at, Reading { noise, title, axis }) in READINGS.into_iter().enumerate() {
        // Use background rows for the first reading only: evaluating a coalition with 50 background rows
        // takes ten times as long as with a single baseline.
        let backgrounds =
            if at == 0 { &Contender::BY_BACKGROUND[..] } else { &Contender::BY_BACKGROUND[..1] };
        let contenders = if at == 0 { &Contender::ALL_REGRESSIONS[..] } else { &Contender::REGRESSIONS[..] };
        for (how, drawn) in DRAWN {
            let mut steps = by_noise(MULTIPLE, noise);
            for step in &mut steps {
                step.noise = drawn(step.noise);
                step.level.label = format!("{title} {how}, {}", step.level.label);
            }
            let curves = curves(&experiment, contenders, &steps, Metric::NormalizedError)?;
            let look = FigureLayout {
                x: &format!("σ, noise {axis} {how}"),
                columns: experiment.datasets.len().clamp(1, 4),
                ..look(
                    "Figure 4: normalized error against noise, m = 20n (Banzhaf: path-dependent; Shapley: \
                     interventional)",
                    "relative squared error",
                )
            };
            let caption = format!("Median of ‖φ̃ − φ‖² / ‖φ‖² by noise {title}, {how}");
            all.push(curves.artefact_output(["dataset", "noise"], &look, &caption));
            for &(background, regressions) in backgrounds {
                let claims = judged(&curves.only(|_| true, &regressions), |curves| {
                    let best = curves.best(
                        "Kernel Banzhaf maintains lower error rates amid increasing noise",
                        "caption of figure 4",
                        &[KernelBanzhaf],
                    );
                    vec![
                        flat(curves),
                        competitors_rise(curves, regressions),
                        rises_less(curves, regressions),
                        best,
                    ]
                });
                readings.push((format!("noise {title} {how}, {background}"), claims));
            }
        }
    }
    let mut notes = shapley_notes();
    notes.extend(notes![
        "the paper describes the noise as \"normalized based on the raw output of the set function\". Each \
         reading of this has separate panels: noise proportional to the value of each coalition, to the \
         value of all players, or to the difference between the values of all and of no players. A claim is \
         judged in each reading, and counted once. The game with 50 background rows is only evaluated in the \
         first reading",
        "noise drawn once: within a run, the noise of a coalition is the same for every estimator at the \
         same σ. Drawn each time: noise is drawn at each evaluation, as in the authors' code, so that a \
         coalition that Kernel Banzhaf draws k times is observed with k independent errors. Within an \
         estimate, the two differ only for coalitions that are drawn again, which is rare unless m is a \
         large part of 2^n",
    ]);
    let made =
        all.into_iter().reduce(ArtefactOutput::followed_by).context("the list of readings is empty")?;
    let claims = Claim::over_readings(readings);
    Ok(ArtefactOutput { claims, notes, datasets: datasets(|_| true), ..made })
}

/// Returns the panels with m < 2^n, where no estimator is exact without noise.
fn open_panels(curves: &Curves) -> impl Iterator<Item = usize> {
    curves.open_places().filter(|place| place.1 == 0).map(|place| place.0)
}

/// Returns, for each run, the error at a noise level divided by the error without noise.
fn growth(curves: &Curves, panel: usize, contender: Contender, level: usize) -> Vec<f64> {
    let (loud, quiet) = (curves.errors((panel, level), contender), curves.errors((panel, 0), contender));
    loud.iter().zip(quiet).map(|(loud, quiet)| loud / quiet).collect()
}

fn typical(sample: &[f64]) -> f64 {
    if sample.is_empty() { f64::NAN } else { Summary::from_sample(sample).median }
}

fn flat(curves: &Curves) -> Claim {
    let cases = curves.open_places().filter(|place| place.1 > 0).map(|(panel, level)| {
        let growth = growth(curves, panel, KernelBanzhaf, level);
        let name = format!("{} (×{:.2})", curves.place(panel, level), typical(&growth));
        Case::new(name, Test::below(&growth, 1.5))
    });
    By::SignedRanks.in_all(
        "the error of Kernel Banzhaf remains unchanged as the noise increases (a horizontal line)",
        "section 4.2",
        "a dataset with m < 2^n and σ > 0; it agrees if the error is at most 1.5 times that without noise in \
         the same run",
        cases,
    )
}

fn competitors_rise(curves: &Curves, [_, leverage, optimized]: [Contender; 3]) -> Claim {
    let last = curves.levels.len() - 1;
    let cases = open_panels(curves).flat_map(|panel| {
        [leverage, optimized].map(|shap| {
            let growth = growth(curves, panel, shap, last);
            let name = format!("{}, {} (×{:.2})", curves.panels[panel], shap.title(), typical(&growth));
            Case::new(name, Test::above(&growth, 2.0))
        })
    });
    By::SignedRanks.in_all(
        "the error rates of the competitors rise",
        "caption of figure 4",
        "a dataset with m < 2^n and an estimator of Shapley values; it agrees if its error at the largest σ \
         is at least twice that without noise in the same run",
        cases,
    )
}

fn rises_less(curves: &Curves, [_, leverage, optimized]: [Contender; 3]) -> Claim {
    let last = curves.levels.len() - 1;
    let mut cases = Vec::new();
    for panel in open_panels(curves) {
        let title = &curves.panels[panel];
        let banzhaf = growth(curves, panel, KernelBanzhaf, last);
        for shap in [leverage, optimized] {
            let other = growth(curves, panel, shap, last);
            let (own, others) = (typical(&banzhaf), typical(&other));
            cases.push(Case::new(
                format!("{title}, {} (×{own:.2} to ×{others:.2})", shap.title()),
                Test::ratio_below(&banzhaf, &other, 1.0),
            ));
        }
    }
    By::SignedRanks.in_all(
        "Kernel Banzhaf is more robust to noise than the estimators of Shapley values: minimal loss of \
         precision",
        "section 4.2; caption of figure 4",
        "a dataset with m < 2^n and an estimator of Shapley values; it agrees if, from no noise to the \
         largest σ, the error of Kernel Banzhaf grows by a smaller factor in the same run",
        cases,
    )
}
