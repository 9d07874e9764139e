//! Explanations of Arrow record batches, and in SQL: what each feature contributed to what a model said, as a function over columns that
//! any DataFusion program can say in a query over Parquet, CSV or object stores.
//!
//! # In a query
//!
//! ```
//! use apportion_datafusion::register_all;
//! use datafusion_expr::registry::{FunctionRegistry, MemoryFunctionRegistry};
//!
//! // In a program: datafusion::prelude::SessionContext::new().
//! let mut session = MemoryFunctionRegistry::new();
//! register_all(&mut session)?;
//! assert_eq!(session.udf("explain")?.aliases(), ["explain_row"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The features follow the model, in the order of its features:
//!
//! ```sql
//! SELECT id, e['prediction'], e['values']['age'] FROM
//!     (SELECT id, explain_row('model.json', age, bmi) AS e FROM patients);
//! -- A column for each feature, without naming them.
//! SELECT unnest(explain('model.json', age, bmi)['values']) FROM patients;
//! ```
//!
//! # Without SQL
//!
//! ```
//! use std::sync::Arc;
//!
//! use apportion::Background;
//! use apportion_datafusion::BatchExplainer;
//! use datafusion_common::arrow::array::{AsArray, Float64Array, RecordBatch};
//! use datafusion_common::arrow::datatypes::Float64Type;
//!
//! let model = Arc::new(|row: &[f64]| 2.0 * row[0] + row[1]);
//! let explainer = BatchExplainer::of_model(model, Background::baseline(vec![0.0; 2])?).build()?;
//! let column = |number: f64| Arc::new(Float64Array::from(vec![number])) as _;
//! let rows = RecordBatch::try_from_iter([("a", column(3.0)), ("b", column(1.0))])?;
//! let explained = explainer.explain(&rows)?;
//! let value = explained.column_by_name("a").map(|column| column.as_primitive::<Float64Type>().value(0));
//! assert_eq!(value, Some(6.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What there is
//!
//! | item | what it is |
//! |---|---|
//! | [`register_all`] | the function `explain('model.json', a, b, …)`, by its other name `explain_row` |
//! | [`register_models`] | the same where queries say names instead of paths, or other games and values are wanted |
//! | [`register`], [`function`] | a function of one model, `explain_risk(a, b, …)`, for SQL and for expressions in Rust |
//! | [`BatchExplainer`], [`Builder`] | record batches in, record batches out, without SQL; any value, game and method |
//! | [`Layout`] | how results of batches are laid out |
//! | [`BatchError`] | what was given, what is wanted, what to do |
//!
//! # What it computes
//!
//! What `apportion::Explainer` does of the same rows, to the last bit. Tree ensembles and linear models are explained exactly: without a
//! background by their path-dependent game, else by the marginal game against it. Any other [`Model`](apportion::Model) is explained
//! from its predictions, exactly where all coalitions are within the budget, else with standard errors.
//!
//! The result of a row depends on the row and the seed alone. Batch sizes, partitions and threads change no bit, because how trees are
//! computed is chosen as for 4096 rows, whatever comes.
//!
//! NULL and NaN are missing values. Integers, floating-point numbers, decimals and booleans are numbers; texts are taken for features of
//! which the model knows the categories, and refused for all others.
//!
//! # Cost
//!
//! The time of the explainer for the same rows: of trees, a cost for each call (tables of the trees) and one for each row. Small batches
//! pay the first too often: DataFusion's 8192 rows are well chosen. Memory is that of a batch, its numbers as doubles and its values.
//!
//! A function remembers its last batches, one for each core: a query that asks for several fields of one call computes it once, though
//! DataFusion may call it for each field. A call whose arguments are all constants is computed once.
//!
//! # Errors
//!
//! What does not fit is refused when a query is planned: the number of arguments, their types, a model that cannot be read. What only
//! rows can tell, such as an unknown category, ends the query when it comes. See [`BatchError`].

mod builder;
mod columns;
mod error;
mod explainer;
mod recent;
mod results;
mod sql;

pub use builder::Builder;
pub use error::BatchError;
pub use explainer::BatchExplainer;
pub use results::Layout;
pub use sql::{function, register, register_all, register_models};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
