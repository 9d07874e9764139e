//! Tests of networks: predictions of other programs, row by row and near a reference, and errors.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod bundled;
mod common;
mod exports;
mod near;
mod refusals;
mod rows;
mod truth;
