//! Rows of features as they are stored, encoded as a model wants them.
//!
//! ```
//! use apportion_rows::{Source, Wanted};
//!
//! let names = ["age".to_owned(), "smoker".to_owned()];
//! let wanted = Wanted { names: Some(&names), named_by: "the model", id: Some("who"), ..Wanted::default() };
//! let file = "who;smoker;age\nann;True;41\nbob;False;NA\n";
//! let table = Source::stream("patients.csv", file.as_bytes()).read(&wanted)?;
//! assert_eq!(table.row(0), [41.0, 1.0]); // in the order that is wanted
//! assert!(table.row(1)[0].is_nan()); // missing
//! assert_eq!(table.ids.unwrap().values, ["ann", "bob"]);
//! # Ok::<(), apportion_rows::RowsError>(())
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`Source`] | a file or stream of rows, in any format known here |
//! | [`Wanted`], [`Sentinel`] | which columns are the features, and what their cells mean |
//! | [`Table`], [`Ids`] | the rows as numbers, and which is which |
//! | [`Texts`] | cells as the file has them, for a program that predicts from texts |
//! | [`Block`] | rows on their way, for who takes them block by block |
//! | [`choose`], [`Choice`], [`ChoiceError`] | which columns are the features, for tables that others read |
//! | [`Feature`], [`CellError`] | how cells become numbers, for who has columns in memory |
//! | [`is_guarded`] | whether a panic would be turned into an error, for who sets a panic hook |
//! | [`RowsError`] | what was given, what is wanted, what to do |
//!
//! In files with names of columns a cell of a feature with categories (`apportion_models::Words`) is a category as the table holds it: a
//! word, a number or a boolean. A matrix without names holds their codes.
//!
//! Feature `columnar`: Parquet and Arrow, and `ArrowWriter`, which writes streams and files of Arrow.

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
mod source;
mod table;
mod texts;
mod thousands;
mod wanted;
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
pub use source::Source;
pub use table::{Block, Ids, Table};
pub use texts::Texts;
pub use wanted::{Sentinel, Wanted};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
