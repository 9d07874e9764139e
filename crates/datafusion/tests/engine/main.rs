//! Explanations by DataFusion: of batches, in SQL, and what is said of what does not fit.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod batches;
mod common;
mod doors;
mod messages;
mod sql;
