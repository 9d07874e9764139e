//! A block of explicands against the histograms of the background, pattern by pattern.
//!
//! As in [`masks`](crate::oracle::masks): with the pattern P of the explicand and one of the background, M, that completes it, the
//! mixtures that reach the leaf take E = ¬M from the explicand and R = ¬P from the background. What two features of R get, and
//! what one of R and a given one of E get, is summed over all M before it is handed out; only pairs of E are gone through for each M.

use super::pairs::{Weighing, place};
use super::shares::PairShares;
use crate::oracle::histograms::Histograms;
use crate::oracle::masks::ones;
use crate::tables::paths::{BLOCK, Columns, MOST_FEATURES, Paths, Patterns, all_of};
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The memory of the kernel, made once per thread.
pub(crate) struct PairMasks {
    patterns: Patterns<u64>,
    /// The numbers of a leaf's pairs.
    numbers: Vec<usize>,
}

impl PairMasks {
    pub(crate) fn new() -> Self {
        Self { patterns: Patterns::new(), numbers: Vec::new() }
    }

    /// Adds the interactions on one tree to `phi`, a number for each of the rows per pair.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        (paths, histograms): &(Paths, Histograms),
        Weighing { moments, pairs, .. }: Weighing<'_>,
        columns: &Columns,
        phi: &mut [f64],
    ) {
        let rows = columns.rows();
        self.patterns.begin(nodes.len());
        let mut left = [0; BLOCK];
        for (index, &node) in nodes.iter().enumerate() {
            if !node.is_leaf() {
                columns.decide(ensemble, node, &mut left);
                self.patterns.descend(paths, index, node, &left, rows);
                continue;
            }
            let features = paths.features(index);
            if features.len() < 2 || node.value() == 0.0 {
                continue;
            }
            self.numbers.clear();
            for (high, &one) in features.iter().enumerate() {
                self.numbers.extend(features[..high].iter().map(|&other| pairs.number(one, other)));
            }
            let all = all_of(features.len());
            for (row, &pattern) in self.patterns.at(index)[..rows].iter().enumerate() {
                let missing = all & !pattern;
                let rest = missing.count_ones() as usize;
                let mut add = |low: usize, high: usize, share: f64| {
                    phi[self.numbers[place(low.min(high), low.max(high))] * rows + row] += share;
                };
                let (mut both_rest, mut mixed) = (0.0, [0.0; MOST_FEATURES]);
                let mut complete = false;
                for &(background, weight) in histograms.at(index) {
                    if missing & !background != 0 {
                        continue;
                    }
                    complete = true;
                    let own = all & !background;
                    let shares =
                        PairShares::of(moments, own.count_ones() as usize, rest).times(weight * node.value());
                    both_rest += shares.both_rest;
                    for high in ones(own) {
                        mixed[high] += shares.mixed;
                        for low in ones(own & ((1 << high) - 1)) {
                            add(low, high, shares.both_own);
                        }
                    }
                }
                if !complete {
                    continue;
                }
                for high in ones(missing) {
                    for low in ones(missing & ((1 << high) - 1)) {
                        add(low, high, both_rest);
                    }
                    for own in ones(pattern) {
                        add(own, high, -mixed[own]);
                    }
                }
            }
        }
    }
}
