//! Screens: boosted trees fitted to the evaluations. Their Walsh coefficients show which products of players
//! are relevant.

use super::fit::{Fit, Linear};
use super::sampled::Sampled;
use super::spectrum_target::SpectrumTarget;
use crate::error::Result;
use crate::surrogate::boosted_trees::{BoostedTrees, Boosting, Rows};
use crate::surrogate::product::{Product, merged, strongest};

/// The screens, whose squared coefficients are averaged. Trees of depth 3 to 5 find products of up to 5
/// players.
const SCREENS: [Boosting; 3] = [
    Boosting { trees: 100, depth: 5, rate: 0.2 },
    Boosting { trees: 100, depth: 4, rate: 0.2 },
    Boosting { trees: 150, depth: 3, rate: 0.2 },
];

/// The minimum number of pairs per free column with which the regression on single players is subtracted
/// before screening.
const MIN_PAIRS_EACH: usize = 2;
/// The maximum number of targets to screen.
const MAX_SCREENED_TARGETS: usize = 4;
/// The maximum number of products to keep.
pub(super) const MAX_TERMS: usize = 2500;

/// The maximum of rows × players × trees for one screen. A screen that would exceed it gets fewer trees.
const MAX_WORK: f64 = 2e8;
/// The minimum number of trees of a screen.
const MIN_TREES: usize = 40;

/// The results of the screens, averaged over screens and outputs, in units of each output's variance.
#[derive(Debug, Clone)]
pub(super) struct ScreenResults {
    /// Products of an odd number of players, at least three, with their squared coefficients, in descending
    /// order.
    pub(super) odd: Vec<(Product, f64)>,
    /// Products of an even number of players, at least two, in the same format.
    pub(super) even: Vec<(Product, f64)>,
}

impl ScreenResults {
    /// Screens the pairs of `sampled`. If single players are free, their regression is subtracted first, so
    /// that splits are used for nonlinear terms. With few pairs, this regression would leave no residuals, so
    /// it is not subtracted.
    pub(super) fn beyond_players(
        sampled: &Sampled,
        linear: Linear,
        target: SpectrumTarget<'_>,
    ) -> Result<Self> {
        if linear != Linear::Free || sampled.len() < MIN_PAIRS_EACH * target.columns(sampled.players) {
            return Ok(Self::new(sampled));
        }
        let fit = Fit::without_prior(sampled, linear, target)?;
        let said = fit.predict(sampled, fit.strengths()[0]);
        let odd = sampled.odd.iter().zip(&said).map(|(odd, said)| odd - said).collect();
        Ok(Self::new(&Sampled { odd, half_total: vec![0.0; sampled.outputs], ..sampled.clone() }))
    }

    /// Screens the pairs of `sampled`, ∅ and N. Returns no products if there are more players than products
    /// can represent.
    pub(super) fn new(sampled: &Sampled) -> Self {
        let n = sampled.players;
        if n > Product::MAX_PLAYERS {
            return Self { odd: Vec::new(), even: Vec::new() };
        }
        let ends = [1.0, -1.0].into_iter().flat_map(|sign| std::iter::repeat_n(sign, n));
        let pairs = (0..sampled.len()).flat_map(|pair| {
            let row = sampled.signs.row(pair);
            row.iter().copied().chain(row.iter().map(|sign| -sign))
        });
        let rows = Rows::of_signs(n, pairs.chain(ends));
        let targets = targets(sampled);
        let work = (rows.len() * n * targets.len().max(1)) as f64;
        let share = 1.0 / (SCREENS.len() * targets.len().max(1)) as f64;
        let (mut odd, mut even) = (Vec::new(), Vec::new());
        for targets in &targets {
            for boosting in SCREENS.map(|boosting| affordable(boosting, work)) {
                for (product, coefficient) in BoostedTrees::fit(&rows, targets, boosting).spectrum() {
                    let found = (product, coefficient * coefficient * share);
                    match product.len() {
                        0 | 1 => {}
                        order if order % 2 == 1 => odd.push(found),
                        _ => even.push(found),
                    }
                }
            }
        }
        let strongest = |terms| {
            let found = merged(terms).into_iter().filter(|(_, square)| *square > 0.0).collect();
            strongest(found, MAX_TERMS)
        };
        Self { odd: strongest(odd), even: strongest(even) }
    }
}

/// Returns the settings, with fewer trees and a higher learning rate if rows times players is large.
fn affordable(boosting: Boosting, work: f64) -> Boosting {
    let trees = boosting.trees.min(((MAX_WORK / work) as usize).max(MIN_TREES));
    Boosting { trees, rate: (boosting.rate * boosting.trees as f64 / trees as f64).min(0.3), ..boosting }
}

/// Returns the targets of the screens: each output divided by its standard deviation. If there are more than
/// a few outputs, the targets are sums of all outputs with fixed signs, so that their squared coefficients
/// add up.
fn targets(sampled: &Sampled) -> Vec<Vec<f64>> {
    let in_units = |output: usize| {
        let values = values(sampled, output);
        let unit = variance(&values).sqrt();
        (unit > 0.0).then(|| values.into_iter().map(|value| value / unit).collect::<Vec<f64>>())
    };
    let outputs: Vec<Vec<f64>> = (0..sampled.outputs).filter_map(in_units).collect();
    if outputs.len() <= MAX_SCREENED_TARGETS {
        return outputs;
    }
    let share = 1.0 / (outputs.len() as f64).sqrt();
    let sum = |at: usize| {
        let mut sum = vec![0.0; outputs[0].len()];
        for (output, values) in outputs.iter().enumerate() {
            // The signs are pseudorandom (SplitMix64's finalizer).
            let mut word =
                ((output * MAX_SCREENED_TARGETS + at) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let sign = if (word ^ (word >> 27)) & 1 == 1 { share } else { -share };
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += sign * value);
        }
        sum
    };
    (0..MAX_SCREENED_TARGETS).map(sum).collect()
}

/// Returns the values of S and S̄ for each pair, followed by v(N) and v(∅).
fn values(sampled: &Sampled, output: usize) -> Vec<f64> {
    let outputs = sampled.outputs;
    let pairs = (0..sampled.len()).flat_map(|pair| {
        let (odd, even) = (sampled.odd[pair * outputs + output], sampled.even[pair * outputs + output]);
        [even + odd, even - odd]
    });
    let (odd, even) = (sampled.half_total[output], sampled.half_sum[output]);
    pairs.chain([even + odd, even - odd]).collect()
}

fn variance(numbers: &[f64]) -> f64 {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64
}
