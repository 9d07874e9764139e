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
//! | [`Growing`], [`GrowingBernoulli`] | the same two designs, every sample being part of all larger ones |
//! | [`TwoBlocks`], [`GrowingTwoBlocks`] | as [`FixedCounts`] and [`Growing`], of players in two blocks with a size law each |
//! | [`Sampler`], [`Sample`], [`SizeStratum`], [`Pairing`] | what they share: m × n bits; for each size the rows expected and drawn |
//! | [`Permutations`], [`permutation`] | random orders of the players, plain and antithetic |
//! | [`JoinedCoalitions`] | the coalition that one player joins, by laws between and within groups |
//! | [`NestedOrder`] | a random order of groups with a random order inside each |
//! | [`Discrete`], [`Stratified`] | any law on finitely many outcomes, in constant time or spread evenly |
//! | [`rank`], [`unrank`], [`choose`], [`ln_choose`] | coalitions of one size as numbers, and how many there are |
//!
//! Every sample is a function of sampler, budget and seed. Each size of coalition draws from a random stream of its own. Up to
//! 10 000 players and beyond: nothing here forms a number that overflows.
//!
//! # Example
//!
//! Horvitz–Thompson: weighting what was drawn by its inclusion probability estimates the sum over all 2^n coalitions.
//!
//! ```
//! use apportion_samplers::{FixedCounts, Pairing, Sampler, SizeLaw};
//!
//! let sampler = FixedCounts { law: SizeLaw::leverage(12)?, pairing: Pairing::Paired };
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

mod allocation;
mod bernoulli;
mod binomial_count;
mod choose;
mod combinadic;
mod discrete;
mod error;
mod fixed_counts;
mod growing;
mod growing_bernoulli;
mod growing_two_blocks;
mod joined_coalitions;
mod nested_order;
mod permutations;
mod random;
mod row_set;
mod sample;
mod size_class;
mod size_law;
mod stratified;
mod subset;
mod two_blocks;
mod water_filling;
mod with_replacement;
mod without_replacement;

pub use bernoulli::Bernoulli;
pub use choose::{choose, ln_choose};
pub use combinadic::{rank, unrank};
pub use discrete::Discrete;
pub use error::SamplerError;
pub use fixed_counts::FixedCounts;
pub use growing::Growing;
pub use growing_bernoulli::GrowingBernoulli;
pub use growing_two_blocks::{FirstUnits, GrowingTwoBlocks};
pub use joined_coalitions::JoinedCoalitions;
pub use nested_order::NestedOrder;
pub use permutations::{Permutations, permutation};
pub use sample::{Pairing, Sample, Sampler, SizeStratum, most_rows};
pub use size_law::SizeLaw;
pub use stratified::Stratified;
pub use two_blocks::{TwoBlockSample, TwoBlocks};
pub use water_filling::water_fill;
pub use with_replacement::WithReplacement;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
