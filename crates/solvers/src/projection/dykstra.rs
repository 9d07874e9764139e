//! Dykstra's algorithm for any number of convex sets.

use super::{ConvexSet, Projection, Stopping, check_dimensions, check_finite, distance, dot, norm};
use crate::error::SolverError;
use crate::rows::{MAX_UNIT, power_of_two_below};

/// Returns the nearest point to `point` in the intersection of `sets`, by Dykstra's algorithm.
///
/// One sweep processes the sets in turn. Each set C_i, with the projection P_i, has a correction p_i,
/// initially zero, which is added before the projection and updated afterwards:
///
/// ```text
/// y_i = P_i(x + p_i),     p_i ← x + p_i − y_i,     x ← y_i                (Algorithm 2)
/// ```
///
/// As printed, Algorithm 2 of Grah and Thouvenot (2020) overwrites the old iterate with the new one. It then
/// stops if the new iterate equals another iterate of the same step. This implementation compares whole
/// sweeps.
///
/// # Stopping
///
/// The algorithm stops after a sweep in which the points on all sets agree and the iterate has converged. It
/// has converged if `δ / (1 − ρ)`, the sum of a geometric series that starts with `δ`, is within the
/// tolerance. Here `δ` is the change of the iterate in this sweep, and `ρ` is the ratio of `δ` to the change
/// in the previous sweep. A small change alone is not sufficient. If sets touch, iterates converge slowly
/// (for a hyperplane that touches a ball, as the inverse cube root of the number of sweeps). For polyhedra,
/// they may stay unchanged for many sweeps before they move again.
///
/// # Empty intersections
///
/// Since `⟨p_i, y − y_i⟩ ≤ 0` for every y of `C_i`, every common point has a distance of at least
///
/// ```text
/// Σ_i ⟨p_i, x − y_i⟩ / ‖point − x‖
/// ```
///
/// from x. If the sets have no common point, corrections grow with every sweep, and so does this bound. Once
/// the bound exceeds the largest distance from x to any point of some bounded set ([`ConvexSet::farthest`]),
/// the intersection is proved to be empty. For sets that are δ apart within a radius of D, this takes about
/// `2 D ‖point − x‖ / δ²` sweeps. For unbounded sets without a common point, the algorithm stops at the
/// iteration limit.
///
/// # Cost
///
/// A sweep takes O(sets · d) time and one projection for each set. Sweeps converge linearly for polyhedra,
/// and for sets with common interior points. As the sets come closer to merely touching, the rate
/// approaches 1.
///
/// # Errors
///
/// [`SolverError::EmptyIntersection`]; [`SolverError::NotSettled`] at the iteration limit, with the distance
/// between the sets; [`SolverError::NoSets`]; [`SolverError::Dimensions`]; [`SolverError::NotFinite`] for the
/// point; [`SolverError::Tolerance`].
///
/// ```
/// use apportion_solvers::{Cuboid, Hyperplane, Stopping, dykstra};
///
/// // Nonnegative shares that sum to 1.
/// let simplex = dykstra(
///     &[&Hyperplane::with_sum(3, 1.0)?, &Cuboid::new(vec![0.0; 3], vec![f64::INFINITY; 3])?],
///     &[0.9, 0.5, -0.4],
///     Stopping::default(),
/// )?;
/// assert!(simplex.point.iter().zip([0.7, 0.3, 0.0]).all(|(got, want)| (got - want).abs() < 1e-12));
/// # Ok::<(), apportion_solvers::SolverError>(())
/// ```
pub fn dykstra(
    sets: &[&dyn ConvexSet],
    point: &[f64],
    stopping: Stopping,
) -> Result<Projection, SolverError> {
    stopping.check()?;
    check_finite("the point", point)?;
    if sets.is_empty() {
        return Err(SolverError::NoSets);
    }
    sets.iter().try_for_each(|set| check_dimensions(set.dimensions(), point.len()))?;

    let mut iterate = point.to_vec();
    let mut before = point.to_vec();
    let mut corrections = vec![vec![0.0; point.len()]; sets.len()];
    let mut points = vec![point.to_vec(); sets.len()];
    let (mut moved, mut apart, mut left) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for sweep in 1..=stopping.iterations {
        before.copy_from_slice(&iterate);
        for ((set, correction), nearest) in sets.iter().zip(&mut corrections).zip(&mut points) {
            nearest.iter_mut().zip(&iterate).zip(&*correction).for_each(|((y, x), p)| *y = x + p);
            correction.copy_from_slice(nearest);
            set.project(nearest);
            correction.iter_mut().zip(&*nearest).for_each(|(p, y)| *p -= y);
            iterate.copy_from_slice(nearest);
        }
        let scale = norm(point).max(norm(&iterate));
        let last = std::mem::replace(&mut moved, distance(&iterate, &before));
        apart = points.iter().map(|nearest| distance(nearest, &iterate)).fold(0.0, f64::max);
        left = geometric_rest(moved, last);
        let allowed = stopping.tolerance * scale;
        let rounding = f64::EPSILON * scale;
        let separation = Separation::new(&corrections, &points, point, &iterate);
        let is_settled = left <= allowed || moved <= 2.0 * rounding;
        if is_settled && apart <= allowed.max(8.0 * rounding) && separation.is_within(allowed, rounding) {
            return Ok(Projection {
                point: iterate,
                iterations: sweep,
                remaining: left.min(moved.max(allowed)),
            });
        }
        let farthest = sets.iter().map(|set| set.farthest(&iterate)).fold(f64::INFINITY, f64::min);
        if separation.proves_none_within(farthest, rounding) {
            return Err(SolverError::EmptyIntersection { apart });
        }
    }
    Err(SolverError::NotSettled { iterations: stopping.iterations, remaining: left, apart })
}

/// Returns the sum of a geometric series from the term `moved` on, where `last` is the previous term.
fn geometric_rest(moved: f64, last: f64) -> f64 {
    if moved < last {
        moved / (1.0 - moved / last)
    } else if moved == 0.0 {
        0.0
    } else {
        f64::INFINITY
    }
}

/// A bound on the distance of common points: every common point y satisfies `‖point − x‖ · ‖y − x‖ ≥ Σ_i
/// ⟨p_i, x − y_i⟩`. The numbers are in a unit that prevents overflow of the products.
struct Separation {
    /// The unit of the other fields, a power of two.
    unit: f64,
    /// The sum `Σ_i ⟨p_i, x − y_i⟩`.
    product: f64,
    /// The distance `‖point − x‖`.
    travelled: f64,
    /// The sum `Σ_i ‖p_i‖`. Its product with the rounding error of the points is the rounding error of
    /// `product`.
    corrected: f64,
}

impl Separation {
    fn new(corrections: &[Vec<f64>], points: &[Vec<f64>], point: &[f64], iterate: &[f64]) -> Self {
        let unit =
            power_of_two_below(norm(point).max(norm(iterate))).clamp(2.0 * f64::MIN_POSITIVE, MAX_UNIT);
        let in_units = |numbers: &[f64]| numbers.iter().map(|number| number / unit).collect::<Vec<f64>>();
        let iterate_in_units = in_units(iterate);
        let product = |(p, y): (&Vec<f64>, &Vec<f64>)| {
            let p = in_units(p);
            dot(&p, &iterate_in_units) - dot(&p, &in_units(y))
        };
        let corrected = corrections.iter().map(|p| norm(p)).sum::<f64>() / unit;
        Self {
            unit,
            product: corrections.iter().zip(points).map(product).sum(),
            travelled: distance(point, iterate) / unit,
            corrected,
        }
    }

    /// Returns whether a common point may lie within `allowed` of the iterate, as far as can be determined
    /// with rounding errors.
    fn is_within(&self, allowed: f64, rounding: f64) -> bool {
        let (allowed, rounding) = (allowed / self.unit, rounding / self.unit);
        self.product <= self.travelled * allowed + 16.0 * self.corrected * rounding
    }

    /// Returns whether the bound proves that no common point lies within `distance` of the iterate.
    fn proves_none_within(&self, distance: f64, rounding: f64) -> bool {
        let (distance, rounding) = (distance / self.unit, rounding / self.unit);
        self.product > 1.001 * distance * self.travelled + 1e3 * self.corrected * rounding
    }
}
