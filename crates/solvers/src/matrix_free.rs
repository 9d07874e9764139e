//! The normal equations without their matrix: products of the Gram matrix with vectors are computed from the
//! rows.
//!
//! # Rank
//!
//! Iterating on the right-hand side of a regression cannot distinguish a singular matrix from a regular one,
//! because the right-hand side has no component in the null space. A probe in general position has such a
//! component. If there are at least as many rows as unknowns, the probe is a fixed random right-hand side,
//! for which the iteration only converges if the rank is full. If there are fewer rows, the probe fits fixed
//! random targets, and the residual only vanishes if the rank equals the number of rows. In all other cases,
//! the rank is not known.

// Loops over lanes use indices, because compilers vectorize such loops.
#![allow(clippy::needless_range_loop)]

use crate::conjugate_gradients::conjugate_gradients;
use crate::factor::{remove_mean, scattered};
use crate::passes::Side;
use crate::rows::{Form, Rows};

/// The maximum number of steps for one right-hand side. It is sufficient if the number of rows differs from
/// the number of unknowns by at least a tenth. If they are closer, the error of the regression peaks as well.
pub(crate) const MAX_STEPS: usize = 500;

/// The relative residual at which a probe has converged.
const PROBE_GOAL: f64 = 1e-6;

/// The Gram matrix of the rows relative to an origin, with a penalty on its diagonal, as an operator.
#[derive(Clone, Copy)]
pub(crate) struct Operator<'a> {
    pub(crate) rows: &'a Rows,
    pub(crate) origin: &'a [f64],
    pub(crate) penalty: f64,
}

/// The results of a probe of the operator.
#[derive(Debug, Clone)]
pub(crate) struct ProbeResult {
    /// The rank; `None` if it is not known.
    pub(crate) rank: Option<usize>,
    /// A lower bound on the condition number.
    pub(crate) condition: f64,
}

impl Operator<'_> {
    /// Returns the trace of the Gram matrix, `Σ_k w_k (a_kᵀ a_k)`.
    pub(crate) fn trace(&self) -> f64 {
        let squares = self.rows.squared_norms(self.origin);
        self.rows.weights.iter().zip(squares).map(|(weight, square)| weight * square).sum()
    }

    /// Solves `G x = b` for the columns of n numbers in `right`. Each is iterated until its residual norm is
    /// at most its goal. Overwrites `right` with the solutions and `goals` with the residual norms. Returns
    /// the ends of the spectrum, estimated from the first column.
    pub(crate) fn solve(&self, right: &mut [f64], goals: &mut [f64], max_steps: usize) -> Option<(f64, f64)> {
        let mut spectrum = None;
        let n = self.rows.bits.players;
        for (right, goals) in right.chunks_mut(8 * n).zip(goals.chunks_mut(8)) {
            let found = match goals.len() {
                1 => self.solve_side_by_side::<1>(right, goals, max_steps),
                2 => self.solve_side_by_side::<2>(right, goals, max_steps),
                3 | 4 => self.solve_side_by_side::<4>(right, goals, max_steps),
                _ => self.solve_side_by_side::<8>(right, goals, max_steps),
            };
            spectrum = spectrum.or(found);
        }
        spectrum
    }

    fn solve_side_by_side<const L: usize>(
        &self,
        right: &mut [f64],
        goals: &mut [f64],
        max_steps: usize,
    ) -> Option<(f64, f64)>
    where
        [f64; L]: Side,
    {
        let n = self.rows.bits.players;
        let mut memory = (vec![[0.0; L]; self.rows.len()], <[f64; L]>::tables(&self.rows.bits));
        let columns = goals.len();
        let entry = |right: &[f64], player: usize, lane: usize| {
            if lane < columns { right[lane * n + player] } else { 0.0 }
        };
        let side_by_side =
            (0..n).map(|player| std::array::from_fn(|lane| entry(right, player, lane))).collect();
        let goals_of_lanes = std::array::from_fn(|lane| goals.get(lane).copied().unwrap_or(0.0));
        let found = conjugate_gradients(side_by_side, goals_of_lanes, max_steps, |directions, images| {
            self.apply(directions, images, &mut memory);
        });
        for (player, solution) in found.solutions.iter().enumerate() {
            for lane in 0..columns {
                right[lane * n + player] = solution[lane];
            }
        }
        goals.copy_from_slice(&found.remaining[..columns]);
        found.spectrum
    }

    /// Computes `G X`. The caller provides memory for `W A X` and for the tables of the passes.
    fn apply<const L: usize>(
        &self,
        vectors: &[[f64; L]],
        images: &mut [[f64; L]],
        (along, tables): &mut (Vec<[f64; L]>, Vec<<[f64; L] as Side>::Tables>),
    ) where
        [f64; L]: Side,
    {
        let mut of_origin = [0.0; L];
        for (vector, origin) in vectors.iter().zip(self.origin) {
            for lane in 0..L {
                of_origin[lane] += vector[lane] * origin;
            }
        }
        Side::times(&self.rows.bits, vectors, along, tables);
        let mut totals = [0.0; L];
        for (along, weight) in along.iter_mut().zip(&self.rows.weights) {
            for lane in 0..L {
                along[lane] = weight * (along[lane] - of_origin[lane]);
                totals[lane] += along[lane];
            }
        }
        Side::transposed_times(&self.rows.bits, along, images, tables);
        let mut means = [0.0; L];
        if self.rows.form == Form::Projected {
            for image in &*images {
                for lane in 0..L {
                    means[lane] += image[lane];
                }
            }
            means = means.map(|sum| sum / images.len() as f64);
        }
        for ((image, vector), origin) in images.iter_mut().zip(vectors).zip(self.origin) {
            for lane in 0..L {
                image[lane] += self.penalty * vector[lane] - origin * totals[lane] - means[lane];
            }
        }
    }

    /// Determines the rank and the condition number, as far as a probe can. `independent` is the maximum
    /// number of linearly independent rows.
    pub(crate) fn probe(&self, independent: usize) -> ProbeResult {
        let n = self.rows.bits.players;
        let full = n - usize::from(self.rows.form == Form::Projected);
        if full == 0 || (self.penalty == 0.0 && (independent == 0 || self.trace() <= 0.0)) {
            return ProbeResult { rank: Some(0), condition: 1.0 };
        }
        let is_square = self.penalty > 0.0 || independent >= full;
        let targets = (!is_square).then(|| self.random_targets());
        let mut right: Vec<f64> = match &targets {
            None => (0..n as u64).map(scattered).collect(),
            Some(targets) => {
                let weighted = targets.iter().zip(&self.rows.weights).map(|(target, weight)| target * weight);
                self.transposed(&weighted.collect::<Vec<f64>>())
            }
        };
        if self.rows.form == Form::Projected {
            remove_mean(&mut right);
        }
        let goal = PROBE_GOAL * norm(&right);
        let mut remaining = [goal];
        let spectrum = self.solve(&mut right, &mut remaining, MAX_STEPS);
        let is_settled = remaining[0] <= goal;
        let is_met = |targets: &Vec<f64>| {
            let squares = |values: &mut dyn Iterator<Item = f64>| -> f64 {
                values.zip(&self.rows.weights).map(|(value, weight)| weight * value * value).sum()
            };
            let fitted = self.along(&right);
            let left = squares(&mut targets.iter().zip(&fitted).map(|(target, fitted)| target - fitted));
            left.sqrt() <= 100.0 * PROBE_GOAL * squares(&mut targets.iter().copied()).sqrt()
        };
        let is_known = is_settled && targets.as_ref().is_none_or(is_met);
        let condition =
            spectrum.map_or(
                1.0,
                |(least, largest)| {
                    if least > 0.0 { (largest / least).max(1.0) } else { f64::INFINITY }
                },
            );
        ProbeResult { rank: is_known.then_some(if is_square { full } else { independent }), condition }
    }

    /// Returns targets `γ_k / √w_k` with pseudo-random numbers γ_k, which are in general position. If the
    /// rows are centred at their mean, the weighted mean of the targets is subtracted.
    fn random_targets(&self) -> Vec<f64> {
        let weights = &self.rows.weights;
        let random = |(row, weight): (usize, &f64)| {
            if *weight > 0.0 { scattered(row as u64) / weight.sqrt() } else { 0.0 }
        };
        let mut targets: Vec<f64> = weights.iter().enumerate().map(random).collect();
        if self.rows.form == Form::AboutMean {
            let total: f64 = weights.iter().sum();
            let mean =
                weights.iter().zip(&targets).map(|(weight, target)| weight * target).sum::<f64>() / total;
            targets.iter_mut().for_each(|target| *target -= mean);
        }
        targets
    }

    /// Returns `A x`. Under the constraint, x must sum to zero.
    pub(crate) fn along(&self, vector: &[f64]) -> Vec<f64> {
        let of_origin: f64 = vector.iter().zip(self.origin).map(|(entry, origin)| entry * origin).sum();
        let mut along = vec![0.0; self.rows.len()];
        self.rows.bits.times(vector, &mut along);
        along.iter_mut().for_each(|value| *value -= of_origin);
        along
    }

    /// Returns `Aᵀ t`. Under the constraint, the caller must still subtract the mean.
    fn transposed(&self, values: &[f64]) -> Vec<f64> {
        let total: f64 = values.iter().sum();
        let mut sums = self.rows.bits.transposed_times(values);
        sums.iter_mut().zip(self.origin).for_each(|(sum, origin)| *sum -= origin * total);
        sums
    }
}

/// Returns `‖x‖`.
pub(crate) fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}
