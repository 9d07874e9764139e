//! Rows in every format and packing: the same numbers from all, and errors from what is damaged.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod common;
mod formats;
#[cfg(feature = "columnar")]
mod ids;
mod mutations;
mod streams;
#[cfg(feature = "columnar")]
mod writing;
