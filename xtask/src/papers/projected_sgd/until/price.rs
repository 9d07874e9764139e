//! What confidence costs, whatever the method: the budget at which the error is within a tolerance with confidence 0.95, over the budget
//! at which the mean error is the tolerance.
//!
//! # Derivation
//!
//! Let the error after m evaluations be `σ √(χ²_ν / ν) / √m`, as of ν independent normal errors of one size
//! (ν is [`ErrorLaw::directions`](apportion::estimators::ErrorLaw::directions)). It is τ on average at `m₁`, and at most τ with
//! probability 0.95 at `m₂`:
//!
//! ```text
//! σ E[χ_ν] / √(ν m₁) = τ,     σ √(q / (ν m₂)) = τ,     q the 0.95 quantile of χ²_ν
//! m₂ / m₁ = q / E[χ_ν]²,      E[χ_ν] = √2 Γ((ν + 1)/2) / Γ(ν/2)
//! ```
//!
//! For ν = 1, `E[χ₁]² = 2/π` and `q = 1.96² = 3.84`: the ratio is `π/2 · 3.84 = 6.03`. It falls with ν, to 1.

use anyhow::{Context, Result};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::gamma::ln_gamma;

/// m₂ / m₁ for an error in ν directions.
pub(super) fn price(directions: f64, confidence: f64) -> Result<f64> {
    let law = ChiSquared::new(directions)
        .with_context(|| format!("an error in {directions} directions has no law"))?;
    let mean = f64::exp(ln_gamma((directions + 1.0) / 2.0) - ln_gamma(directions / 2.0));
    Ok(law.inverse_cdf(confidence) / (2.0 * mean * mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_direction_costs_six_times_the_budget_and_many_next_to_nothing() {
        let at = |directions| price(directions, 0.95).unwrap();
        assert!((at(1.0) - std::f64::consts::FRAC_PI_2 * 1.959_963_985f64.powi(2)).abs() < 1e-6);
        // E[χ₂]² = π/2, and the quantile of χ²₂ is −2 ln 0.05.
        assert!((at(2.0) + 2.0 * 0.05f64.ln() * std::f64::consts::FRAC_2_PI).abs() < 1e-6);
        assert!(at(1e4) > 1.0 && at(1e4) < 1.03);
    }

    #[test]
    fn an_error_without_a_direction_has_no_price() {
        assert!(price(0.0, 0.95).is_err() && price(f64::NAN, 0.95).is_err());
    }
}
