//! Support vector machines in model files.

use crate::ensemble::Origin;
use crate::error::ModelError;
use crate::file::plain;
use crate::formats::onnx_ml;

/// A support vector machine with one output, read from an ONNX file:
///
/// ```text
/// f(x) = intercept + Σ_i coefficient_i κ(x, vector_i)
/// ```
///
/// The crate `apportion-kernels` explains such functions exactly, as `KernelMachine`. The arrays are those
/// that it requires, so the two crates need not depend on each other.
///
/// Preprocessing of single columns by affine functions (`Scaler`, arithmetic with constants, column
/// selection) is part of the kernel: support vectors and rates refer to the columns of the table.
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
    /// The constant.
    pub intercept: f64,
    /// The library that wrote the file.
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

impl SupportVectorMachine {
    /// Reads a support vector machine from the content of an ONNX file, gzipped or not: a graph with one
    /// operator `SVMRegressor` or `SVMClassifier` with an RBF or linear kernel. Returns `None` for all other
    /// files.
    ///
    /// The function of a classifier is the decision function of its second class, and that of a machine for
    /// one class is its score. Numbers are used as stored in the file. Runtimes compute with `f32`, so their
    /// predictions differ in the last digits.
    ///
    /// # Errors
    ///
    /// [`ModelError::Unsupported`] for other kernels, for more than two classes, for probabilities, for
    /// several machines, and for graphs with operators that are neither affine functions of single columns
    /// before the machine nor labels after it; otherwise the errors of
    /// [`Ensemble::from_bytes`](crate::Ensemble::from_bytes).
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>, ModelError> {
        let bytes = plain(bytes)?;
        match onnx_ml::begins_like_onnx(&bytes) {
            true => onnx_ml::support_vectors(&bytes),
            false => Ok(None),
        }
    }
}
