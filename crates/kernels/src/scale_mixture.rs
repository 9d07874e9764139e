//! Rational quadratic and Matérn kernels as finite mixtures of radial basis functions.
//!
//! # Formula
//!
//! With `r = Σ_j γ_j (x_j − c_j)²` and τ = e^s, the mixture is
//!
//! ```text
//! (1 + r/α)^(−α) = ∫ exp(−τ r) dG(τ) = α^α / Γ(α) ∫ exp(α s − (α + r) e^s) ds
//! ```
//!
//! For every r, the relative error of the trapezoidal rule with step h is at most `2 Σ_{k≥1} |Γ(α + 2πik/h)|
//! / Γ(α)`, because Γ is the Fourier transform of the integrand. With `|Γ(α + iy) / Γ(α)|² = Π_n 1 / (1 + y²
//! / (α+n)²)`, and the sum of the logarithms bounded by an integral,
//!
//! ```text
//! ln |Γ(α + iy) / Γ(α)| ≤ −½ [π y − α ln(1 + y²/α²) − 2 y atan(α / y)]
//! ```
//!
//! This bound yields a step for any error. The sum is truncated on both sides where the remaining weights are
//! negligible.
//!
//! The Matérn kernel of smoothness ν is the mixture of exp(−r / τ) with the same distribution G, of shape
//! α = ν. The reason is that its spectral density is that of a t distribution, which is a mixture of normal
//! distributions:
//!
//! ```text
//! ∫ exp(−r / τ) dG(τ) = ν^ν / Γ(ν) ∫ exp(ν s − ν e^s − r e^(−s)) ds
//! ```
//!
//! On the line s + iθ, the absolute value of the integrand is at most exp(ν s − ν cos θ e^s), whose integral
//! is (cos θ)^(−ν). With tan θ = y/ν, shifting the path of integration bounds the Fourier transform by the
//! same number as above. With the same step, the absolute error of the trapezoidal rule is therefore equally
//! small for every r.

/// The maximum error of the trapezoidal rule: relative for the rational quadratic kernel, absolute for the
/// Matérn kernel.
const ERROR: f64 = 1e-17;

/// Rates τ_k and weights w_k with `κ(r) ≈ Σ_k w_k exp(−τ_k r)` for a kernel κ; the weights sum to 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScaleMixture {
    pub(crate) rates: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

impl ScaleMixture {
    /// The shape parameters α for which the mixture has at most a few thousand terms.
    pub(crate) const ALPHA: std::ops::RangeInclusive<f64> = 0.05..=1e6;

    /// Returns the mixture of one term, for a kernel that is a product itself.
    pub(crate) fn one() -> Self {
        Self { rates: vec![1.0], weights: vec![1.0] }
    }

    /// Returns the mixture for the Matérn kernel of smoothness `nu`, which must be in
    /// [`ALPHA`](Self::ALPHA).
    pub(crate) fn matern(nu: f64) -> Self {
        let Self { rates, weights } = Self::rational_quadratic(nu);
        Self { rates: rates.into_iter().map(f64::recip).collect(), weights }
    }

    /// Returns the mixture for the rational quadratic kernel of a shape in [`ALPHA`](Self::ALPHA).
    pub(crate) fn rational_quadratic(alpha: f64) -> Self {
        let step = 2.0 * std::f64::consts::PI / frequency(alpha);
        // The logarithm of the integrand for r = 0, relative to its maximum at s = 0.
        let height = |s: f64| alpha * (s - s.exp_m1());
        // The ratio of successive terms decreases away from the maximum, so a geometric series bounds the sum
        // of the remaining terms on each side.
        let end = |direction: f64| {
            let ratio = |at: f64| (height(at + direction * step) - height(at)).exp();
            let mut count = 1;
            loop {
                let at = f64::from(count) * direction * step;
                if height(at).exp() / (1.0 - ratio(at)) < ERROR {
                    return count;
                }
                count += 1;
            }
        };
        let (left, right) = (end(-1.0), end(1.0));
        let points = (-left..=right).map(|k| f64::from(k) * step);
        let weights: Vec<f64> = points.clone().map(|s| height(s).exp()).collect();
        let total: f64 = weights.iter().sum();
        Self {
            rates: points.map(f64::exp).collect(),
            weights: weights.into_iter().map(|weight| weight / total).collect(),
        }
    }
}

/// Returns a frequency y at which |Γ(α + iy)| / Γ(α) is at most a quarter of [`ERROR`].
fn frequency(alpha: f64) -> f64 {
    let exponent = |y: f64| {
        let ratio = y / alpha;
        std::f64::consts::PI * y - alpha * (ratio * ratio).ln_1p() - 2.0 * y * (alpha / y).atan()
    };
    let wanted = -2.0 * (ERROR / 4.0).ln();
    let (mut low, mut high) = (0.0, 1.0);
    while exponent(high) < wanted {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if exponent(middle) < wanted { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    #[test]
    fn mixtures_are_the_kernel_at_every_distance() {
        for alpha in [0.05, 0.3, 1.0, 2.5, 40.0, 1e3, 1e6] {
            let mixture = ScaleMixture::rational_quadratic(alpha);
            for r in [0.0, 1e-9, 0.1, 1.0, 7.0, 1e3, 1e8] {
                let exact = (-alpha * (r / alpha).ln_1p()).exp();
                let terms = mixture.rates.iter().zip(&mixture.weights);
                let got: f64 = terms.map(|(rate, weight)| weight * (-rate * r).exp()).sum();
                assert!((got - exact).abs() < 2e-14, "{alpha} {r}: {got} {exact}");
            }
        }
        assert!(ScaleMixture::rational_quadratic(1.0).rates.len() < 250);
    }

    #[test]
    fn mixtures_are_the_matern_kernel_at_every_distance() {
        for nu in [0.5, 1.5, 2.5] {
            let (mixture, kernel) = (ScaleMixture::matern(nu), Kernel::Matern { gamma: vec![1.0], nu });
            for r in [0.0, 1e-30, 1e-18, 1e-9, 1e-3, 0.1, 0.5, 1.0, 7.0, 100.0, 1e3, 1e8] {
                let exact = kernel.value(&[f64::sqrt(r)], &[0.0]);
                let terms = mixture.rates.iter().zip(&mixture.weights);
                let got: f64 = terms.map(|(rate, weight)| weight * (-rate * r).exp()).sum();
                assert!((got - exact).abs() < 2e-14, "{nu} {r}: {got} {exact}");
            }
        }
    }
}
