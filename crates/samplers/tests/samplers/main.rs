//! Samplers against their enumerated laws; what holds for every sample; first draws for a seed.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod designs;
mod first_draws;
mod laws;
mod ranks;
