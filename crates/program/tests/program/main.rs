//! Programs as people write them, and as they go wrong. The children are scripts of the shell, which is
//! everywhere but on Windows.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

#[cfg(feature = "arrow")]
mod arrow;
mod common;
mod endings;
mod lies;
mod servers;
mod values;
