//! Tests reading rows in every format and compression. Each must yield the same numbers, and corrupt files
//! must be errors.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod common;
mod formats;
#[cfg(feature = "columnar")]
mod ids;
mod mutations;
mod streams;
#[cfg(feature = "columnar")]
mod writing;
