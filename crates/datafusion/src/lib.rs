//! Explanations of Arrow record batches, and in SQL: what each feature contributed to what a model said, as a
//! function over columns that any DataFusion program can say in a query over Parquet, CSV or object stores.
//!
//! # In a query
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
//! What `apportion::Explainer` does of the same rows, to the last bit. Tree ensembles and linear models are
//! explained exactly: without a background by their path-dependent game, else by the marginal game against
//! it. Any other [`Model`](apportion::Model) is explained from its predictions, exactly where all coalitions
//! are within the budget, else with standard errors.
//!
//! The result of a row depends on the row and the seed alone. Batch sizes, partitions and threads change no
//! bit, because how trees are computed is chosen as for 4096 rows, whatever comes.
//!
//! NULL and NaN are missing values. Integers, floating-point numbers, decimals and booleans are numbers;
//! texts are taken for features of which the model knows the categories, and refused for all others.
//!
//! # Cost
//!
//! The time of the explainer for the same rows: of trees, a cost for each call (tables of the trees) and one
//! for each row. Small batches pay the first too often: DataFusion's 8192 rows are well chosen. Memory is
//! that of a batch, its numbers as doubles and its values.
//!
//! A function remembers its last batches, one for each core: a query that asks for several fields of one call
//! computes it once, though DataFusion may call it for each field. A call whose arguments are all constants
//! is computed once.
//!
//! # Errors
//!
//! What does not fit is refused when a query is planned: the number of arguments, their types, a model that
//! cannot be read. What only rows can tell, such as an unknown category, ends the query when it comes. See
//! [`BatchError`].

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
