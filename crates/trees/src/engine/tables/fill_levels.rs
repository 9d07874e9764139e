//! The values of players in a hierarchy of groups on a leaf, for every pattern of an explicand.
//!
//! For a background pattern M, the features E = ¬M must come from the explicand. Let R ⊆ M be the path
//! features that the explicand does not satisfy. R contributes only if no group has two members with players
//! in both E and R: see [`LeafLevels::meeting`].

use super::fill::Leaf;
use crate::engine::bits::{all_of, subsets};
use crate::engine::levels::{LeafLevels, Levels};

/// Working memory for computing the values of one leaf, reused between leaves.
#[derive(Default)]
pub(crate) struct FillLevels {
    levels: LeafLevels,
    shares: Vec<f64>,
    lost: Vec<f64>,
}

impl FillLevels {
    /// Writes the values of every pattern of the explicand to `entries`. `features` are the path features of
    /// the leaf.
    pub(crate) fn write(&mut self, leaf: &Leaf<'_>, features: &[u32], levels: &Levels, entries: &mut [f64]) {
        let Self { levels: of_leaf, shares, lost } = self;
        let bits = features.len();
        let all = all_of(bits);
        of_leaf.set(features.iter().map(|&feature| feature as usize), levels.tree());
        shares.clear();
        shares.resize(bits << bits, 0.0);
        lost.clear();
        lost.resize(1 << bits, 0.0);
        for &(background, weight) in leaf.distribution {
            let value = weight * leaf.value;
            let own = all & !background;
            for missing in subsets(background) {
                let Some(meeting) = of_leaf.meeting(levels, own, missing) else { continue };
                let (gain, loss) = meeting.shares(levels, of_leaf);
                let mut phi =
                    |bit: usize, share: f64| shares[bit << bits | (all & !missing) as usize] += share;
                of_leaf.divide(levels, meeting.group, (own, true), value * gain, &mut phi);
                if meeting.group == 0 {
                    // The losses are distributed in the same way for all background patterns, so sum them
                    // first.
                    lost[missing as usize] += value * loss;
                } else {
                    of_leaf.divide(levels, meeting.group, (missing, false), -value * loss, &mut phi);
                }
            }
        }
        for (missing, &lost) in lost.iter().enumerate().filter(|(_, lost)| **lost != 0.0) {
            let missing = missing as u64;
            let mut phi = |bit: usize, share: f64| shares[bit << bits | (all & !missing) as usize] += share;
            of_leaf.divide(levels, 0, (missing, false), -lost, &mut phi);
        }
        for (column, &lane) in shares.chunks_exact(1 << bits).zip(leaf.lanes) {
            for (entry, &share) in entries.chunks_exact_mut(leaf.width).zip(column) {
                entry[lane] = share;
            }
        }
    }
}
