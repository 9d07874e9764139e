//! Conjugate gradients for a symmetric positive semidefinite operator and several right-hand sides.
//!
//! # Convergence
//!
//! For a design of m' rows that are drawn by their leverage scores, the expectation of the Gram matrix G is a
//! multiple of the identity (under the constraint: on vectors that sum to zero). The identity is therefore
//! the best preconditioner, and none is needed. The eigenvalues of G lie between `(1 − √γ)²` and `(1 + √γ)²`
//! times that multiple, where γ = n/m' (Marchenko and Pastur 1967). Each step thus reduces the error by the
//! factor `√γ`. With five pairs of evaluations per player (γ = 1/5), 14 digits take 40 steps.
//!
//! The iteration starts from zero, so all iterates lie in the range of G. If G is singular, the limit is
//! therefore the solution of minimum norm.
//!
//! # Source
//!
//! Hestenes and Stiefel, *Methods of Conjugate Gradients for Solving Linear Systems*, 1952. The coefficients
//! α_j and β_j of the steps yield the tridiagonal matrix T of Lanczos's method: `T_jj = 1/α_j +
//! β_{j−1}/α_{j−1}`, `T_{j,j+1} = √β_j / α_j`.

// Loops over lanes use indices, because compilers vectorize such loops.
#![allow(clippy::needless_range_loop)]

use crate::factor::largest_of_tridiagonal;

/// G is considered zero along a direction if its curvature there is at most this fraction of the largest
/// curvature so far.
const FLAT: f64 = 1e-14;

/// The results of the iteration.
pub(crate) struct CgSolution<const L: usize> {
    pub(crate) solutions: Vec<[f64; L]>,
    /// The residual norms `‖b − G x‖`, computed by the recurrence.
    pub(crate) remaining: [f64; L],
    /// Estimates of the smallest and the largest eigenvalue, from the first right-hand side. Both lie between
    /// the true extreme eigenvalues.
    pub(crate) spectrum: Option<(f64, f64)>,
}

/// Solves `G x = b` for `L` right-hand sides. Each is iterated until its residual norm is at most its goal,
/// for at most `max_steps` steps. `apply` writes `G p` for all `L` directions.
pub(crate) fn conjugate_gradients<const L: usize>(
    right: Vec<[f64; L]>,
    goals: [f64; L],
    max_steps: usize,
    mut apply: impl FnMut(&[[f64; L]], &mut [[f64; L]]),
) -> CgSolution<L> {
    let mut residuals = right;
    let mut solutions = vec![[0.0; L]; residuals.len()];
    let mut directions = residuals.clone();
    let mut images = vec![[0.0; L]; residuals.len()];
    let mut squares = dots(&residuals, &residuals);
    let mut is_done: [bool; L] = std::array::from_fn(|lane| !is_above(squares[lane], goals[lane]));
    let mut steepest = [0.0_f64; L];
    let mut lanczos = Lanczos::default();
    for _ in 0..max_steps {
        if is_done.iter().all(|&is_done| is_done) {
            break;
        }
        apply(&directions, &mut images);
        let (lengths, curvatures) = (dots(&directions, &directions), dots(&directions, &images));
        let mut along = [0.0; L];
        for lane in 0..L {
            let curvature = curvatures[lane] / lengths[lane];
            steepest[lane] = steepest[lane].max(curvature);
            // Both conditions are false for a zero direction.
            if curvature > FLAT * steepest[lane] && !is_done[lane] {
                along[lane] = squares[lane] / curvatures[lane];
            } else {
                is_done[lane] = true;
            }
        }
        for ((solution, residual), (direction, image)) in
            solutions.iter_mut().zip(&mut residuals).zip(directions.iter().zip(&images))
        {
            for lane in 0..L {
                solution[lane] += along[lane] * direction[lane];
                residual[lane] -= along[lane] * image[lane];
            }
        }
        let left = dots(&residuals, &residuals);
        let mut ahead = [0.0; L];
        for lane in 0..L {
            if !is_done[lane] {
                ahead[lane] = left[lane] / squares[lane];
                squares[lane] = left[lane];
                is_done[lane] = !is_above(left[lane], goals[lane]);
            }
        }
        if along[0] > 0.0 {
            lanczos.push(along[0], ahead[0]);
        }
        for (direction, residual) in directions.iter_mut().zip(&residuals) {
            for lane in 0..L {
                // Set finished directions to zero, so that none of their numbers overflows.
                direction[lane] =
                    if is_done[lane] { 0.0 } else { residual[lane] + ahead[lane] * direction[lane] };
            }
        }
    }
    CgSolution { solutions, remaining: squares.map(f64::sqrt), spectrum: lanczos.spectrum() }
}

/// Returns whether a norm, given by its square, is above its goal.
fn is_above(square: f64, goal: f64) -> bool {
    square > 0.0 && square.sqrt() > goal
}

/// Returns the dot products, one for each of the `L` lanes.
fn dots<const L: usize>(left: &[[f64; L]], right: &[[f64; L]]) -> [f64; L] {
    let mut sums = [0.0; L];
    for (left, right) in left.iter().zip(right) {
        for lane in 0..L {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums
}

/// The tridiagonal matrix of Lanczos's method for one right-hand side.
#[derive(Default)]
struct Lanczos {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    /// The numbers `β_j / α_j` and `√β_j / α_j` from the last step.
    last: Option<(f64, f64)>,
}

impl Lanczos {
    fn push(&mut self, along: f64, ahead: f64) {
        let (share, beside) = self.last.unwrap_or((0.0, 0.0));
        if !self.diagonal.is_empty() {
            self.beside.push(beside);
        }
        self.diagonal.push(along.recip() + share);
        self.last = Some((ahead / along, ahead.sqrt() / along));
    }

    fn spectrum(&self) -> Option<(f64, f64)> {
        if self.diagonal.is_empty() {
            return None;
        }
        let mirrored: Vec<f64> = self.diagonal.iter().map(|entry| -entry).collect();
        let least = -largest_of_tridiagonal(&mirrored, &self.beside);
        Some((least, largest_of_tridiagonal(&self.diagonal, &self.beside)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves a system with a diagonal matrix for two right-hand sides.
    fn solve(eigenvalues: &[f64], right: &[[f64; 2]], goal: f64) -> CgSolution<2> {
        conjugate_gradients(right.to_vec(), [goal; 2], 100, |directions, images| {
            for ((image, direction), value) in images.iter_mut().zip(directions).zip(eigenvalues) {
                *image = direction.map(|entry| entry * value);
            }
        })
    }

    #[test]
    fn both_systems_are_solved_and_the_ends_of_the_spectrum_met() {
        let eigenvalues: Vec<f64> = (1..=40).map(|i| 1.0 + i as f64 / 10.0).collect();
        let right: Vec<[f64; 2]> = (0..40).map(|i| [1.0 + (i % 3) as f64, (i % 7) as f64 - 3.0]).collect();
        let found = solve(&eigenvalues, &right, 1e-12);
        for ((solution, right), value) in found.solutions.iter().zip(&right).zip(&eigenvalues) {
            for lane in 0..2 {
                assert!((solution[lane] - right[lane] / value).abs() < 1e-12);
            }
        }
        let (least, largest) = found.spectrum.unwrap();
        assert!((least - 1.1).abs() < 1e-6 && (largest - 5.0).abs() < 1e-6, "{least}, {largest}");
    }

    #[test]
    fn nothing_to_solve_takes_no_step_and_a_flat_direction_ends_the_iteration() {
        let found = solve(&[1.0, 2.0], &[[0.0; 2]; 2], 0.0);
        assert_eq!((found.solutions, found.remaining), (vec![[0.0; 2]; 2], [0.0; 2]));
        assert!(found.spectrum.is_none());
        // The component of the right-hand side in the null space remains in the residual. The solution for
        // the other component is the one of minimum norm.
        let found = solve(&[0.0, 2.0], &[[3.0, 0.0], [4.0, 4.0]], 1e-12);
        assert!(found.remaining[0] >= 3.0);
        assert_eq!((found.solutions[0][1], found.solutions[1][1], found.remaining[1]), (0.0, 2.0, 0.0));
    }
}
