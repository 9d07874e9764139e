//! The solver against its textbook twin, against the definition, against bad input, and its invariants.

// The lint knows test functions, not the helpers they call.
#![allow(clippy::unwrap_used)]

mod against_the_twin;
mod bad_input;
mod enumeration;
mod properties;
mod twin;
