//! Attributions for rows, in memory and in files. The crate writes several formats, and reads JSON. It is
//! independent of how attributions are computed and displayed.
//!
//! ```
//! use apportion_results::{Batch, Heading, interval_factor};
//!
//! // Two rows of two features, the second with errors.
//! let heading = Heading::for_features(["age", "income"]);
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
//! | item | content |
//! |---|---|
//! | [`Heading`], [`Member`], [`Form`] | the part that applies to all rows: value, game, method, names |
//! | [`Medium`] | the text or the image whose parts are the players |
//! | [`Batch`], [`Certified`], [`InterimCheck`] | rows: values, base values, predictions, errors, inputs, certificates |
//! | [`interval_factor`], [`IntervalFactors`] | factors from standard errors to half-widths of intervals |
//! | [`Values`], [`Interactions`], [`Indices`], [`Predictions`] | kinds of results ([`Results`]) |
//! | [`writer`], [`Writer`], [`Format`] | writers for files, batch by batch |
//! | [`read`] | the reader for JSON and JSON lines, row by row |
//! | [`Summary`], [`SummaryHeading`], [`Moments`] | exact, mergeable statistics over rows |
//! | [`shown`] | escaping of text for terminals and spreadsheets |
//! | [`ResultsError`], [`SummaryError`], [`ReadError`] | errors |
//!
//! Features: `tables` adds CSV and NumPy arrays, `columnar` adds Parquet and Arrow. This crate does not
//! depend on the crates for games, values, models or figures, which produce or use its types.

mod batch;
mod error;
mod format;
mod heading;
mod json;
mod kinds;
mod medium;
pub mod shown;
mod student;
mod summary;
#[cfg(feature = "tables")]
mod tables;
mod writer;

pub use batch::{Batch, Certified, InterimCheck};
pub use error::{ReadError, ResultsError, SummaryError};
pub use format::{Format, writer};
pub use heading::{Form, Heading, Member};
pub use json::{INFINITE, KNOWN, object, read, to_json};
pub use kinds::{CategoryNames, Cells, Column, Indices, Interactions, Kind, Predictions, Results, Values};
pub use medium::Medium;
pub use student::{CONFIDENCE, IntervalFactors, interval_factor};
pub use summary::{Moments, Summary, SummaryHeading};
pub use writer::Writer;

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
