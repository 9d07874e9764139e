//! Neural networks in ONNX files as models of games.
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`Network`] | a network read from its file; a [`Model`], cheaper near a reference if sequential and convolutional |
//! | [`NetworkOptions`] | the output to take of several, the shape of a row where the file leaves it open |
//! | [`OnnxError`] | why a file or rows were refused |
//!
//! The file has one input, of floating-point numbers or integers, whose first dimension is the batch (of any
//! size or a fixed one) and whose other dimensions are fixed: tables `[N, 12]`, images `[N, 1, 28, 28]`,
//! token ids `[N, 48]`. Weights are inside the file. The operators are those of the pure-Rust runtime [rten];
//! one that the chosen output needs and that it does not have is refused by name when the file is read, tree
//! ensembles (`ai.onnx.ml`) among them.
//!
//! Shapes: rows are row-major `f64`, one column per element of a row of the input; predictions are rows ×
//! outputs. A network takes no missing values.
//!
//! A damaged file is refused, but a network is a program: it takes the time and the memory that its operators
//! ask for, some of it when it is read, and the process ends where there is not as much. Networks of
//! strangers belong in a process with a limit.
//!
//! # Example
//!
//! ```
//! use apportion_onnx::{Network, Rows};
//!
//! let network = Network::from_bytes(include_bytes!("../tests/fixtures/iris_mlp.onnx"))?;
//! assert_eq!((network.feature_count(), network.output_count()), (4, 3));
//!
//! // The kind of a typical flower, and of one with small petals.
//! let logits = network.predictions(Rows::new(&[5.8, 3.0, 4.4, 1.3, 5.1, 3.5, 1.4, 0.2], 4))?;
//! let (typical, small) = logits.split_at(3);
//! assert!(typical[1] > typical[0]);
//! assert!(small[0] > small[1]);
//! # Ok::<(), apportion_onnx::OnnxError>(())
//! ```
//!
//! # Accuracy and speed
//!
//! Predictions are within 2e-7 (a perceptron of 12-32-16-1) to 4e-7 (convolutions) of the same weights in
//! `f64`, relative to the largest prediction; Shapley and Banzhaf values by enumeration within 2e-7 of the
//! largest value (`tests/onnx/truth.rs` states its bounds, and prints these numbers under
//! `cargo test -p apportion-onnx -- --nocapture`).
//!
//! That perceptron takes 0.14 µs per row in the calls of a game, and 30 µs for a single row, which costs a
//! batch, on one core of an AMD EPYC: `cargo run --release -p apportion-onnx --example timing -- FILE`.
//!
//! Sequential convolutional networks are cheaper near a reference row, as in games of one baseline: only what
//! changed pixels reach is computed. With 13 changed pixels in a window of 5 × 5, a row of the 28 × 28 digits
//! of the data pack (two convolutions, of 8 and 16 channels) takes 3 µs against 33 µs as a whole, one of its
//! 32 × 32 colour images (16 and 32 channels) 6 µs against 120 µs; one changed pixel takes 1 and 2 µs. These
//! predictions are within 1e-6 of the others, relative to the largest (`tests/onnx/near.rs`), and rows with
//! so many changes that it saves nothing are predicted as a whole:
//! `cargo run --release -p apportion-onnx --example near -- FILE`.
//!
//! This crate does not train, and knows no estimators.

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

/// Types of a lower crate in signatures here, so that users of this crate need no other.
#[doc(no_inline)]
pub use apportion_games::{Model, Rows};

pub use error::OnnxError;
pub use network::Network;
pub use options::NetworkOptions;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
