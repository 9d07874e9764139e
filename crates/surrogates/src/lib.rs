//! Surrogates of models, with exact values, and corrections by regression.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`TableMethod`] | Shapley and Banzhaf values of the rows of a table, from few predictions of the model |
//! | [`Surrogate`], [`LearningRows`] | boosted trees that are learned from rows and outputs of a model |
//! | [`ResidualModel`] | the difference between a model and its surrogate, to which any method applies |
//! | [`SurrogateError`] | errors |
//! | [`Background`], [`Rows`], [`Model`] | reference rows, rows of a table, and models, from `apportion-games` |
//!
//! # Example
//!
//! ```
//! use apportion_surrogates::{Background, Rows, TableMethod};
//!
//! let model = |row: &[f64]| (row[0] + row[1] * row[2]).tanh() + row[3] * row[4] - row[5];
//! let numbers: Vec<f64> = (0..6 * 40).map(|at| f64::from(at * 53 % 97) / 97.0).collect();
//! let background = Background::rows(numbers[..6 * 10].to_vec(), 6)?;
//! let rows = Rows::new(&numbers[6 * 10..], 6);
//!
//! let explanations = TableMethod::new(200).explain(&model, rows, &background, 1)?;
//! assert_eq!(explanations.len(), 30);
//! assert!(explanations.iter().all(|explanation| explanation.efficiency_gap() < 1e-9));
//! # Ok::<(), apportion_surrogates::SurrogateError>(())
//! ```

mod error;
mod format;
mod learner;
mod residual;
mod surrogate;
mod table;

pub use apportion_games::{Background, Model, Rows};
pub use error::SurrogateError;
pub use residual::ResidualModel;
pub use surrogate::{LearningRows, Surrogate};
pub use table::learned::LearnedTable;
pub use table::method::TableMethod;

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
