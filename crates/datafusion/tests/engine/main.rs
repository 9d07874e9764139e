//! Tests with DataFusion: explanations of batches and in SQL, and error messages.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod batches;
mod common;
mod doors;
mod messages;
mod sql;
