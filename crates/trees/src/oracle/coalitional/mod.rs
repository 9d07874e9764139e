//! Coalitional values of the marginal game: features in groups, a semivalue between the groups and one within them.
//!
//! # The derivation
//!
//! On one leaf of value v and one background row the game is `v · [E ⊆ S] [R ∩ S = ∅]`, where E are the path features that only the
//! explicand satisfies and R those that only the background row does. Let i be in group j. Every other group is present or absent as a
//! whole, so one with features in both E and R, a *mixed* group, lets no coalition reach the leaf. If there is none but possibly j, let a
//! of the other groups have features in E, b of them in R, and j itself e features in E and r in R. With the moments M1 of the semivalue
//! between groups and M2 of that within,
//!
//! ```text
//! φ_i += v · M1(a, b) · M2(e − 1, r)   for i ∈ E ∩ S_j,        φ_i −= v · M1(a, b) · M2(e, r − 1)   for i ∈ R ∩ S_j.
//! ```
//!
//! So without a mixed group all members get shares, with one only its own, with two nobody.
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`walk`] | one explicand against one background row, without the branches below two mixed groups |
//! | [`masks`] | a block of explicands against the patterns of a background set |
//! | [`cohorts`](super::cohorts) | one explicand against the whole background as sets of rows; it has its own place, with all else that it is used for |
//! | [`tables`] | the values on a leaf for every pattern of an explicand; looked up by the kernel of semivalues |
//! | [`leaf`] | the groups that a leaf's path features are in |

mod leaf;
mod masks;
mod tables;
#[cfg(test)]
mod tests;
mod walk;

use apportion_games::Partition;
use apportion_values::CoalitionalValue;

pub(crate) use self::leaf::LeafGroups;
pub(crate) use self::masks::GroupedMasks;
pub(crate) use self::tables::Fill;
pub(crate) use self::walk::GroupedWalk;
use crate::groups::MomentPairs;
use crate::moments::Moments;

/// The groups of the features, and how coalitions in them are weighed.
pub(crate) struct Coalitional {
    moments: MomentPairs,
    /// The group of each feature.
    group_of: Vec<u32>,
    groups: usize,
}

impl Coalitional {
    /// For trees with up to `widest` features on a path.
    pub(crate) fn new(value: &CoalitionalValue, partition: &Partition, widest: usize) -> Self {
        Self {
            moments: MomentPairs::new(value, partition, widest),
            group_of: group_of(partition),
            groups: partition.len(),
        }
    }

    /// Number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// The group of a feature.
    pub(crate) fn group_of(&self, feature: u32) -> usize {
        self.group_of[feature as usize] as usize
    }

    /// The moments of the semivalue between the groups, and of that within.
    pub(crate) fn moments(&self) -> (&Moments, &Moments) {
        (&self.moments.between, &self.moments.within)
    }
}

/// The group of each feature.
pub(crate) fn group_of(partition: &Partition) -> Vec<u32> {
    (0..partition.players()).map(|feature| partition.group_of(feature) as u32).collect()
}
