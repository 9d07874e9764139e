//! The values on a leaf for every pattern of an explicand.
//!
//! For a pattern M of the background, which leaves E = ¬M to the explicand, only those R ⊆ M count that mix at most one group: subsets of
//! M outside the groups of E, and those with a subset of M inside one of them.

use super::super::masks::ones;
use super::super::paths::all_of;
use super::{Coalitional, LeafGroups};

/// Values of one leaf; the memory is kept between leaves.
#[derive(Default)]
pub(crate) struct Fill {
    groups: LeafGroups,
    shares: Vec<f64>,
    lost: Vec<f64>,
}

impl Fill {
    /// A column of 2^d values for each of the d path `features`: `shares[j · 2^d + P]`.
    pub(crate) fn leaf(
        &mut self,
        features: &[u32],
        value: f64,
        histogram: &[(u64, f64)],
        coalitional: &Coalitional,
    ) -> &[f64] {
        let count = |bits: u64| bits.count_ones() as usize;
        let (between, within) = (&coalitional.moments.between, &coalitional.moments.within);
        let bits = features.len();
        let all = all_of(bits);
        let Self { groups, shares, lost } = self;
        groups.set(features, &coalitional.group_of);
        shares.clear();
        shares.resize(bits << bits, 0.0);
        lost.clear();
        lost.resize(1 << bits, 0.0);
        for &(background, weight) in histogram {
            let own = all & !background;
            let own_groups = groups.touched(own);
            // What every missing feature may be of, without mixing a group.
            let free = background & !groups.features(own_groups);
            for missing in subsets(free) {
                let missing_groups = count(groups.touched(missing));
                let (gain, loss) = between.shares(count(own_groups), missing_groups);
                lost[missing as usize] += weight * value * loss;
                for group in ones(own_groups) {
                    let own = own & groups.mask(group);
                    let gain = weight * value * gain * within.get(count(own) - 1, 0);
                    add(shares, bits, own, all & !missing, gain);
                    let mixed = background & groups.mask(group);
                    if mixed == 0 {
                        continue;
                    }
                    let value = weight * value * between.get(count(own_groups) - 1, missing_groups);
                    for mixed in subsets(mixed).filter(|&mixed| mixed != 0) {
                        let (gain, loss) = within.shares(count(own), count(mixed));
                        let pattern = all & !(missing | mixed);
                        add(shares, bits, own, pattern, value * gain);
                        add(shares, bits, mixed, pattern, -value * loss);
                    }
                }
            }
        }
        for (missing, &lost) in lost.iter().enumerate().filter(|(_, lost)| **lost != 0.0) {
            let missing = missing as u64;
            for bit in ones(missing) {
                let fellows = count(groups.fellows(missing, bit)) - 1;
                shares[bit << bits | (all & !missing) as usize] -= lost * within.get(0, fellows);
            }
        }
        shares
    }
}

/// Adds a share of each of `features` for explicands of one pattern.
fn add(shares: &mut [f64], bits: usize, features: u64, pattern: u64, share: f64) {
    for bit in ones(features) {
        shares[bit << bits | pattern as usize] += share;
    }
}

/// All subsets of a set of bits, from the set itself to the empty one.
fn subsets(set: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(set);
    std::iter::from_fn(move || {
        let subset = next?;
        next = (subset != 0).then(|| (subset - 1) & set);
        Some(subset)
    })
}
