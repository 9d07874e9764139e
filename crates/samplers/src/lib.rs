//! Samplers of coalitions and permutations that know the probability of what they drew.
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`SizeLaw`] | how large a drawn coalition is: leverage, kernel, binomial, custom |
//! | [`WithReplacement`] | independent draws, as in Kernel SHAP |
//! | [`Bernoulli`] | each coalition or pair enters independently, as in Leverage SHAP |
//! | [`FixedCounts`] | the same inclusion probabilities, exactly `m` rows |
//! | [`TwoBlocks`] | as [`FixedCounts`], of players in two blocks with a size law each |
//! | [`Order`] | whether samples of these three grow, each being part of all larger ones |
//! | [`Sampler`], [`Sample`], [`SizeStratum`], [`Pairing`] | what they share: m × n bits; for each size the rows expected and drawn |
//! | [`Permutations`], [`permutation`] | random orders of the players, plain and antithetic |
//! | [`JoinedCoalitions`] | the coalition that one player joins, by laws between and within groups |
//! | [`NestedOrder`] | a random order of groups with a random order inside each |
//! | [`JoinedOverHierarchy`], [`HierarchicalOrder`] | the same two over a hierarchy of groups |
//! | [`Discrete`], [`Stratified`] | any law on finitely many outcomes, in constant time or spread evenly |
//! | [`rank`], [`unrank`], [`choose`], [`ln_choose`] | coalitions of one size as numbers, and how many there are |
//!
//! Every sample is a function of sampler, budget and seed. Each size of coalition draws from a random stream of its own. Up to
//! 10 000 players and beyond: nothing here forms a number that overflows.
//!
//! The folders: `draw` for single things (numbers, subsets, orders), `size` for the sizes of coalitions, `designs` for samples. A folder
//! imports those before it only.
//!
//! # Example
//!
//! Horvitz–Thompson: weighting what was drawn by its inclusion probability estimates the sum over all 2^n coalitions.
//!
//! ```
//! use apportion_samplers::{FixedCounts, Order, Pairing, Sampler, SizeLaw};
//!
//! let sampler = FixedCounts { law: SizeLaw::leverage(12)?, pairing: Pairing::Paired, order: Order::Fixed };
//! let sample = sampler.sample(600, 42)?;
//! let estimate: f64 = sample
//!     .coalitions()
//!     .iter()
//!     .filter(|coalition| coalition.contains(0))
//!     .map(|coalition| 1.0 / sample.strata()[coalition.size()].inclusion_probability())
//!     .sum();
//! // Half of all coalitions contain player 0; pairs make this one exact, but for the rounding of counts.
//! assert!((estimate / 2047.0 - 1.0).abs() < 0.02);
//! # Ok::<(), apportion_samplers::SamplerError>(())
//! ```

mod designs;
mod draw;
mod error;
mod size;
#[cfg(test)]
mod testing;

/// Types of lower crates that stand in signatures here, so that whoever uses this crate needs no other for them.
#[doc(no_inline)]
pub use apportion_games::{Coalition, CoalitionView, Coalitions, Hierarchy, Partition};

pub use designs::bernoulli::Bernoulli;
pub use designs::fixed_counts::FixedCounts;
pub use designs::sample::{Order, Sample, Sampler, SizeStratum, most_rows};
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
pub use size::size_law::SizeLaw;
pub use size::water_filling::water_fill;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
