//! The `apportion` command, run as its users run it.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod accuracy;
mod defaults;
mod engine;
mod explain;
mod formats;
mod games;
mod graph;
mod groups;
mod inspect;
mod itself;
mod kernel_machines;
#[cfg(unix)]
mod kills;
mod labels;
#[cfg(feature = "networks")]
mod media;
#[cfg(feature = "networks")]
mod media_images;
#[cfg(feature = "networks")]
mod media_refusals;
#[cfg(feature = "networks")]
mod media_runs;
#[cfg(feature = "networks")]
mod media_truth;
#[cfg(all(target_os = "linux", feature = "columnar", not(feature = "networks")))]
mod messages;
mod names;
mod pictures;
mod places;
mod predict;
#[cfg(unix)]
mod program;
mod readme;
mod refusals;
mod rows;
mod streams;
mod support;
mod table;
mod truth;
