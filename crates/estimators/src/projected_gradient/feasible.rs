//! The feasible set of the iterates, and the projection onto it.

use crate::error::GradientError;
use crate::error::Result;

/// The set K onto which iterates are projected.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub enum IterateSet {
    /// The plane Σφ = c. The default.
    #[default]
    Plane,
    /// The intersection of the plane with the ball `‖φ‖ ≤ D`. The paper (Algorithm 2) computes the projection
    /// with Dykstra's algorithm; this implementation uses the closed form.
    Ball(f64),
}

impl IterateSet {
    /// Returns the bound D on the norm, if there is one.
    pub(super) fn norm_bound(self) -> Option<f64> {
        match self {
            Self::Plane => None,
            Self::Ball(bound) => Some(bound),
        }
    }
}

/// The set K for one output.
pub(super) enum Feasible {
    Plane,
    /// The intersection of the ball and the plane, given by its centre and its radius.
    Disc {
        centre: f64,
        radius: f64,
    },
}

impl Feasible {
    pub(super) fn new(set: IterateSet, players: usize, output: usize, total: f64) -> Result<Self> {
        let Some(bound) = set.norm_bound() else { return Ok(Self::Plane) };
        let least = total.abs() / (players as f64).sqrt();
        // Allow for rounding error.
        if bound < least * (1.0 - 4.0 * f64::EPSILON) {
            return Err(GradientError::NormBound { actual: bound, min: least, output }.into());
        }
        let radius = ((bound - least) * (bound + least)).max(0.0).sqrt();
        Ok(Self::Disc { centre: total / players as f64, radius })
    }

    pub(super) fn project(&self, iterate: &mut [f64]) {
        // Steps stay within the plane.
        let Self::Disc { centre, radius } = self else { return };
        let away = iterate.iter().map(|phi| (phi - centre).powi(2)).sum::<f64>().sqrt();
        if away > *radius {
            let factor = radius / away;
            iterate.iter_mut().for_each(|phi| *phi = centre + factor * (*phi - centre));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_solvers::{Ball, Hyperplane, Stopping, Sweeps, dykstra_on_hyperplane_and_ball};

    #[test]
    fn the_closed_form_is_the_projection_by_dykstras_algorithm() {
        for players in [1, 2, 3, 65, 130] {
            let total = 1.5;
            let least = total / (players as f64).sqrt();
            let mut iterate: Vec<f64> = (0..players).map(|i| (i as f64 * 1.3).sin()).collect();
            let beyond = (iterate.iter().sum::<f64>() - total) / players as f64;
            iterate.iter_mut().for_each(|phi| *phi -= beyond);
            for radius in [1.0001 * least, 1.5 * least, 20.0] {
                let mut got = iterate.clone();
                Feasible::new(IterateSet::Ball(radius), players, 0, total).unwrap().project(&mut got);
                let plane = Hyperplane::with_sum(players, total).unwrap();
                let ball = Ball::new(vec![0.0; players], radius).unwrap();
                let (stopping, sweeps) = (Stopping::default(), Sweeps::Extrapolated);
                let want = dykstra_on_hyperplane_and_ball(&plane, &ball, &iterate, stopping, sweeps).unwrap();
                for (got, want) in got.iter().zip(&want.point) {
                    assert!((got - want).abs() < 1e-9 * radius, "{players} players, {radius}: {got}, {want}");
                }
            }
        }
    }
}
