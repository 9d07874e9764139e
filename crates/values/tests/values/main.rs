//! Tests of values against their definitions and axioms.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod additive_terms;
mod axioms;
mod coalitional;
mod common;
mod enumeration;
mod graph_value;
mod group_axioms;
mod interactions;
mod levels;
mod linear;
mod published;
mod scale;
mod semivalue;
mod solution_concept;
