//! Dependence and dendrograms against their definitions, and the groups that are found in data.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod dendrogram;
mod dependence;
mod experiment_2a;
mod recovery;
