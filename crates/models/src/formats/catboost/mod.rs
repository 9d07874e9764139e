//! Models saved by CatBoost: in its binary format (cbm), and as JSON.
//!
//! A model is a sum of trees, times a scale, plus a bias per output:
//!
//! ```text
//! f_k(x) = bias_k + scale · Σ_t leaf_{t,k}(x)
//! ```
//!
//! Features are numbered three times: among all columns of a row (flat), among the numbers and among the categories; splits use the
//! latter two. Categories are known by their hashes, so that every text is one: their codes are those of
//! [`Words`](crate::Words), and rows are compared in 64 bits where there are any, as 32 bits do not hold the codes.
//!
//! | | |
//! |---|---|
//! | [`binary`], [`document`] | the two formats |
//! | [`features`], [`information`] | the columns, and what is said about the training |
//! | [`splits`] | what splits ask, and how a model is put together |
//! | [`statistics`] | statistics of categories (CTR) |
//! | [`trees`] | what trees are like |

mod binary;
mod document;
mod features;
mod information;
mod splits;
mod statistics;
mod trees;

pub(crate) use self::binary::{MAGIC, from_bytes};
pub(crate) use self::document::from_json;
