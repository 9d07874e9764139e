//! Projection on a hyperplane and a ball: the closed form, and Dykstra's algorithm in two coordinates.
//!
//! # Notation
//!
//! `h` is the distance of the plane from the ball's centre c, `f` is the plane's point nearest to c, and `u`
//! is the part of `point − c` that is parallel to the plane. The intersection is the ball in the plane with
//! centre f and radius `r = √(D² − h²)`.
//!
//! # Accuracy
//!
//! `D² − h²` is computed as `(D − h)(D + h)`. The difference is accurate to a few units in the last place of
//! `D²`, and r is therefore accurate to `10⁻¹⁶ D²/r`. If plane and ball almost touch, the solution itself is
//! this sensitive to the input, for any algorithm. If h differs from D only by rounding, the plane counts as
//! touching.

use super::{Ball, ConvexSet, Hyperplane, Projection, Stopping, check_dimensions, check_finite, norm};
use crate::error::SolverError;

/// Returns the nearest point to `point` in the intersection of `plane` and `ball`, in closed form.
///
/// ```text
/// P_K(x) = f + u min(1, √(D² − h²) / ‖u‖)
/// ```
///
/// For the plane Σφ = v(M) and a ball centred at 0, this is `f = c 1` and `h² = d c²`, with c = v(M)/d. Grah
/// and Thouvenot (2020) use an iteration instead (Algorithm 2). Takes O(d) time.
///
/// # Errors
///
/// [`SolverError::EmptyIntersection`] if `h > D`; [`SolverError::Dimensions`], [`SolverError::NotFinite`] for
/// the point.
///
/// ```
/// use apportion_solvers::{Ball, Hyperplane, project_on_hyperplane_and_ball};
///
/// let (plane, ball) = (Hyperplane::with_sum(2, 1.0)?, Ball::new(vec![0.0; 2], 1.0)?);
/// let nearest = project_on_hyperplane_and_ball(&plane, &ball, &[7.0, 0.0])?;
/// assert!((nearest[0] - 1.0).abs() < 1e-15 && nearest[1].abs() < 1e-15);
/// # Ok::<(), apportion_solvers::SolverError>(())
/// ```
pub fn project_on_hyperplane_and_ball(
    plane: &Hyperplane,
    ball: &Ball,
    point: &[f64],
) -> Result<Vec<f64>, SolverError> {
    let section = Section::new(plane, ball, point)?;
    let (sum, product) = (section.radius + section.height, section.gap * (section.radius + section.height));
    // If the product overflows or underflows, compute its root from the roots of the factors.
    let radius = if product.is_normal() { product.sqrt() } else { section.gap.sqrt() * sum.sqrt() };
    Ok(section.at(radius))
}

/// The step from one sweep of [`dykstra_on_hyperplane_and_ball`] to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sweeps {
    /// Plain sweeps, with the iterates of [`dykstra`](super::dykstra). If plane and ball touch, their error
    /// is proportional to the inverse cube root of the number of sweeps.
    Plain,
    /// Extrapolation of each sweep along its tangent. The default.
    #[default]
    Extrapolated,
}

/// Computes the same point as [`project_on_hyperplane_and_ball`], but by Dykstra's algorithm in two
/// coordinates.
///
/// For a hyperplane and a ball, all iterates of [`dykstra`](super::dykstra) lie in the two-dimensional plane
/// that is spanned by u and the normal. They depend on a single number: the height `s`, above the centre of
/// the ball, of the point that is projected on the ball. One sweep is
///
/// ```text
/// s ← s + g(s),     g(s) = h − D s / √(‖u‖² + s²),     s = h at first
/// ```
///
/// and the distance of the iterate from f is `D ‖u‖ / √(‖u‖² + s²)`. g is convex and decreasing, with slope
/// between −1 and 0 outside the ball. A step along the tangent to zero, `s ← s − g(s)/g′(s)`, is thus never
/// shorter than the sweep, and never overshoots the limit. Therefore extrapolated sweeps always converge:
/// quadratically if plane and ball cross, and by a factor of 2/3 per sweep if they touch. They also yield the
/// remaining error of plain sweeps.
///
/// Takes O(d) time, plus O(1) per sweep.
///
/// # Errors
///
/// Same as [`project_on_hyperplane_and_ball`]; also [`SolverError::NotSettled`] at the iteration limit, and
/// [`SolverError::Tolerance`].
pub fn dykstra_on_hyperplane_and_ball(
    plane: &Hyperplane,
    ball: &Ball,
    point: &[f64],
    stopping: Stopping,
    sweeps: Sweeps,
) -> Result<Projection, SolverError> {
    stopping.check()?;
    let section = Section::new(plane, ball, point)?;
    let allowed = stopping.tolerance * norm(point).max(norm(&section.foot));
    let mut s = section.height;
    let mut remaining = f64::INFINITY;
    for iterations in 1..=stopping.iterations {
        let far = section.parallel.hypot(s);
        if far <= section.radius {
            return Ok(Projection { point: section.at(section.parallel), iterations, remaining: 0.0 });
        }
        let extrapolated = section.extrapolate(s);
        // If every step is 2/3 of the previous one, the total of the remaining steps is three times the
        // current step.
        remaining = 3.0 * (section.away(s) - section.away(extrapolated)).abs();
        if remaining <= allowed {
            return Ok(Projection { point: section.at(section.away(extrapolated)), iterations, remaining });
        }
        s = match sweeps {
            Sweeps::Plain => s + section.step(s),
            Sweeps::Extrapolated => extrapolated,
        };
    }
    let apart = section.step(s).abs();
    Err(SolverError::NotSettled { iterations: stopping.iterations, remaining, apart })
}

/// The relative difference between distance and radius up to which a plane counts as touching a ball.
const TOUCHING: f64 = 8.0 * f64::EPSILON;

/// A plane and a ball, reduced to the two coordinates in which iterates move: along u and along the normal.
struct Section {
    /// The point f of the plane nearest to the centre of the ball.
    foot: Vec<f64>,
    /// The part u of `point − c` that is parallel to the plane.
    direction: Vec<f64>,
    /// The norm ‖u‖.
    parallel: f64,
    /// The distance h of the plane from the centre, nonnegative.
    height: f64,
    /// The radius D of the ball.
    radius: f64,
    /// The difference `D − h`, nonnegative.
    gap: f64,
}

impl Section {
    fn new(plane: &Hyperplane, ball: &Ball, point: &[f64]) -> Result<Self, SolverError> {
        check_finite("the point", point)?;
        check_dimensions(plane.dimensions(), point.len())?;
        check_dimensions(ball.dimensions(), point.len())?;
        let height = plane.signed_distance(ball.centre()).abs();
        let mut gap = ball.radius() - height;
        if gap.abs() <= TOUCHING * height {
            gap = 0.0;
        }
        if gap < 0.0 {
            return Err(SolverError::EmptyIntersection { apart: -gap });
        }
        let mut foot = ball.centre().to_vec();
        plane.project(&mut foot);
        let mut direction: Vec<f64> = point.iter().zip(ball.centre()).map(|(x, c)| x - c).collect();
        plane.make_parallel(&mut direction);
        let parallel = norm(&direction);
        Ok(Self { foot, direction, parallel, height, radius: ball.radius(), gap })
    }

    /// Returns the point of the plane at distance `away` from f in the direction of u. If `‖u‖` is smaller
    /// than this distance, returns f + u.
    fn at(&self, away: f64) -> Vec<f64> {
        let factor = if self.parallel > away { away / self.parallel } else { 1.0 };
        self.foot.iter().zip(&self.direction).map(|(f, u)| f + factor * u).collect()
    }

    /// Returns the distance between f and the iterate with height `s`.
    fn away(&self, s: f64) -> f64 {
        self.radius * self.parallel / self.parallel.hypot(s)
    }

    /// Returns `g(s)`, computed as `D (1 − s/√(‖u‖² + s²)) − (D − h)`, which does not cancel digits if plane
    /// and ball touch.
    fn step(&self, s: f64) -> f64 {
        let far = self.parallel.hypot(s);
        self.radius * (self.parallel / far) * (self.parallel / (far + s)) - self.gap
    }

    /// Returns the extrapolated height `s − g(s)/g′(s)`.
    fn extrapolate(&self, s: f64) -> f64 {
        let far = self.parallel.hypot(s);
        let slope = self.radius / far * (self.parallel / far).powi(2);
        s + self.step(s) / slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_in_two_coordinates_are_those_of_the_algorithm() {
        // Compute the expected result with Dykstra's algorithm by definition, for a plane with a slanted
        // normal and a ball whose centre is not 0.
        let plane = Hyperplane::new(vec![1.0, -2.0, 0.5], 1.5).unwrap();
        let ball = Ball::new(vec![0.3, -0.2, 0.1], 1.0).unwrap();
        let point = [3.0, 2.0, -4.0];
        let section = Section::new(&plane, &ball, &point).unwrap();
        let (mut x, mut correction) = (point.to_vec(), vec![0.0; 3]);
        let mut s = section.height;
        for _ in 0..40 {
            plane.project(&mut x);
            let sum: Vec<f64> = x.iter().zip(&correction).map(|(x, q)| x + q).collect();
            x.clone_from(&sum);
            ball.project(&mut x);
            correction = sum.iter().zip(&x).map(|(sum, x)| sum - x).collect();
            let mut on_plane = x.clone();
            plane.project(&mut on_plane);
            let expected = section.at(section.away(s));
            assert!(on_plane.iter().zip(&expected).all(|(got, want)| (got - want).abs() < 1e-13));
            s += section.step(s);
        }
    }
}
