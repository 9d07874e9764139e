//! Tests of the explainers through their public interface.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod additive;
mod common;
mod conditional;
mod each;
mod explainer;
mod graph;
mod groups;
mod honesty;
mod indices;
mod kernel_machines;
mod linear;
mod same;
mod table;
mod until;
