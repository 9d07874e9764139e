//! Hyperplanes.

use super::{ConvexSet, check_finite, dot};
use crate::error::SolverError;

/// A hyperplane: the points with `⟨a, x⟩ = b`.
///
/// ```text
/// P(x) = x − a (⟨a, x⟩ − b) / ‖a‖²
/// ```
///
/// ```
/// use apportion_solvers::{ConvexSet, Hyperplane};
///
/// let mut point = [3.0, 1.0];
/// Hyperplane::with_sum(2, 2.0)?.project(&mut point);
/// assert_eq!(point, [2.0, 0.0]);
/// # Ok::<(), apportion_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperplane {
    dimensions: usize,
    /// The normal a; `None` if all its entries are 1.
    normal: Option<Vec<f64>>,
    /// The squared norm ‖a‖².
    squared_norm: f64,
    offset: f64,
}

impl Hyperplane {
    /// Creates the hyperplane of the points with `⟨normal, x⟩ = offset`.
    ///
    /// # Errors
    ///
    /// [`SolverError::Normal`] for a normal whose norm is zero, or whose squared norm underflows or
    /// overflows, [`SolverError::NotFinite`] for entries or an offset that are not finite.
    pub fn new(normal: Vec<f64>, offset: f64) -> Result<Self, SolverError> {
        check_finite("the normal", &normal)?;
        check_finite("the offset", &[offset])?;
        let squared_norm = dot(&normal, &normal);
        if !squared_norm.is_normal() {
            return Err(SolverError::Normal { norm: squared_norm.sqrt() });
        }
        Ok(Self { dimensions: normal.len(), normal: Some(normal), squared_norm, offset })
    }

    /// Creates the hyperplane of the points whose entries sum to `sum`, in a space of `dimensions`
    /// dimensions. For attributions, this is efficiency.
    ///
    /// # Errors
    ///
    /// [`SolverError::Normal`] for zero dimensions, [`SolverError::NotFinite`] for a sum that is not finite.
    pub fn with_sum(dimensions: usize, sum: f64) -> Result<Self, SolverError> {
        check_finite("the offset", &[sum])?;
        if dimensions == 0 {
            return Err(SolverError::Normal { norm: 0.0 });
        }
        Ok(Self { dimensions, normal: None, squared_norm: dimensions as f64, offset: sum })
    }

    /// Returns `(b − ⟨a, x⟩) / ‖a‖`: the signed distance from `point` to the plane, along the normal.
    pub(super) fn signed_distance(&self, point: &[f64]) -> f64 {
        self.lack(point) / self.squared_norm.sqrt()
    }

    /// Removes the component of `direction` along the normal.
    pub(super) fn make_parallel(&self, direction: &mut [f64]) {
        // The second pass removes the rounding error of the first.
        for _ in 0..2 {
            let excess = self.along(direction);
            self.move_by(direction, -excess);
        }
    }

    /// Returns `b − ⟨a, x⟩`: the amount by which `⟨a, x⟩` falls short of `b` at `point`.
    pub(super) fn lack(&self, point: &[f64]) -> f64 {
        self.offset - self.along(point)
    }

    /// Returns the scalar product `⟨a, x⟩`.
    fn along(&self, point: &[f64]) -> f64 {
        self.normal.as_ref().map_or_else(|| point.iter().sum(), |normal| dot(normal, point))
    }

    /// Replaces x, i.e. `point`, with `x + a · excess / ‖a‖²`.
    pub(super) fn move_by(&self, point: &mut [f64], excess: f64) {
        let factor = excess / self.squared_norm;
        match &self.normal {
            None => point.iter_mut().for_each(|x| *x += factor),
            Some(normal) => point.iter_mut().zip(normal).for_each(|(x, a)| *x += factor * a),
        }
    }
}

impl ConvexSet for Hyperplane {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn project(&self, point: &mut [f64]) {
        let lack = self.lack(point);
        self.move_by(point, lack);
    }
}
