//! L-Shapley and C-Shapley: values of players on a graph.
//!
//! # Source
//!
//! Chen, Song, Wainwright and Jordan, *L-Shapley and C-Shapley: Efficient Model Interpretation for Structured Data*, ICLR 2019.

#[allow(dead_code, reason = "what the artefacts explain is here before the artefacts are")]
mod data;
