//! Figures 4, 9 and 11: error against noise on the set function, at m = 10n.

use anyhow::Result;

use super::contender::Contender::{self, LeverageShap};
use super::sample_size::third_quartile_near_median;
use super::sweep::{Curves, Metric, by_noise, experiment};
use super::{NOTES, OBJECTIVE_NOTE, all_datasets, small_datasets};
use crate::comparison::{Centre, Compete, Look};
use crate::reproduce::catalogue::Made;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{Claim, Needed, Verdict};

const NOISE_NOTE: &str = "the noise of a coalition is the same for all estimators of a run, so estimators that evaluate the same coalitions tie; \
                          the noise is absolute, so it matters less where predictions are large (Diabetes: hundreds)";

/// Figure 4: median and quartiles of the error of the three main estimators.
pub(crate) fn fig4(session: &Session) -> Result<Made> {
    let experiment = experiment(session, &all_datasets())?;
    let curves = by_noise(&experiment, &Contender::MAIN, Metric::Error)?;
    let claims = vec![
        curves.best(
            "Leverage SHAP gives the best performance in all settings",
            "caption of figure 4",
            Needed::All,
            &[LeverageShap],
            Centre::Median,
        ),
        third_quartile_near_median(&curves, "caption of figure 4; \"generally matches\""),
    ];
    let look = Look {
        title: "Figure 4: error against noise on v, m = 10n",
        x: "standard deviation σ",
        y: "relative squared error",
        floor: 1e-8,
        centre: Centre::Median,
        columns: 4,
    };
    let made = curves.made(["dataset", "sigma"], &look, "Median error by noise");
    Ok(Made { claims, notes: notes(), datasets: all_datasets(), ..made })
}

/// Figure 9: mean error of all estimators.
pub(crate) fn fig9(session: &Session) -> Result<Made> {
    let experiment = experiment(session, &all_datasets())?;
    let curves = by_noise(&experiment, &Contender::ALL, Metric::Error)?;
    let claims = vec![curves.best(
        "Leverage SHAP gives the best performance in almost all settings",
        "caption of figure 9",
        Needed::Most,
        &[LeverageShap],
        Centre::Mean,
    )];
    let look = Look {
        title: "Figure 9: error of all estimators against noise on v, m = 10n",
        x: "standard deviation σ",
        y: "relative squared error",
        floor: 1e-8,
        centre: Centre::Mean,
        columns: 4,
    };
    let made = curves.made(["dataset", "sigma"], &look, "Mean error by noise");
    Ok(Made { claims, notes: notes(), datasets: all_datasets(), ..made })
}

/// Figure 11: linear objective error of all estimators, n ≤ 12.
pub(crate) fn fig11(session: &Session) -> Result<Made> {
    let experiment = experiment(session, &small_datasets())?;
    let curves = by_noise(&experiment, &Contender::ALL, Metric::ObjectiveExcess)?;
    let claims = vec![error_grows(&curves), no_clear_winner(&curves)];
    let mut notes = notes();
    notes.push(OBJECTIVE_NOTE.to_owned());
    let look = Look {
        title: "Figure 11: linear objective error against noise on v, m = 10n",
        x: "standard deviation σ",
        y: "objective / least − 1",
        floor: 1e-8,
        centre: Centre::Mean,
        columns: 4,
    };
    let made = curves.made(["dataset", "sigma"], &look, "Mean excess of the objective by noise");
    Ok(Made { claims, notes, datasets: small_datasets(), ..made })
}

fn notes() -> Vec<String> {
    NOTES.into_iter().chain([NOISE_NOTE]).map(str::to_owned).collect()
}

fn error_grows(curves: &Curves) -> Claim {
    let last = curves.levels.len() - 1;
    let mut cases = Vec::new();
    for (panel, title) in curves.panels.iter().enumerate() {
        for contender in curves.contenders() {
            if let (Some(quiet), Some(loud)) =
                (curves.point(panel, contender, 0), curves.point(panel, contender, last))
            {
                let growth = loud.summary.mean / quiet.summary.mean;
                cases.push((format!("{title}, {} (×{growth:.2})", contender.title()), growth >= 2.0));
            }
        }
    }
    Claim::over_cases(
        "the error grows large as σ approaches one for all algorithms",
        "caption of figure 11",
        "a dataset and estimator; it agrees if the mean at σ = 1 is at least twice that at σ = 0",
        Needed::All,
        cases,
    )
}

fn no_clear_winner(curves: &Curves) -> Claim {
    let mut wins = vec![0usize; Contender::ALL.len()];
    let mut places = 0;
    for (panel, level) in curves.open_places() {
        let means = Contender::ALL
            .map(|contender| curves.point(panel, contender, level).map_or(f64::INFINITY, |p| p.summary.mean));
        if let Some(best) = (0..means.len()).min_by(|&a, &b| means[a].total_cmp(&means[b])) {
            wins[best] += 1;
            places += 1;
        }
    }
    let most = wins.iter().copied().max().unwrap_or(0);
    let winner =
        wins.iter().position(|&count| count == most).map_or("", |index| Contender::ALL[index].title());
    Claim {
        claim: "there is no clear winner across the datasets".to_owned(),
        source: "caption of figure 11".to_owned(),
        rule: "holds if no estimator has the least mean in more than half of the settings with m < 2^n"
            .to_owned(),
        verdict: if places == 0 { Verdict::NotTested } else { Verdict::of_truth(2 * most <= places) },
        evidence: format!("{winner} wins {most} of {places} settings"),
    }
}
