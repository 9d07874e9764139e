//! Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, *Approximation of group explainers with coalition
//! structure using Monte Carlo sampling on the product space of coalitions and features*, 2023.
//!
//! | file | contents |
//! |---|---|
//! | [`distribution`] | distributions of X |
//! | [`logistic`] | the models |
//! | [`experiment`] | the six experiments |
//! | [`truth`] | the exact values, and the exact variance of a draw |
//! | [`runs`] | the estimates of one run, stored as a cell |
//! | [`convergence`] | figures 1 to 6 |
//! | [`partition`] | groups from data |
//! | [`two_step`] | two-step values as printed and as corrected |
//! | [`notes`] | notes on methods in the reports |

mod convergence;
mod distribution;
mod experiment;
mod logistic;
mod notes;
mod partition;
mod runs;
mod truth;
mod two_step;

use crate::reproduce::catalogue::{Paper, artefact};
use convergence::figure;

/// The paper and its artefacts.
pub(crate) const PAPER: Paper = Paper {
    name: "group-explainers",
    citation: "Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, Approximation of group explainers with \
               coalition structure using Monte Carlo sampling on the product space of coalitions and \
               features, 2023",
    bibtex: r#"@misc{kotsiopoulos2023approximation,
  title         = {Approximation of group explainers with coalition structure using {Monte Carlo} sampling on the product space of
                   coalitions and features},
  author        = {Kotsiopoulos, Konstandinos and Miroshnikov, Alexey and Filom, Khashayar and Ravi Kannan, Arjun},
  year          = {2023},
  eprint        = {2303.10216},
  archiveprefix = {arXiv}
}"#,
    runs: 50,
    quick_runs: 15,
    artefacts: &[
        artefact(
            "fig1",
            "MISE and RMISE of the quotient Shapley value of a group against draws, experiment 1a",
            |session| figure(session, 1),
        ),
        artefact(
            "fig2",
            "MISE and RMISE of Shapley values against draws, 4 to 16 predictors, experiment 1b",
            |session| figure(session, 2),
        ),
        artefact("fig3", "MISE and RMISE of Owen values against draws, experiment 2a", |session| {
            figure(session, 3)
        }),
        artefact(
            "fig4",
            "MISE and RMISE of Owen values against draws, 6 to 18 predictors, experiment 2b",
            |session| figure(session, 4),
        ),
        artefact(
            "fig5",
            "MISE and RMISE of two-step Shapley values against draws, experiment 3a",
            |session| figure(session, 5),
        ),
        artefact(
            "fig6",
            "MISE and RMISE of two-step Shapley values against draws, 6 to 18 predictors, experiment 3b",
            |session| figure(session, 6),
        ),
        artefact(
            "partition",
            "groups from data by hierarchical clustering, experiment 2a",
            partition::partition,
        ),
        artefact(
            "two-step",
            "sums of two-step Shapley values, as printed and as corrected, experiments 3a and 3b",
            two_step::two_step,
        ),
    ],
};
