//! Musco and Witter, *Provably Accurate Shapley Value Estimation via Leverage Score Sampling*, ICLR 2025.
//!
//! | file | holds |
//! |---|---|
//! | [`contender`] | the estimators that are compared |
//! | [`instance`] | one run on a dataset: explicand, game, exact values |
//! | [`sweep`] | the experiments: error against sample size and noise |
//! | [`linear`], [`synthetic`] | the regression over all coalitions; games with a given γ |
//! | [`printed`] | the numbers of the paper |
//! | [`scatter`] | figure 1 |
//! | [`sizes`] | figure 2 |
//! | [`sample_size`] | figures 3, 8, 10 |
//! | [`noise`] | figures 4, 9, 11 |
//! | [`gamma`] | figures 5, 6, 7, table 3 |
//! | [`tables`] | tables 1, 2, 4 |
//! | [`certificate`] | coverage of the standard errors |

mod certificate;
mod contender;
mod gamma;
mod instance;
mod linear;
mod noise;
mod printed;
mod sample_size;
mod scatter;
mod sizes;
mod sweep;
mod synthetic;
mod tables;

use crate::reproduce::catalogue::{Artefact, Paper};
use crate::reproduce::datasets::known;

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    name: "leverage-shap",
    citation: "Musco and Witter, Provably Accurate Shapley Value Estimation via Leverage Score Sampling, ICLR 2025",
    runs: 100,
    quick_runs: 50,
    artefacts: &[
        Artefact {
            name: "fig1",
            shows: "predicted against true Shapley values, m = 5n",
            make: scatter::fig1,
        },
        Artefact {
            name: "fig2",
            shows: "distribution of the sizes of sampled sets, n = 10, 100, 1000",
            make: sizes::fig2,
        },
        Artefact {
            name: "fig3",
            shows: "error against sample size, median and quartiles",
            make: sample_size::fig3,
        },
        Artefact { name: "fig4", shows: "error against noise on v, median and quartiles", make: noise::fig4 },
        Artefact { name: "fig5", shows: "error against γ, median and quartiles", make: gamma::fig5 },
        Artefact { name: "fig6", shows: "error of all estimators against γ, mean", make: gamma::fig6 },
        Artefact { name: "fig7", shows: "linear objective error against γ, mean", make: gamma::fig7 },
        Artefact {
            name: "fig8",
            shows: "error of all estimators against sample size, mean",
            make: sample_size::fig8,
        },
        Artefact {
            name: "fig9",
            shows: "error of all estimators against noise on v, mean",
            make: noise::fig9,
        },
        Artefact {
            name: "fig10",
            shows: "linear objective error against sample size, n ≤ 12, mean",
            make: sample_size::fig10,
        },
        Artefact {
            name: "fig11",
            shows: "linear objective error against noise on v, n ≤ 12, mean",
            make: noise::fig11,
        },
        Artefact {
            name: "table1",
            shows: "mean and quartiles of the error at m = 10n, main estimators",
            make: tables::table1,
        },
        Artefact {
            name: "table2",
            shows: "average error of Leverage SHAP over that of Optimized Kernel SHAP",
            make: tables::table2,
        },
        Artefact { name: "table3", shows: "quartiles of γ, n ≤ 12", make: gamma::table3 },
        Artefact {
            name: "table4",
            shows: "mean and quartiles of the error at m = 10n, all estimators",
            make: tables::table4,
        },
        Artefact {
            name: "certificate",
            shows: "coverage of the 95 % intervals of Leverage SHAP's standard errors (not in the paper)",
            make: certificate::certificate,
        },
    ],
};

/// What every report on the datasets says.
const NOTES: [&str; 5] = [
    "model: XGBoost regressor, 100 trees of depth 4; baseline: column means; explicand: a random row, the same for all estimators \
     of a run; an entry that equals the baseline is taken from another random row, at most 100 times (in a constant column it \
     stays, and the player is null)",
    "truth: exact interventional Shapley values of the trees for that baseline; error: ‖φ̃ − φ‖² / ‖φ‖²",
    "Leverage SHAP is run with the deterministic-count variant of Bernoulli sampling (systematic rounding), which uses exactly m evaluations",
    "Leverage SHAP, algorithm 1*: every pair of coalitions is drawn or not by itself, as the algorithm prints it, so that m is the expected number of \
     evaluations. The paper's figures are of the variant with deterministic counts, and its claims are judged on that",
    "estimators with replacement (Kernel SHAP, Kernel SHAP Paired, Leverage SHAP w/o Bernoulli, Permutation SHAP) go on sampling \
     at m ≥ 2^n, as in the paper; the others are exact there",
];

/// What reports on the objective say.
const OBJECTIVE_NOTE: &str = "drawn is the excess ‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1, computed as ‖P(φ̃ − φ)‖² / (n ‖Aφ − b‖²) \
     (Pythagoras and Lemma 3.3), which does not cancel, where the paper draws the ratio, which falls below 1 by rounding; \
     runs whose game is additive up to rounding (‖Aφ − b‖² = 0) are left out";

fn all_datasets() -> Vec<&'static str> {
    printed::DATASETS.to_vec()
}

fn small_datasets() -> Vec<&'static str> {
    all_datasets().into_iter().filter(|name| known(name).players <= instance::SMALL).collect()
}
