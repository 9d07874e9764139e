//! Tests of typical programs and of their failures. The child processes are shell scripts, so the tests do
//! not run on Windows.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

#[cfg(feature = "arrow")]
mod arrow;
mod common;
mod endings;
mod lies;
mod servers;
mod values;
