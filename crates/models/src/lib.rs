//! Tree ensembles: exact reading of model files, and prediction. A linear model is represented as an ensemble
//! of trees with a single, linear leaf.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`Ensemble`] | a model read from its file; a [`Model`] that predicts margins |
//! | [`ReadOptions`], [`Rounds`] | the boosting rounds to use: up to the best one, all, or a range |
//! | [`Link`] | the function from margins to probabilities, counts or scores |
//! | [`LinkedEnsemble`] | the [`Model`] that predicts these outputs |
//! | [`Origin`] | library, format and objective of a model |
//! | [`tree`] | nodes and trees of an ensemble, for algorithms that traverse them |
//! | [`SupportVectorMachine`] | a support vector machine in an ONNX file, as arrays |
//! | [`EnsembleBuilder`] | an ensemble that is built in memory, tree by tree |
//! | [`Categories`] | the categories of a feature, and the codes that splits use |
//! | [`ModelError`] | the reason why a file or rows were rejected |
//!
//! Supported models: XGBoost 1.7 to 3.x, saved as JSON or UBJ; LightGBM, saved as text; CatBoost, in its
//! binary format or as JSON; treelite 4.x, dumped as JSON; ONNX, including preprocessing of columns before
//! the trees; and scikit-learn models in a documented JSON format. [`Ensemble::from_bytes`] lists the
//! details. Files may be gzipped. Any number of outputs, missing values and categorical splits are supported.
//! Rows are rounded to `f32` before comparisons if the library does so; leaves are added in `f64`.
//!
//! Shapes: rows are row-major `f64`, one column per feature, NaN for a missing value. With k outputs,
//! predictions are rows × k.
//!
//! # Example
//!
//! ```
//! use apportion_models::{Ensemble, Rows};
//!
//! // A tree that adds 10 for values up to 1.5 and 20 for larger ones, in the format of docs/tree-json.md.
//! let file = br#"{
//!     "format": "apportion-trees", "version": 1, "width": "double", "features": 1,
//!     "base_margins": [0.5], "operator": "<=", "trees": [{
//!         "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
//!         "threshold": [1.5, 0, 0], "value": [0, 10, 20]
//!     }]
//! }"#;
//! let model = Ensemble::from_bytes(file)?;
//! assert_eq!((model.feature_count(), model.tree_count(), model.depth()), (1, 1, 1));
//! assert_eq!(model.margins(Rows::new(&[1.5, 1.6], 1))?, [10.5, 20.5]);
//! # Ok::<(), apportion_models::ModelError>(())
//! ```
//!
//! This crate does not compute Shapley values: the crate `apportion-trees` explains the predictions of these
//! models.

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
mod support_vectors;

/// Types of a lower-level crate in the signatures of this crate, re-exported so that users need no other
/// dependency.
#[doc(no_inline)]
pub use apportion_games::{Model, Rows};

pub use ensemble::{
    Categories, Category, Ensemble, EnsembleBuilder, Link, Origin, Rounds, SplitCondition, TreeNode,
    UnknownCategory, tree,
};
pub use error::ModelError;
pub use linked::LinkedEnsemble;
pub use options::ReadOptions;
pub use support_vectors::{SupportVectorKernel, SupportVectorMachine};

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
