//! Models saved by CatBoost: in its binary format (cbm), and as JSON.
//!
//! A model is a sum of trees, times a scale, plus a bias per output:
//!
//! ```text
//! f_k(x) = bias_k + scale · Σ_t leaf_{t,k}(x)
//! ```
//!
//! Each feature has an index among all columns of a row (flat), and an index among the numeric or the
//! categorical features, which splits use. Categories are identified by hashes, so every string is a
//! category. [`Categories`](crate::Categories) describes their codes. If there are categorical features, rows
//! are compared in 64 bits, because 32 bits cannot represent the codes.
//!
//! | | |
//! |---|---|
//! | [`binary`], [`document`] | the two formats |
//! | [`features`], [`information`] | the columns, and information about the training |
//! | [`splits`] | conditions of splits, and construction of the model |
//! | [`statistics`] | statistics of categories (CTR) |
//! | [`trees`] | structure of the trees |

mod binary;
mod document;
mod features;
mod information;
mod splits;
mod statistics;
mod trees;

pub(crate) use self::binary::{MAGIC, from_bytes};
pub(crate) use self::document::from_json;
