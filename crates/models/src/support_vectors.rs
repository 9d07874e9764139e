//! Support vector machines in model files.

use crate::ensemble::Origin;

/// A support vector machine with one output, read from an ONNX file:
///
/// ```text
/// f(x) = intercept + Σ_i coefficient_i κ(x, vector_i)
/// ```
///
/// The crate `apportion-kernels` explains such functions exactly, as a `KernelMachine`. The arrays are those
/// that a `KernelMachine` is built from, so the two crates need not depend on each other.
///
/// Preprocessing of single columns by affine functions (`Scaler`, arithmetic with constants, column
/// selection) is included in the arrays: support vectors and rates refer to the columns of the table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SupportVectorMachine {
    /// The number of columns of the table.
    pub features: usize,
    /// The names of the columns, if each column is a separate input of the graph.
    pub feature_names: Option<Vec<String>>,
    /// The kernel κ.
    pub kernel: SupportVectorKernel,
    /// The support vectors, row-major: vectors × features.
    pub vectors: Vec<f64>,
    /// The coefficient of each support vector.
    pub coefficients: Vec<f64>,
    /// The constant term.
    pub intercept: f64,
    /// The library that wrote the file, its format and its version.
    pub origin: Origin,
}

/// The kernel of a [`SupportVectorMachine`].
#[derive(Debug, Clone, PartialEq)]
pub enum SupportVectorKernel {
    /// `exp(−Σ_j rate_j (x_j − v_j)²)`.
    Rbf {
        /// The rate of each feature.
        rates: Vec<f64>,
    },
    /// `Σ_j x_j v_j`.
    Linear,
}
