//! Queries in DataFusion itself: the results of SQL, and the errors of queries.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

#[path = "../../../tests/explanations/common.rs"]
mod common;
mod messages;
mod session;
mod sql;
