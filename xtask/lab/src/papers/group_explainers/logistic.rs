//! The models that are explained: f = √6 / (1 + exp η), with η linear in the predictors.

use std::f64::consts::E;

use apportion::{Model, Rows};

use super::distribution::PredictorDistribution;

/// A logistic function multiplied by √6.
///
/// ```text
/// η = −3(X1 − 5) + 0.2(X2 − 15) − 2(X3 − 2/7) − 5 X4 + …
/// ```
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logistic {
    /// Coefficients of η, one per predictor.
    pub(super) slopes: Vec<f64>,
    pub(super) intercept: f64,
}

/// √6, the upper bound of f; its lower bound is 0.
pub(super) const SCALE: f64 = 2.449_489_742_783_178;

impl Logistic {
    /// Returns the model of the experiments with this distribution: further predictors add `ΣX_l`, or
    /// `X5 − ½(e − 1/e) − X6`.
    ///
    /// The paper prints π instead of e. But each of the other constants is the mean of the predictor from
    /// which it is subtracted, and the mean of X5 is ½(e − 1/e).
    pub(super) fn new(distribution: PredictorDistribution, predictors: usize) -> Self {
        let mut slopes = vec![-3.0, 0.2, -2.0, -5.0];
        let mut intercept = 15.0 - 3.0 + 4.0 / 7.0;
        if distribution == PredictorDistribution::FunctionsOfX4 {
            slopes.extend([1.0, -1.0]);
            intercept -= 0.5 * (E - 1.0 / E);
        } else {
            slopes.resize(predictors, 1.0);
        }
        Self { slopes, intercept }
    }

    /// Returns the exponent η for a row.
    pub(super) fn exponent(&self, row: &[f64]) -> f64 {
        self.intercept + self.slopes.iter().zip(row).map(|(slope, x)| slope * x).sum::<f64>()
    }
}

impl Model for Logistic {
    fn features(&self) -> Option<usize> {
        Some(self.slopes.len())
    }

    fn predict(
        &self,
        rows: Rows<'_>,
        out: &mut [f64],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        for (value, row) in out.iter_mut().zip(rows.iter()) {
            *value = SCALE / (1.0 + self.exponent(row).exp());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_means_the_model_is_half_its_scale() {
        let mean = (E - 1.0 / E) / 2.0;
        let rows = [5.0, 15.0, 2.0 / 7.0, 0.0, mean, 0.0];
        let mut out = [0.0];
        Logistic::new(PredictorDistribution::FunctionsOfX4, 6)
            .predict(Rows::new(&rows, 6), &mut out)
            .unwrap();
        assert!((out[0] - 6f64.sqrt() / 2.0).abs() < 1e-14);
    }
}
