//! Figures of ordinary and of difficult results.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod common;
mod conditions;
mod figures;
mod groups;
mod hostile;
mod media;
mod report;
mod snapshots;
