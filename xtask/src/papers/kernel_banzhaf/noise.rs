//! Figures 3 and 4: error against noise on the set function.

use anyhow::Result;

use super::contender::Contender::{
    self, KernelBanzhaf, KernelBanzhafUnpaired, LeverageShap, MonteCarlo, Msr, OptimizedKernelShap,
};
use super::experiment::{Curves, MULTIPLE, Metric, curves, datasets, experiment};
use super::{notes, shapley_notes};
use crate::comparison::{Centre, Compete, Look, Noise, by_noise};
use crate::reproduce::catalogue::Made;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{Claim, Needed};

/// Levels of noise up to this are called low; the paper says which ones it means nowhere.
const LOW: f64 = 0.1;

/// Figure 3: median and quartiles of the error of the estimators of Banzhaf values.
pub(crate) fn fig3(session: &Session) -> Result<Made> {
    let experiment = experiment(session)?;
    let steps = by_noise(MULTIPLE, Noise::absolute);
    let curves = curves(&experiment, &Contender::BANZHAF, &steps, Metric::SquaredError)?;
    let look = Look {
        title: "Figure 3: error against noise on v, m = 20n (trees, path-dependent game)",
        x: "standard deviation σ",
        y: "squared error",
        floor: 1e-14,
        centre: Centre::Median,
        columns: 4,
    };
    let made = curves.made(["dataset", "sigma"], &look, "Median of ‖φ̃ − φ‖² by noise");
    let sigmas: Vec<f64> = steps.iter().map(|step| step.noise.sigma).collect();
    let claims = vec![
        best_when_low(&curves, &sigmas),
        more_robust(&curves, &sigmas),
        matches_when_loud(&curves, &sigmas),
        mc_is_worst(&curves),
    ];
    let mut notes = notes(&experiment);
    notes.push(
        "σ is a standard deviation in the units of the prediction, so it matters less where predictions are large (communities: \
         hundreds); the noise of a coalition is the same whenever it is asked for"
            .to_owned(),
    );
    notes.push(format!("σ ≤ {LOW} is called low: the paper does not say which levels it means"));
    Ok(Made { claims, notes, datasets: datasets(&experiment, |_| true), ..made })
}

/// Places with 0 < σ ≤ [`LOW`].
fn low<'a>(curves: &'a Curves, sigmas: &'a [f64]) -> impl Iterator<Item = (usize, usize)> + 'a {
    curves.open_places().filter(|&(_, level)| sigmas[level] > 0.0 && sigmas[level] <= LOW)
}

fn median(curves: &Curves, (panel, level): (usize, usize), contender: Contender) -> f64 {
    curves.point(panel, contender, level).map_or(f64::NAN, |point| point.summary.median)
}

fn best_when_low(curves: &Curves, sigmas: &[f64]) -> Claim {
    let cases = low(curves, sigmas).map(|place| {
        let others = [KernelBanzhafUnpaired, MonteCarlo, Msr].map(|other| median(curves, place, other));
        let ratio = median(curves, place, KernelBanzhaf) / others.into_iter().fold(f64::INFINITY, f64::min);
        (format!("{} (ratio {ratio:.2})", curves.place(place.0, place.1)), ratio < 1.0)
    });
    Claim::over_cases(
        "Kernel Banzhaf outperforms for lower noise levels",
        "caption of figure 3",
        "a dataset and a low σ; it agrees if Kernel Banzhaf has the least median of all four",
        Needed::All,
        cases,
    )
}

fn more_robust(curves: &Curves, sigmas: &[f64]) -> Claim {
    let cases = low(curves, sigmas).map(|place| {
        let worse = [KernelBanzhaf, KernelBanzhafUnpaired].map(|one| median(curves, place, one));
        let better = [MonteCarlo, Msr].map(|other| median(curves, place, other));
        let ratio = worse.into_iter().fold(0.0, f64::max) / better.into_iter().fold(f64::INFINITY, f64::min);
        (format!("{} (ratio {ratio:.2})", curves.place(place.0, place.1)), ratio < 1.0)
    });
    Claim::over_cases(
        "Kernel Banzhaf and its variant without pairs are more robust to noise than the other algorithms, especially when it is low",
        "section 4.1",
        "a dataset and a low σ; it agrees if the larger median of the two is below the smaller one of MC and MSR",
        Needed::All,
        cases,
    )
}

fn matches_when_loud(curves: &Curves, sigmas: &[f64]) -> Claim {
    let last = sigmas.len() - 1;
    let cases = [KernelBanzhafUnpaired, Msr].into_iter().flat_map(|other| {
        let places = curves.open_places().filter(|place| place.1 == last);
        let cases = curves.ratio_cases(places, (other, KernelBanzhaf), Centre::Median, |ratio| {
            (2.0 / 3.0..=1.5).contains(&ratio)
        });
        cases.into_iter().map(move |(name, agrees)| (format!("{}, {name}", other.title()), agrees))
    });
    Claim::over_cases(
        "for larger noise Kernel Banzhaf eventually matches its variant without pairs and MSR",
        "caption of figure 3",
        "a dataset and one of the two, at the largest σ; it agrees if the medians are within a factor of 1.5",
        Needed::Most,
        cases,
    )
}

fn mc_is_worst(curves: &Curves) -> Claim {
    let cases = curves.open_places().map(|place| {
        let others = [KernelBanzhaf, KernelBanzhafUnpaired, Msr].map(|other| median(curves, place, other));
        let ratio = median(curves, place, MonteCarlo) / others.into_iter().fold(0.0, f64::max);
        (format!("{} (ratio {ratio:.2})", curves.place(place.0, place.1)), ratio > 1.0)
    });
    Claim::over_cases(
        "MC is worse for all noise settings",
        "caption of figure 3",
        "a dataset and σ; it agrees if the median of MC is the largest of all four",
        Needed::All,
        cases,
    )
}

/// Figure 4: median and quartiles of the normalized error of the three regressions.
pub(crate) fn fig4(session: &Session) -> Result<Made> {
    let experiment = experiment(session)?;
    let steps = by_noise(MULTIPLE, Noise::relative);
    let curves = curves(&experiment, &Contender::REGRESSIONS, &steps, Metric::NormalizedError)?;
    let look = Look {
        title: "Figure 4: normalized error against noise σ·v(S), m = 20n (Banzhaf: path-dependent; Shapley: interventional)",
        x: "relative deviation σ",
        y: "relative squared error",
        floor: 1e-14,
        centre: Centre::Median,
        columns: 4,
    };
    let made = curves.made(["dataset", "sigma"], &look, "Median of ‖φ̃ − φ‖² / ‖φ‖² by noise");
    let claims = vec![
        flat(&curves),
        competitors_rise(&curves),
        rises_less(&curves),
        curves.best(
            "Kernel Banzhaf maintains lower error rates amid increasing noise",
            "caption of figure 4",
            Needed::All,
            &[KernelBanzhaf],
            Centre::Median,
        ),
    ];
    let mut notes = shapley_notes(&experiment);
    notes.push(
        "the noise is v(S) times a normal variable of deviation σ: \"normalized based on the raw output of the set function\", which \
         the paper does not spell out"
            .to_owned(),
    );
    Ok(Made { claims, notes, datasets: datasets(&experiment, |_| true), ..made })
}

/// Panels with m < 2^n, where nobody is exact without noise.
fn open_panels(curves: &Curves) -> impl Iterator<Item = usize> {
    curves.open_places().filter(|place| place.1 == 0).map(|place| place.0)
}

/// The median at each σ over that without noise.
fn growth(curves: &Curves, panel: usize, contender: Contender, level: usize) -> f64 {
    median(curves, (panel, level), contender) / median(curves, (panel, 0), contender)
}

fn flat(curves: &Curves) -> Claim {
    let cases = curves.open_places().filter(|place| place.1 > 0).map(|(panel, level)| {
        let growth = growth(curves, panel, KernelBanzhaf, level);
        (format!("{} (×{growth:.2})", curves.place(panel, level)), growth <= 1.5)
    });
    let mut claim = Claim::over_cases(
        "the error of Kernel Banzhaf remains unchanged as the noise increases (a horizontal line)",
        "section 4.2",
        "a dataset with m < 2^n and σ > 0; it agrees if the median is at most 1.5 times that without noise",
        Needed::All,
        cases,
    );
    let unchanged =
        |level: &usize| open_panels(curves).all(|panel| growth(curves, panel, KernelBanzhaf, *level) <= 1.5);
    if let Some(level) = (0..curves.levels.len()).take_while(unchanged).last() {
        claim.evidence =
            format!("unchanged on all datasets up to {}; {}", curves.levels[level].label, claim.evidence);
    }
    claim
}

fn competitors_rise(curves: &Curves) -> Claim {
    let last = curves.levels.len() - 1;
    let cases = open_panels(curves).flat_map(|panel| {
        [LeverageShap, OptimizedKernelShap].map(|shap| {
            let growth = growth(curves, panel, shap, last);
            (format!("{}, {} (×{growth:.2})", curves.panels[panel], shap.title()), growth >= 2.0)
        })
    });
    Claim::over_cases(
        "the error rates of the competitors rise",
        "caption of figure 4",
        "a dataset with m < 2^n and an estimator of Shapley values; it agrees if its median at the largest σ is at least twice that without noise",
        Needed::All,
        cases,
    )
}

fn rises_less(curves: &Curves) -> Claim {
    let last = curves.levels.len() - 1;
    let mut cases = Vec::new();
    for panel in open_panels(curves) {
        let title = &curves.panels[panel];
        let banzhaf = growth(curves, panel, KernelBanzhaf, last);
        for shap in [LeverageShap, OptimizedKernelShap] {
            let other = growth(curves, panel, shap, last);
            cases
                .push((format!("{title}, {} (×{banzhaf:.2} to ×{other:.2})", shap.title()), banzhaf < other));
        }
    }
    Claim::over_cases(
        "Kernel Banzhaf is more robust to noise than the estimators of Shapley values: minimal loss of precision",
        "section 4.2; caption of figure 4",
        "a dataset with m < 2^n and an estimator of Shapley values; it agrees if, from no noise to the largest σ, the median of Kernel Banzhaf grows \
         by a smaller factor",
        Needed::All,
        cases,
    )
}
