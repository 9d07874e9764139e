//! Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, *Approximation of group explainers with coalition structure using Monte Carlo
//! sampling on the product space of coalitions and features*, 2023.
//!
//! | file | holds |
//! |---|---|
//! | [`law`] | the laws of X |
//! | [`logistic`] | the models |
//! | [`experiment`] | the six experiments |
//! | [`truth`] | the exact values, and the exact variance of a draw |
//! | [`runs`] | the estimates of one run, kept as a cell |
//! | [`convergence`] | figures 1 to 6 |
//! | [`coverage`] | how often intervals hold the truth |
//! | [`unbiased`] | means of many estimates against the truth |
//! | [`nested`] | nested permutations against independent draws |
//! | [`partition`] | groups from data |

mod convergence;
mod coverage;
mod experiment;
mod law;
mod logistic;
mod nested;
mod partition;
mod runs;
mod truth;
mod unbiased;

use crate::reproduce::catalogue::{Artefact, Paper};
use crate::reproduce::session::Session;

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    name: "group-explainers",
    citation: "Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, Approximation of group explainers with coalition structure using Monte \
               Carlo sampling on the product space of coalitions and features, 2023",
    runs: 50,
    quick_runs: 15,
    artefacts: &[
        Artefact {
            name: "fig1",
            shows: "MISE and RMISE of the quotient Shapley value of a group against draws, experiment 1a",
            make: convergence::fig1,
        },
        Artefact {
            name: "fig2",
            shows: "MISE and RMISE of Shapley values against draws, 4 to 16 predictors, experiment 1b",
            make: convergence::fig2,
        },
        Artefact {
            name: "fig3",
            shows: "MISE and RMISE of Owen values against draws, experiment 2a",
            make: convergence::fig3,
        },
        Artefact {
            name: "fig4",
            shows: "MISE and RMISE of Owen values against draws, 6 to 18 predictors, experiment 2b",
            make: convergence::fig4,
        },
        Artefact {
            name: "fig5",
            shows: "MISE and RMISE of two-step Shapley values against draws, experiment 3a",
            make: convergence::fig5,
        },
        Artefact {
            name: "fig6",
            shows: "MISE and RMISE of two-step Shapley values against draws, 6 to 18 predictors, experiment 3b",
            make: convergence::fig6,
        },
        Artefact {
            name: "coverage",
            shows: "coverage of 95 % intervals in all experiments, both modes",
            make: coverage::coverage,
        },
        Artefact {
            name: "unbiased",
            shows: "means of many estimates against the truth, every value of experiment 2a, both modes",
            make: unbiased::unbiased,
        },
        Artefact {
            name: "nested",
            shows: "nested permutations and regressions against independent draws, by model rows",
            make: nested::nested,
        },
        Artefact {
            name: "partition",
            shows: "groups from data by hierarchical clustering, experiment 2a",
            make: partition::partition,
        },
    ],
};

/// What every report on this paper says.
fn notes(session: &Session) -> Vec<String> {
    vec![
        "all data are simulated: Gamma(3, |X1|) has shape 3 and scale |X1|, Normal(0, 3) variance 3; the background D has 100 rows".to_owned(),
        "experiments 2a and 3a have ½(e − 1/e) in the exponent where the paper prints ½(π − 1/π): the other constants are the means of what \
         they are taken off, and this is that of X5"
            .to_owned(),
        format!("explicands: {} of the rows of D, twice as many as runs and at most all 100", runs::explicands(session)),
        "two-step values are those of the game less v(∅), without which a group's members would not sum to what the group gets".to_owned(),
    ]
}
