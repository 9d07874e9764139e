//! Compares the table method with enumeration, and tests reproducibility, the learner and invalid input.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod common;
mod enumeration;
mod format;
mod input;
mod learner;
mod reproducibility;
