//! A benchmark of the estimators: this project's own checks, which are not from a paper.
//!
//! | file | contents |
//! |---|---|
//! | [`problems`] | the games, with their exact values |
//! | [`estimates`] | results of the methods, stored as cells |
//! | [`budgets`] | coverage, bias and errors for fixed budgets |
//! | [`until`] | runs with a tolerance |

mod budgets;
mod estimates;
mod problems;
mod until;

use crate::reproduce::catalogue::{Paper, artefact};

/// The benchmark, listed with the papers.
pub(crate) const PAPER: Paper = Paper {
    name: "estimators",
    citation: "this project's own checks",
    bibtex: "",
    runs: 50,
    quick_runs: 20,
    artefacts: &[
        artefact(
            "budgets",
            "coverage of 95 % intervals, bias, and squared error by model rows",
            budgets::budgets,
        ),
        artefact(
            "until",
            "runs with a tolerance: errors within the tolerance, evaluations relative to the minimum budget",
            until::until,
        ),
    ],
};
