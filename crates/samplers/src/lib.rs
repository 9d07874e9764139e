//! Samplers of coalitions and permutations with known sampling probabilities.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`SizeDistribution`] | the distribution of the size of a coalition: leverage, kernel, binomial, custom |
//! | [`WithReplacement`] | independent draws, as in Kernel SHAP |
//! | [`Bernoulli`] | independent inclusion of each coalition or pair, as in Leverage SHAP |
//! | [`FixedCounts`] | the same inclusion probabilities, exactly `m` rows |
//! | [`TwoBlocks`] | like [`FixedCounts`], for players in two blocks, each with a separate size distribution |
//! | [`Order`] | whether samples of the previous three designs grow: each sample is part of all larger ones |
//! | [`Sampler`], [`Sample`], [`SizeStratum`], [`Pairing`] | the common interface: a sample has m × n bits, and the expected and actual number of rows of each size |
//! | [`Permutations`], [`permutation`] | random orders of the players, independent and antithetic |
//! | [`JoinedCoalitions`] | the coalition that a player joins, with distributions between and within groups |
//! | [`NestedOrder`] | a random order of the groups, with a random order of the members within each group |
//! | [`JoinedOverHierarchy`], [`HierarchicalOrder`] | like the previous two rows, for a hierarchy of groups |
//! | [`Discrete`], [`Stratified`] | arbitrary distributions on finitely many outcomes, with draws in constant time or stratified draws |
//! | [`rank`], [`unrank`], [`choose`], [`ln_choose`] | ranks of the coalitions of one size, and the number of these coalitions |
//!
//! Every sample is determined by the sampler, the budget and the seed. Each coalition size has a separate
//! random stream. Computations do not overflow, even for 10,000 players or more.
//!
//! Modules: `draw` draws single objects (numbers, subsets, orders), `size` handles coalition sizes, `designs`
//! draws samples. A module only imports modules before it in this list.
//!
//! # Example
//!
//! The Horvitz–Thompson estimator estimates a sum over all 2^n coalitions: it weights the sampled coalitions
//! by the inverse of their inclusion probabilities.
//!
//! ```
//! use apportion_samplers::{FixedCounts, Order, Pairing, Sampler, SizeDistribution};
//!
//! let sampler = FixedCounts { distribution: SizeDistribution::leverage(12)?, pairing: Pairing::Paired, order: Order::Fixed };
//! let sample = sampler.sample(600, 42)?;
//! let estimate: f64 = sample
//!     .coalitions()
//!     .iter()
//!     .filter(|coalition| coalition.contains(0))
//!     .map(|coalition| 1.0 / sample.strata()[coalition.size()].inclusion_probability())
//!     .sum();
//! // Half of all coalitions contain player 0; pairing makes this estimate exact, up to rounding of counts.
//! assert!((estimate / 2047.0 - 1.0).abs() < 0.02);
//! # Ok::<(), apportion_samplers::SamplerError>(())
//! ```

mod designs;
mod draw;
mod error;
mod size;
#[cfg(test)]
mod testing;

/// Types from dependencies that occur in signatures, re-exported so that users do not need to depend on those
/// crates.
#[doc(no_inline)]
pub use apportion_games::{Coalition, CoalitionView, Coalitions, Hierarchy, Partition};

pub use designs::bernoulli::Bernoulli;
pub use designs::fixed_counts::FixedCounts;
pub use designs::sample::{Order, Sample, Sampler, SizeStratum, max_rows};
pub use designs::two_blocks::{FirstUnits, TwoBlockSample, TwoBlocks};
pub use designs::with_replacement::WithReplacement;
pub use draw::discrete::Discrete;
pub use draw::hierarchical_order::HierarchicalOrder;
pub use draw::joined_coalitions::JoinedCoalitions;
pub use draw::joined_over_hierarchy::JoinedOverHierarchy;
pub use draw::nested_order::NestedOrder;
pub use draw::permutations::{Permutations, permutation};
pub use draw::stratified::Stratified;
pub use error::SamplerError;
pub use size::choose::{choose, ln_choose};
pub use size::combinadic::{rank, unrank};
pub use size::pairing::Pairing;
pub use size::size_distribution::SizeDistribution;
pub use size::water_filling::water_fill;

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
