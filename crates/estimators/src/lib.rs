//! Estimators: values of a game from few evaluations.
//!
//! | type | draws | weights | exact at 2^n | standard errors |
//! |---|---|---|---|---|
//! | [`LeverageShap`] | pairs without replacement, every size alike | kernel over inclusion probability | yes | yes |
//! | [`LearnedSpectrum`] | as [`LeverageShap`], for Banzhaf values as [`KernelBanzhaf`] without replacement | the same, with a prior on interactions that is learned from the sample | yes | yes |
//! | [`KernelShap`] | with replacement by the Shapley kernel, plain or paired | equal | yes | yes |
//! | [`OptimizedKernelShap`] | small sizes enumerated, the rest paired with replacement | as the `shap` library | yes | yes |
//! | [`PermutationShap`] | permutations and their reverses | equal | yes | yes |
//! | [`OptimizedMonteCarlo`] | orders: independent, with their reverses, or all rotations of one; streaming | equal | yes | yes |
//! | [`ProjectedGradient`] | with replacement, pairs of nearly uniform sizes or any of the paper's laws | importance, one step each | with `FullBudget::Enumerate` | yes |
//! | [`KernelBanzhaf`] | pairs with or without replacement, every coalition alike | equal | without replacement | yes |
//! | [`MonteCarlo`] | each player's own, by the law of the value | equal | with `FullBudget::Enumerate` | yes |
//! | [`StratifiedMonteCarlo`] | each player's own from every size of coalition, equally or by their variances | equal in a size | yes | yes |
//! | [`MaximumSampleReuse`] | any law, shared by all players; regression-adjusted or not | importance | without replacement | yes |
//! | [`ProxyResidual`] | as Leverage SHAP, Kernel Banzhaf or adjusted sample reuse, of what a surrogate leaves | as these | yes | yes |
//! | [`RegressionMsr`], [`ProxyShap`] | to compare with: pairs without replacement; trees or a linear model fitted first | importance | yes | no |
//! | [`OddShap`], [`PolyShap`] | to compare with: as Leverage SHAP, regressed on products of players | kernel over inclusion probability | yes | no |
//! | [`ProductSpace`] | each player's own coalitions, each with a scenario, for every solution concept | equal | yes | yes |
//! | [`NestedPermutation`] | orders of groups and inside them, each with a scenario | equal | yes | yes |
//! | [`CoalitionalRegression`] | for groups and for the members of each: pairs without replacement, by leverage at both levels | law over inclusion probability | yes | yes |
//! | [`LocalSampling`] | each player's own from its neighbourhood in a graph, singly or for a regression | equal, or as Leverage SHAP | of all neighbourhoods | yes |
//! | [`OnGraph`] | nothing: all coalitions that a value of players on a graph is made of | by definition | at any budget that suffices | zero |
//! | [`ConnectedRegression`] | nothing: small connected coalitions | Shapley kernel | no, an approximation | no |
//! | [`exact`] | all coalitions | by definition | – | zero |
//!
//! [`MonteCarlo`], [`StratifiedMonteCarlo`], [`MaximumSampleReuse`] and [`exact`] take every semivalue, [`ProductSpace`] and
//! [`exact_of`] every value but those on graphs, over hierarchies of groups too. Which to use: the learned spectrum for Shapley and Banzhaf, Leverage SHAP and Kernel Banzhaf where an evaluation
//! takes much less than a quarter of a millisecond or players are many hundreds, Kernel Banzhaf for weighted Banzhaf,
//! [`MaximumSampleReuse::adjusted`] for Beta-Shapley, mixtures and weights by size.
//!
//! All of them implement [`Estimator`], take a [`Game`], a budget of evaluations and a seed, and answer with an
//! [`Explanation`]: values n × k (players × outputs), v(∅), v(N), what it cost and how far it can be trusted.
//!
//! [`Anytime`] runs any of them on growing samples, [`Until`] an accuracy is reached, through interruptions ([`Checkpoint`]), and certifies
//! the error ([`Certificate`]).
//!
//! # Rooms
//!
//! | folder | holds |
//! |---|---|
//! | `error` | what can go wrong |
//! | `report` | results: explanations, the law of their errors, certificates |
//! | `run` | the interface of all estimators, evaluations, runs that go on |
//! | `surrogate` | models of games whose values are known, such as boosted trees on coalition bits, and priors on a game's Walsh spectrum |
//! | `support` | what methods share: draws, regressions, folds, draws on the product space |
//! | `sampling`, `regression`, `projected_gradient` | methods: means over draws, weighted least squares, stochastic gradients |
//! | `in_groups`, `on_graph` | methods for players in groups, and on graphs |
//! | `proxies` | methods that learn a model of the game first |
//! | [`methods`] | all methods by name |
//!
//! A room imports those above it only.
//!
//! # Example
//!
//! ```
//! use apportion_estimators::{Background, Estimator, LeverageShap, MarginalGame};
//!
//! let model = |row: &[f64]| 2.0 * row[0] + row[1] * row[2];
//! let background = Background::baseline(vec![0.0; 3])?;
//! let game = MarginalGame::new(&model, &[1.0, 2.0, 3.0], &background)?;
//! let explanation = LeverageShap::default().estimate(&game, 8, 0)?;
//! assert!((explanation.values[0] - 2.0).abs() < 1e-12);
//! assert!((explanation.values[1] - 3.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod in_groups;
pub mod methods;
mod on_graph;
mod projected_gradient;
mod proxies;
mod registry;
mod regression;
mod report;
mod run;
mod sampling;
mod setters;
mod support;
mod surrogate;

/// Types of lower crates that stand in signatures here, so that whoever uses this crate needs no other for them.
#[doc(no_inline)]
pub use apportion_games::{
    Background, Coalitions, Game, GameError, Graph, MarginalGame, Model, Partition, Rows,
};
#[doc(no_inline)]
pub use apportion_samplers::SamplerError;
#[doc(no_inline)]
pub use apportion_solvers::SolverError;
#[doc(no_inline)]
pub use apportion_values::{Attributions, Axis, GraphValue, Semivalue, SolutionConcept, Value, ValueError};

pub use apportion_samplers::Pairing;
pub use error::{EstimatorError, GradientError, GraphError, RunError};
pub use in_groups::coalitional_regression::CoalitionalRegression;
pub use in_groups::nested_permutation::NestedPermutation;
pub use in_groups::product_space::ProductSpace;
pub use on_graph::{ConnectedRegression, LocalMethod, LocalSampling, OnGraph};
pub use projected_gradient::{
    GradientLaw, IterateAverage, IterateSet, ProjectedGradient, StartShare, StepSize,
};
pub use proxies::learned_spectrum::LearnedSpectrum;
pub use proxies::odd_shap::OddShap;
pub use proxies::poly_shap::PolyShap;
pub use proxies::proxy_residual::ProxyResidual;
pub use proxies::proxy_shap::ProxyShap;
pub use proxies::regression_msr::{RegressionMsr, RegressionProxy};
pub use registry::MethodSpec;
pub use regression::kernel_banzhaf::KernelBanzhaf;
pub use regression::kernel_shap::KernelShap;
pub use regression::leverage_shap::LeverageShap;
pub use regression::optimized_kernel_shap::OptimizedKernelShap;
pub use report::{BoundedDraws, Certificate, Diagnostics, ErrorLaw, Explanation, Guarantee, Look, StopRule};
pub use run::{Anytime, Checkpoint, Estimator, Measure, Progress, Scale, Settings, Until, Watcher};
pub use sampling::maximum_sample_reuse::{Adjustment, MaximumSampleReuse, SamplingLaw};
pub use sampling::monte_carlo::{Accounting, MonteCarlo};
pub use sampling::optimized_monte_carlo::{OptimizedMonteCarlo, Orders, References};
pub use sampling::permutation_shap::PermutationShap;
pub use sampling::stratified_monte_carlo::{Allocation, StratifiedMonteCarlo};
pub use support::product_draws::PlayerEstimates;
pub use support::{Draws, FullBudget, StandardErrors, exact, exact_of};
pub use surrogate::interface::{FittedSurrogate, Surrogate};
pub use surrogate::k_additive::KAdditiveSurrogate;
pub use surrogate::linear::LinearSurrogate;
pub use surrogate::trees::TreeSurrogate;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
