//! The nearest point in an intersection of convex sets.
//!
//! # Notation
//!
//! The sets `C_i` are closed convex sets in d dimensions, and `P_i` is the projection on `C_i`. `⟨a, x⟩ = b`
//! is a hyperplane, `D` is the radius of a ball, and `c` is its centre.
//!
//! # Overview
//!
//! Sets are given by their projections ([`ConvexSet`]): [`Hyperplane`], [`HalfSpace`], [`Ball`], [`Cuboid`],
//! or a user-defined set. [`dykstra`] projects on the intersection of any number of them. The constraints of
//! the projected stochastic gradient method are a hyperplane and a ball. For these,
//! [`project_on_hyperplane_and_ball`] is the closed form, and [`dykstra_on_hyperplane_and_ball`] is Dykstra's
//! algorithm in two coordinates. Its sweeps take constant time and may be extrapolated, so that it is exact
//! even if the plane touches the ball.
//!
//! # Sources
//!
//! Dykstra, *An algorithm for restricted least squares regression*, Journal of the American Statistical
//! Association 1983; Boyle and Dykstra, 1986. Grah and Thouvenot, *A projected stochastic gradient algorithm
//! for estimating Shapley value applied in attribute importance*, CD-MAKE 2020, Algorithm 2.

mod ball;
mod cuboid;
mod dykstra;
mod half_space;
mod hyperplane;
mod hyperplane_and_ball;

pub use self::ball::Ball;
pub use self::cuboid::Cuboid;
pub use self::dykstra::dykstra;
pub use self::half_space::HalfSpace;
pub use self::hyperplane::Hyperplane;
pub use self::hyperplane_and_ball::{Sweeps, dykstra_on_hyperplane_and_ball, project_on_hyperplane_and_ball};

use crate::error::SolverError;

/// A closed, nonempty convex set that is defined by the projection on it.
pub trait ConvexSet {
    /// Returns the dimension d of the space that contains the set.
    fn dimensions(&self) -> usize;

    /// Replaces `point` with the nearest point of the set.
    ///
    /// # Panics
    ///
    /// May panic if `point` does not have [`dimensions`](Self::dimensions) entries.
    fn project(&self, point: &mut [f64]);

    /// Returns an upper bound on the distance from `point` to any point of the set; infinite if the set is
    /// unbounded or no bound is known.
    ///
    /// [`dykstra`] uses this bound to prove that an intersection is empty.
    fn farthest(&self, point: &[f64]) -> f64 {
        let _ = point;
        f64::INFINITY
    }
}

/// The stopping rule of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// The maximum error of the result, estimated from the speed of convergence, relative to the larger of
    /// the norms of the start and the result. Must be positive; defaults to 1e-13. Results are never more
    /// accurate than rounding allows, regardless of the tolerance.
    pub tolerance: f64,
    /// The maximum number of sweeps over all sets; defaults to 100 000. If the iteration has not converged by
    /// then, an error is returned.
    pub iterations: usize,
}

impl Default for Stopping {
    fn default() -> Self {
        Self { tolerance: 1e-13, iterations: 100_000 }
    }
}

impl Stopping {
    fn check(self) -> Result<(), SolverError> {
        if self.tolerance > 0.0 && self.tolerance.is_finite() {
            return Ok(());
        }
        Err(SolverError::Tolerance { value: self.tolerance })
    }
}

/// The result of a projection.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// The nearest point in the intersection.
    pub point: Vec<f64>,
    /// The number of sweeps over all sets.
    pub iterations: usize,
    /// An estimate of the distance between the point and the limit, from the speed of convergence, in units
    /// of the point.
    pub remaining: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    root_of_squares(|| a.iter().copied())
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    root_of_squares(|| a.iter().zip(b).map(|(x, y)| x - y))
}

/// Returns the square root of a sum of squares, computed so that it is valid even if the squares overflow or
/// underflow.
fn root_of_squares<I: Iterator<Item = f64>>(numbers: impl Fn() -> I) -> f64 {
    let plain: f64 = numbers().map(|x| x * x).sum();
    if (SMALLEST_SQUARES..f64::INFINITY).contains(&plain) {
        return plain.sqrt();
    }
    let largest = numbers().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * numbers().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}

/// Sums of squares below this limit have lost digits to underflow.
const SMALLEST_SQUARES: f64 = 1e-280;

/// Returns an error for a vector with an entry that is not finite.
fn check_finite(what: &'static str, values: &[f64]) -> Result<(), SolverError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(SolverError::NotFinite { what, index, value: values[index] }),
    }
}

/// Returns an error for a set or a point of a different dimension.
fn check_dimensions(given: usize, wanted: usize) -> Result<(), SolverError> {
    if given == wanted { Ok(()) } else { Err(SolverError::Dimensions { actual: given, expected: wanted }) }
}
