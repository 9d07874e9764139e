//! Balls.

use super::{ConvexSet, check_finite, distance};
use crate::error::SolverError;

/// A ball: the points with `‖x − c‖ ≤ D`.
///
/// ```text
/// P(x) = c + (x − c) min(1, D / ‖x − c‖)
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ball {
    centre: Vec<f64>,
    radius: f64,
}

impl Ball {
    /// Creates the ball of the points no further than `radius` from `centre`.
    ///
    /// # Errors
    ///
    /// [`SolverError::Radius`] unless the radius is positive and finite, [`SolverError::NotFinite`] unless
    /// the centre is finite.
    pub fn new(centre: Vec<f64>, radius: f64) -> Result<Self, SolverError> {
        check_finite("the centre", &centre)?;
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(SolverError::Radius { value: radius });
        }
        Ok(Self { centre, radius })
    }

    /// Returns the centre, one number per dimension.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Returns the radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

impl ConvexSet for Ball {
    fn dimensions(&self) -> usize {
        self.centre.len()
    }

    fn project(&self, point: &mut [f64]) {
        let away = distance(point, &self.centre);
        if away > self.radius {
            let factor = self.radius / away;
            point.iter_mut().zip(&self.centre).for_each(|(x, c)| *x = c + (*x - c) * factor);
        }
    }

    fn farthest(&self, point: &[f64]) -> f64 {
        distance(point, &self.centre) + self.radius
    }
}
