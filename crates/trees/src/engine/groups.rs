//! Features in groups: the weights of coalitions, and the groups on a path.
//!
//! The features are partitioned into groups S_1 … S_m. A coalitional value weights coalitions of other groups
//! by one semivalue, with moments M1, and coalitions of other members of the same group by another, with
//! moments M2.

use apportion_games::Partition;
use apportion_values::CoalitionalValue;

use super::bits::ones;
use super::moments::Moments;

/// The groups of the features, and the moments of both semivalues of a coalitional value.
pub(crate) struct Coalitional {
    /// The moments M1, which weight coalitions of groups.
    pub(crate) between: Moments,
    /// The moments M2, which weight coalitions of members of the same group.
    pub(crate) within: Moments,
    /// The group of each feature.
    pub(crate) group_of: Vec<u32>,
    pub(crate) groups: usize,
}

impl Coalitional {
    /// Creates the weights for trees with up to `max_width` features on a path. The value must be
    /// [defined](CoalitionalValue::check) for the groups.
    pub(crate) fn new(value: &CoalitionalValue, partition: &Partition, max_width: usize) -> Self {
        Self {
            between: Moments::new(value.between.clone(), max_width.min(partition.len())),
            within: Moments::new(value.within.clone(), max_width.min(partition.largest())),
            group_of: group_of(partition),
            groups: partition.len(),
        }
    }

    /// Returns the group of a feature.
    #[inline]
    pub(crate) fn group_of(&self, feature: u32) -> usize {
        self.group_of[feature as usize] as usize
    }
}

/// Returns the group of each feature.
pub(crate) fn group_of(partition: &Partition) -> Vec<u32> {
    (0..partition.players()).map(|feature| partition.group_of(feature) as u32).collect()
}

/// The groups that contain path features of a leaf, numbered in the order in which they occur on the path.
#[derive(Default)]
pub(crate) struct LeafGroups {
    /// Indices of the groups in the partition.
    numbers: Vec<u32>,
    /// The path features of each group, as bits of a pattern.
    masks: Vec<u64>,
    /// The group of each path feature.
    of_bit: Vec<u32>,
}

impl LeafGroups {
    /// Sets the groups for a leaf with these path features.
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

    /// Returns the path features of one group.
    #[inline]
    pub(crate) fn mask(&self, group: usize) -> u64 {
        self.masks[group]
    }

    /// Returns the `features` that are in the same group as the path feature `bit`.
    #[inline]
    pub(crate) fn fellows(&self, features: u64, bit: usize) -> u64 {
        features & self.masks[self.of_bit[bit] as usize]
    }

    /// Returns the groups that contain any of `features`, as bits.
    #[inline]
    pub(crate) fn touched(&self, features: u64) -> u64 {
        ones(features).fold(0, |groups, bit| groups | 1 << self.of_bit[bit])
    }

    /// Returns all path features of `groups`.
    #[inline]
    pub(crate) fn features(&self, groups: u64) -> u64 {
        ones(groups).fold(0, |features, group| features | self.masks[group])
    }
}
