//! Estimators of Shapley values, Banzhaf values and other solution concepts from few evaluations of a game.
//!
//! | type | draws | weights | exact at 2^n | standard errors |
//! |---|---|---|---|---|
//! | [`LeverageShap`] | pairs without replacement, all coalition sizes equally likely | kernel divided by inclusion probability | yes | yes |
//! | [`LearnedSpectrum`] | like [`LeverageShap`]; for (weighted) Banzhaf values, like [`KernelBanzhaf`] without replacement; for other semivalues, like [`MaximumSampleReuse`]; for groups, like [`CoalitionalRegression`] | as in these methods, with a prior on interactions learned from the sample | yes | yes |
//! | [`KernelShap`] | with replacement from the Shapley kernel, plain or paired | equal | yes | yes |
//! | [`OptimizedKernelShap`] | small sizes enumerated, the others paired with replacement | as in the `shap` library | yes | yes |
//! | [`PermutationShap`] | permutations and their reverses | equal | yes | yes |
//! | [`OptimizedMonteCarlo`] | orders: independent, with their reverses, or all rotations of one; streaming | equal | yes | yes |
//! | [`ProjectedGradient`] | with replacement: pairs of nearly uniform sizes, or any distribution of the paper | importance, in one gradient step per draw | yes | yes |
//! | [`KernelBanzhaf`] | pairs with or without replacement, all coalitions equally likely | equal | yes | yes |
//! | [`MonteCarlo`] | separate for each player, from the distribution that defines the value | equal | yes | yes |
//! | [`StratifiedMonteCarlo`] | separate for each player and coalition size, equally many or by variance | equal within a size | yes | yes |
//! | [`MaximumSampleReuse`] | any distribution, shared by all players; optionally regression-adjusted | importance | yes | yes |
//! | [`ProxyResidual`] | like Leverage SHAP, Kernel Banzhaf or adjusted sample reuse, on the residuals of a surrogate | as in these methods | yes | yes |
//! | [`RegressionMsr`], [`ProxyShap`] | for comparison: pairs without replacement, after fitting trees or a linear model | importance | yes | no |
//! | [`OddShap`], [`PolyShap`] | for comparison: like Leverage SHAP, with a regression on products of players | kernel divided by inclusion probability | yes | no |
//! | [`ProductSpace`] | separate coalitions for each player, each with a scenario, for every solution concept without a graph | equal | yes | yes |
//! | [`NestedPermutation`] | orders of groups and of members inside them, each with a scenario | equal | yes | yes |
//! | [`CoalitionalRegression`] | for the groups and for the members of each group: pairs without replacement, by leverage scores at both levels | probability divided by inclusion probability | yes | yes |
//! | [`LocalSampling`] | separate for each player, from its neighbourhood in a graph, averaged or for a regression | equal, or as in Leverage SHAP | if all neighbourhoods are enumerated | yes |
//! | [`OnGraph`] | nothing: evaluates every coalition in the definition of a value of players on a graph | by definition | at any sufficient budget | zero |
//! | [`ConnectedRegression`] | nothing: evaluates small connected coalitions | Shapley kernel | no, an approximation | no |
//! | [`exact`] | all coalitions | by definition | – | zero |
//!
//! The column "exact at 2^n" shows whether the values are exact from a budget of 2^n evaluations on, with the
//! default settings. With [`FullBudget::Sample`], methods that draw with replacement never become exact.
//!
//! [`MonteCarlo`], [`StratifiedMonteCarlo`], [`MaximumSampleReuse`], [`ProxyResidual`] and [`exact`] support
//! every semivalue. [`exact_of`] supports every value. [`ProductSpace`] supports every value except those on
//! graphs, including values over hierarchies of groups. For semivalues other than weights by size, use
//! [`LearnedSpectrum`]. If an evaluation takes much less than a quarter of a millisecond, or if there are
//! many hundreds of players, use [`LeverageShap`] for Shapley values, [`KernelBanzhaf`] for (weighted)
//! Banzhaf values, and [`MaximumSampleReuse::adjusted`] for Beta-Shapley values and mixtures. For weights by
//! size, always use [`MaximumSampleReuse::adjusted`].
//!
//! All types in the first table implement [`Estimator`]: they take a [`Game`], a budget of evaluations and a
//! seed. They return an [`Explanation`] with values n × k (players × outputs), v(∅), v(N), the cost, and
//! error estimates.
//!
//! [`Anytime`] runs any estimator on growing samples until a tolerance is reached ([`Until`]). It can resume
//! after an interruption ([`Checkpoint`]), and certifies the error ([`Certificate`]).
//!
//! # Modules
//!
//! | directory | contents |
//! |---|---|
//! | `error` | error types |
//! | `setters` | setters of option structs |
//! | `report` | results: explanations, the distribution of their errors, certificates |
//! | `run` | the trait for estimators, evaluations, and resumable runs |
//! | `registry` | declarations of methods by name |
//! | `surrogate` | models of games, with known values, such as boosted trees on coalition bits; priors on a game's Walsh spectrum |
//! | `support` | code that several methods use: draws, regressions, folds, draws on the product space |
//! | `sampling`, `regression`, `projected_gradient` | methods: means over draws, weighted least squares, stochastic gradients |
//! | `in_groups`, `on_graph` | methods for players in groups, and on graphs |
//! | `proxies` | methods that learn a model of the game first |
//! | [`methods`] | all methods by name |
//!
//! A module imports only modules above it in this table.
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

/// Types of other crates that occur in signatures of this crate, re-exported so that its users do not need to
/// depend on those crates.
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
    GradientDistribution, IterateAverage, IterateSet, ProjectedGradient, StartShare, StepSize,
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
pub use report::{
    BoundedDraws, Certificate, Diagnostics, ErrorDistribution, Explanation, Guarantee, InterimCheck, StopRule,
};
pub use run::{Anytime, Checkpoint, Estimator, Measure, Progress, Scale, Settings, Until, Watcher};
pub use sampling::maximum_sample_reuse::{Adjustment, MaximumSampleReuse, SamplingDistribution};
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

/// Runs the examples of the README as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
