//! Figures 2 and 9: error against sample size.

use anyhow::Result;

use super::contender::Contender::{
    self, KernelBanzhaf, KernelBanzhafUnpaired, MonteCarlo, MonteCarloTwice, Msr,
};
use super::experiment::{
    Curves, Experiment, MANY, MULTIPLE, Metric, curves, datasets, experiment, judged, look,
};
use super::notes::{notes, shapley_notes};
use crate::comparison::{Compete, MULTIPLES, by_sample_size, picked};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::{Entry, Table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{By, Case, Claim, Resamples, Test};

/// Minimum sample size, as a multiple of n, that counts as "increased".
const GROWN: usize = 40;

/// Generates figure 2: median and quartiles of the error, for the estimators of Banzhaf values.
pub(crate) fn fig2(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session)?;
    let curves =
        curves(&experiment, &Contender::BANZHAF_AND_MC_TWICE, &by_sample_size(), Metric::SquaredError)?;
    let title = "Figure 2: error against sample size (trees, path-dependent game)";
    let look = look(title, "squared error");
    let mut made = curves.artefact_output(["dataset", "m"], &look, "Median of ‖φ̃ − φ‖² by sample size");
    made.tables.push(ratios(&curves));
    let claims = judged(&curves, |curves| claims(&experiment, curves));
    Ok(ArtefactOutput { claims, notes: notes(), datasets: datasets(|_| true), ..made })
}

fn claims(experiment: &Experiment<'_>, curves: &Curves) -> Vec<Claim> {
    let mut claims = beats_the_others(curves, "section 4.1; caption of figure 2");
    claims.push(curves.below(
        "Kernel Banzhaf outperforms MC even where MC is given twice the evaluations, as in the paper's code",
        "section 4.1, as plotted",
        (KernelBanzhaf, MonteCarloTwice),
    ));
    claims.push(pairs_help(curves));
    claims.push(errors_decrease(curves));
    claims.extend([MonteCarloTwice, MonteCarlo].map(|mc| msr_is_worse(experiment, curves, mc)));
    claims.push(margin(curves, Msr, 5.0));
    claims.push(margin(curves, MonteCarlo, 2.0));
    claims
}

/// Returns the claims that the error of Kernel Banzhaf is below the error of each rival, at equal numbers of
/// evaluations.
pub(super) fn beats_the_others(curves: &Curves, source: &str) -> Vec<Claim> {
    let rivals = [
        (MonteCarlo, "Kernel Banzhaf outperforms MC for all datasets and sample sizes"),
        (Msr, "Kernel Banzhaf outperforms MSR for all datasets and sample sizes"),
    ];
    let claims = rivals.map(|(rival, claim)| curves.below(claim, source, (KernelBanzhaf, rival)));
    claims.to_vec()
}

pub(super) fn pairs_help(curves: &Curves) -> Claim {
    curves.below(
        "Kernel Banzhaf is better with pairs than without",
        "section 4.1; figure 2",
        (KernelBanzhaf, KernelBanzhafUnpaired),
    )
}

fn errors_decrease(curves: &Curves) -> Claim {
    let mut cases = Vec::new();
    for (panel, level) in curves.open_places().filter(|place| place.1 > 0) {
        for contender in curves.contenders() {
            if let (Some(before), Some(here)) =
                (curves.point(panel, contender, level - 1), curves.point(panel, contender, level))
            {
                let growth = here.summary.median / before.summary.median;
                let name = format!("{}, {} (×{growth:.2})", curves.place(panel, level), contender.title());
                cases.push(Case::new(name, Test::ratio_below(&here.errors, &before.errors, 1.0)));
            }
        }
    }
    By::SignedRanks.in_most(
        "the error of all estimators decreases as the sample size increases",
        "section 4.1",
        "a dataset, an estimator and a doubling of m with m < 2^n; it agrees if the error falls in the same \
         run",
        cases,
    )
}

fn msr_is_worse(experiment: &Experiment<'_>, curves: &Curves, mc: Contender) -> Claim {
    let places = curves
        .open_places()
        .filter(|&(panel, level)| experiment.players(panel) >= MANY && MULTIPLES[level] >= GROWN);
    let how =
        if mc == MonteCarlo { "at equal evaluations" } else { "MC given twice the evaluations, as plotted" };
    By::SignedRanks.in_all(
        &format!(
            "MSR performs worse than MC on datasets with a large number of features as the samples increase \
             ({how})"
        ),
        "section 4.1",
        &format!(
            "a dataset with n ≥ {MANY} and m of {GROWN}n and more; it agrees if MSR is above {} in the same \
             run",
            mc.title()
        ),
        curves.below_cases(places, (mc, Msr), 1.0),
    )
}

/// Returns the points at m = 20n with m < 2^n.
fn at_multiple(curves: &Curves) -> impl Iterator<Item = (usize, usize)> {
    curves.open_places().filter(|&(_, level)| MULTIPLES[level] == MULTIPLE)
}

/// Returns the claim on this project's target: Kernel Banzhaf's error at m = 20n is at most the error of
/// `rival` divided by `factor`.
fn margin(curves: &Curves, rival: Contender, factor: f64) -> Claim {
    let pair = (KernelBanzhaf, rival);
    By::SignedRanks.in_all(
        &format!(
            "Kernel Banzhaf's error at m = {MULTIPLE}n is at most 1/{factor} of that of {}",
            rival.title()
        ),
        "target of this project",
        &format!(
            "a dataset with {MULTIPLE}n < 2^n; it agrees if the ratio in the same run is at most 1/{factor}"
        ),
        curves.below_cases(at_multiple(curves), pair, 1.0 / factor),
    )
}

/// Creates a table of the ratios of Kernel Banzhaf's median error to the median errors of the other
/// estimators, at m = 20n.
fn ratios(curves: &Curves) -> Table {
    let rivals = [KernelBanzhafUnpaired, MonteCarlo, MonteCarloTwice, Msr];
    let mut table = Table::new(
        format!("Median error of Kernel Banzhaf divided by that of each other estimator, m = {MULTIPLE}n"),
        std::iter::once("dataset").chain(rivals.map(Contender::title)),
    );
    for place in at_multiple(curves) {
        let mut row = vec![Entry::from(curves.panels[place.0].as_str())];
        row.extend(rivals.map(|rival| curves.ratio(place, (KernelBanzhaf, rival)).into()));
        table.push(row);
    }
    table
}

/// Generates figure 9: median and quartiles of the normalized error of the three regressions.
pub(crate) fn fig9(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session)?;
    let all = &Contender::ALL_REGRESSIONS;
    let curves = curves(&experiment, all, &by_sample_size(), Metric::NormalizedError)?;
    let look = look(
        "Figure 9: normalized error against sample size (Banzhaf: path-dependent; Shapley: interventional)",
        "relative squared error",
    );
    let made = curves.artefact_output(["dataset", "m"], &look, "Median of ‖φ̃ − φ‖² / ‖φ‖² by sample size");
    let readings = Contender::BY_BACKGROUND.map(|(background, regressions)| {
        let claims = judged(&curves.only(|_| true, &regressions), |curves| {
            vec![
                ordered_for_many(&experiment, curves, regressions),
                difference_grows(&experiment, curves, regressions),
                without_replacement_wins_small(curves, regressions),
                narrower_bands(&experiment, curves, regressions),
            ]
        });
        (background.to_owned(), claims)
    });
    let claims = Claim::over_readings(readings.into());
    Ok(ArtefactOutput { claims, notes: shapley_notes(), datasets: datasets(|_| true), ..made })
}

/// Returns the claim that, for many features, Kernel Banzhaf has the smallest error, followed by Leverage
/// SHAP and Optimized Kernel SHAP.
fn ordered_for_many(experiment: &Experiment<'_>, curves: &Curves, regressions: [Contender; 3]) -> Claim {
    let [banzhaf, leverage, optimized] = regressions;
    let places = curves.open_places().filter(|&(panel, _)| experiment.players(panel) >= MANY);
    let cases = places.map(|place| {
        let ratio = |pair| curves.ratio(place, pair).unwrap_or(f64::NAN);
        let name = format!(
            "{} ({:.2} : 1 : {:.2})",
            curves.place(place.0, place.1),
            ratio((banzhaf, leverage)),
            ratio((optimized, leverage))
        );
        let ascending = regressions.windows(2).map(|pair| curves.is_below(place, (pair[0], pair[1]), 1.0));
        Case::new(name, Test::all(ascending))
    });
    By::SignedRanks.in_all(
        "for larger n Kernel Banzhaf gives the best performance, followed by Leverage SHAP, then Optimized \
         Kernel SHAP",
        "section 4.2; appendix F",
        &format!(
            "a dataset with n ≥ {MANY} and a sample size; it agrees if the errors ascend in that order in \
             the same run"
        ),
        cases,
    )
}

/// Returns, for each run, Leverage SHAP's error divided by Kernel Banzhaf's error.
fn differences(curves: &Curves, place: (usize, usize), [banzhaf, leverage, _]: [Contender; 3]) -> Vec<f64> {
    let (leverage, banzhaf) = curves.paired(place, (leverage, banzhaf));
    leverage.iter().zip(&banzhaf).map(|(one, other)| one / other).collect()
}

fn difference_grows(experiment: &Experiment<'_>, curves: &Curves, regressions: [Contender; 3]) -> Claim {
    let level = MULTIPLES.iter().position(|&multiple| multiple == MULTIPLE).unwrap_or_default();
    let mut places: Vec<(usize, usize)> = curves.open_places().filter(|place| place.1 == level).collect();
    places.sort_by_key(|place| experiment.players(place.0));
    let mut cases = Vec::new();
    for (at, &narrow) in places.iter().enumerate() {
        for &wide in &places[at + 1..] {
            let [n, more] = [narrow, wide].map(|place| experiment.players(place.0));
            if n == more {
                continue;
            }
            let [one, other] = [narrow, wide].map(|place| differences(curves, place, regressions));
            let median = |ratios: &[f64], runs: &[usize]| Summary::from_sample(&picked(ratios, runs)).median;
            let runs = one.len().min(other.len());
            let ratio = Resamples::draw(runs, |runs| median(&one, runs) / median(&other, runs));
            let [first, second] = [&one, &other].map(|ratios| Summary::from_sample(&ratios[..runs]).median);
            let name = format!("n = {n} ({first:.2}) and {more} ({second:.2})");
            cases.push(Case::new(name, ratio.below(1.0)));
        }
    }
    By::Resampling.in_most(
        "the larger the number of features, the bigger the difference in error",
        "section 4.2",
        &format!(
            "two datasets with m < 2^n, at m = {MULTIPLE}n; it agrees if the median of Leverage SHAP's error \
             over Kernel Banzhaf's in the same run is larger on the wider one"
        ),
        cases,
    )
}

/// Judges the claim that for small n the estimators of Shapley values are more accurate, because they draw
/// without replacement. Uses the dataset with the fewest features, at every sample size, including m ≥ 2^n,
/// where such draws cover all coalitions.
fn without_replacement_wins_small(curves: &Curves, [banzhaf, leverage, optimized]: [Contender; 3]) -> Claim {
    let narrowest = curves.open_places().map(|place| place.0).next();
    let places = || curves.places().into_iter().filter(|place| Some(place.0) == narrowest);
    let cases = [leverage, optimized].into_iter().flat_map(|shap| {
        let cases = curves.below_cases(places(), (shap, banzhaf), 1.0);
        cases.into_iter().map(move |case| case.prefixed(shap.title()))
    });
    By::SignedRanks.in_most(
        "where n is small, as in Diabetes, the estimators of Shapley values perform better, as they sample \
         without replacement",
        "section 4.2",
        "a sample size on the narrowest dataset, m ≥ 2^n among them, and an estimator of Shapley values; it \
         agrees if it is below Kernel Banzhaf in the same run",
        cases,
    )
}

fn narrower_bands(
    experiment: &Experiment<'_>,
    curves: &Curves,
    [banzhaf, leverage, optimized]: [Contender; 3],
) -> Claim {
    let width: fn(&Summary) -> f64 = |summary| summary.third / summary.first;
    let places = || curves.open_places().filter(|&(panel, _)| experiment.players(panel) < MANY);
    let cases = [leverage, optimized].into_iter().flat_map(|shap| {
        let cases = curves.summary_cases(places(), (banzhaf, shap), [width; 2], 1.0);
        cases.into_iter().map(move |case| case.prefixed(shap.title()))
    });
    By::Resampling.in_most(
        "on smaller datasets the band between the quartiles is narrower for Kernel Banzhaf than for the \
         estimators of Shapley values",
        "appendix F",
        &format!(
            "a dataset with n < {MANY}, a sample size with m < 2^n and an estimator of Shapley values; it \
             agrees if the third quartile over the first is smaller for Kernel Banzhaf"
        ),
        cases,
    )
}
