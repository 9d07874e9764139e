//! Tests of `apportion-results`, by subject.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod summary;
