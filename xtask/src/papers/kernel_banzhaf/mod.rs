//! Liu, Witter, Korn, Alrashed, Paparas and Freire, *Kernel Banzhaf: A Fast and Robust Estimator for Banzhaf Values*, 2024.
//!
//! | file | holds |
//! |---|---|
//! | [`contender`] | the estimators that are compared |
//! | [`instance`] | one run on a dataset: explicand, games, exact values |
//! | [`experiment`] | the datasets, and how far estimates are from the truth |
//! | [`linear`] | the regression over all coalitions |
//! | [`scatter`] | figure 1 |
//! | [`sample_size`] | figures 2, 9 |
//! | [`noise`] | figures 3, 4 |
//! | [`condition`] | figure 5 |
//! | [`networks`] | figure 6 |
//! | [`objective`] | figure 7 |
//! | [`time`] | figure 8 |
//! | [`replacement`] | figure 10 |

mod condition;
mod contender;
mod experiment;
mod instance;
mod linear;
#[cfg(feature = "onnx")]
mod networks;
#[cfg(not(feature = "onnx"))]
#[path = "networks_left_out.rs"]
mod networks;
mod noise;
mod objective;
mod replacement;
mod sample_size;
mod scatter;
mod time;

use crate::reproduce::catalogue::{Artefact, Paper};
use experiment::Experiment;

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    name: "kernel-banzhaf",
    citation: "Liu, Witter, Korn, Alrashed, Paparas and Freire, Kernel Banzhaf: A Fast and Robust Estimator for Banzhaf Values, 2024",
    runs: 50,
    quick_runs: 25,
    artefacts: &[
        Artefact {
            name: "fig1",
            shows: "estimated against exact Banzhaf values, m = 20n",
            make: scatter::fig1,
        },
        Artefact {
            name: "fig2",
            shows: "error against sample size, median and quartiles",
            make: sample_size::fig2,
        },
        Artefact { name: "fig3", shows: "error against noise on v, median and quartiles", make: noise::fig3 },
        Artefact {
            name: "fig4",
            shows: "normalized error against noise in proportion to v, Banzhaf and Shapley regressions",
            make: noise::fig4,
        },
        Artefact {
            name: "fig5",
            shows: "condition number of the sampled regression against sample size",
            make: condition::fig5,
        },
        Artefact {
            name: "fig6",
            shows: "error against sample size, neural networks (needs the feature onnx)",
            make: networks::fig6,
        },
        Artefact {
            name: "fig7",
            shows: "relative objective error against sample size and noise, n ≤ 20",
            make: objective::fig7,
        },
        Artefact { name: "fig8", shows: "CPU time against sample size, one thread", make: time::fig8 },
        Artefact {
            name: "fig9",
            shows: "normalized error against sample size, Banzhaf and Shapley regressions",
            make: sample_size::fig9,
        },
        Artefact {
            name: "fig10",
            shows: "error with and without replacement against sample size, up to 2^n",
            make: replacement::fig10,
        },
    ],
};

/// What a report says of numbers that the paper leaves out.
const NOT_PRINTED: &str = "the paper prints no numbers for this figure, and neither the sample sizes nor the levels of noise: they are those \
     of the Leverage SHAP experiments";

const TREES: &str = "model: XGBoost regressor, 100 trees of depth 4; explicand: a random row, another one in every run, the same for all \
                     estimators of a run";

const ESTIMATORS: &str = "every estimator takes at most m evaluations of the game, v(∅) and v(N) among them; repeated coalitions are \
                          evaluated once. MC divides them among the players, two for each contribution; MC (2m evaluations) counts \
                          m contributions, as the paper's code does";

/// What a report on Banzhaf values of trees says.
fn notes(experiment: &Experiment<'_>) -> Vec<String> {
    let mut notes = vec![
        TREES.to_owned(),
        "game: path-dependent (a split on an absent feature is followed both ways, weighted by cover), as in the paper's code and its \
         appendix B; truth: its exact Banzhaf values"
            .to_owned(),
        ESTIMATORS.to_owned(),
        "Kernel Banzhaf without pairs has an intercept, as in the paper's code; with pairs an intercept makes no difference".to_owned(),
        NOT_PRINTED.to_owned(),
    ];
    notes.extend(stand_in_note(experiment));
    notes
}

/// What a report on Banzhaf and Shapley values of trees says.
fn shapley_notes(experiment: &Experiment<'_>) -> Vec<String> {
    let mut notes = vec![
        TREES.to_owned(),
        "games: path-dependent for Kernel Banzhaf; interventional, with the column means as baseline, for the estimators of Shapley \
         values; truths: the exact values of these games. The two are different games of the same explicand"
            .to_owned(),
        "Kernel Banzhaf draws with replacement; the estimators of Shapley values draw without, and are exact at m ≥ 2^n".to_owned(),
        NOT_PRINTED.to_owned(),
    ];
    notes.extend(stand_in_note(experiment));
    notes
}

fn stand_in_note(experiment: &Experiment<'_>) -> Option<String> {
    experiment::stands_in(experiment)
        .then(|| "none of the paper's datasets is there; the embedded ones stand in for them".to_owned())
}
