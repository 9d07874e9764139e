//! Exact Shapley values and other attributions for kernel machines.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`KernelMachine`] | a weighted sum of kernels around centres, such as a support vector machine, kernel ridge regression or the mean of a Gaussian process; a [`Model`] with a file format and a fingerprint |
//! | [`Kernel`] | radial basis function, Laplace, rational quadratic, Matérn, linear; one rate for each feature |
//! | [`KernelExplainer`] | exact values of the marginal game: every semivalue, Owen and every other coalitional value, also over hierarchies, quotient and two-step values; interaction indices of any order |
//! | [`KernelError`] | errors for invalid machines, rows and requests |
//!
//! Shapes: rows are row-major `f64`, one column per feature. With n features and k outputs, predictions are
//! rows × k, and values are rows × n × k. Quotient values of m groups are rows × m × k.
//!
//! # Example
//!
//! ```
//! use apportion_kernels::{Kernel, KernelExplainer, KernelMachine, Partition, Rows, Semivalue, Value};
//!
//! let machine = KernelMachine::new(3, &[0.5])?.with_kernel(
//!     Kernel::Rbf { gamma: vec![1.0, 0.5, 2.0] },
//!     &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
//!     &[2.0, -1.0],
//! )?;
//! let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 1.0, 0.0], 3), None)?;
//! let row = Rows::new(&[0.5, 0.2, 0.9], 3);
//! let shapley = explainer.values(Semivalue::Shapley, row)?;
//! let total: f64 = shapley.values.iter().sum();
//! assert!((shapley.base[0] + total - shapley.predictions[0]).abs() < 1e-14);
//!
//! let groups = Partition::new(3, vec![vec![0, 1], vec![2]])?;
//! let owen = explainer.values(Value::owen(groups), row)?;
//! assert!((owen.values.iter().sum::<f64>() - total).abs() < 1e-14);
//! # Ok::<(), apportion_kernels::KernelError>(())
//! ```

mod average;
mod coalitions;
mod components;
mod error;
mod explainer;
mod format;
mod indices;
mod kernel;
mod layout;
mod machine;
mod scale_mixture;
mod sums;
mod values;

/// Types of other crates that occur in signatures here, re-exported so that users need no other dependency.
#[doc(no_inline)]
pub use apportion_games::{Model, Partition, Rows};
#[doc(no_inline)]
pub use apportion_values::{
    Attributions, Axis, CoalitionalValue, InteractionIndex, Interactions, Semivalue, Value,
};

pub use error::KernelError;
pub use explainer::KernelExplainer;
pub use kernel::Kernel;
pub use machine::KernelMachine;

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
