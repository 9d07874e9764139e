//! Reads rows of features from files and encodes them as inputs of a model.
//!
//! ```
//! use apportion_rows::{Source, RowOptions};
//!
//! let names = ["age".to_owned(), "smoker".to_owned()];
//! let options = RowOptions { names: Some(&names), named_by: "the model", id: Some("who"), ..RowOptions::default() };
//! let file = "who;smoker;age\nann;True;41\nbob;False;NA\n";
//! let table = Source::stream("patients.csv", file.as_bytes()).read(&options)?;
//! assert_eq!(table.row(0), [41.0, 1.0]); // in the order of the model
//! assert!(table.row(1)[0].is_nan()); // missing
//! assert_eq!(table.ids.unwrap().values, ["ann", "bob"]);
//! # Ok::<(), apportion_rows::RowsError>(())
//! ```
//!
//! | item | description |
//! |---|---|
//! | [`Source`] | a file or stream of rows, in any supported format |
//! | [`RowOptions`], [`Sentinel`] | which columns are the features, and how to interpret their cells |
//! | [`Table`], [`Ids`] | the rows as numbers, with their IDs |
//! | [`Texts`] | cells as written in the file, for a program that predicts from strings |
//! | [`Block`] | some of the rows, to process a file block by block |
//! | [`choose`], [`Choice`], [`ChoiceError`] | the choice of columns, also for tables read by other code |
//! | [`Feature`], [`CellError`] | the conversion of cells to numbers, also for columns in memory |
//! | [`is_guarded`] | whether a panic would be converted to an error, for panic hooks |
//! | [`RowsError`] | errors: the problem, and what to do |
//!
//! In files with column names, the cell of a categorical feature (`apportion_models::Categories`) contains
//! the category: a string, a number or a boolean. A matrix without names contains codes.
//!
//! The feature `columnar` adds Parquet and Arrow, and `ArrowWriter` and `ParquetWriter`, which write them.

mod advice;
mod allowance;
mod cell_error;
mod cells;
mod choice;
mod choice_error;
#[cfg(feature = "columnar")]
mod columnar;
mod columns;
mod csv;
mod encoding;
mod error;
mod exact;
mod format;
mod guard;
mod nearest;
mod npy;
mod number;
mod row_options;
mod source;
mod table;
mod texts;
mod thousands;
mod zstd;

pub use cell_error::CellError;
pub use cells::Feature;
pub use choice::{Choice, Header, are_numbered, choose, lightgbm_name};
pub use choice_error::{ChoiceError, ColumnUse};
#[cfg(feature = "columnar")]
pub use columnar::arrow::{ArrowColumn, ArrowKind, ArrowWriter};
#[cfg(feature = "columnar")]
pub use columnar::parquet::{ParquetColumn, ParquetKind, ParquetWriter};
pub use error::RowsError;
pub use exact::exact;
pub use guard::is_guarded;
pub use row_options::{RowOptions, Sentinel};
pub use source::Source;
pub use table::{Block, Ids, Table};
pub use texts::Texts;

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
