//! The set of the iterates, and the projection on it.

use apportion_solvers::{Ball, Hyperplane, SolverError, Stopping, Sweeps, dykstra_on_hyperplane_and_ball};

use crate::error::EstimatorError;

/// The set K on which iterates are projected.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub enum IterateSet {
    /// The plane Σφ = c. The default.
    #[default]
    Plane,
    /// The plane and the ball `‖φ‖ ≤ D`, by the closed form.
    Ball(f64),
    /// The same by Dykstra's algorithm, as in the paper (Algorithm 2). The answers agree within rounding.
    BallByDykstra(f64),
}

impl IterateSet {
    /// D.
    pub(super) fn norm_bound(self) -> Option<f64> {
        match self {
            Self::Plane => None,
            Self::Ball(bound) | Self::BallByDykstra(bound) => Some(bound),
        }
    }
}

/// K of one output.
pub(super) enum Feasible {
    Plane,
    /// The ball's part of the plane: its centre and its radius there.
    Disc {
        centre: f64,
        radius: f64,
    },
    Both(Hyperplane, Ball),
}

impl Feasible {
    pub(super) fn new(
        set: IterateSet,
        players: usize,
        output: usize,
        total: f64,
    ) -> Result<Self, EstimatorError> {
        let Some(bound) = set.norm_bound() else { return Ok(Self::Plane) };
        let least = total.abs() / (players as f64).sqrt();
        // What differs by rounding is equal.
        if bound < least * (1.0 - 4.0 * f64::EPSILON) {
            return Err(EstimatorError::NormBound { given: bound, least, output });
        }
        Ok(if let IterateSet::BallByDykstra(_) = set {
            Self::Both(Hyperplane::of_sum(players, total)?, Ball::new(vec![0.0; players], bound)?)
        } else {
            let radius = ((bound - least) * (bound + least)).max(0.0).sqrt();
            Self::Disc { centre: total / players as f64, radius }
        })
    }

    pub(super) fn project(&self, iterate: &mut [f64]) -> Result<(), SolverError> {
        match self {
            Self::Plane => {}
            // Steps lead along the plane.
            Self::Disc { centre, radius } => {
                let away = iterate.iter().map(|phi| (phi - centre).powi(2)).sum::<f64>().sqrt();
                if away > *radius {
                    let factor = radius / away;
                    iterate.iter_mut().for_each(|phi| *phi = centre + factor * (*phi - centre));
                }
            }
            Self::Both(plane, ball) => {
                let nearest = dykstra_on_hyperplane_and_ball(
                    plane,
                    ball,
                    iterate,
                    Stopping::default(),
                    Sweeps::Extrapolated,
                )?;
                iterate.copy_from_slice(&nearest.point);
            }
        }
        Ok(())
    }
}
