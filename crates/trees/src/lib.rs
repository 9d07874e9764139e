//! Exact Shapley values and other attributions for tree ensembles.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`Attributions`] | the result of every tree explainer: values of players or of pairs, with the base values and the predictions |
//! | [`MarginalTreeExplainer`] | exact values of the marginal game, for one baseline or a background set: every semivalue, Owen and every other coalitional value, quotient and two-step values |
//! | [`BackgroundCompiler`], [`CompiledBackground`] | a background dataset of any number of rows, reduced to the patterns that the leaves distinguish; can be saved to a file |
//! | [`PathDependentTreeExplainer`] | the same values of the path-dependent game |
//! | [`Diagonal`] | the convention for matrices of pairwise interaction indices (Shapley, Banzhaf and every other semivalue) |
//! | [`Exact::indices_of`] | interaction indices of coalitions of any order, sparse: every [`InteractionIndex`] except generalized values |
//! | [`LinkedTreeExplainer`] | exact values of the outputs after the link function (probabilities, rates, scores) |
//! | [`Exact`] | the trait of all tree explainers: values, interactions and plans for every supported [`Value`] |
//! | [`PathDependentGame`] | the path-dependent game: the expected output of the trees given the present features, by training cover |
//! | [`Kernel`], [`Precision`], [`Settings`], [`Plan`] | the algorithm and the precision: chosen by predicted time, or set by the caller |
//! | [`TreeError`] | errors for invalid models, rows and requests |
//! | [`Ensemble`], [`ReadOptions`], [`Rounds`], [`Categories`], [`Link`], [`LinkedEnsemble`], [`Origin`], [`ModelError`] | models and their files, re-exported from the crate [`apportion-models`](apportion_models) |
//!
//! Models come from XGBoost, LightGBM, CatBoost, scikit-learn, treelite and ONNX: see
//! [`Ensemble::from_bytes`]. Any number of outputs, missing values, categorical splits and linear leaves are
//! supported. The kernels do not depend on the library from which a model comes: all ensembles have the same
//! [internal structure](apportion_models::tree).
//!
//! Shapes: rows are row-major `f64`, one column per feature, NaN for a missing value. With n features and k
//! outputs, predictions are rows × k, and values are rows × n × k. Quotient values of m groups are rows × m ×
//! k.
//!
//! # Example
//!
//! ```
//! use apportion_trees::{Ensemble, Exact, MarginalTreeExplainer, Rows, Semivalue};
//!
//! let model = Ensemble::from_bytes(include_bytes!("../tests/fixtures/tiny.json"))?;
//! assert_eq!((model.feature_count(), model.tree_count(), model.depth()), (2, 1, 2));
//!
//! // With both features low, the model predicts 1.5; with the first one high, 5.5.
//! let background = Rows::new(&[0.0, 0.0], 2);
//! let tree_explainer = MarginalTreeExplainer::new(&model, background, None)?;
//! let explained = tree_explainer.values(Semivalue::Shapley, Rows::new(&[1.0, 9.0], 2))?;
//! assert_eq!((explained.base[0], explained.predictions[0]), (1.5, 5.5));
//! // The second feature alone would have raised the prediction by 2, but it only matters while the first is
//! // low.
//! assert_eq!(explained.values, [3.0, 1.0]);
//! # Ok::<(), apportion_trees::TreeError>(())
//! ```
//!
//! # Accuracy and speed
//!
//! The tests compare values with enumeration on random ensembles, and with ground truth on trained models;
//! they must agree to 1e-12 of the prediction. On trees of depth 24 and 200, values must agree with exact
//! fractions to 1e-12 of the largest value (the largest error seen is 1.5e-15). For 1000 rows and a model of
//! 100 trees of depth 4, one row takes 4 to 5 µs on one core of an Intel Xeon (Sapphire Rapids), both for one
//! baseline and for 100 background rows (`python3 benches/rivals/compare.py`). Owen values for one baseline
//! take 1.3 times as long as Shapley values (500 trees of depth 8, 100 features in 20 groups).
//!
//! This crate does not read model files, and does not contain samplers or estimators.

#[cfg(test)]
extern crate self as apportion_trees;

mod background;
#[cfg(test)]
#[path = "../tests/trees/common/mod.rs"]
mod common;
mod engine;
mod error;
mod exact;
mod game;
mod linked;
mod marginal;
mod path_dependent;

/// Types of other crates that occur in signatures here, so that users need no other dependency.
#[doc(no_inline)]
pub use apportion_games::{Game, Partition, Rows};
#[doc(no_inline)]
pub use apportion_values::{
    Attributions, Axis, CoalitionalValue, InteractionIndex, Interactions, LinearValue, Semivalue, Value,
};

pub use apportion_models::{
    Categories, Category, Ensemble, Link, LinkedEnsemble, ModelError, Origin, ReadOptions, Rounds,
    UnknownCategory,
};
pub use background::{BackgroundCompiler, CompiledBackground, CompiledHead};
pub use engine::interactions::Diagonal;
pub use engine::settings::{Kernel, Plan, Precision, Settings};
pub use error::TreeError;
pub use exact::Exact;
pub use game::PathDependentGame;
pub use linked::tree_explainer::LinkedTreeExplainer;
pub use marginal::tree_explainer::MarginalTreeExplainer;
pub use path_dependent::tree_explainer::PathDependentTreeExplainer;

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
