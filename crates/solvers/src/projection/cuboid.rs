//! Cuboids: axis-parallel boxes.

use super::{ConvexSet, check_dimensions, root_of_squares};
use crate::error::SolverError;

/// A cuboid: the points between a lower and an upper bound in each coordinate; bounds may be infinite.
///
/// ```text
/// P(x)_i = min(u_i, max(l_i, x_i))
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cuboid {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Cuboid {
    /// Creates the cuboid of the points with `lower ≤ x ≤ upper` in every coordinate.
    ///
    /// # Errors
    ///
    /// [`SolverError::Dimensions`] if the bounds have different lengths, [`SolverError::Bounds`] if no finite
    /// number lies between the bounds of a coordinate.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, SolverError> {
        check_dimensions(upper.len(), lower.len())?;
        for (index, (&lower, &upper)) in lower.iter().zip(&upper).enumerate() {
            let is_some = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
            if !is_some {
                return Err(SolverError::Bounds { index, lower, upper });
            }
        }
        Ok(Self { lower, upper })
    }
}

impl ConvexSet for Cuboid {
    fn dimensions(&self) -> usize {
        self.lower.len()
    }

    fn project(&self, point: &mut [f64]) {
        for (x, (lower, upper)) in point.iter_mut().zip(self.lower.iter().zip(&self.upper)) {
            *x = x.clamp(*lower, *upper);
        }
    }

    fn farthest(&self, point: &[f64]) -> f64 {
        let away = |(x, (lower, upper)): (&f64, (&f64, &f64))| (x - lower).abs().max((x - upper).abs());
        root_of_squares(|| point.iter().zip(self.lower.iter().zip(&self.upper)).map(away))
    }
}
