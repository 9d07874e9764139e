//! Half-spaces.

use super::{ConvexSet, check_finite, dot};
use crate::error::SolverError;

/// The points with `⟨a, x⟩ ≤ b`.
///
/// ```text
/// P(x) = x − a max(0, ⟨a, x⟩ − b) / ‖a‖²
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HalfSpace {
    normal: Vec<f64>,
    squared_norm: f64,
    offset: f64,
}

impl HalfSpace {
    /// The points with `⟨normal, x⟩ ≤ offset`.
    ///
    /// # Errors
    ///
    /// As [`Hyperplane::new`](super::Hyperplane::new).
    pub fn new(normal: Vec<f64>, offset: f64) -> Result<Self, SolverError> {
        check_finite("the normal", &normal)?;
        check_finite("the offset", &[offset])?;
        let squared_norm = dot(&normal, &normal);
        if !squared_norm.is_normal() {
            return Err(SolverError::Normal { norm: squared_norm.sqrt() });
        }
        Ok(Self { normal, squared_norm, offset })
    }
}

impl ConvexSet for HalfSpace {
    fn dimensions(&self) -> usize {
        self.normal.len()
    }

    fn project(&self, point: &mut [f64]) {
        let excess = dot(&self.normal, point) - self.offset;
        if excess > 0.0 {
            let factor = excess / self.squared_norm;
            point.iter_mut().zip(&self.normal).for_each(|(x, a)| *x -= factor * a);
        }
    }
}
