//! Predictions of tree ensembles divided exactly among their features.
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`Attributions`] | what all oracles answer: values of players or of pairs, with the base and the predictions |
//! | [`InterventionalOracle`] | exact values of the marginal game, for one baseline or a background set: every semivalue, Owen and every other coalitional value, quotient and two-step values |
//! | [`BackgroundCompiler`], [`CompiledBackground`] | a background set as the leaves see it, of any number of rows, to be kept in a file |
//! | [`PathDependentOracle`] | the same values of the path-dependent game |
//! | [`Diagonal`] | what a matrix of interactions says: interaction indices of pairs, of Shapley, Banzhaf and every other semivalue |
//! | [`Exact::indices_of`] | interaction indices of coalitions of any order, sparse: every [`InteractionIndex`] |
//! | [`LinkedOracle`] | exact values of the outputs behind the link (probabilities, rates, scores) |
//! | [`Exact`] | all oracles as one: values, interactions and plans of any [`Value`] |
//! | [`PathDependentGame`] | the game of what trees expect of the features that they are not told, by training cover |
//! | [`Kernel`], [`Precision`], [`Settings`], [`Plan`] | how values are computed: chosen by predicted time, or told |
//! | [`TreeError`] | why a model or rows were refused |
//! | [`Ensemble`], [`ReadOptions`], [`Rounds`], [`Words`], [`Link`], [`LinkedEnsemble`], [`Origin`], [`ModelError`] | the models: of the crate [`apportion-models`](apportion_models), which reads their files |
//!
//! Models come from XGBoost, LightGBM, CatBoost, scikit-learn, treelite and ONNX: see
//! [`Ensemble::from_bytes`]. Any number of outputs, missing values, categorical splits and linear leaves are
//! honoured. No kernel asks which library a model comes from: the [inside](apportion_models::tree) of an
//! ensemble is the same for all.
//!
//! Shapes: rows are row-major `f64`, one column per feature, NaN for a missing value. With n features and k
//! outputs, predictions are rows × k and values rows × n × k; quotient values of m groups are rows × m × k.
//!
//! # Example
//!
//! ```
//! use apportion_trees::{Ensemble, Exact, InterventionalOracle, Rows, Semivalue};
//!
//! let model = Ensemble::from_bytes(include_bytes!("../tests/fixtures/tiny.json"))?;
//! assert_eq!((model.feature_count(), model.tree_count(), model.depth()), (2, 1, 2));
//!
//! // Where both features are low the model says 1.5, where the first is high 5.5.
//! let background = Rows::new(&[0.0, 0.0], 2);
//! let oracle = InterventionalOracle::new(&model, background, None)?;
//! let explained = oracle.values(Semivalue::Shapley, Rows::new(&[1.0, 9.0], 2))?;
//! assert_eq!((explained.base[0], explained.predictions[0]), (1.5, 5.5));
//! // The second feature alone would have raised it by 2, but matters only while the first is low.
//! assert_eq!(explained.values, [3.0, 1.0]);
//! # Ok::<(), apportion_trees::TreeError>(())
//! ```
//!
//! # Accuracy and speed
//!
//! The tests hold values to 1e-12 of the prediction, against enumeration on random ensembles and against
//! ground truth on trained models; on trees of depth 24 and 200 to 1e-12 of the largest value, against exact
//! fractions (1.5e-15 is the most seen). A model of 100 trees of depth 4 takes 4 to 5 µs per row on one core
//! of an Intel Xeon (Sapphire Rapids), against one baseline or 100 background rows alike, where 1000 rows are
//! explained: `python3 benches/rivals/compare.py`. Owen values against one baseline take 1.3 times as long as
//! Shapley values (500 trees of depth 8, 100 features in 20 groups).
//!
//! This crate reads no model files, does no sampling and knows no estimators.

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

/// Types of lower crates in signatures here, so that users of this crate need no other.
#[doc(no_inline)]
pub use apportion_games::{Game, Partition, Rows};
#[doc(no_inline)]
pub use apportion_values::{
    Attributions, Axis, CoalitionalValue, InteractionIndex, Interactions, LinearValue, Semivalue, Value,
};

pub use apportion_models::{
    Category, Ensemble, Link, LinkedEnsemble, ModelError, Origin, ReadOptions, Rounds, UnknownWord, Words,
};
pub use background::{BackgroundCompiler, CompiledBackground, CompiledHead};
pub use engine::interactions::Diagonal;
pub use engine::settings::{Kernel, Plan, Precision, Settings};
pub use error::TreeError;
pub use exact::Exact;
pub use game::PathDependentGame;
pub use linked::oracle::LinkedOracle;
pub use marginal::oracle::InterventionalOracle;
pub use path_dependent::oracle::PathDependentOracle;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
