//! Values against their definitions written out, and their axioms.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod axioms;
mod enumeration;
mod group_axioms;
mod scale;
