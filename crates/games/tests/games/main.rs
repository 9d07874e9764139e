//! Tests of games against their definitions, and of their errors. They are a single binary with a module per
//! subject.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod adapters;
mod common;
#[cfg(feature = "conditional")]
mod conditional;
#[cfg(feature = "conditional")]
mod empirical;
mod marginal;
mod scenarios;
mod textbook;
#[cfg(feature = "conditional")]
mod weighted_data;
