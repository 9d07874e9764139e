//! A linear model as a surrogate.

use apportion_games::Coalitions;
use apportion_solvers::{Constraint, Design, least_squares};
use apportion_values::Semivalue;

use super::interface::{FittedSurrogate, Surrogate};

/// The linear model `c + Σ_{i ∈ S} β_i`, fitted by least squares with equal weights. All its semivalues are
/// the coefficients β.
///
/// Methods that regress the game on its players gain nothing from this surrogate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct LinearSurrogate;

impl Surrogate for LinearSurrogate {
    fn fit(&self, coalitions: &Coalitions, values: &[f64]) -> Option<Box<dyn FittedSurrogate>> {
        let weights = vec![1.0; coalitions.len()];
        let design = Design::new(coalitions, &weights).ok()?.with_intercept();
        let fit = least_squares(&design, values, 1, Constraint::None).ok()?;
        let intercept = *fit.intercepts()?.first()?;
        Some(Box::new(FittedLinear { intercept, coefficients: fit.coefficients().to_vec() }))
    }
}

struct FittedLinear {
    intercept: f64,
    coefficients: Vec<f64>,
}

impl FittedSurrogate for FittedLinear {
    fn predict(&self, coalitions: &Coalitions) -> Vec<f64> {
        let of = |members: &mut dyn Iterator<Item = usize>| {
            members.map(|player| self.coefficients[player]).sum::<f64>()
        };
        coalitions.iter().map(|coalition| self.intercept + of(&mut coalition.members())).collect()
    }

    fn values(&self, _: &Semivalue) -> Vec<f64> {
        self.coefficients.clone()
    }
}
