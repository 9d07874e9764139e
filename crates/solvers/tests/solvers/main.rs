//! Tests regressions and projections against textbook implementations, definitions and invalid input, and
//! checks their invariants.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod against_the_twin;
mod bad_input;
mod enumeration;
mod matrix_free;
mod projection;
mod properties;
mod ridge;
mod scale;
mod twin;
