//! A mean for the prior: what deep trees, fitted to other parts of the sample, say of a pair.
//!
//! Products of a dozen players are too many to have variances each, yet games that are decided by who comes first (max games, airports) are made of
//! them; a tree of one long path says them all. What the trees say is subtracted without its value, `ĝ(S) = g(S) − g(∅) − Σ_{i ∈ S} φ_i(g)`, whose
//! own value is zero: so what is left has the value of the game, however wrong the trees are. Each pair is told by trees that have not seen it, so
//! that what is left of it, left out, can be compared with what is left without the trees.

use apportion_samplers::Sample;
use apportion_values::Semivalue;

use super::sampled::Sampled;
use crate::support::folds::{Folds, cross_fit};
use crate::surrogate::trees::TreeSurrogate;

/// Splits on a path of the trees.
const DEPTH: usize = 10;
/// Parts of the sample, each told by trees of the others.
const FOLDS: usize = 5;
/// Pairs below which there are no trees.
const FEWEST_PAIRS: usize = 20;
/// Players × coalitions × outputs up to which there are: beyond, trees of this depth take as long as all else.
const MOST_NUMBERS: usize = 50_000;

/// What trees leave of pairs.
pub(super) struct Remainders {
    /// Of the value: each pair less what trees that have not seen it say, where it stands for others, and what all trees say, where it stands for itself.
    pub(super) estimated: Sampled,
    /// Each pair less what trees that have not seen it say: what is known of errors.
    pub(super) unseen: Sampled,
}

impl Remainders {
    /// What trees leave of each output of `sampled`. None where trees are not asked. `values` are those of the coalitions of `sample`, `value` is what is
    /// estimated.
    pub(super) fn new(
        sampled: &Sampled,
        sample: &Sample,
        values: &[f64],
        value: &Semivalue,
        seed: u64,
    ) -> Option<Self> {
        let (rows, outputs) = (sample.coalitions().len(), sampled.outputs);
        if rows < 2 * FEWEST_PAIRS || sampled.players * rows * outputs > MOST_NUMBERS {
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
                // Shapley values of the trees sum to what they say of N, but for rounding.
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
