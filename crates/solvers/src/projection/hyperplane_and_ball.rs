//! A hyperplane and a ball: the closed form, and Dykstra's algorithm in two coordinates.
//!
//! # Notation
//!
//! `h` the distance of the plane from the ball's centre c, `f` the plane's point nearest to c, `u` the part
//! of `point − c` that is parallel to the plane. The intersection is the ball about f, in the plane, of
//! radius `r = √(D² − h²)`.
//!
//! # Accuracy
//!
//! `D² − h²` is computed as `(D − h)(D + h)`. It is known to a few units in the last place of `D²`, and r
//! thus to `10⁻¹⁶ D²/r`: where plane and ball all but touch, the answer is as sensitive to the numbers given,
//! by whatever way it is computed. Distances that differ from D by rounding count as touching.

use super::{Ball, ConvexSet, Hyperplane, Projection, Stopping, check_dimensions, check_finite, norm};
use crate::error::SolverError;

/// The nearest point to `point` in the intersection of `plane` and `ball`, in closed form.
///
/// ```text
/// P_K(x) = f + u min(1, √(D² − h²) / ‖u‖)
/// ```
///
/// For the plane Σφ = v(M) and a ball about 0: `f = c 1`, `h² = d c²`, with c = v(M)/d. The source iterates
/// instead (Algorithm 2). O(d).
///
/// # Errors
///
/// [`SolverError::EmptyIntersection`] where `h > D`; [`SolverError::Dimensions`], [`SolverError::NotFinite`]
/// for the point.
///
/// ```
/// use apportion_solvers::{Ball, Hyperplane, project_on_hyperplane_and_ball};
///
/// let (plane, ball) = (Hyperplane::of_sum(2, 1.0)?, Ball::new(vec![0.0; 2], 1.0)?);
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
    // Where the product is no number any more, its root still is.
    let radius = if product.is_normal() { product.sqrt() } else { section.gap.sqrt() * sum.sqrt() };
    Ok(section.at(radius))
}

/// How [`dykstra_on_hyperplane_and_ball`] goes from one sweep to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sweeps {
    /// One after the other: the iterates of [`dykstra`](super::dykstra). Where plane and ball touch, they are
    /// off by the inverse cube root of the number of sweeps.
    Plain,
    /// Each is followed as far as its tangent reaches. The default.
    #[default]
    Extrapolated,
}

/// [`project_on_hyperplane_and_ball`] by Dykstra's algorithm, in two coordinates.
///
/// On a hyperplane and a ball, all iterates of [`dykstra`](super::dykstra) lie in one plane of two
/// dimensions, along u and the normal, and depend on one number: with `s` the height over the centre of the
/// point that is projected on the ball, one sweep is
///
/// ```text
/// s ← s + g(s),     g(s) = h − D s / √(‖u‖² + s²),     s = h at first
/// ```
///
/// and the iterate is `D ‖u‖ / √(‖u‖² + s²)` away from f. g is convex and falls, with slope between −1 and 0
/// outside the ball. Following its tangent to zero, `s ← s − g(s)/g′(s)`, is thus never shorter than the
/// sweep and never goes beyond the limit: extrapolated sweeps converge with certainty, quadratically where
/// plane and ball cross, and by a factor of 2/3 each where they touch. They also tell what plain ones have
/// left.
///
/// O(d), and O(1) per sweep.
///
/// # Errors
///
/// As [`project_on_hyperplane_and_ball`]; [`SolverError::NotSettled`] at the iteration limit,
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
        // Where steps shorten by 2/3, three times the step is left in all.
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

/// A plane touches a ball where its distance from the centre is the radius up to so many parts of it.
const TOUCHING: f64 = 8.0 * f64::EPSILON;

/// What of a point, a plane and a ball matters: the two coordinates, and where they lie.
struct Section {
    /// f.
    foot: Vec<f64>,
    /// u.
    direction: Vec<f64>,
    /// ‖u‖.
    parallel: f64,
    /// h, not negative.
    height: f64,
    /// D.
    radius: f64,
    /// `D − h`, not negative.
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

    /// The point of the plane that is `away` from f, or u from it if that is nearer.
    fn at(&self, away: f64) -> Vec<f64> {
        let factor = if self.parallel > away { away / self.parallel } else { 1.0 };
        self.foot.iter().zip(&self.direction).map(|(f, u)| f + factor * u).collect()
    }

    /// How far the iterate of height `s` is from f.
    fn away(&self, s: f64) -> f64 {
        self.radius * self.parallel / self.parallel.hypot(s)
    }

    /// `g(s)`, as `D (1 − s/√(‖u‖² + s²)) − (D − h)`, which has no cancellation where plane and ball touch.
    fn step(&self, s: f64) -> f64 {
        let far = self.parallel.hypot(s);
        self.radius * (self.parallel / far) * (self.parallel / (far + s)) - self.gap
    }

    /// `s − g(s)/g′(s)`.
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
        // Dykstra's algorithm as it is defined, on a plane with a slanted normal and a ball that is not
        // about 0.
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
            let wanted = section.at(section.away(s));
            assert!(on_plane.iter().zip(&wanted).all(|(got, want)| (got - want).abs() < 1e-13));
            s += section.step(s);
        }
    }
}
