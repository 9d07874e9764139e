//! The main loop: draws coalitions, evaluates them, and takes steps.

use apportion_games::Coalitions;

use super::ProjectedGradient;
use super::coalitions::{BLOCK, MAX_DRAWS, draw_block};
use super::descent::{Descent, Step};
use super::feasible::Feasible;
use crate::error::GradientError;
use crate::error::Result;
use crate::run::{Evaluations, check_draws};

impl ProjectedGradient {
    /// Takes the steps for all draws within `budget`. Returns the final state of each output.
    pub(super) fn descend(
        &self,
        evaluations: &mut Evaluations,
        budget: usize,
        seed: u64,
    ) -> Result<Vec<Descent>> {
        let players = evaluations.game.players();
        let totals = evaluations.total();
        let steps = (budget - 2) / self.evaluations_per_step();
        let draws = steps.saturating_mul(self.batch);
        check_draws(draws, 1, MAX_DRAWS)?;
        let sets =
            totals.iter().enumerate().map(|(output, &total)| Feasible::new(self.set, players, output, total));
        let sets = sets.collect::<Result<Vec<_>, _>>()?;
        let factors = self.factors(players, &totals)?;
        let mut descents: Vec<Descent> =
            totals.iter().map(|total| Descent::new(players, total / players as f64)).collect();

        let mut batch = Coalitions::new(players);
        let mut row = vec![0.0; players];
        // The largest |v(S) − v(∅)| so far.
        let mut largest = totals.iter().map(|total| total.abs()).fold(0.0, f64::max);
        let per_draw = if self.is_paired() { 2 } else { 1 };
        for block in 0..draws.div_ceil(BLOCK) {
            let first = block * BLOCK;
            let count = BLOCK.min(draws - first);
            draw_block(&mut batch, &factors, self.is_paired(), (seed, block as u64, count));
            let gains = evaluations.gains(&batch)?;
            for (index, gains) in gains.chunks_exact(per_draw * totals.len()).enumerate() {
                largest = gains.iter().map(|gain| gain.abs()).fold(largest, f64::max);
                let drawn = batch.row(index * per_draw);
                let size = batch.sizes()[index * per_draw] as usize;
                write_centred(drawn.words(), size, &mut row);
                let factor = factors.factor(size);
                for (output, descent) in descents.iter_mut().enumerate() {
                    let share = totals[output] * size as f64 / players as f64;
                    let along = descent.along(&row);
                    let coefficient = if self.is_paired() {
                        let complement = gains[totals.len() + output];
                        // The residuals of S and its complement are x·φ − y and c − x·φ − ȳ, with rows Px and
                        // −Px.
                        factor * (2.0 * (along + share) - totals[output] - (gains[output] - complement))
                    } else {
                        2.0 * factor * (along + share - gains[output])
                    };
                    descent.add(coefficient, &row);
                }
                let done = first + index + 1;
                if done.is_multiple_of(self.batch) {
                    let number = done / self.batch;
                    let step = Step {
                        length: self.step.length(players, number),
                        weight: self.average.weight(number),
                        batch: self.batch as f64,
                    };
                    for (descent, set) in descents.iter_mut().zip(&sets) {
                        let away = descent.step(step, |iterate| set.project(iterate));
                        // The distance of the Shapley values from the start is at most 2 √n times the largest
                        // |v(S) − v(∅)|.
                        if away.is_nan() || away > DIVERGED * largest * (players as f64).sqrt() {
                            return Err(GradientError::Diverged { step: number, norm: away }.into());
                        }
                    }
                }
            }
        }
        Ok(descents)
    }
}

/// An iterate counts as diverged if its distance from the start exceeds that of any possible Shapley value by
/// this factor.
const DIVERGED: f64 = 1e8;

/// Writes the centred row `x − (l/n) 1` of a coalition of size l to `row`.
fn write_centred(words: &[u64], size: usize, row: &mut [f64]) {
    let out = -(size as f64) / row.len() as f64;
    let values = [out, 1.0 + out];
    for (row, &word) in row.chunks_mut(64).zip(words) {
        for (bit, value) in row.iter_mut().enumerate() {
            *value = values[(word >> bit & 1) as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projected_gradient::GradientDistribution;
    use crate::projected_gradient::distribution::SizeFactors;

    /// Computes the gradient of F within the plane at `point` by definition.
    fn gradient(point: &[f64], values: &[f64]) -> Vec<f64> {
        let players = point.len();
        let binomial = |l: usize| (0..l).map(|i| (players - i) as f64 / (i + 1) as f64).product::<f64>();
        let mut gradient = vec![0.0; players];
        for (mask, value) in values.iter().enumerate().take((1 << players) - 1).skip(1) {
            let size = mask.count_ones() as usize;
            let weight = (players - 1) as f64 / (binomial(size) * (size * (players - size)) as f64);
            let fitted: f64 = (0..players).filter(|i| mask >> i & 1 == 1).map(|i| point[i]).sum();
            for (i, slot) in gradient.iter_mut().enumerate() {
                *slot += 2.0 * weight * (fitted - value) * (mask >> i & 1) as f64;
            }
        }
        let mean = gradient.iter().sum::<f64>() / players as f64;
        gradient.iter().map(|g| g - mean).collect()
    }

    #[test]
    fn the_gradients_of_all_draws_average_to_the_gradient() {
        // Average a step of length 1 over all coalitions, weighted by their probabilities.
        for players in [2, 3, 4, 7] {
            let all = 1usize << players;
            let values: Vec<f64> =
                (0..all).map(|mask| if mask == 0 { 0.0 } else { (mask as f64 * 1.9).sin() }).collect();
            let total = values[all - 1];
            let point: Vec<f64> = {
                let raw: Vec<f64> = (0..players).map(|i| (i as f64 + 0.3).cos()).collect();
                let excess = (raw.iter().sum::<f64>() - total) / players as f64;
                raw.iter().map(|x| x - excess).collect()
            };
            let expected = gradient(&point, &values);
            for distribution in [
                GradientDistribution::Uniform,
                GradientDistribution::Importance,
                GradientDistribution::Centred,
            ] {
                for is_paired in [false, true] {
                    let weights = distribution.size_weights(players, 1.3, 0.7);
                    let sum: f64 = weights.iter().sum();
                    let factors = SizeFactors::new(weights.clone(), is_paired).unwrap();
                    let binomial =
                        |l: usize| (0..l).map(|i| (players - i) as f64 / (i + 1) as f64).product::<f64>();
                    let mut mean = vec![0.0; players];
                    for mask in 1..all - 1 {
                        let size = mask.count_ones() as usize;
                        let probability = weights[size - 1] / sum / binomial(size);
                        let mut row = vec![0.0; players];
                        write_centred(&[mask as u64], size, &mut row);
                        let fitted = |mask: usize| -> f64 {
                            (0..players).filter(|i| mask >> i & 1 == 1).map(|i| point[i]).sum()
                        };
                        let one = |mask: usize, sign: f64| {
                            sign * 2.0
                                * factors.factor(mask.count_ones() as usize)
                                * (fitted(mask) - values[mask])
                        };
                        let coefficient = if is_paired {
                            0.5 * (one(mask, 1.0) + one(all - 1 - mask, -1.0))
                        } else {
                            one(mask, 1.0)
                        };
                        mean.iter_mut().zip(&row).for_each(|(m, x)| *m += probability * coefficient * x);
                    }
                    for (got, want) in mean.iter().zip(&expected) {
                        assert!(
                            (got - want).abs() < 1e-12,
                            "{distribution:?}, {players} players: {got} for {want}"
                        );
                    }
                }
            }
        }
    }
}
