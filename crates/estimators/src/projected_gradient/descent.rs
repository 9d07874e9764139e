//! The iterates of one output, their average, and its error.
//!
//! # Notation
//!
//! `e_t = φ_t − φ*` is the error of iterate t, where φ* are the Shapley values. `∇_t` is the gradient within
//! the plane for step t, and `ξ_t = ∇_t − μ e_{t−1}` is its noise. The other symbols are those of the parent
//! module.
//!
//! # Errors
//!
//! F has the curvature μ in every direction of the plane. Therefore the errors of the iterates and of their
//! average are known sums of the noise:
//!
//! ```text
//! e_t = (1 − γ_t μ) e_{t−1} − γ_t ξ_t,    ē_t = (1 − ρ_t) ē_{t−1} + ρ_t e_t
//! ⇒      ē_T = b e_0 − Σ_t β_t ξ_t
//! ```
//!
//! with numbers b and β_t that depend on the steps only. The noise of different steps is uncorrelated, so
//! `Var ē_i = Σ_t β_t² Var ξ_ti`, which `Σ_t β_t² ∇_ti²` estimates. With the coefficients α_t of the noise in
//! e_T itself, the sums of α², αβ and β² are updated from step to step. For steps like 1/√t and the uniform
//! average, the sum tends to `E[∇²]/(μ² T)` (Polyak and Juditsky, *Acceleration of stochastic approximation
//! by averaging*, 1992). For [`Inverse`](super::StepSize::Inverse) and the weighted average, it tends to
//! 32/27 of that.

use super::schedule::curvature;

/// The state of the descent for one output, with O(n) memory.
pub(super) struct Descent {
    /// The current iterate φ_t.
    pub(super) iterate: Vec<f64>,
    /// The average φ̄_t of the iterates.
    average: Vec<f64>,
    /// The starting value φ_0, the same for all players.
    start: f64,
    /// The gradient ∇, summed over a mini-batch.
    gradient: Vec<f64>,
    /// For each player, the sums of α², αβ and β² times ∇².
    squares: Vec<[f64; 3]>,
    /// The sums of α⁴, α³β, …, β⁴ times ‖∇‖⁴.
    fourth: [f64; 5],
    /// ∇ and ‖∇‖² of the previous step.
    before: (Vec<f64>, f64),
    /// The sums of α², αβ and β² times `⟨∇_t, ∇_{t−1}⟩²`.
    products: [f64; 3],
    /// The sums of α², αβ and β² times `‖∇_t‖² ‖∇_{t−1}‖²`.
    norms: [f64; 3],
    /// The remaining fractions of the initial error e_0 in e_t and in ē_t.
    kept: [f64; 2],
    curvature: f64,
}

/// A step: the step size, the weight of the iterate in the average, and the number of draws in the
/// mini-batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) length: f64,
    pub(super) weight: f64,
    pub(super) batch: f64,
}

impl Descent {
    /// Creates the state with all iterates at `start`.
    pub(super) fn new(players: usize, start: f64) -> Self {
        Self {
            iterate: vec![start; players],
            average: vec![start; players],
            start,
            gradient: vec![0.0; players],
            squares: vec![[0.0; 3]; players],
            fourth: [0.0; 5],
            before: (vec![0.0; players], 0.0),
            products: [0.0; 3],
            norms: [0.0; 3],
            kept: [1.0; 2],
            curvature: curvature(players),
        }
    }

    /// Returns the product `Px·φ` with the current iterate φ; `row` is Px.
    pub(super) fn along(&self, row: &[f64]) -> f64 {
        let mut lanes = [0.0; 8];
        let (rows, iterates) = (row.as_chunks::<8>(), self.iterate.as_chunks::<8>());
        for (x, phi) in rows.0.iter().zip(iterates.0) {
            (0..8).for_each(|lane| lanes[lane] += x[lane] * phi[lane]);
        }
        let rest: f64 = rows.1.iter().zip(iterates.1).map(|(x, phi)| x * phi).sum();
        lanes.iter().sum::<f64>() + rest
    }

    /// Adds `coefficient · row` to the gradient.
    pub(super) fn add(&mut self, coefficient: f64, row: &[f64]) {
        self.gradient.iter_mut().zip(row).for_each(|(gradient, x)| *gradient += coefficient * x);
    }

    /// Takes a step along the accumulated gradient, and resets the gradient; `project` projects the iterate
    /// onto the set K.
    ///
    /// Returns `‖φ_t − φ_0‖`.
    pub(super) fn step(&mut self, step: Step, project: impl FnOnce(&mut [f64])) -> f64 {
        let Step { length, weight, batch } = step;
        let keep = 1.0 - length * self.curvature;
        let (mut norm, mut product) = (0.0, 0.0);
        let players = self.gradient.iter_mut().zip(&mut self.before.0).zip(&mut self.iterate);
        for (((gradient, before), iterate), squares) in players.zip(&mut self.squares) {
            let mean = *gradient / batch;
            *gradient = 0.0;
            *iterate -= length * mean;
            let square = mean * mean;
            norm += square;
            product += mean * *before;
            *before = mean;
            *squares = second_moments(*squares, keep, weight, length * length * square);
        }
        let new = length * length * product * product;
        self.products = second_moments(self.products, keep, weight, new);
        let new = length * length * norm * self.before.1;
        self.norms = second_moments(self.norms, keep, weight, new);
        self.before.1 = norm;
        self.fourth = fourth_moments(self.fourth, keep, weight, length.powi(4) * norm * norm);
        self.kept[0] *= keep;
        self.kept[1] = (1.0 - weight) * self.kept[1] + weight * self.kept[0];
        project(&mut self.iterate);
        let mut away = 0.0;
        for (average, iterate) in self.average.iter_mut().zip(&self.iterate) {
            *average += weight * (iterate - *average);
            away += (iterate - self.start).powi(2);
        }
        away.sqrt()
    }

    /// Returns the average of the iterates; if `removes_start` is set, without the contribution of the
    /// starting point.
    pub(super) fn estimate(&self, removes_start: bool) -> Vec<f64> {
        let stretch = if removes_start { 1.0 / (1.0 - self.kept[1]) } else { 1.0 };
        let moved: Vec<f64> = self.average.iter().map(|average| (average - self.start) * stretch).collect();
        // Remove the drift that rounding causes: exact steps are parallel to the plane.
        let drift = moved.iter().sum::<f64>() / moved.len() as f64;
        moved.iter().map(|moved| self.start + (moved - drift)).collect()
    }

    /// Returns one standard error per player.
    pub(super) fn standard_errors(&self, removes_start: bool) -> impl Iterator<Item = f64> {
        let stretch = if removes_start { 1.0 / (1.0 - self.kept[1]) } else { 1.0 };
        self.squares.iter().map(move |squares| squares[2].max(0.0).sqrt() * stretch)
    }

    /// Returns the effective number of steps that contribute to the variance: `(Σ β²‖∇‖²)² / Σ β⁴‖∇‖⁴`.
    pub(super) fn effective_steps(&self) -> f64 {
        let total: f64 = self.squares.iter().map(|squares| squares[2]).sum();
        if self.fourth[4] > 0.0 { total * total / self.fourth[4] } else { f64::INFINITY }
    }

    /// Returns ν, the number of directions of the error. For independent vectors g, g′ with covariance Σ,
    /// `E⟨g, g′⟩² = tr Σ²` and `E‖g‖²‖g′‖² = (tr Σ)²`. This is applied to consecutive steps, weighted as in
    /// the average. Because few steps provide little information, a fraction
    /// 1/[`effective_steps`](Self::effective_steps) is added as a single direction.
    pub(super) fn directions(&self) -> f64 {
        let most = (self.iterate.len() as f64 - 1.0).max(1.0);
        let share = self.products[2] / self.norms[2] + 1.0 / self.effective_steps();
        // The share is NaN if there were no steps.
        if share > 0.0 { (1.0 / share).clamp(1.0, most) } else { 1.0 }
    }
}

/// Updates the sums of α², αβ and β² by one step: multiplies α by `keep`, adds a term with α² = `new` and β =
/// 0, and then sets `β ← (1 − weight) β + weight α`.
#[inline]
fn second_moments(before: [f64; 3], keep: f64, weight: f64, new: f64) -> [f64; 3] {
    let last = keep * keep * before[0] + new;
    let both = keep * before[1];
    [
        last,
        (1.0 - weight) * both + weight * last,
        (1.0 - weight).powi(2) * before[2] + 2.0 * weight * (1.0 - weight) * both + weight * weight * last,
    ]
}

/// Updates sums like [`second_moments`], for α^(4−j) β^j, j = 0 to 4.
fn fourth_moments(before: [f64; 5], keep: f64, weight: f64, new: f64) -> [f64; 5] {
    let mut scaled = before;
    (0..5).for_each(|j| scaled[j] *= keep.powi(4 - j as i32));
    scaled[0] += new;
    const BINOMIALS: [[f64; 5]; 5] = [
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, 1.0, 0.0, 0.0],
        [1.0, 3.0, 3.0, 1.0, 0.0],
        [1.0, 4.0, 6.0, 4.0, 1.0],
    ];
    std::array::from_fn(|j| {
        let term = |i: usize| {
            BINOMIALS[j][i] * (1.0 - weight).powi(i as i32) * weight.powi((j - i) as i32) * scaled[i]
        };
        (0..=j).map(term).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projected_gradient::{IterateAverage, StepSize};
    use apportion_games::{Purpose, stream};
    use rand::RngExt;

    /// Computes α_s and β_s for all steps, by definition.
    fn coefficients(steps: &[(f64, f64)], curvature: f64) -> Vec<(f64, f64)> {
        let mut all: Vec<(f64, f64)> = Vec::new();
        for &(length, weight) in steps {
            for (alpha, beta) in &mut all {
                *alpha *= 1.0 - length * curvature;
                *beta = (1.0 - weight) * *beta + weight * *alpha;
            }
            all.push((length, weight * length));
        }
        all
    }

    #[test]
    fn variances_are_sums_over_the_coefficients_of_all_steps() {
        let players = 5;
        for (size, average) in [
            (StepSize::Constant(0.1), IterateAverage::Last),
            (StepSize::SquareRoot(0.3), IterateAverage::Uniform),
            (StepSize::Inverse, IterateAverage::Weighted),
            (StepSize::Delayed(2.0), IterateAverage::Weighted),
        ] {
            let schedule: Vec<(f64, f64)> =
                (1..=30).map(|t| (size.length(players, t), average.weight(t))).collect();
            let mut descent = Descent::new(players, 0.5);
            let gradients: Vec<Vec<f64>> = (0..30)
                .map(|t| (0..players).map(|i| (f64::from(t) * 1.3 + i as f64 * 0.7).sin()).collect())
                .collect();
            for (&(length, weight), gradient) in schedule.iter().zip(&gradients) {
                descent.add(2.0, gradient);
                let step = Step { length, weight, batch: 2.0 };
                descent.step(step, |_| {});
            }
            let coefficients = coefficients(&schedule, curvature(players));
            for (player, error) in descent.standard_errors(false).enumerate() {
                let expected: f64 = coefficients
                    .iter()
                    .zip(&gradients)
                    .map(|((_, beta), g)| (beta * g[player]).powi(2))
                    .sum();
                assert!((error - expected.sqrt()).abs() < 1e-13, "{size:?}");
            }
            let norm = |g: &Vec<f64>| g.iter().map(|x| x * x).sum::<f64>();
            let squares: Vec<f64> =
                coefficients.iter().zip(&gradients).map(|((_, beta), g)| beta * beta * norm(g)).collect();
            let expected = squares.iter().sum::<f64>().powi(2) / squares.iter().map(|x| x * x).sum::<f64>();
            assert!((descent.effective_steps() / expected - 1.0).abs() < 1e-9, "{size:?}");
        }
    }

    #[test]
    fn directions_are_as_many_as_the_gradients_go_in() {
        let players = 40;
        for expected in [1, 3, 20] {
            let mut rng = stream(expected, Purpose::Experiment, 0);
            let mut descent = Descent::new(players, 0.0);
            for t in 1..=4000 {
                let signs: Vec<f64> = (0..players as u64)
                    .map(|i| if i >= expected { 0.0 } else { f64::from(rng.random_range(0..2i32) * 2 - 1) })
                    .collect();
                descent.add(1.0, &signs);
                let length = StepSize::Delayed(1.0).length(players, t);
                let step = Step { length, weight: IterateAverage::Weighted.weight(t), batch: 1.0 };
                descent.step(step, |_| {});
            }
            let got = descent.directions();
            assert!((got / expected as f64 - 1.0).abs() < 0.15, "{got} for {expected}");
        }
    }

    #[test]
    fn the_sums_of_squared_coefficients_have_the_limits_of_the_theory() {
        // μ² T Σ β² is 1 for steps like 1/√t and the uniform average, and 32/27 for inverse steps and the
        // weighted average. For constant steps and the last iterate, Σ α² = γ / (μ (2 − γμ)).
        let players = 10;
        let mu = curvature(players);
        let sum = |size: StepSize, average: IterateAverage, steps: usize| {
            let schedule: Vec<(f64, f64)> =
                (1..=steps).map(|t| (size.length(players, t), average.weight(t))).collect();
            coefficients(&schedule, mu).iter().map(|(_, beta)| beta * beta).sum::<f64>()
        };
        let uniform = sum(StepSize::SquareRoot(0.5), IterateAverage::Uniform, 8000) * mu * mu * 8000.0;
        assert!((uniform - 1.0).abs() < 0.05, "{uniform}");
        let weighted = sum(StepSize::Inverse, IterateAverage::Weighted, 4000) * mu * mu * 4000.0;
        assert!((weighted - 32.0 / 27.0).abs() < 0.005, "{weighted}");
        let last = sum(StepSize::Constant(0.05), IterateAverage::Last, 2000) * mu * (2.0 - 0.05 * mu) / 0.05;
        assert!((last - 1.0).abs() < 1e-9, "{last}");
    }
}
