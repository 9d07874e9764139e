//! Attributions of rows as they are kept, whoever found them and whoever looks at them: in memory, and as files, which it
//! writes, and in JSON reads back.
//!
//! ```
//! use apportion_results::{Batch, Heading, interval_factor};
//!
//! // Two rows of two features, the second with errors.
//! let heading = Heading::of_features(["age", "income"]);
//! let mut batch = Batch {
//!     rows: vec![0],
//!     base: vec![1.0],
//!     predictions: vec![3.5],
//!     values: vec![2.0, 0.5],
//!     ..Batch::default()
//! };
//! batch.append(Batch {
//!     rows: vec![1],
//!     base: vec![1.0],
//!     predictions: vec![0.0],
//!     values: vec![-1.5, 0.5],
//!     std_errors: vec![0.1, 0.1],
//!     degrees_of_freedom: vec![9.0],
//!     ..Batch::default()
//! });
//! batch.check(&heading)?;
//! assert_eq!(batch.std_errors, [0.0, 0.0, 0.1, 0.1]);
//! let half_width = batch.std_errors[2] * interval_factor(batch.degrees_of_freedom[1], 0.95);
//! assert!((half_width - 0.226).abs() < 1e-3);
//! # Ok::<(), apportion_results::ResultsError>(())
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`Heading`], [`Member`], [`Form`] | what all rows have in common: value, game, method, names |
//! | [`Medium`] | the text or the image that the players are parts of |
//! | [`Batch`], [`Certified`], [`Look`] | rows: values, base, predictions, errors, inputs, certificates |
//! | [`interval_factor`], [`IntervalFactors`] | what standard errors are multiplied by for intervals |
//! | [`Values`], [`Interactions`], [`Indices`], [`Predictions`] | kinds of results ([`Results`]) |
//! | [`writer`], [`Writer`], [`Format`] | results as a file, batch by batch |
//! | [`read`] | results in JSON or JSON lines, row by row |
//! | [`shown`] | texts that command neither terminals nor spreadsheets |
//! | [`ResultsError`], [`ReadError`] | what does not belong together, and what cannot be read |
//!
//! Features: `tables`, CSV and arrays of NumPy; `columnar`, Parquet and Arrow. It knows neither games nor values, models or figures: each of these makes or takes what is here.

mod batch;
mod error;
mod format;
mod heading;
mod json;
mod kinds;
mod medium;
pub mod shown;
mod student;
#[cfg(feature = "tables")]
mod tables;
mod writer;

pub use batch::{Batch, Certified, Look};
pub use error::{ReadError, ResultsError};
pub use format::{Format, writer};
pub use heading::{Form, Heading, Member};
pub use json::{INFINITE, KNOWN, object, read, to_json};
pub use kinds::{Cells, Column, Indices, Interactions, Kind, Predictions, Results, Values, Words};
pub use medium::Medium;
pub use student::{CONFIDENCE, IntervalFactors, interval_factor};
pub use writer::Writer;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
