//! Neural networks in ONNX files as models.
//!
//! # Items
//!
//! | | |
//! |---|---|
//! | [`Network`] | a network read from a file; a [`Model`], with cheaper predictions near a reference if it is sequential and convolutional |
//! | [`NetworkOptions`] | selects one of several outputs, and sets the shape of a row if the file does not fix it |
//! | [`OnnxError`] | errors of files and rows |
//!
//! The file must have one input, of floating-point numbers or integers. The first dimension of the input is
//! the batch (of variable or fixed size). The sizes of the other dimensions are fixed in the file, or set by
//! [`NetworkOptions::row_shape`]. Examples are tables `[N, 12]`, images `[N, 1, 28, 28]`, and token ids
//! `[N, 48]`. Weights must be stored inside the file. The operators of
//! the pure-Rust runtime [rten] are supported. If the chosen output needs any other operator, such as tree
//! ensembles (`ai.onnx.ml`), reading the file fails with an error that names it.
//!
//! Rows are row-major `f64` with one column for each element of an input row. Predictions are rows × outputs.
//! Missing values are not supported.
//!
//! Corrupt files are rejected. But a network is a program: its operators determine the time and memory of
//! predictions and, in part, of reading the file. The process aborts if memory runs out. Run untrusted
//! networks in a process with resource limits.
//!
//! # Example
//!
//! ```
//! use apportion_onnx::{Network, Rows};
//!
//! let network = Network::from_bytes(include_bytes!("../tests/fixtures/iris_mlp.onnx"))?;
//! assert_eq!((network.feature_count(), network.output_count()), (4, 3));
//!
//! // The logits of the three species, for a typical flower and for one with small petals.
//! let logits = network.predictions(Rows::new(&[5.8, 3.0, 4.4, 1.3, 5.1, 3.5, 1.4, 0.2], 4))?;
//! let (typical, small) = logits.split_at(3);
//! assert!(typical[1] > typical[0]);
//! assert!(small[0] > small[1]);
//! # Ok::<(), apportion_onnx::OnnxError>(())
//! ```
//!
//! # Accuracy and speed
//!
//! Predictions differ from predictions with the same weights in `f64` by at most 2e-7 (a perceptron of
//! 12-32-16-1) to 4e-7 (convolutions), relative to the largest prediction. Shapley and Banzhaf values by
//! enumeration differ by at most 2e-7, relative to the largest value. `tests/onnx/truth.rs` contains the
//! bounds, and prints these numbers when run as `cargo test -p apportion-onnx -- --nocapture`.
//!
//! On one core of an AMD EPYC, this perceptron takes 0.14 µs per row in the calls of a game. A single row
//! takes 30 µs, because it costs as much as a whole batch. To measure:
//! `cargo run --release -p apportion-onnx --example timing -- FILE`.
//!
//! Sequential convolutional networks are cheaper near a reference row, for example in games with a single
//! baseline: only the cells affected by changed pixels are computed. With 13 changed pixels in a window of 5
//! × 5, a digit of 28 × 28 pixels from the data pack (two convolutions with 8 and 16 channels) takes 3 µs
//! instead of 33 µs. A colour image of 32 × 32 pixels (16 and 32 channels) takes 6 µs instead of 120 µs. With
//! one changed pixel, they take 1 and 2 µs. These predictions differ from predictions of whole rows by at
//! most 1e-6, relative to the largest prediction (`tests/onnx/near.rs`). Rows with many changes, for which
//! this would not save time, are predicted as a whole. To measure:
//! `cargo run --release -p apportion-onnx --example near -- FILE`.
//!
//! This crate does not train networks, and does not contain estimators.

mod error;
mod file;
mod gzip;
mod load;
mod near;
mod needed;
mod network;
mod options;
mod runtime;
mod signature;

/// Types of a lower-level crate in the signatures of this crate, re-exported so that users need no other
/// dependency.
#[doc(no_inline)]
pub use apportion_games::{Model, Rows};

pub use error::OnnxError;
pub use network::Network;
pub use options::NetworkOptions;

/// The README, whose example runs as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
