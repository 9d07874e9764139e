//! Tests samplers against their enumerated distributions, properties of all samples, and first draws for
//! fixed seeds.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod designs;
mod distributions;
mod first_draws;
mod ranks;
