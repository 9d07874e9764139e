//! Kernels: similarities of two rows that are products over the features, mixtures of such products, or
//! linear.

use serde::{Deserialize, Serialize};

use crate::error::KernelError;
use crate::scale_mixture::ScaleMixture;

/// A kernel κ(x, c): the similarity of a row x and a centre c.
///
/// Each feature j has a separate rate γ_j ≥ 0, which is proportional to the inverse of a length scale
/// (`Laplace`) or of its square (`Rbf` and `RationalQuadratic`). A rate of zero makes a feature irrelevant.
///
/// | kernel | κ(x, c) |
/// |---|---|
/// | `Rbf` | Π_j exp(−γ_j (x_j − c_j)²) |
/// | `Laplace` | Π_j exp(−γ_j \|x_j − c_j\|) |
/// | `RationalQuadratic` | (1 + Σ_j γ_j (x_j − c_j)² / α)^(−α) |
/// | `Linear` | Σ_j x_j c_j |
///
/// The first two are products of functions of one feature. The third is a mixture of such products,
/// `∫ exp(−τ Σ_j γ_j (x_j − c_j)²) dG(τ)`, where G is the Gamma distribution of shape α and mean 1 (Rasmussen
/// and Williams, *Gaussian processes for machine learning*, 2006, equation 4.19); see
/// [`RationalQuadratic`](Self::RationalQuadratic) for its accuracy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "name")]
#[non_exhaustive]
pub enum Kernel {
    /// The radial basis function, also called the Gaussian or the squared exponential kernel. With a length
    /// scale l, `γ = 1 / (2 l²)`.
    Rbf {
        /// The rate of each feature.
        gamma: Vec<f64>,
    },
    /// The Laplace kernel of the sum of absolute differences.
    Laplace {
        /// The rate of each feature.
        gamma: Vec<f64>,
    },
    /// The rational quadratic kernel. With a length scale l, `γ = 1 / (2 l²)`.
    ///
    /// Its mixture is discretized with the trapezoidal rule in log τ, which converges exponentially: values
    /// differ from exact ones by less than 1e-13 of the largest kernel value (1), and cost some hundred
    /// times as much as for the RBF. Predictions use the closed form.
    RationalQuadratic {
        /// The rate of each feature.
        gamma: Vec<f64>,
        /// The shape α > 0; the kernel approaches the RBF for large α.
        alpha: f64,
    },
    /// The inner product. The model is then linear, and its centres are merged into one weight per feature.
    Linear,
}

impl Kernel {
    /// Creates the RBF kernel exp(−γ ‖x − c‖²) with equal rates.
    pub fn rbf(gamma: f64, features: usize) -> Self {
        Self::Rbf { gamma: vec![gamma; features] }
    }

    /// Creates the Laplace kernel exp(−γ Σ_j |x_j − c_j|) with equal rates.
    pub fn laplace(gamma: f64, features: usize) -> Self {
        Self::Laplace { gamma: vec![gamma; features] }
    }

    /// Checks that the parameters are valid for rows with this number of features.
    pub(crate) fn check(&self, features: usize) -> Result<(), KernelError> {
        let (gamma, alpha) = match self {
            Self::Rbf { gamma } | Self::Laplace { gamma } => (gamma, None),
            Self::RationalQuadratic { gamma, alpha } => (gamma, Some(*alpha)),
            Self::Linear => return Ok(()),
        };
        if gamma.len() != features {
            let expected = format!("{features} (one per feature)");
            return Err(KernelError::Length { what: "gamma", actual: gamma.len(), expected });
        }
        if let Some(index) = gamma.iter().position(|gamma| !(gamma.is_finite() && *gamma >= 0.0)) {
            let (actual, expected) = (gamma[index], "a finite number ≥ 0");
            return Err(KernelError::Number { what: "gamma", index, actual, expected });
        }
        match alpha {
            Some(alpha) if !ScaleMixture::ALPHA.contains(&alpha) => Err(KernelError::Number {
                what: "alpha",
                index: 0,
                actual: alpha,
                expected: "a number from 0.05 to 1e6",
            }),
            _ => Ok(()),
        }
    }

    /// Returns κ(x, c).
    pub(crate) fn value(&self, row: &[f64], centre: &[f64]) -> f64 {
        let differences = || row.iter().zip(centre).map(|(x, c)| x - c);
        match self {
            Self::Rbf { gamma } => {
                let exponent: f64 = differences().zip(gamma).map(|(d, gamma)| gamma * (d * d)).sum();
                (-exponent).exp()
            }
            Self::Laplace { gamma } => {
                let exponent: f64 = differences().zip(gamma).map(|(d, gamma)| gamma * d.abs()).sum();
                (-exponent).exp()
            }
            Self::RationalQuadratic { gamma, alpha } => {
                let exponent: f64 = differences().zip(gamma).map(|(d, gamma)| gamma * (d * d)).sum();
                (-alpha * (exponent / alpha).ln_1p()).exp()
            }
            Self::Linear => row.iter().zip(centre).map(|(x, c)| x * c).sum(),
        }
    }
}
