//! Logarithms of factorials and of the gamma function.

/// Returns `ln Γ(x)` for x > 0.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Returns `ln k!`.
pub(crate) fn ln_factorial(k: usize) -> f64 {
    ln_gamma(k as f64 + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials_are_products() {
        let mut product = 1.0f64;
        for k in 0..170 {
            if k > 0 {
                product *= k as f64;
            }
            let (got, want) = (ln_factorial(k), product.ln());
            assert!((got - want).abs() <= 1e-14 * want.max(1.0), "{k}: {got} != {want}");
        }
    }

    #[test]
    fn the_gamma_function_steps_by_its_argument() {
        for x in [0.1f64, 0.5, 1.7, 12.25, 300.5] {
            let step = ln_gamma(x + 1.0) - ln_gamma(x);
            assert!((step - x.ln()).abs() < 1e-12, "{x}");
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-15);
    }
}
