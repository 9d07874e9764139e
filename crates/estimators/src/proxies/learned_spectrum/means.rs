//! A mean for the prior: predictions for a pair by deep trees that are fitted to other parts of the sample.
//!
//! Products of a dozen players are too numerous to have separate variances, but games that depend on a
//! maximum (max games, airport games) consist of them. A tree with one long path represents all of these
//! products. The predictions of the trees are subtracted without their value, `ĝ(S) = g(S) − g(∅) − Σ_{i ∈ S}
//! φ_i(g)`. ĝ has the value zero, so the remainder has the value of the game, however inaccurate the trees
//! are. Each pair is predicted by trees that have not seen it, so its leave-one-out residual can be compared
//! with the residual without trees.

use apportion_samplers::Sample;
use apportion_values::Semivalue;

use super::sampled::Sampled;
use crate::support::folds::{Folds, cross_fit};
use crate::surrogate::trees::TreeSurrogate;

/// The maximum number of splits on a path of the trees.
const DEPTH: usize = 10;
/// The number of folds. Each fold is predicted by trees fitted to the others.
const FOLDS: usize = 5;
/// The minimum number of pairs for using trees.
const MIN_PAIRS: usize = 20;
/// The maximum of players × coalitions × outputs for using trees. Above it, trees of this depth would take as
/// long as everything else.
const MAX_NUMBERS: usize = 50_000;

/// The remainders of pairs after subtracting trees.
pub(super) struct Remainders {
    /// Remainders for estimating values. The subtracted prediction is a weighted mean of the prediction by
    /// the trees that have not seen the pair, and the mean prediction of all trees. The weight of the latter
    /// is the inclusion probability of the pair (see [`folds`](crate::support::folds)).
    pub(super) estimated: Sampled,
    /// Remainders for estimating errors: the predictions subtracted from each pair are those of trees that
    /// have not seen it.
    pub(super) unseen: Sampled,
}

impl Remainders {
    /// Subtracts trees from each output of `sampled`, or returns `None` if trees are not used. `values` are
    /// the game's values for the coalitions of `sample`; `value` is the semivalue to estimate.
    pub(super) fn new(
        sampled: &Sampled,
        sample: &Sample,
        values: &[f64],
        value: &Semivalue,
        seed: u64,
    ) -> Option<Self> {
        let (rows, outputs) = (sample.coalitions().len(), sampled.outputs);
        if rows < 2 * MIN_PAIRS || sampled.players * rows * outputs > MAX_NUMBERS {
            return None;
        }
        let folds = Folds::new(sample, FOLDS, seed);
        let trees = TreeSurrogate::default().with_depth(DEPTH);
        let (mut estimated, mut unseen) = (sampled.clone(), sampled.clone());
        for output in 0..outputs {
            let own: Vec<f64> = values.iter().skip(output).step_by(outputs).copied().collect();
            let (odd, even) = (sampled.half_total[output], sampled.half_sum[output]);
            let crossed = cross_fit(&trees, sample, &folds, &own, [even - odd, even + odd], |model| {
                model.values(value)
            })?;
            for (less, said) in [(&mut estimated, &crossed.subtracted), (&mut unseen, &crossed.unseen)] {
                for (pair, said) in said.chunks_exact(2).enumerate() {
                    less.odd[pair * outputs + output] -= 0.5 * (said[0] - said[1]);
                }
                // For Shapley values, ĝ(N) is zero up to rounding, because the values of the trees sum to
                // their prediction for N.
                if *value != Semivalue::Shapley {
                    less.half_total[output] -= 0.5 * crossed.full;
                    (rows / 2..sampled.len())
                        .for_each(|pair| less.odd[pair * outputs + output] -= 0.5 * crossed.full);
                }
            }
        }
        Some(Self { estimated, unseen })
    }
}
