//! A block of explicands against the histograms of the background, pattern by pattern.
//!
//! With P the pattern of an explicand and M one of the background, E = ¬M and R = ¬P; which groups they touch is a bit mask each, and
//! the mixed groups are those in both.

use super::super::histograms::Histograms;
use super::super::masks::ones;
use super::super::paths::{BLOCK, Columns, Paths, Patterns, all_of};
use super::{Coalitional, LeafGroups};
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The memory of the kernel, made once per thread.
pub(crate) struct GroupedMasks {
    patterns: Patterns<u64>,
    groups: LeafGroups,
    background: Vec<Own>,
}

/// What a pattern of the background leaves to the explicand.
struct Own {
    /// E.
    features: u64,
    /// The groups they are in.
    groups: u64,
    /// The weight of the pattern, times the value of the leaf.
    value: f64,
}

impl GroupedMasks {
    pub(crate) fn new() -> Self {
        Self { patterns: Patterns::new(), groups: LeafGroups::default(), background: Vec::new() }
    }

    /// Adds the values on one tree to `phi`, [`BLOCK`] numbers per feature.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        (paths, histograms): &(Paths, Histograms),
        coalitional: &Coalitional,
        columns: &Columns,
        phi: &mut [f64],
    ) {
        self.patterns.begin(nodes.len());
        let mut left = [0; BLOCK];
        for (index, &node) in nodes.iter().enumerate() {
            if !node.is_leaf() {
                columns.decide(ensemble, node, &mut left);
                self.patterns.descend(paths, index, node, &left, columns.rows());
                continue;
            }
            let features = paths.features(index);
            let all = all_of(features.len());
            let groups = &mut self.groups;
            groups.set(features, &coalitional.group_of);
            self.background.clear();
            self.background.extend(histograms.at(index).iter().map(|&(pattern, weight)| {
                let features = all & !pattern;
                Own { features, groups: groups.touched(features), value: weight * node.value() }
            }));
            for (row, &pattern) in self.patterns.at(index)[..columns.rows()].iter().enumerate() {
                add_row(groups, &self.background, coalitional, all & !pattern, |bit, share| {
                    phi[features[bit] as usize * BLOCK + row] += share;
                });
            }
        }
    }
}

/// Adds the values on one leaf for an explicand that lacks the features `missing`.
fn add_row(
    groups: &LeafGroups,
    background: &[Own],
    coalitional: &Coalitional,
    missing: u64,
    mut phi: impl FnMut(usize, f64),
) {
    let (between, within) = (&coalitional.moments.between, &coalitional.moments.within);
    let missing_groups = groups.touched(missing);
    let count = |bits: u64| bits.count_ones() as usize;
    let mut lost = 0.0;
    for own in background.iter().filter(|own| own.features & missing == 0) {
        let mixed = own.groups & missing_groups;
        if mixed == 0 {
            let (gain, loss) = between.shares(count(own.groups), count(missing_groups));
            lost += own.value * loss;
            for bit in ones(own.features) {
                let fellows = count(groups.fellows(own.features, bit)) - 1;
                phi(bit, own.value * gain * within.get(fellows, 0));
            }
        } else if mixed & (mixed - 1) == 0 {
            let members = groups.mask(mixed.trailing_zeros() as usize);
            let value = own.value * between.get(count(own.groups) - 1, count(missing_groups) - 1);
            let (own, missing) = (own.features & members, missing & members);
            let (gain, loss) = within.shares(count(own), count(missing));
            ones(own).for_each(|bit| phi(bit, value * gain));
            ones(missing).for_each(|bit| phi(bit, -value * loss));
        }
    }
    if lost != 0.0 {
        for bit in ones(missing) {
            phi(bit, -lost * within.get(0, count(groups.fellows(missing, bit)) - 1));
        }
    }
}
