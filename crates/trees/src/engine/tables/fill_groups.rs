//! The values of players in groups on a leaf, for every pattern of an explicand.
//!
//! For a background pattern M, the features E = ¬M must come from the explicand. Let R ⊆ M be the path
//! features that the explicand does not satisfy. A set R contributes only if at most one group is *mixed*,
//! i.e. contains features of both E and R. These sets are the subsets of M outside the groups of E, and their
//! unions with a subset of M inside one of these groups.

use super::fill::Leaf;
use crate::engine::bits::{all_of, count, ones, subsets};
use crate::engine::groups::{Coalitional, LeafGroups};

/// Working memory for computing the values of one leaf, reused between leaves.
#[derive(Default)]
pub(crate) struct FillGroups {
    groups: LeafGroups,
    /// For each set of path features, the number of groups that contain any of them.
    touched: Vec<u32>,
    owners: Vec<Owner>,
    shares: Vec<f64>,
    lost: Vec<f64>,
}

/// A group that contains features of E.
struct Owner {
    own: u64,
    /// The other features of the group that the background satisfies.
    mixable: u64,
    /// The moment M2(|own| − 1, 0).
    alone: f64,
}

impl FillGroups {
    /// Writes the values of every pattern of the explicand to `entries`. `features` are the path features of
    /// the leaf.
    pub(crate) fn write(
        &mut self,
        leaf: &Leaf<'_>,
        features: &[u32],
        coalitional: &Coalitional,
        entries: &mut [f64],
    ) {
        let bits = features.len();
        let shares = self.columns(features, leaf.value, leaf.distribution, coalitional);
        for (column, &lane) in shares.chunks_exact(1 << bits).zip(leaf.lanes) {
            for (entry, &share) in entries.chunks_exact_mut(leaf.width).zip(column) {
                entry[lane] = share;
            }
        }
    }

    /// Computes a column of 2^d values for each of the d path `features`: `shares[j · 2^d + P]`.
    fn columns(
        &mut self,
        features: &[u32],
        value: f64,
        histogram: &[(u64, f64)],
        coalitional: &Coalitional,
    ) -> &[f64] {
        let (between, within) = (&coalitional.between, &coalitional.within);
        let bits = features.len();
        let all = all_of(bits);
        let Self { groups, touched, owners, shares, lost } = self;
        groups.set(features, &coalitional.group_of);
        touched.clear();
        touched.extend((0..=all).map(|set| groups.touched(set).count_ones()));
        shares.clear();
        shares.resize(bits << bits, 0.0);
        lost.clear();
        lost.resize(1 << bits, 0.0);
        for &(background, weight) in histogram {
            let value = weight * value;
            let own = all & !background;
            let own_groups = groups.touched(own);
            owners.clear();
            owners.extend(ones(own_groups).map(|group| {
                let (own, mixable) = (own & groups.mask(group), background & groups.mask(group));
                Owner { own, mixable, alone: within.get(count(own) - 1, 0) }
            }));
            // No subset of `free` mixes a group.
            let free = background & !groups.features(own_groups);
            for missing in subsets(free) {
                let others = touched[missing as usize] as usize;
                let (gain, loss) = between.shares(owners.len(), others);
                lost[missing as usize] += value * loss;
                for owner in &*owners {
                    let pattern = all & !missing;
                    // The value of the leaf times the weight between the groups, M1(a, b).
                    let value = value * gain;
                    add_share(shares, bits, owner.own, pattern, value * owner.alone);
                    for mixed in subsets(owner.mixable).filter(|&mixed| mixed != 0) {
                        let (gain, loss) = within.shares(count(owner.own), count(mixed));
                        add_share(shares, bits, owner.own, pattern & !mixed, value * gain);
                        add_share(shares, bits, mixed, pattern & !mixed, -value * loss);
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

/// Adds a share to each of `features`, for explicands with one `pattern` of `bits` features.
fn add_share(shares: &mut [f64], bits: usize, features: u64, pattern: u64, share: f64) {
    for bit in ones(features) {
        shares[bit << bits | pattern as usize] += share;
    }
}
