//! Mixing measures with finitely many atoms: mixtures of several probabilities of presence.

use std::sync::Arc;

use apportion_games::phrases::plural;

use super::by_size::SUM_TOLERANCE;
use super::presence::power;
use super::size_distribution;
use crate::error::ValueError;
use crate::quadrature::Rule;

/// A mixing measure with finitely many atoms on \[0, 1\].
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    points: Arc<[f64]>,
    weights: Arc<[f64]>,
}

impl Mixture {
    pub(crate) fn new(points: &[f64], weights: &[f64]) -> Result<Self, ValueError> {
        let refuse = |problem: String| Err(ValueError::Mixture { problem });
        if points.is_empty() || points.len() != weights.len() {
            return refuse(format!(
                "got {} point{} and {} weight{}",
                points.len(),
                plural(points.len()),
                weights.len(),
                plural(weights.len())
            ));
        }
        if let Some(point) = points.iter().find(|point| !(0.0..=1.0).contains(*point)) {
            return refuse(format!("point {point} is outside [0, 1]"));
        }
        if let Some(weight) = weights.iter().find(|weight| !(**weight >= 0.0 && weight.is_finite())) {
            return refuse(format!("a weight is {weight}"));
        }
        let sum: f64 = weights.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return refuse(format!("the weights sum to {sum}"));
        }
        Ok(Self { points: points.into(), weights: weights.into() })
    }

    pub(crate) fn of_density(density: impl Fn(f64) -> f64, nodes: usize) -> Result<Self, ValueError> {
        let refuse = |problem: String| Err(ValueError::Mixture { problem });
        if nodes == 0 {
            return refuse("the density requires at least one node".to_owned());
        }
        let rule = Rule::gauss_jacobi(nodes, 1.0, 1.0);
        let densities: Vec<f64> = rule.presence().iter().map(|&t| density(t)).collect();
        if let Some(at) = densities.iter().position(|density| !(*density >= 0.0 && density.is_finite())) {
            let (density, t) = (densities[at], rule.presence()[at]);
            return refuse(format!("the density is negative or not finite at {t}: {density}"));
        }
        let weights: Vec<f64> = densities.iter().zip(rule.weights()).map(|(f, weight)| f * weight).collect();
        let integral: f64 = weights.iter().sum();
        if (integral - 1.0).abs() > SUM_TOLERANCE {
            return refuse(format!("the integral of the density is {integral} (nodes: {nodes})"));
        }
        Ok(Self { points: rule.presence().into(), weights: weights.into() })
    }

    /// Returns the positions of the atoms, which are probabilities of presence.
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    /// Returns the masses of the atoms; they sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn atoms(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().copied().zip(self.weights.iter().copied())
    }

    pub(crate) fn moment(&self, a: usize, b: usize) -> f64 {
        self.atoms().map(|(t, weight)| weight * power(t, a) * power(1.0 - t, b)).sum()
    }

    pub(crate) fn ln_moment(&self, a: usize, b: usize) -> f64 {
        // 0 · ln 0 is 0 here, because t^0 = 1.
        let ln_power = |ln: f64, exponent: usize| if exponent == 0 { 0.0 } else { exponent as f64 * ln };
        let ln_terms: Vec<f64> = self
            .atoms()
            .map(|(t, weight)| weight.ln() + ln_power(t.ln(), a) + ln_power((-t).ln_1p(), b))
            .collect();
        let largest = ln_terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        largest + ln_terms.iter().map(|ln| (ln - largest).exp()).sum::<f64>().ln()
    }

    pub(crate) fn size_distribution(&self, players: usize) -> Vec<f64> {
        let mut distribution = vec![0.0; players];
        for (t, weight) in self.atoms() {
            let binomial = size_distribution::binomial(players, t, 1.0 - t);
            distribution.iter_mut().zip(binomial).for_each(|(sum, part)| *sum += weight * part);
        }
        distribution
    }
}
