//! Apportion: feature attributions for any model, by Shapley values and related solution concepts.
//!
//! The crate computes Shapley, Banzhaf and all other semivalues. It also computes Owen, Banzhaf-Owen,
//! two-step and quotient values for groups of features, and L-Shapley, C-Shapley and Myerson values for
//! words, pixels and other players on a graph. For any model, values are estimated from few predictions, with
//! standard errors. For tree ensembles read from their model files, and for kernel machines such as support
//! vector machines, values are exact, without sampling.
//!
//! # From a model to an explanation
//!
//! ```
//! use apportion::{Background, Budget, Explainer};
//!
//! // Any function of a row is a model. This one has 12 features; two of them interact.
//! let model = |row: &[f64]| row.iter().sum::<f64>() + 5.0 * row[0] * row[1];
//! let background = Background::baseline(vec![0.0; 12])?;
//! let explainer = Explainer::new(&model, background).budget(Budget::Evaluations(600));
//! let explanation = explainer.explain(&[1.0; 12])?;
//! assert!((explanation.values[0] - 3.5).abs() < 1e-9);
//! assert!(explanation.efficiency_gap() < 1e-9);
//! # Ok::<(), apportion::ExplainError>(())
//! ```
//!
//! # Modules
//!
//! | module | crate | contents |
//! |---|---|---|
//! | [`games`] | `apportion-games` | coalitions, value functions, models, backgrounds, conditional games, partitions, graphs, textbook games |
//! | [`partitions`] | `apportion-partitions` | groups of features from data: measures of dependence, clustering, dendrograms |
//! | [`media`] | `apportion-media` | text and images as games: tokens, pixels, patches and superpixels as players; scores, pictures |
//! | [`plots`] | `apportion-plots` | figures of attributions with their errors, as SVG and PNG; a report in one file |
//! | [`results`] | `apportion-results` | attributions of rows in memory and in result files |
//! | [`values`] | `apportion-values` | solution concepts, quadrature, exact enumeration, axioms |
//! | [`samplers`] | `apportion-samplers` | samplers of coalitions and permutations with known sampling probabilities |
//! | [`solvers`] | `apportion-solvers` | weighted least squares on bit-packed coalitions, projections on convex sets |
//! | [`estimators`] | `apportion-estimators` | Leverage SHAP, Kernel SHAP, Permutation SHAP, Kernel Banzhaf, Monte Carlo, sample reuse, projected gradient; for groups: regressions, Monte Carlo on the product space, nested permutations; runs with a tolerance |
//! | [`models`] | `apportion-models` | tree ensembles: model files, predictions, link functions |
//! | [`trees`] | `apportion-trees` | exact values of tree ensembles in the marginal and the path-dependent game |
//! | [`kernels`] | `apportion-kernels` | kernel machines (support vector machines, kernel ridge regression, means of Gaussian processes), and their exact values |
//! | [`surrogates`] | `apportion-surrogates` | surrogates of models; the table method, which explains the rows of a table from few predictions of the model |
//!
//! Each crate can be used alone. The crate `apportion-onnx`, which is not a dependency of this one, reads
//! neural networks from ONNX files. This crate adds [`Explainer`], [`GameExplainer`], [`Method`], [`Budget`],
//! [`Plan`], [`RunObserver`] and [`batch`]. The module [`options`] sets the options of explainers by name.

mod additive;
mod batch;
mod budget;
#[cfg(feature = "plots")]
mod drawn;
#[cfg(feature = "conditional")]
mod draws;
mod error;
mod explainer;
mod game_explainer;
#[cfg(all(feature = "kernels", feature = "trees"))]
mod kernel_file;
#[cfg(feature = "kernels")]
mod kernel_source;
mod marginal;
mod method;
mod method_by_name;
mod observer;
pub mod options;
mod plan;
mod source;
#[cfg(feature = "surrogates")]
mod surrogate_cache;
#[cfg(feature = "trees")]
mod tree_source;

pub use apportion_estimators as estimators;
pub use apportion_games as games;
#[cfg(feature = "kernels")]
pub use apportion_kernels as kernels;
#[cfg(feature = "media")]
pub use apportion_media as media;
#[cfg(feature = "trees")]
pub use apportion_models as models;
#[cfg(feature = "partitions")]
pub use apportion_partitions as partitions;
#[cfg(feature = "plots")]
pub use apportion_plots as plots;
pub use apportion_results as results;
pub use apportion_samplers as samplers;
pub use apportion_solvers as solvers;
#[cfg(feature = "surrogates")]
pub use apportion_surrogates as surrogates;
#[cfg(feature = "trees")]
pub use apportion_trees as trees;
pub use apportion_values as values;

pub use apportion_estimators::{
    Certificate, Checkpoint, Diagnostics, Estimator, Explanation, Progress, Until,
};
pub use apportion_games::{
    Background, Cancellation, Cancelled, Game, Hierarchy, MarginalGame, Model, Partition, Rows, Shared,
    batch_model,
};
#[cfg(feature = "trees")]
pub use apportion_trees::{CompiledBackground, Ensemble, ReadOptions, Rounds, Settings};
pub use apportion_values::{
    Attributions, Axis, InteractionIndex, Interactions, Semivalue, SolutionConcept, Value,
};
pub use batch::batch;
pub use budget::Budget;
#[cfg(feature = "plots")]
pub use drawn::explained;
pub use error::ExplainError;
pub use explainer::{Ends, Explainer, NullPlayers};
pub use game_explainer::GameExplainer;
#[cfg(all(feature = "kernels", feature = "trees"))]
pub use kernel_file::KernelFile;
pub use method::Method;
pub use observer::RunObserver;
pub use plan::Plan;
#[cfg(feature = "surrogates")]
pub use surrogate_cache::SurrogateCache;

/// Runs the examples of the README as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of the book's chapter on Rust as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/rust.md")]
struct Book;
