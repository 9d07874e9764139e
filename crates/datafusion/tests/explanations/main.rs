//! Explanations of batches, functions as an engine calls them, and error messages.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod batches;
mod common;
mod doors;
mod functions;
mod messages;
