//! Chen, Song, Wainwright and Jordan, *L-Shapley and C-Shapley: Efficient Model Interpretation for Structured Data*, ICLR 2019.
//!
//! | file | holds |
//! |---|---|
//! | [`data`] | texts, images, and the models that are embedded |
//! | [`networks`] | networks in files |
//! | [`subject`] | what is explained: test samples with their players, and a model |
//! | [`method`] | the methods, at four evaluations per player |
//! | [`masking`] | what masking does to the log-odds, kept as cells |
//! | [`verdicts`], [`curves`] | comparisons sample by sample; figures and tables of curves |
//! | [`neighbourhood`] | figure 1 |
//! | [`texts`] | figure 2 |
//! | [`models`] | table 1 |
//! | [`highlights`] | table 2 |
//! | [`pixels`] | figure 3 |
//! | [`gallery`] | figures 4 and 5 |
//! | [`evaluations`] | evaluations by the number of players |
//! | [`theorems`] | theorems 1 and 2 |

mod curves;
#[allow(dead_code, reason = "some of what is read serves tests alone, or networks")]
mod data;
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
mod pixels;
mod subject;
mod texts;
mod theorems;
mod verdicts;

use crate::reproduce::catalogue::{Artefact, Paper};
use subject::Found;

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    name: "l-c-shapley",
    citation: "Chen, Song, Wainwright and Jordan, L-Shapley and C-Shapley: Efficient Model Interpretation for Structured Data, ICLR 2019",
    runs: 1000,
    quick_runs: 30,
    artefacts: &[
        Artefact {
            name: "fig1",
            shows: "a neighbourhood on a grid, and which of its subsets are summed over",
            make: neighbourhood::fig1,
        },
        Artefact {
            name: "fig2",
            shows: "change of log-odds as words are masked, by method; texts",
            make: texts::fig2,
        },
        Artefact { name: "table1", shows: "data sets and models, with accuracy", make: models::table1 },
        Artefact {
            name: "table2",
            shows: "the words of a sentence by their scores, by method",
            make: highlights::table2,
        },
        Artefact {
            name: "fig3",
            shows: "change of log-odds as pixels are masked, by method; images, misclassified digits",
            make: pixels::fig3,
        },
        Artefact { name: "fig4", shows: "digits with the top pixels masked, by method", make: gallery::fig4 },
        Artefact {
            name: "fig5",
            shows: "photographs with the top pixels masked, by method (needs the feature onnx)",
            make: gallery::fig5,
        },
        Artefact {
            name: "evaluations",
            shows: "evaluations of L-Shapley and C-Shapley by the number of players, on lines and grids",
            make: evaluations::evaluations,
        },
        Artefact {
            name: "theorems",
            shows: "errors of L-Shapley and C-Shapley against their bounds, 4ε and 6ε, on laws that are known whole",
            make: theorems::theorems,
        },
    ],
};

/// What reports on comparisons of methods say.
fn notes(found: &Found) -> Vec<String> {
    let mut notes = vec![
        "what is explained: v(S) = log P(ŷ | x_S), ŷ the class predicted from the whole sample; absent words are padding, absent pixels the mean \
         of the data set's pixels"
            .to_owned(),
        "all methods may make 4d evaluations, d being the players of the sample, v(∅) and v(N) among them; the table says what each made. \
         L-Shapley of order 1 and the regression C-Shapley need that many by themselves; repeated coalitions are evaluated once"
            .to_owned(),
        "C-Shapley is the regression of section 4.3.2 with the weights as printed, on all n-grams up to 4 or squares up to 4 × 4; C-Shapley, order 1, \
         exact: equation 6 with true boundaries, without regression"
            .to_owned(),
        "KernelSHAP: as first published, without pairs, coalitions drawn with replacement; SampleShapley: whole random orders, independent, d − 1 \
         evaluations each after both ends"
            .to_owned(),
        "our: a network of our own training (cargo xtask train); as given: one that lies in the data directory".to_owned(),
        "players are ranked by score, the highest first, and of equal scores the earlier one first. With a star: not in the paper".to_owned(),
    ];
    notes.extend(found.skipped.iter().cloned());
    notes
}
