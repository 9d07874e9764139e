//! Chen, Song, Wainwright and Jordan, *L-Shapley and C-Shapley: Efficient Model Interpretation for Structured
//! Data*, ICLR 2019.
//!
//! | file | contents |
//! |---|---|
//! | [`data`] | texts, images, and the embedded models |
//! | [`networks`] | networks in files |
//! | [`subject`] | test samples with their players, and a model |
//! | [`method`] | the methods, with four evaluations per player |
//! | [`lime`], [`squares`] | LIME, and variants of the regression of C-Shapley on squares of pixels |
//! | [`scores`] | scores of one sample, with their number of evaluations |
//! | [`dual`], [`reading`] | variants with other players present, as in the authors' code |
//! | [`masking`] | effect of masking on the log-odds, stored as cells |
//! | [`verdicts`], [`curves`] | comparisons sample by sample; figures and tables of curves |
//! | [`neighbourhood`] | figure 1 |
//! | [`texts`] | figure 2 |
//! | [`models`] | table 1 |
//! | [`highlights`] | table 2 |
//! | [`pixels`] | figure 3 |
//! | [`gallery`] | figures 4 and 5 |
//! | [`evaluations`] | evaluations by number of players |
//! | [`theorems`] | theorems 1 and 2, and section 4.2 |
//! | [`notes`] | notes on methods in the reports |

mod curves;
#[allow(dead_code, reason = "some fields are used only by tests, or only in builds with networks")]
mod data;
mod dual;
mod evaluations;
mod gallery;
mod highlights;
mod lime;
mod masking;
mod method;
mod models;
mod neighbourhood;
#[cfg(feature = "onnx")]
mod networks;
#[cfg(not(feature = "onnx"))]
#[path = "networks_left_out.rs"]
mod networks;
mod notes;
mod pixels;
mod reading;
mod scores;
mod squares;
mod subject;
mod texts;
mod theorems;
mod verdicts;

use crate::reproduce::catalogue::{Paper, artefact};

/// The paper and its artefacts.
pub(crate) const PAPER: Paper = Paper {
    name: "l-c-shapley",
    citation: "Chen, Song, Wainwright and Jordan, L-Shapley and C-Shapley: Efficient Model Interpretation \
        for Structured Data, ICLR 2019",
    bibtex: r#"@inproceedings{chen2019lshapley,
  title     = {{L-Shapley} and {C-Shapley}: Efficient Model Interpretation for Structured Data},
  author    = {Chen, Jianbo and Song, Le and Wainwright, Martin J. and Jordan, Michael I.},
  booktitle = {International Conference on Learning Representations},
  year      = {2019}
}"#,
    runs: 1000,
    quick_runs: 30,
    artefacts: &[
        artefact(
            "fig1",
            "a neighbourhood on a grid, and its subsets in the sums of L-Shapley and C-Shapley",
            neighbourhood::fig1,
        ),
        artefact("fig2", "change of log-odds as words are masked, by method; texts", texts::fig2),
        artefact("table1", "datasets and models, with accuracy", models::table1),
        artefact("table2", "the words of a sentence by their scores, by method", highlights::table2),
        artefact(
            "fig3",
            "change of log-odds as pixels are masked, by method; images, misclassified digits",
            pixels::fig3,
        ),
        artefact("fig4", "digits with the top pixels masked, by method", gallery::fig4),
        artefact(
            "fig5",
            "photographs with the top pixels masked, by method (needs the feature onnx)",
            gallery::fig5,
        ),
        artefact(
            "evaluations",
            "evaluations of L-Shapley and C-Shapley by the number of players, on lines and grids",
            evaluations::evaluations,
        ),
        artefact(
            "theorems",
            "errors of L-Shapley and C-Shapley against their bounds, 4ε and 6ε, for completely known \
             distributions; C-Shapley and the Myerson value",
            theorems::theorems,
        ),
    ],
};
