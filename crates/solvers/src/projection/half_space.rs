//! Half-spaces.

use super::{ConvexSet, Hyperplane};
use crate::error::SolverError;

/// A half-space: the points with `⟨a, x⟩ ≤ b`.
///
/// ```text
/// P(x) = x − a max(0, ⟨a, x⟩ − b) / ‖a‖²
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HalfSpace {
    border: Hyperplane,
}

impl HalfSpace {
    /// Creates the half-space of the points with `⟨normal, x⟩ ≤ offset`.
    ///
    /// # Errors
    ///
    /// Same as [`Hyperplane::new`](super::Hyperplane::new).
    pub fn new(normal: Vec<f64>, offset: f64) -> Result<Self, SolverError> {
        Ok(Self { border: Hyperplane::new(normal, offset)? })
    }
}

impl ConvexSet for HalfSpace {
    fn dimensions(&self) -> usize {
        self.border.dimensions()
    }

    fn project(&self, point: &mut [f64]) {
        let lack = self.border.lack(point);
        if lack < 0.0 {
            self.border.move_by(point, lack);
        }
    }
}
