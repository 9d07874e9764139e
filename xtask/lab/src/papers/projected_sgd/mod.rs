//! Grah and Thouvenot, *A projected stochastic gradient algorithm for estimating Shapley value applied in
//! attribute importance*, CD-MAKE 2020.
//!
//! | file | contents |
//! |---|---|
//! | [`task`] | the simulated tasks and their games |
//! | [`truth`] | the reference values for errors |
//! | [`method`] | the estimators, with their evaluation counts |
//! | [`runs`] | errors of one method on one pair, stored as a cell |
//! | [`waterfall`] | figure 1, with [`recidivism`], the model of the COMPAS data |
//! | [`convergence`] | figures 2 and 3 |
//! | [`count`] | number of evaluations of the reward |
//! | [`steps`] | the choice of step sizes on held-out pairs |
//! | [`interactions`] | from no interactions to strong ones |
//! | [`known_game`] | games with all coalition values known, and their constants |
//! | [`theory`], [`hessian`] | the constants of section 4.2, as printed and corrected |
//! | [`descent`] | the algorithm as printed |
//! | [`bounds`] | the bounds of section 4.2 next to errors |
//! | [`tails`] | many runs in one game |
//! | [`markov`], [`deviation`] | the high-probability bounds of section 4.2 and appendix 8.2 |
//! | [`counterexample`] | distributions that violate the bounds of appendix 8.2 |
//! | [`notes`] | notes on methods in the reports |

mod bounds;
mod convergence;
mod count;
mod counterexample;
mod descent;
mod deviation;
mod hessian;
mod interactions;
mod known_game;
mod markov;
mod method;
mod notes;
mod recidivism;
mod runs;
mod steps;
mod tails;
mod task;
mod theory;
mod truth;
mod waterfall;

use crate::reproduce::catalogue::{Contest, Paper, artefact};

/// The paper and its artefacts.
pub(crate) const PAPER: Paper = Paper {
    name: "projected-sgd",
    citation: "Grah and Thouvenot, A projected stochastic gradient algorithm for estimating Shapley value \
               applied in attribute importance, CD-MAKE 2020",
    bibtex: r#"@inproceedings{grah2020projected,
  title     = {A projected stochastic gradient algorithm for estimating {Shapley} value applied in attribute importance},
  author    = {Grah, Simon and Thouvenot, Vincent},
  booktitle = {Machine Learning and Knowledge Extraction (CD-MAKE)},
  year      = {2020}
}"#,
    runs: 50,
    quick_runs: 20,
    artefacts: &[
        artefact(
            "fig1",
            "what each attribute adds to one individual's prediction, against a reference group",
            waterfall::fig1,
        ),
        artefact(
            "fig2",
            "squared error against evaluations, d = 16, classification and regression",
            convergence::fig2,
        )
        .comparing(Contest {
            value: "shapley",
            estimators: "monte-carlo,optimized-monte-carlo-independent,sgd",
            budgets: "10n,20n,40n,80n,160n",
        }),
        artefact("fig3", "squared error against evaluations, d = 300, classification", convergence::fig3),
        artefact(
            "steps",
            "squared error against the step size on held-out pairs, three rules, and two averages",
            steps::steps,
        ),
        artefact(
            "interactions",
            "squared error of gradients over that of optimized Monte Carlo, from no interactions to strong \
             ones",
            interactions::interactions,
        ),
        artefact(
            "bounds",
            "mean squared errors of stochastic gradients next to the bounds of section 4.2, with their \
             constants",
            bounds::bounds,
        ),
        artefact(
            "markov",
            "how often errors exceed the high-probability bounds of section 4.2, by Markov's inequality",
            markov::markov,
        ),
        artefact(
            "deviation",
            "the deviation inequality, the high-probability bounds of appendix 8.2, and what holds in their \
             place",
            deviation::deviation,
        ),
    ],
};
