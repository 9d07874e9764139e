//! The groups that a leaf's path features are in.

use super::super::masks::ones;

/// The groups that have path features of a leaf, numbered in the order in which the path meets them.
#[derive(Default)]
pub(crate) struct LeafGroups {
    /// Numbers of the groups in the partition.
    numbers: Vec<u32>,
    /// The path features of each group, as bits of a pattern.
    masks: Vec<u64>,
    /// The group of each path feature.
    of_bit: Vec<u32>,
}

impl LeafGroups {
    /// For a leaf with these path features.
    pub(crate) fn set(&mut self, features: &[u32], group_of: &[u32]) {
        self.numbers.clear();
        self.masks.clear();
        self.of_bit.clear();
        for (bit, &feature) in features.iter().enumerate() {
            let number = group_of[feature as usize];
            let group = self.numbers.iter().position(|&known| known == number).unwrap_or_else(|| {
                self.numbers.push(number);
                self.masks.push(0);
                self.masks.len() - 1
            });
            self.masks[group] |= 1 << bit;
            self.of_bit.push(group as u32);
        }
    }

    /// The path features of one group.
    pub(crate) fn mask(&self, group: usize) -> u64 {
        self.masks[group]
    }

    /// Those of `features` that are in the group of one of them.
    pub(crate) fn fellows(&self, features: u64, bit: usize) -> u64 {
        features & self.masks[self.of_bit[bit] as usize]
    }

    /// The groups that have one of `features`, as bits.
    pub(crate) fn touched(&self, features: u64) -> u64 {
        ones(features).fold(0, |groups, bit| groups | 1 << self.of_bit[bit])
    }

    /// All path features of `groups`.
    pub(crate) fn features(&self, groups: u64) -> u64 {
        ones(groups).fold(0, |features, group| features | self.masks[group])
    }
}
