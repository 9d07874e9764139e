//! The normal equations of a regression and their solution: factored, or by conjugate gradients on the rows.

use apportion_games::memory;

use crate::design::Design;
use crate::error::SolverError;
use crate::factor::{Factor, Factorization, dot, remove_mean};
use crate::gram::{Groups, Kernel, centre, gram, move_origin};
use crate::matrix_free::{MAX_STEPS, Operator, ProbeResult, norm};
use crate::rows::{Form, Rows, Targets};

/// The maximum number of players for which the matrix is always factored.
///
/// The solve and the certificate together take, on one core of an AMD EPYC (Zen 5):
///
/// | n | m | factored | matrix-free |
/// |---|---|---|---|
/// | 1000 | 5000 | 68 ms | 53 ms |
/// | 1000 | 20 000 | 136 ms | 82 ms |
/// | 2000 | 10 000 | 0.44 s | 0.19 s |
/// | 2000 | 40 000 | 1.1 s | 0.31 s |
/// | 4000 | 20 000 | 4.0 s | 0.66 s |
///
/// To measure: `cargo run --release -p apportion-solvers --example timing n m`. Up to this limit, factoring
/// takes about a second at most, and the certificate is computed rather than estimated.
const FACTORED_UP_TO: usize = 2000;

/// The maximum number of players for which the matrix is factored if conjugate gradients do not converge, or
/// do not determine the rank. A matrix of this size takes 200 MB.
const MAX_FACTORED_PLAYERS: usize = 5000;

/// The residual gradient at which conjugate gradients stop, relative to `‖Aᵀ W b‖`, the gradient at zero.
const GOAL: f64 = 1e-14;

/// The residual gradient at which a single round stops, relative to the gradient at its start.
const GOAL_OF_ROUND: f64 = 1e-7;

/// The number of rounds of conjugate gradients: two to reach the goal, and one for the remaining rounding
/// error.
const ROUNDS: usize = 3;

/// The inverse of the Gram matrix, or its replacement by an iteration.
#[derive(Debug, Clone)]
pub(crate) enum Inverse {
    Factored(Factor),
    /// The inverse is not computed: each right-hand side is solved by conjugate gradients.
    Iterated(ProbeResult),
}

impl Inverse {
    /// Returns the rank, or `None` if it is not known.
    pub(crate) fn rank(&self) -> Option<usize> {
        match self {
            Self::Factored(factor) => Some(factor.rank),
            Self::Iterated(probed) => probed.rank,
        }
    }

    pub(crate) fn condition(&self) -> f64 {
        match self {
            Self::Factored(factor) => factor.condition,
            Self::Iterated(probed) => probed.condition,
        }
    }

    pub(crate) fn factorization(&self) -> Factorization {
        match self {
            Self::Factored(factor) => factor.factorization(),
            Self::Iterated(_) => Factorization::None,
        }
    }
}

/// Checks that a Gram matrix for this number of players, with its factors, fits in memory.
fn check_memory(players: usize) -> Result<(), SolverError> {
    let what = || format!("a regression on {players} players");
    Ok(memory::check(
        memory::product([4, players, players, 8]),
        what,
        "use fewer players, or put them into groups",
    )?)
}

/// The rows of a design, and the inverse of their Gram matrix, whose diagonal includes a penalty. All outputs
/// use the same system.
pub(crate) struct System {
    pub(crate) rows: Rows,
    /// The origin ρ that is subtracted from the rows.
    pub(crate) origin: Vec<f64>,
    /// The total weight of all rows.
    pub(crate) total: f64,
    pub(crate) kernel: Kernel,
    pub(crate) inverse: Inverse,
    pub(crate) drift: Option<Vec<f64>>,
    /// The penalty, in the scale of the weights of `rows`.
    penalty: f64,
}

impl System {
    pub(crate) fn new(
        design: &Design<'_>,
        constrained: bool,
        kernel: Kernel,
        penalty: f64,
    ) -> Result<Self, SolverError> {
        let rows = Rows::new(design, constrained);
        let penalty = penalty * rows.scale;
        let groups = Groups::new(&rows.weights);
        let is_large = kernel == Kernel::Auto && rows.bits.players > FACTORED_UP_TO;
        if (is_large || kernel == Kernel::MatrixFree) && !rows.pairs_apart {
            let system = Self::matrix_free(rows, &groups, penalty);
            let is_settled = system.inverse.rank().is_some();
            if is_settled || kernel == Kernel::MatrixFree || system.rows.bits.players > MAX_FACTORED_PLAYERS {
                return Ok(system);
            }
            return Self::factored(system.rows, &groups, kernel, penalty);
        }
        Self::factored(rows, &groups, kernel, penalty)
    }

    fn matrix_free(rows: Rows, groups: &Groups, penalty: f64) -> Self {
        let total = groups.total();
        let held =
            if rows.form == Form::AboutMean { rows.bits.transposed_times(&rows.weights) } else { Vec::new() };
        let origin = rows.origin(total, held.into_iter());
        let independent = independent(&rows, groups);
        let probed = Operator { rows: &rows, origin: &origin, penalty }.probe(independent);
        let drift = rows.drift(groups);
        let inverse = Inverse::Iterated(probed);
        Self { rows, origin, total, kernel: Kernel::MatrixFree, inverse, drift, penalty }
    }

    /// Factors the matrix; `penalty` is in the scale of the weights of `rows`.
    fn factored(rows: Rows, groups: &Groups, kernel: Kernel, penalty: f64) -> Result<Self, SolverError> {
        check_memory(rows.bits.players)?;
        let kernel = groups.kernel(kernel);
        let mut gram = gram(&rows.bits, groups, kernel);
        let (n, total) = (rows.bits.players, groups.total());
        let origin = rows.origin(total, (0..n).map(|i| gram[(i, i)]));
        let largest = (0..n).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        match rows.form {
            Form::Projected => centre(&mut gram),
            Form::AboutCentre(0.0) => {}
            Form::AboutCentre(_) | Form::AboutMean => move_origin(&mut gram, &origin, total),
        }
        // Subtraction leaves the rounding error of the subtracted numbers.
        let is_moved = rows.form != Form::AboutCentre(0.0) && penalty == 0.0;
        let taken = if is_moved { largest } else { 0.0 };
        let mut rank = independent(&rows, groups);
        if penalty > 0.0 {
            (0..n).for_each(|i| gram[(i, i)] += penalty);
            rank = n;
        }
        let factor = Factor::new(gram, rows.form == Form::Projected, rank, taken)?;
        let drift = rows.drift(groups);
        Ok(Self { rows, origin, total, kernel, inverse: Inverse::Factored(factor), drift, penalty })
    }

    /// Solves for all outputs, with refinement. Returns the solutions one after another, and leaves the
    /// residuals in `remaining`. The rank becomes unknown if conjugate gradients do not converge.
    pub(crate) fn solve(&mut self, remaining: &mut [Targets]) -> Vec<f64> {
        let n = self.rows.bits.players;
        let mut solution = vec![0.0; n * remaining.len()];
        if let Inverse::Factored(factor) = &self.inverse {
            for _ in 0..2 {
                let mut step = self.gradients(remaining, &solution);
                factor.solve(&mut step, remaining.len());
                self.take(&step, remaining, &mut solution);
            }
            return solution;
        }
        let trace = self.operator().trace();
        let mut goals = Vec::new();
        let mut is_settled = false;
        for round in 0..=ROUNDS {
            let mut step = self.gradients(remaining, &solution);
            if self.rows.form == Form::Projected {
                // Remove the rounding error of the mean, which lies in the null space.
                step.chunks_exact_mut(n).for_each(remove_mean);
            }
            let norms: Vec<f64> = step.chunks_exact(n).map(norm).collect();
            if round == 0 {
                goals = norms.iter().map(|norm| GOAL * norm).collect();
            }
            // Sums over the rows cannot be more accurate than this goal.
            let drift = self.drift.as_ref().map_or(0.0, |drift| norm(drift));
            let least = |targets: &Targets| {
                4.0 * f64::EPSILON * ((trace * self.squares(targets)).sqrt() + targets.offset.abs() * drift)
            };
            let goals_of_round: Vec<f64> = remaining
                .iter()
                .zip(&goals)
                .zip(&norms)
                .map(|((targets, goal), norm)| goal.max(least(targets)).max(GOAL_OF_ROUND * norm))
                .collect();
            is_settled = norms.iter().zip(&goals_of_round).all(|(norm, goal)| norm <= goal);
            if is_settled || round == ROUNDS {
                break;
            }
            let mut left = goals_of_round.clone();
            self.operator().solve(&mut step, &mut left, MAX_STEPS);
            self.take(&step, remaining, &mut solution);
            // If a goal was missed, another round would not improve the result.
            if left.iter().zip(&goals_of_round).any(|(left, goal)| left > goal) {
                break;
            }
        }
        if let (false, Inverse::Iterated(probed)) = (is_settled, &mut self.inverse) {
            probed.rank = None;
        }
        solution
    }

    fn operator(&self) -> Operator<'_> {
        Operator { rows: &self.rows, origin: &self.origin, penalty: self.penalty }
    }

    /// Returns the weighted sum of squared targets, `Σ_k w_k t_k²`.
    fn squares(&self, targets: &Targets) -> f64 {
        self.rows.weights.iter().zip(&targets.values).map(|(weight, value)| weight * value * value).sum()
    }

    /// Returns the right-hand sides for the current residuals, one output after the other.
    fn gradients(&self, remaining: &[Targets], solution: &[f64]) -> Vec<f64> {
        let mut gradients: Vec<f64> =
            remaining.iter().flat_map(|targets| self.right_hand_side(targets)).collect();
        if self.penalty > 0.0 {
            gradients.iter_mut().zip(solution).for_each(|(entry, value)| *entry -= self.penalty * value);
        }
        gradients
    }

    /// Adds a step to the solution, and subtracts its fitted values from the residuals.
    fn take(&self, step: &[f64], remaining: &mut [Targets], solution: &mut [f64]) {
        let n = self.rows.bits.players;
        let mut products = vec![0.0; self.rows.len()];
        for (targets, step) in remaining.iter_mut().zip(step.chunks_exact(n)) {
            self.rows.bits.times(step, &mut products);
            let of_origin = dot(step, &self.origin);
            let values = targets.values.iter_mut().zip(&products);
            values.for_each(|(value, product)| *value -= product - of_origin);
            if !self.rows.pairs {
                self.rows.move_offset(targets);
            }
        }
        solution.iter_mut().zip(step).for_each(|(entry, step)| *entry += step);
    }

    /// Returns the right-hand side `Σ_k w_k a_k t_k`, including the offset of the targets.
    fn right_hand_side(&self, targets: &Targets) -> Vec<f64> {
        let weighted: Vec<f64> =
            self.rows.weights.iter().zip(&targets.values).map(|(weight, value)| weight * value).collect();
        let mut right = self.rows.bits.transposed_times(&weighted);
        if self.rows.form == Form::Projected {
            remove_mean(&mut right);
        } else {
            let sum: f64 = weighted.iter().sum();
            right.iter_mut().zip(&self.origin).for_each(|(entry, origin)| *entry -= origin * sum);
        }
        if let Some(drift) = &self.drift {
            right.iter_mut().zip(drift).for_each(|(entry, drift)| *entry += targets.offset * drift);
        }
        right
    }

    /// Returns the intercept of one output if the design has one, given the solution and the residuals.
    pub(crate) fn intercept(&self, solution: &[f64], remaining: &Targets) -> Option<f64> {
        let beyond = |centre: f64| -> f64 {
            solution.iter().zip(&self.origin).map(|(value, origin)| value * (centre - origin)).sum()
        };
        self.rows.intercept_at.map(|centre| remaining.offset + beyond(centre))
    }
}

/// Returns the maximum number of linearly independent rows: the number of rows with positive weight, minus
/// one if the mean is subtracted.
fn independent(rows: &Rows, groups: &Groups) -> usize {
    groups.order.len().saturating_sub(usize::from(rows.form == Form::AboutMean))
}
