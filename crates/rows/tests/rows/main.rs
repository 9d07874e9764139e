//! Tests rows in every format and compression: the same numbers are read from each, and corrupt files are
//! errors.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod common;
mod formats;
#[cfg(feature = "columnar")]
mod ids;
mod mutations;
mod streams;
#[cfg(feature = "columnar")]
mod writing;
