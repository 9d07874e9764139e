//! Estimators: values of a game from few evaluations.
//!
//! | type | draws | weights | exact at 2^n | standard errors |
//! |---|---|---|---|---|
//! | [`LeverageShap`] | pairs without replacement, every size alike | kernel over inclusion probability | yes | yes |
//! | [`KernelShap`] | with replacement by the Shapley kernel, plain or paired | equal | yes | yes |
//! | [`OptimizedKernelShap`] | small sizes enumerated, the rest paired with replacement | as the `shap` library | yes | yes |
//! | [`PermutationShap`] | permutations and their reverses | equal | yes | yes |
//! | [`OptimizedMonteCarlo`] | orders: independent, with their reverses, or all rotations of one; streaming | equal | yes | yes |
//! | [`ProjectedGradient`] | with replacement, pairs of nearly uniform sizes or any of the paper's laws | importance, one step each | with `FullBudget::Enumerate` | yes |
//! | [`KernelBanzhaf`] | pairs with or without replacement, every coalition alike | equal | without replacement | yes |
//! | [`MonteCarlo`] | each player's own, by the law of the value | equal | with `FullBudget::Enumerate` | yes |
//! | [`StratifiedMonteCarlo`] | each player's own from every size of coalition, equally or by their variances | equal in a size | yes | yes |
//! | [`MaximumSampleReuse`] | any law, shared by all players; regression-adjusted or not | importance | without replacement | yes |
//! | [`ProductSpace`] | each player's own coalitions, each with a scenario, for every solution concept | equal | yes | yes |
//! | [`NestedPermutation`] | orders of groups and inside them, each with a scenario | equal | yes | yes |
//! | [`CoalitionalRegression`] | for groups and for the members of each: pairs without replacement, by leverage at both levels | law over inclusion probability | yes | yes |
//! | [`LocalSampling`] | each player's own from its neighbourhood in a graph, singly or for a regression | equal, or as Leverage SHAP | of all neighbourhoods | yes |
//! | [`OnGraph`] | nothing: all coalitions that a value of players on a graph is made of | by definition | at any budget that suffices | zero |
//! | [`ConnectedRegression`] | nothing: small connected coalitions | Shapley kernel | no, an approximation | no |
//! | [`exact`] | all coalitions | by definition | – | zero |
//!
//! [`MonteCarlo`], [`StratifiedMonteCarlo`], [`MaximumSampleReuse`] and [`exact`] take every semivalue, [`ProductSpace`] and
//! [`exact_in_groups`] every solution concept. Which to use: Leverage SHAP for Shapley, Kernel Banzhaf for Banzhaf and weighted Banzhaf,
//! [`MaximumSampleReuse::adjusted`] for Beta-Shapley, mixtures and weights by size.
//!
//! All of them implement [`Estimator`], take a [`Game`](apportion_games::Game), a budget of evaluations and a seed, and answer with an
//! [`Explanation`]: values n × k (players × outputs), v(∅), v(N), what it cost and how far it can be trusted.
//!
//! [`Anytime`] runs any of them on growing samples, [`Until`] an accuracy is reached, through interruptions ([`Checkpoint`]), and certifies
//! the error ([`Certificate`]).
//!
//! [`Lime`] is no estimator: it fits a linear surrogate of a game near the coalition of all players, which is no value of it, and is here
//! to be compared with.
//!
//! # Example
//!
//! ```
//! use apportion_estimators::{Estimator, LeverageShap};
//! use apportion_games::{Background, MarginalGame};
//!
//! let model = |row: &[f64]| 2.0 * row[0] + row[1] * row[2];
//! let background = Background::baseline(vec![0.0; 3])?;
//! let game = MarginalGame::new(&model, &[1.0, 2.0, 3.0], &background)?;
//! let explanation = LeverageShap::default().estimate(&game, 8, 0)?;
//! assert!((explanation.values[0] - 2.0).abs() < 1e-12);
//! assert!((explanation.values[1] - 3.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anytime;
mod certificate;
mod coalitional_regression;
mod draws;
mod error;
mod error_law;
mod estimator;
mod evaluations;
mod exact;
mod explanation;
mod full_budget;
mod kernel_banzhaf;
mod kernel_shap;
mod leverage_shap;
mod lime;
mod maximum_sample_reuse;
mod monte_carlo;
mod nested_permutation;
mod on_graph;
mod optimized_kernel_shap;
mod optimized_monte_carlo;
mod permutation_shap;
mod product_space;
mod projected_gradient;
mod registry;
mod regression;
mod running_moments;
mod scaled;
mod settings;
mod stratified_monte_carlo;
mod unseen;

pub use anytime::{Anytime, Checkpoint, Measure, Progress, Scale, Until, Watcher};
pub use apportion_samplers::Pairing;
pub use certificate::{Certificate, Guarantee, Look, StopRule};
pub use coalitional_regression::CoalitionalRegression;
pub use draws::Draws;
pub use error::EstimatorError;
pub use error_law::{BoundedDraws, ErrorLaw};
pub use estimator::Estimator;
pub use exact::{exact, exact_in_groups};
pub use explanation::{Diagnostics, Explanation};
pub use full_budget::FullBudget;
pub use kernel_banzhaf::KernelBanzhaf;
pub use kernel_shap::KernelShap;
pub use leverage_shap::LeverageShap;
pub use lime::{Lime, LimeExplanation, LimeSampling};
pub use maximum_sample_reuse::{Adjustment, MaximumSampleReuse, SamplingLaw};
pub use monte_carlo::{Accounting, MonteCarlo};
pub use nested_permutation::NestedPermutation;
pub use on_graph::{ConnectedRegression, LocalMethod, LocalSampling, OnGraph};
pub use optimized_kernel_shap::OptimizedKernelShap;
pub use optimized_monte_carlo::{OptimizedMonteCarlo, Orders, References};
pub use permutation_shap::PermutationShap;
pub use product_space::{PlayerEstimates, ProductSpace};
pub use projected_gradient::{
    GradientBounds, GradientLaw, IterateAverage, IterateSet, ProjectedGradient, StartShare, StepRule,
    StepSize, Tail,
};
pub use registry::{MethodSpec, methods};
pub use regression::StandardErrors;
pub use settings::Settings;
pub use stratified_monte_carlo::{Allocation, StratifiedMonteCarlo};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
