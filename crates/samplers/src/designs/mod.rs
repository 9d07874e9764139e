//! Sampling designs: samples of coalitions with known sampling probabilities.

pub(crate) mod bernoulli;
pub(crate) mod fixed_counts;
mod levels;
mod row_set;
pub(crate) mod sample;
pub(crate) mod two_blocks;
pub(crate) mod with_replacement;
mod without_replacement;
