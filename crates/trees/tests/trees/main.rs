//! Compares the values of trained and generated models with enumeration, ground truth and the libraries, in a
//! single test binary with a module for each subject.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod bundled;
mod common;
mod compiled;
mod deep;
mod definitions;
mod formats;
mod game;
mod indices;
mod infinite;
mod kernels;
mod levels;
mod linear;
mod linked;
mod lone;
mod promises;
mod rational;
mod scale;
mod trained;
mod truth;
