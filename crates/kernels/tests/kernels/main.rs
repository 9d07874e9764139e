//! Tests of kernel machines: values equal enumeration.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod common;
mod groups;
mod indices;
mod machine;
mod threads;
mod values;
