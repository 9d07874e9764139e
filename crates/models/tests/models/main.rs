//! Model files of all libraries: comparison with the predictions of the library, and errors.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod catboost;
mod catboost_words;
mod categories;
mod common;
mod covers;
mod dumps;
mod lightgbm;
mod linear;
mod means;
mod mutations;
mod onnx_pipelines;
mod outputs;
mod portable;
mod reading;
mod rounds;
mod scikit_learn;
mod support_vectors;
mod treelite;
mod xgboost_kinds;
