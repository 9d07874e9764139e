//! Grah and Thouvenot, *A projected stochastic gradient algorithm for estimating Shapley value applied in attribute importance*,
//! CD-MAKE 2020.
//!
//! | file | holds |
//! |---|---|
//! | [`task`] | the simulated tasks and their games |
//! | [`truth`] | the values that errors are measured against |
//! | [`method`] | the estimators, and how each counts evaluations |
//! | [`runs`] | errors of one method on one pair, kept as a cell |
//! | [`waterfall`] | figure 1, with [`recidivism`], the model of the COMPAS data |
//! | [`convergence`] | figures 2 and 3 |
//! | [`steps`] | the choice of step sizes on held-out pairs |
//! | [`accounting`] | evaluations by three ways of counting them |
//! | [`interactions`] | from no interactions to strong ones |
//! | [`bounds`] | the bounds of section 4.2 beside errors |
//! | [`mod@until`] | runs until an accuracy |

mod accounting;
mod bounds;
mod convergence;
mod interactions;
mod method;
mod recidivism;
mod runs;
mod steps;
mod task;
mod theory;
mod truth;
mod until;
mod waterfall;

use crate::reproduce::catalogue::{Artefact, Paper};

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    name: "projected-sgd",
    citation: "Grah and Thouvenot, A projected stochastic gradient algorithm for estimating Shapley value applied in attribute importance, \
               CD-MAKE 2020",
    runs: 50,
    quick_runs: 20,
    artefacts: &[
        Artefact {
            name: "fig1",
            shows: "what each attribute adds to one individual's prediction, against a reference group",
            make: waterfall::fig1,
        },
        Artefact {
            name: "fig2",
            shows: "squared error against evaluations, d = 16, classification and regression",
            make: convergence::fig2,
        },
        Artefact {
            name: "fig3",
            shows: "squared error against evaluations, d = 300, classification",
            make: convergence::fig3,
        },
        Artefact {
            name: "steps",
            shows: "squared error against the step size on held-out pairs, three rules, and two averages",
            make: steps::steps,
        },
        Artefact {
            name: "accounting",
            shows: "evaluations of each method as the paper, shapkit and this project count them, and what that changes",
            make: accounting::accounting,
        },
        Artefact {
            name: "interactions",
            shows: "squared error of gradients over that of optimized Monte Carlo, from no interactions to strong ones",
            make: interactions::interactions,
        },
        Artefact {
            name: "bounds",
            shows: "mean squared errors of stochastic gradients beside the bounds of section 4.2, with their constants",
            make: bounds::bounds,
        },
        Artefact {
            name: "until",
            shows: "runs until an accuracy: shares within the tolerance, evaluations over the least, bytes of resumed runs",
            make: until::until,
        },
    ],
};

/// What the reports on simulated tasks say.
fn notes() -> Vec<String> {
    vec![
        "all data are simulated (section 5.1): independent standard normal features, x* and r* drawn anew for each pair, in classification \
         until their classes differ; every method is run once on each pair, on the same pairs as all others"
            .to_owned(),
        "SGD by the conventions of the authors' code: half the paper's gradient, coalitions drawn by L_l with D = C√d, projection on \
         Σφ = v(M) alone, start at v(M)/d, the mean of all iterates as the answer"
            .to_owned(),
        "evaluations: budgets of 2 + T(d − 1), what T orders take after v(∅) and v(M); classical Monte Carlo takes two evaluations per \
         player and sample, repeated coalitions counted as often as they are drawn"
            .to_owned(),
        "methods with a star are not in the paper".to_owned(),
    ]
}
