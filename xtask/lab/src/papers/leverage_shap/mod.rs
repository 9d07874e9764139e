//! Musco and Witter, *Provably Accurate Shapley Value Estimation via Leverage Score Sampling*, ICLR 2025.
//!
//! | file | contents |
//! |---|---|
//! | [`contender`], [`passes`] | the compared estimators |
//! | [`instance`] | one run on a dataset: explicand, game, exact values |
//! | [`sweep`], [`axes`] | the experiments: error against sample size and noise; parameters and metrics |
//! | [`linear`], [`synthetic`] | the regression over all coalitions; games with a given γ |
//! | [`printed`] | the numbers of the paper |
//! | [`authors`], [`beside`] | the runs of the paper's authors, and their combination with ours |
//! | [`improvement`] | settings in which Leverage SHAP improves most |
//! | [`algorithms`] | algorithms 1 and 3 as printed, and Lemma J.1 |
//! | [`scatter`] | figure 1 |
//! | [`sizes`] | figure 2 |
//! | [`sample_size`] | figures 3, 8, 10 |
//! | [`noise`] | figures 4, 9, 11 |
//! | [`gamma`] | figures 5, 6, 7, table 3 |
//! | [`tables`] | tables 1, 2, 4 |
//! | [`notes`] | notes on methods in the reports |

mod algorithms;
mod authors;
mod axes;
mod beside;
mod contender;
mod gamma;
mod improvement;
mod instance;
mod linear;
mod noise;
mod notes;
mod passes;
mod printed;
mod sample_size;
mod scatter;
mod sizes;
mod sweep;
mod synthetic;
mod tables;

use crate::reproduce::catalogue::{Contest, Paper, artefact};

/// The paper and its artefacts.
pub(crate) const PAPER: Paper = Paper {
    name: "leverage-shap",
    citation: "Musco and Witter, Provably Accurate Shapley Value Estimation via Leverage Score Sampling, \
        ICLR 2025",
    bibtex: r#"@inproceedings{musco2025provably,
  title         = {Provably Accurate {Shapley} Value Estimation via Leverage Score Sampling},
  author        = {Musco, Christopher and Witter, R. Teal},
  booktitle     = {International Conference on Learning Representations},
  year          = {2025},
  eprint        = {2410.01917},
  archiveprefix = {arXiv}
}"#,
    runs: 100,
    quick_runs: 50,
    artefacts: &[
        artefact("fig1", "predicted against true Shapley values, m = 5n", scatter::fig1),
        artefact("fig2", "distribution of the sizes of sampled sets, n = 10, 100, 1000", sizes::fig2),
        artefact("fig3", "error against sample size, median and quartiles", sample_size::fig3).comparing(
            Contest {
                value: "shapley",
                estimators: "kernel-shap,optimized-kernel-shap,leverage-shap",
                budgets: "5n,10n,20n,40n,80n,160n",
            },
        ),
        artefact("fig4", "error against noise on v, median and quartiles", noise::fig4),
        artefact("fig5", "error against γ, median and quartiles", gamma::fig5),
        artefact("fig6", "error of all estimators against γ, mean", gamma::fig6),
        artefact("fig7", "linear objective error against γ, mean", gamma::fig7),
        artefact("fig8", "error of all estimators against sample size, mean", sample_size::fig8).comparing(
            Contest {
                value: "shapley",
                estimators: "kernel-shap,optimized-kernel-shap,leverage-shap,kernel-shap-paired,\
                             leverage-shap-unpaired,leverage-shap-with-replacement,permutation",
                budgets: "5n,10n,20n,40n,80n,160n",
            },
        ),
        artefact("fig9", "error of all estimators against noise on v, mean", noise::fig9),
        artefact("fig10", "linear objective error against sample size, n ≤ 12, mean", sample_size::fig10),
        artefact("fig11", "linear objective error against noise on v, n ≤ 12, mean", noise::fig11),
        artefact("table1", "mean and quartiles of the error at m = 10n, main estimators", tables::table1),
        artefact(
            "table2",
            "average error of Leverage SHAP over that of Optimized Kernel SHAP",
            tables::table2,
        ),
        artefact("table3", "quartiles of γ, n ≤ 12", gamma::table3),
        artefact("table4", "mean and quartiles of the error at m = 10n, all estimators", tables::table4),
    ],
};
