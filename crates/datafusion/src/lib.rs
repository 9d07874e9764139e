//! Explanations of Arrow record batches, and in SQL: functions over columns that return the contribution of
//! each feature to a model's prediction, for queries over Parquet, CSV or object stores in any DataFusion
//! program.
//!
//! # Usage in SQL
//!
//! ```
//! use apportion_datafusion::register_all;
//! use datafusion::arrow::util::pretty::pretty_format_batches;
//! use datafusion::prelude::{ParquetReadOptions, SessionContext};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let model = folder.path().join("model.json").display().to_string();
//! # std::fs::write(&model, r#"{"format": "apportion-trees", "version": 1, "width": "double", "features": 2,
//! #     "feature_names": ["age", "bmi"], "base_margins": [0.5], "operator": "<=", "trees": [
//! #     {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [50, 0, 0],
//! #      "value": [0, 1, 3], "cover": [8, 4, 4]},
//! #     {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [1, 0, 0], "threshold": [25, 0, 0],
//! #      "value": [0, 0, 2], "cover": [8, 6, 2]}]}"#)?;
//! # let patients = folder.path().join("patients.parquet").display().to_string();
//! # let session = SessionContext::new();
//! # let rows = session.sql("SELECT * FROM (VALUES (1, 41, 22.5), (2, 67, 31.0)) AS t (id, age, bmi)").await?;
//! # rows.write_parquet(&patients, Default::default(), None).await?;
//! let session = SessionContext::new();
//! register_all(&session);
//! session.register_parquet("patients", &patients, ParquetReadOptions::default()).await?;
//! // The features are in the order of the model. Values are exact: Shapley values of its path-dependent game.
//! let query = format!(
//!     "SELECT id, e['prediction'] AS prediction, e['values']['age'] AS of_age, e['values']['bmi'] AS of_bmi
//!      FROM (SELECT id, explain_row('{model}', age, bmi) AS e FROM patients) ORDER BY id"
//! );
//! let found = session.sql(&query).await?.collect().await?;
//! let table = "\
//! +----+------------+--------+--------+
//! | id | prediction | of_age | of_bmi |
//! +----+------------+--------+--------+
//! | 1  | 1.5        | -1.0   | -0.5   |
//! | 2  | 5.5        | 1.0    | 1.5    |
//! +----+------------+--------+--------+";
//! assert_eq!(pretty_format_batches(&found)?.to_string(), table);
//!
//! // A column for each feature, whatever they are called.
//! let query = format!("SELECT unnest(explain('{model}', age, bmi)['values']) FROM patients");
//! assert_eq!(session.sql(&query).await?.collect().await?[0].num_columns(), 2);
//! # Ok(())
//! # }
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
//! The results are bitwise identical to those of `apportion::Explainer` for the same rows. Tree ensembles and
//! linear models are explained exactly: with the path-dependent game if there is no background, otherwise
//! with the marginal game. Any other [`Model`](apportion::Model) is explained from its predictions: exactly
//! if the budget allows all coalitions, otherwise with standard errors.
//!
//! The result of a row depends only on the row and the seed. It is bitwise identical for any batch sizes,
//! partitions and threads, because the tree algorithms are always chosen as for 4096 rows.
//!
//! NULL and NaN are missing values. Integers, floating-point numbers, decimals and booleans are numbers.
//! Texts are accepted for features whose categories are stored in the model, and rejected for all others.
//!
//! # Cost
//!
//! The time is that of the explainer for the same rows. For trees, there is a cost for each call (tables of
//! the trees) and one for each row, so small batches are inefficient; DataFusion's default of 8192 rows is a
//! good choice. Memory is needed for one batch, its numbers as doubles and its values.
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

pub use builder::Builder;
pub use error::BatchError;
pub use explainer::BatchExplainer;
pub use results::Layout;
pub use sql::{function, register, register_all, register_models};

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
