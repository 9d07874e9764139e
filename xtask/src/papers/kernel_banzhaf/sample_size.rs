//! Figures 2 and 9: error against sample size.

use anyhow::Result;

use super::contender::Contender::{
    self, KernelBanzhaf, KernelBanzhafUnpaired, LeverageShap, MonteCarlo, MonteCarloTwice, Msr,
    OptimizedKernelShap,
};
use super::experiment::{Curves, Experiment, MANY, MULTIPLE, Metric, curves, datasets, experiment};
use super::{notes, shapley_notes};
use crate::comparison::{Centre, Compete, Look, MULTIPLES, by_sample_size};
use crate::reproduce::catalogue::Made;
use crate::reproduce::report::{Entry, Table};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{Claim, Needed};

/// Sample sizes, as multiples of n, from which on they have "increased".
const GROWN: usize = 40;

/// Figure 2: median and quartiles of the error of the estimators of Banzhaf values.
pub(crate) fn fig2(session: &Session) -> Result<Made> {
    let experiment = experiment(session)?;
    let curves =
        curves(&experiment, &Contender::BANZHAF_AND_MC_TWICE, &by_sample_size(), Metric::SquaredError)?;
    let look = Look {
        title: "Figure 2: error against sample size (trees, path-dependent game)",
        x: "evaluations m",
        y: "squared error",
        floor: 1e-14,
        centre: Centre::Median,
        columns: 4,
    };
    let mut made = curves.made(["dataset", "m"], &look, "Median of ‖φ̃ − φ‖² by sample size");
    made.tables.push(ratios(&curves));
    let mut claims = beats_the_others(&curves, "section 4.1; caption of figure 2");
    claims.push(curves.below(
        "Kernel Banzhaf outperforms MC even where MC is given twice the evaluations, as in the paper's code",
        "section 4.1, as plotted",
        Needed::All,
        (KernelBanzhaf, MonteCarloTwice),
        Centre::Median,
    ));
    claims.push(pairs_help(&curves));
    claims.push(errors_decrease(&curves));
    claims.extend([MonteCarloTwice, MonteCarlo].map(|mc| msr_is_worse(&experiment, &curves, mc)));
    claims.push(margin(&curves, Msr, 5.0));
    claims.push(margin(&curves, MonteCarlo, 2.0));
    Ok(Made { claims, notes: notes(&experiment), datasets: datasets(&experiment, |_| true), ..made })
}

/// The claims that Kernel Banzhaf is below each of its rivals, at equal evaluations.
pub(super) fn beats_the_others(curves: &Curves, source: &str) -> Vec<Claim> {
    let rivals = [
        (MonteCarlo, "Kernel Banzhaf outperforms MC for all datasets and sample sizes"),
        (Msr, "Kernel Banzhaf outperforms MSR for all datasets and sample sizes"),
    ];
    let claims = rivals.map(|(rival, claim)| {
        curves.below(claim, source, Needed::All, (KernelBanzhaf, rival), Centre::Median)
    });
    claims.to_vec()
}

pub(super) fn pairs_help(curves: &Curves) -> Claim {
    curves.below(
        "Kernel Banzhaf is better with pairs than without",
        "section 4.1; figure 2",
        Needed::All,
        (KernelBanzhaf, KernelBanzhafUnpaired),
        Centre::Median,
    )
}

fn errors_decrease(curves: &Curves) -> Claim {
    let median = |panel, contender, level| curves.point(panel, contender, level).map(|p| p.summary.median);
    let mut cases = Vec::new();
    for (panel, level) in curves.open_places().filter(|place| place.1 > 0) {
        for contender in curves.contenders() {
            if let (Some(before), Some(here)) =
                (median(panel, contender, level - 1), median(panel, contender, level))
            {
                cases.push((
                    format!("{}, {} (×{:.2})", curves.place(panel, level), contender.title(), here / before),
                    here < before,
                ));
            }
        }
    }
    Claim::over_cases(
        "the error of all estimators decreases as the sample size increases",
        "section 4.1",
        "a dataset, an estimator and a doubling of m with m < 2^n; it agrees if the median falls",
        Needed::Most,
        cases,
    )
}

fn msr_is_worse(experiment: &Experiment<'_>, curves: &Curves, mc: Contender) -> Claim {
    let places = curves
        .open_places()
        .filter(|&(panel, level)| experiment.players(panel) >= MANY && MULTIPLES[level] >= GROWN);
    let how =
        if mc == MonteCarlo { "at equal evaluations" } else { "MC given twice the evaluations, as plotted" };
    Claim::over_cases(
        &format!(
            "MSR performs worse than MC on datasets with a large number of features as the samples increase ({how})"
        ),
        "section 4.1",
        &format!(
            "a dataset with n ≥ {MANY} and m of {GROWN}n and more; it agrees if the median of MSR is above that of {}",
            mc.title()
        ),
        Needed::All,
        curves.ratio_cases(places, (Msr, mc), Centre::Median, |ratio| ratio > 1.0),
    )
}

/// The open places at m = 20n.
fn at_multiple(curves: &Curves) -> impl Iterator<Item = (usize, usize)> {
    curves.open_places().filter(|&(_, level)| MULTIPLES[level] == MULTIPLE)
}

/// The target that Kernel Banzhaf's error is at most that of `rival` over `factor`, at m = 20n.
fn margin(curves: &Curves, rival: Contender, factor: f64) -> Claim {
    let pair = (KernelBanzhaf, rival);
    let cases = curves.ratio_cases(at_multiple(curves), pair, Centre::Median, |ratio| ratio <= 1.0 / factor);
    let largest = at_multiple(curves).filter_map(|place| curves.ratio(place, pair, Centre::Median));
    let mut claim = Claim::over_cases(
        &format!(
            "Kernel Banzhaf's error at m = {MULTIPLE}n is at most 1/{factor} of that of {}",
            rival.title()
        ),
        "target of this project",
        &format!("a dataset with {MULTIPLE}n < 2^n; it agrees if the ratio of medians is at most 1/{factor}"),
        Needed::All,
        cases,
    );
    if let Some(largest) = largest.reduce(f64::max) {
        claim.evidence = format!("{}; largest ratio {largest:.3}", claim.evidence);
    }
    claim
}

/// Kernel Banzhaf's median over those of the others, at m = 20n.
fn ratios(curves: &Curves) -> Table {
    let rivals = [KernelBanzhafUnpaired, MonteCarlo, MonteCarloTwice, Msr];
    let mut table = Table::new(
        format!("Median error of Kernel Banzhaf over that of the others, m = {MULTIPLE}n"),
        std::iter::once("dataset").chain(rivals.map(Contender::title)),
    );
    for place in at_multiple(curves) {
        let mut row = vec![Entry::from(curves.panels[place.0].as_str())];
        row.extend(rivals.map(|rival| curves.ratio(place, (KernelBanzhaf, rival), Centre::Median).into()));
        table.push(row);
    }
    table
}

/// Figure 9: median and quartiles of the normalized error of the three regressions.
pub(crate) fn fig9(session: &Session) -> Result<Made> {
    let experiment = experiment(session)?;
    let curves = curves(&experiment, &Contender::REGRESSIONS, &by_sample_size(), Metric::NormalizedError)?;
    let look = Look {
        title: "Figure 9: normalized error against sample size (Banzhaf: path-dependent; Shapley: interventional)",
        x: "evaluations m",
        y: "relative squared error",
        floor: 1e-14,
        centre: Centre::Median,
        columns: 4,
    };
    let made = curves.made(["dataset", "m"], &look, "Median of ‖φ̃ − φ‖² / ‖φ‖² by sample size");
    let claims = vec![
        ordered_for_many(&experiment, &curves),
        difference_grows(&experiment, &curves),
        without_replacement_wins_small(&curves),
        narrower_bands(&experiment, &curves),
    ];
    Ok(Made { claims, notes: shapley_notes(&experiment), datasets: datasets(&experiment, |_| true), ..made })
}

/// Kernel Banzhaf, then Leverage SHAP, then Optimized Kernel SHAP.
fn ordered_for_many(experiment: &Experiment<'_>, curves: &Curves) -> Claim {
    let places = curves.open_places().filter(|&(panel, _)| experiment.players(panel) >= MANY);
    let median = |(panel, level), contender| {
        curves.point(panel, contender, level).map_or(f64::NAN, |point| point.summary.median)
    };
    let cases = places.map(|place| {
        let [banzhaf, leverage, optimized] = Contender::REGRESSIONS.map(|contender| median(place, contender));
        let name = format!(
            "{} ({:.2} : 1 : {:.2})",
            curves.place(place.0, place.1),
            banzhaf / leverage,
            optimized / leverage
        );
        (name, banzhaf < leverage && leverage < optimized)
    });
    Claim::over_cases(
        "for larger n Kernel Banzhaf gives the best performance, followed by Leverage SHAP, then Optimized Kernel SHAP",
        "section 4.2; appendix F",
        &format!(
            "a dataset with n ≥ {MANY} and a sample size; it agrees if the medians ascend in that order"
        ),
        Needed::All,
        cases,
    )
}

fn difference_grows(experiment: &Experiment<'_>, curves: &Curves) -> Claim {
    let level = MULTIPLES.iter().position(|&multiple| multiple == MULTIPLE).unwrap_or_default();
    let mut ratios: Vec<(usize, f64)> = curves
        .open_places()
        .filter(|place| place.1 == level)
        .filter_map(|place| {
            let ratio = curves.ratio(place, (LeverageShap, KernelBanzhaf), Centre::Median)?;
            Some((experiment.players(place.0), ratio))
        })
        .collect();
    ratios.sort_by_key(|ratio| ratio.0);
    let pairs = ratios.iter().enumerate().flat_map(|(i, a)| ratios[i + 1..].iter().map(move |b| (a, b)));
    let cases = pairs
        .filter(|(a, b)| a.0 < b.0)
        .map(|(a, b)| (format!("n = {} ({:.2}) and {} ({:.2})", a.0, a.1, b.0, b.1), a.1 < b.1));
    Claim::over_cases(
        "the larger the number of features, the bigger the difference in error",
        "section 4.2",
        &format!(
            "two datasets with m < 2^n, at m = {MULTIPLE}n; it agrees if Leverage SHAP's median over Kernel Banzhaf's is larger on the wider one"
        ),
        Needed::Most,
        cases,
    )
}

fn without_replacement_wins_small(curves: &Curves) -> Claim {
    let narrowest = curves.open_places().map(|place| place.0).next();
    let places = || curves.open_places().filter(|place| Some(place.0) == narrowest);
    let cases = [LeverageShap, OptimizedKernelShap].into_iter().flat_map(|shap| {
        let cases = curves.ratio_cases(places(), (shap, KernelBanzhaf), Centre::Median, |ratio| ratio < 1.0);
        cases.into_iter().map(move |(name, agrees)| (format!("{}, {name}", shap.title()), agrees))
    });
    Claim::over_cases(
        "where n is small, as in Diabetes, the estimators of Shapley values perform better, as they sample without replacement",
        "section 4.2",
        "a sample size with m < 2^n on the narrowest dataset, and an estimator of Shapley values; it agrees if its median is below \
         that of Kernel Banzhaf",
        Needed::Most,
        cases,
    )
}

fn narrower_bands(experiment: &Experiment<'_>, curves: &Curves) -> Claim {
    let width = |(panel, level): (usize, usize), contender| {
        curves.point(panel, contender, level).map(|point| point.summary.third / point.summary.first)
    };
    let mut cases = Vec::new();
    for place in curves.open_places().filter(|&(panel, _)| experiment.players(panel) < MANY) {
        for shap in [LeverageShap, OptimizedKernelShap] {
            if let (Some(banzhaf), Some(other)) = (width(place, KernelBanzhaf), width(place, shap)) {
                let name = format!(
                    "{}, {} ({banzhaf:.1} to {other:.1})",
                    curves.place(place.0, place.1),
                    shap.title()
                );
                cases.push((name, banzhaf < other));
            }
        }
    }
    Claim::over_cases(
        "on smaller datasets the band between the quartiles is narrower for Kernel Banzhaf than for the estimators of Shapley values",
        "appendix F",
        &format!(
            "a dataset with n < {MANY}, a sample size with m < 2^n and an estimator of Shapley values; it agrees if the third quartile \
             over the first is smaller for Kernel Banzhaf"
        ),
        Needed::Most,
        cases,
    )
}
