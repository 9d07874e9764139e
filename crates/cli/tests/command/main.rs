//! The `apportion` command, run as its users run it.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod accuracy;
mod explain;
mod formats;
mod graph;
mod groups;
mod inspect;
mod predict;
mod refusals;
mod support;
mod truth;
