//! The normal equations of a regression, factored, and their solution.

use crate::design::Design;
use crate::error::SolverError;
use crate::factor::{Factor, dot, remove_mean};
use crate::gram::{Groups, Kernel, centre, gram, move_origin};
use crate::rows::{Form, Rows, Targets};

/// The rows of a design with their Gram matrix, to whose diagonal a penalty is added, factored once for all outputs.
pub(crate) struct System {
    pub(crate) rows: Rows,
    /// The origin ρ of the rows.
    pub(crate) origin: Vec<f64>,
    /// The weight of all rows.
    pub(crate) total: f64,
    pub(crate) kernel: Kernel,
    pub(crate) factor: Factor,
    pub(crate) drift: Option<Vec<f64>>,
    /// In the scale of the weights of `rows`.
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
        let kernel = groups.kernel(kernel);
        let mut gram = gram(&rows.bits, &groups, kernel);
        let (n, total) = (rows.bits.players, groups.total());
        let origin = rows.origin(total, (0..n).map(|i| gram[(i, i)]));
        let largest = (0..n).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        match rows.form {
            Form::Projected => centre(&mut gram),
            Form::AboutCentre(0.0) => {}
            Form::AboutCentre(_) | Form::AboutMean => move_origin(&mut gram, &origin, total),
        }
        // What is taken away leaves its rounding.
        let is_moved = rows.form != Form::AboutCentre(0.0) && penalty == 0.0;
        let taken = if is_moved { largest } else { 0.0 };
        // The mean takes one row's worth of rank.
        let mut rank = groups.order.len().saturating_sub(usize::from(rows.form == Form::AboutMean));
        if penalty > 0.0 {
            (0..n).for_each(|i| gram[(i, i)] += penalty);
            rank = n;
        }
        let factor = Factor::new(gram, rows.form == Form::Projected, rank, taken)?;
        let drift = rows.drift(&groups);
        Ok(Self { rows, origin, total, kernel, factor, drift, penalty })
    }

    /// Solves and refines once; what the solution leaves of the targets stays in `remaining`. One output after the other.
    pub(crate) fn solve(&self, remaining: &mut [Targets]) -> Vec<f64> {
        let n = self.rows.bits.players;
        let mut solution = vec![0.0; n * remaining.len()];
        let mut products = vec![0.0; self.rows.len()];
        for _ in 0..2 {
            let mut step: Vec<f64> =
                remaining.iter().flat_map(|targets| self.right_hand_side(targets)).collect();
            if self.penalty > 0.0 {
                step.iter_mut().zip(&solution).for_each(|(entry, value)| *entry -= self.penalty * value);
            }
            self.factor.solve(&mut step, remaining.len());
            for (targets, step) in remaining.iter_mut().zip(step.chunks_exact(n)) {
                self.rows.bits.times(step, &mut products);
                let of_origin = dot(step, &self.origin);
                let values = targets.values.iter_mut().zip(&products);
                values.for_each(|(value, product)| *value -= product - of_origin);
                if !self.rows.pairs {
                    self.rows.move_offset(targets);
                }
            }
            solution.iter_mut().zip(&step).for_each(|(entry, step)| *entry += step);
        }
        solution
    }

    /// `Σ_k w_k a_k t_k`, the offset of the targets included.
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

    /// The intercept of one output, where the design has one, with what its solution leaves of the targets.
    pub(crate) fn intercept(&self, solution: &[f64], remaining: &Targets) -> Option<f64> {
        let beyond = |centre: f64| -> f64 {
            solution.iter().zip(&self.origin).map(|(value, origin)| value * (centre - origin)).sum()
        };
        self.rows.intercept_at.map(|centre| remaining.offset + beyond(centre))
    }
}
