//! Tree ensembles: model files read to the last bit, and what the models predict. A linear model is an ensemble, too: of trees of one leaf,
//! which is linear.
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`Ensemble`] | a model read from its file; a [`Model`] whose predictions are margins |
//! | [`ReadOptions`], [`Rounds`] | which rounds of boosting are used: up to the best one, all, or some |
//! | [`Link`] | how margins become probabilities, counts, scores |
//! | [`LinkedEnsemble`] | the model of these outputs |
//! | [`Origin`] | which library, format and objective a model comes from |
//! | [`tree`] | the inside of an ensemble, nodes and trees, for algorithms that walk them |
//! | [`Words`] | the categories of a feature, and the codes that splits look at |
//! | [`ModelError`] | why a file or rows were refused |
//!
//! Models come from XGBoost 1.7 to 3.x, saved as JSON or UBJ; from LightGBM, saved as text; from CatBoost, in its binary format or as JSON; from whatever
//! treelite 4.x reads, dumped as JSON; from ONNX, steps on columns before the trees included; and from scikit-learn by a documented JSON: see [`Ensemble::from_bytes`]. Files may
//! be gzipped. Any number of outputs, missing values and categorical splits are honoured. Rows are rounded to `f32` or not before they
//! are compared, as the library does; leaves are added in `f64`.
//!
//! Shapes: rows are row-major `f64`, one column per feature, NaN for a missing value. With k outputs, predictions are rows × k.
//!
//! # Example
//!
//! ```
//! use apportion_models::{Ensemble, Rows};
//!
//! // A tree of the JSON that is described in docs/tree-json.md: up to 1.5 it adds 10, above it 20.
//! let file = br#"{
//!     "format": "apportion-trees", "version": 1, "width": "double", "features": 1, "base_margins": [0.5], "operator": "<=",
//!     "trees": [{"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [1.5, 0, 0], "value": [0, 10, 20]}]
//! }"#;
//! let model = Ensemble::from_bytes(file)?;
//! assert_eq!((model.feature_count(), model.tree_count(), model.depth()), (1, 1, 1));
//! assert_eq!(model.margins(Rows::new(&[1.5, 1.6], 1))?, [10.5, 20.5]);
//! # Ok::<(), apportion_models::ModelError>(())
//! ```
//!
//! This crate knows no Shapley values: the crate `apportion-trees` divides what is predicted here.

#[cfg(test)]
extern crate self as apportion_models;

#[cfg(test)]
#[path = "../tests/models/common.rs"]
mod common;
mod ensemble;
mod error;
mod file;
mod formats;
mod linked;
mod options;
mod predict;

/// Types of a lower crate in signatures here, so that users of this crate need no other.
#[doc(no_inline)]
pub use apportion_games::{Model, Rows};

pub use ensemble::{Category, Ensemble, Link, Origin, Rounds, UnknownWord, Words, tree};
pub use error::ModelError;
pub use linked::LinkedEnsemble;
pub use options::ReadOptions;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
