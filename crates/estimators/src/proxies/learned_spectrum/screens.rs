//! Screens: boosted trees fitted to what was evaluated, whose Walsh coefficients say which products of players are likely to matter.

use super::fit::{Fit, Linear, Wanted};
use super::sampled::Sampled;
use crate::error::Result;
use crate::surrogate::boosted_trees::{BoostedTrees, Boosting, Rows};
use crate::surrogate::product::{Product, merged, strongest};

/// The screens, whose squared coefficients are averaged: trees of depth 3 to 5 find products of so many players.
const SCREENS: [Boosting; 3] = [
    Boosting { trees: 100, depth: 5, rate: 0.2 },
    Boosting { trees: 100, depth: 4, rate: 0.2 },
    Boosting { trees: 150, depth: 3, rate: 0.2 },
];

/// Pairs for each free column from which on single players are subtracted before.
const FEWEST_PAIRS_EACH: usize = 2;
/// Targets that are screened at most.
const MOST_SCREENED: usize = 4;
/// Products that are kept at most.
pub(super) const MOST_TERMS: usize = 2500;

/// Numbers that one screen may look at, rows × players × trees, before it gets fewer trees ...
const MOST_WORK: f64 = 2e8;
/// ... of which it has at least so many.
const FEWEST_TREES: usize = 40;

/// What the screens found, averaged over screens and outputs, in units of the variance of each output.
#[derive(Debug, Clone)]
pub(super) struct Screened {
    /// Products of three players and more, an odd number of them, and the squares of their coefficients, by falling size.
    pub(super) odd: Vec<(Product, f64)>,
    /// The same of products of two players and more, an even number of them.
    pub(super) even: Vec<(Product, f64)>,
}

impl Screened {
    /// What is found in the pairs of `sampled` beyond single players, where these are free: each pair less what their regression says of it, so that splits
    /// go to what is not additive. Of few pairs the regression would leave nothing.
    pub(super) fn beyond_players(sampled: &Sampled, linear: Linear, wanted: Wanted<'_>) -> Result<Self> {
        if linear != Linear::Free || sampled.len() < FEWEST_PAIRS_EACH * wanted.columns(sampled.players) {
            return Ok(Self::new(sampled));
        }
        let fit = Fit::without_prior(sampled, linear, wanted)?;
        let said = fit.predict(sampled, fit.strengths()[0]);
        let odd = sampled.odd.iter().zip(&said).map(|(odd, said)| odd - said).collect();
        Ok(Self::new(&Sampled { odd, half_total: vec![0.0; sampled.outputs], ..sampled.clone() }))
    }

    /// What is found in the pairs of `sampled`, ∅ and N; nothing among more players than products can name.
    pub(super) fn new(sampled: &Sampled) -> Self {
        let n = sampled.players;
        if n > Product::MOST_PLAYERS {
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
            strongest(found, MOST_TERMS)
        };
        Self { odd: strongest(odd), even: strongest(even) }
    }
}

/// Fewer trees of a higher rate where rows times players are many.
fn affordable(boosting: Boosting, work: f64) -> Boosting {
    let trees = boosting.trees.min(((MOST_WORK / work) as usize).max(FEWEST_TREES));
    Boosting { trees, rate: (boosting.rate * boosting.trees as f64 / trees as f64).min(0.3), ..boosting }
}

/// What screens are fitted to: each output in units of its own, of more than a few outputs sums of all with fixed signs, in which the squares of their
/// coefficients add up.
fn targets(sampled: &Sampled) -> Vec<Vec<f64>> {
    let in_units = |output: usize| {
        let values = values(sampled, output);
        let unit = variance(&values).sqrt();
        (unit > 0.0).then(|| values.into_iter().map(|value| value / unit).collect::<Vec<f64>>())
    };
    let outputs: Vec<Vec<f64>> = (0..sampled.outputs).filter_map(in_units).collect();
    if outputs.len() <= MOST_SCREENED {
        return outputs;
    }
    let share = 1.0 / (outputs.len() as f64).sqrt();
    let sum = |at: usize| {
        let mut sum = vec![0.0; outputs[0].len()];
        for (output, values) in outputs.iter().enumerate() {
            // Signs without structure (SplitMix64's finalizer).
            let mut word = ((output * MOST_SCREENED + at) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let sign = if (word ^ (word >> 27)) & 1 == 1 { share } else { -share };
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += sign * value);
        }
        sum
    };
    (0..MOST_SCREENED).map(sum).collect()
}

/// v of S and S̄ of each pair, of N and of ∅.
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
