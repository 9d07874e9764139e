//! Explanations of Arrow record batches and of SQL queries. The SQL functions return the contribution of each
//! feature to a model's prediction, for queries over Parquet, CSV or object stores in any DataFusion program.
//!
//! # Usage in SQL
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
//! The arguments after the model are the features, in the order of the model:
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
//! use apportion_datafusion::{Background, BatchExplainer};
//! use datafusion_common::arrow::array::{AsArray, Float64Array, RecordBatch};
//! use datafusion_common::arrow::datatypes::Float64Type;
//!
//! let model = Arc::new(|row: &[f64]| 2.0 * row[0] + row[1]);
//! let explainer = BatchExplainer::for_model(model, Background::baseline(vec![0.0; 2])?).build()?;
//! let column = |number: f64| Arc::new(Float64Array::from(vec![number])) as _;
//! let rows = RecordBatch::try_from_iter([("a", column(3.0)), ("b", column(1.0))])?;
//! let explained = explainer.explain(&rows)?;
//! let value = explained.column_by_name("a").map(|column| column.as_primitive::<Float64Type>().value(0));
//! assert_eq!(value, Some(6.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Items
//!
//! | item | description |
//! |---|---|
//! | [`register_all`] | registers the function `explain('model.json', a, b, …)`, with the alias `explain_row` |
//! | [`register_models`] | the same for queries that use names instead of paths, or for other games and values |
//! | [`register`], [`function`] | a function for a single model, `explain_risk(a, b, …)`, for SQL and for expressions in Rust |
//! | [`BatchExplainer`], [`Builder`] | record batches in, record batches out, without SQL; any value, game and method |
//! | [`Layout`] | the layout of the results of batches |
//! | [`BatchError`] | the error: the input, what was expected, and what to do |
//!
//! # Results
//!
//! The results are bitwise identical to those of `apportion::Explainer` with tree algorithms chosen for 4096
//! rows. Tree ensembles and linear models are explained exactly: with the path-dependent game if there is no
//! background, otherwise with the marginal game. Any other [`Model`] is explained from its predictions:
//! exactly if the budget allows all coalitions, otherwise with standard errors.
//!
//! The result of a row depends only on the row and the seed. It is bitwise identical for any batch sizes,
//! partitions and threads, because the tree algorithms are always chosen as for 4096 rows.
//!
//! NULL and NaN are missing values. Integers, floating-point numbers, decimals and booleans are numbers.
//! Strings are accepted for features whose categories are stored in the model, and rejected for all others.
//!
//! # Cost
//!
//! Explaining takes as long as with `apportion::Explainer` for the same rows. For trees, there is a cost for
//! each call (tables of the trees) and one for each row, so small batches are inefficient; DataFusion's
//! default of 8192 rows is a good choice. The memory holds one batch, its features as doubles, and its
//! values.
//!
//! A function caches its last results, one per core: a query that selects several fields of one call computes
//! it once, although DataFusion may call it for each field. A call whose arguments are all constants is
//! computed once.
//!
//! # Errors
//!
//! Errors that do not depend on rows are reported when a query is planned: the number of arguments, their
//! types, a model that cannot be read. Errors in rows, such as an unknown category, end the query when they
//! occur. See [`BatchError`].

mod builder;
mod columns;
mod error;
mod explainer;
mod recent;
mod results;
mod sql;

pub use apportion::{Background, Budget, Ensemble, Method, Model, SolutionConcept, Until, Value};
pub use builder::Builder;
pub use error::BatchError;
pub use explainer::BatchExplainer;
pub use results::Layout;
pub use sql::{function, register, register_all, register_models};

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
