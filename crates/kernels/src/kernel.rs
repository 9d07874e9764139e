//! Kernels: similarities of two rows that are products over the features, mixtures of such products, or
//! linear.

use serde::{Deserialize, Serialize};

use crate::error::KernelError;
use crate::scale_mixture::ScaleMixture;

/// A kernel κ(x, c): the similarity of a row x and a centre c.
///
/// Each feature j has a separate rate γ_j ≥ 0, which is proportional to the inverse of a length scale
/// (`Laplace`) or of its square (all other kernels). A rate of zero makes a feature irrelevant.
///
/// | kernel | κ(x, c) |
/// |---|---|
/// | `Rbf` | Π_j exp(−γ_j (x_j − c_j)²) |
/// | `Laplace` | Π_j exp(−γ_j \|x_j − c_j\|) |
/// | `RationalQuadratic` | (1 + Σ_j γ_j (x_j − c_j)² / α)^(−α) |
/// | `Matern` | (1 + z + …) exp(−z) with z = 2 (ν Σ_j γ_j (x_j − c_j)²)^½ |
/// | `Linear` | Σ_j x_j c_j |
///
/// The first two are products of functions of one feature. The next two are mixtures of such products.
/// `RationalQuadratic` is `∫ exp(−τ Σ_j γ_j (x_j − c_j)²) dG(τ)`, where G is the Gamma distribution of shape
/// α and mean 1 (Rasmussen and Williams, *Gaussian processes for machine learning*, 2006, equation 4.19).
/// `Matern` is the same integral with 1/τ instead of τ, and the shape ν. See
/// [`RationalQuadratic`](Self::RationalQuadratic) for the accuracy of both.
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
    /// The Matérn kernel. With a length scale l, `γ = 1 / (2 l²)`. Its values have the accuracy and the cost
    /// of those of the [rational quadratic kernel](Self::RationalQuadratic).
    Matern {
        /// The rate of each feature.
        gamma: Vec<f64>,
        /// The smoothness ν: 0.5, 1.5 or 2.5, for which the kernel is exp(−z), (1 + z) exp(−z) or (1 + z +
        /// z²/3) exp(−z). The kernel with ν = 0.5 depends on the Euclidean distance, `Laplace` on the sum of
        /// absolute differences.
        nu: f64,
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

    /// Returns the name of the kernel that is used in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rbf { .. } => "rbf",
            Self::Laplace { .. } => "laplace",
            Self::RationalQuadratic { .. } => "rational-quadratic",
            Self::Matern { .. } => "matern",
            Self::Linear => "linear",
        }
    }

    /// Checks that the parameters are valid for rows with this number of features.
    pub(crate) fn check(&self, features: usize) -> Result<(), KernelError> {
        let gamma = match self {
            Self::Rbf { gamma }
            | Self::Laplace { gamma }
            | Self::RationalQuadratic { gamma, .. }
            | Self::Matern { gamma, .. } => gamma,
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
        let invalid = |what, actual, expected| Err(KernelError::Number { what, index: 0, actual, expected });
        match self {
            Self::RationalQuadratic { alpha, .. } if !ScaleMixture::ALPHA.contains(alpha) => {
                invalid("alpha", *alpha, "a number from 0.05 to 1e6")
            }
            Self::Matern { nu, .. } if ![0.5, 1.5, 2.5].contains(nu) => {
                invalid("nu", *nu, "one of: 0.5, 1.5, 2.5")
            }
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
            Self::Matern { gamma, nu } => {
                let square: f64 = differences().zip(gamma).map(|(d, gamma)| gamma * (d * d)).sum();
                let z = 2.0 * (nu * square).sqrt();
                let polynomial = match nu {
                    0.5 => 1.0,
                    1.5 => 1.0 + z,
                    _ => 1.0 + z * (1.0 + z / 3.0),
                };
                // If the distance overflows, the value is the limit, 0.
                if z.is_finite() { polynomial * (-z).exp() } else { 0.0 }
            }
            Self::Linear => row.iter().zip(centre).map(|(x, c)| x * c).sum(),
        }
    }
}
