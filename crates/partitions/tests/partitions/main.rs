//! Dependence and dendrograms compared with their definitions, and recovery of groups from data.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod dendrogram;
mod dependence;
mod experiment_2a;
#[cfg(feature = "figure")]
mod figure;
mod recovery;
