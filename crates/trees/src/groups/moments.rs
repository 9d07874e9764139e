//! The moments of a pair of semivalues, tabulated.

use apportion_games::Partition;
use apportion_values::CoalitionalValue;

use crate::moments::Moments;

/// The moments of both semivalues of a coalitional value.
#[derive(Debug, Clone)]
pub(crate) struct MomentPairs {
    /// M1, of the groups.
    pub(crate) between: Moments,
    /// M2, of the members of one group.
    pub(crate) within: Moments,
}

impl MomentPairs {
    /// For trees with up to `widest` features on a path. The value must be [defined](CoalitionalValue::check) for the groups.
    pub(crate) fn new(value: &CoalitionalValue, partition: &Partition, widest: usize) -> Self {
        Self {
            between: Moments::new(value.between.clone(), widest.min(partition.len())),
            within: Moments::new(value.within.clone(), widest.min(partition.largest())),
        }
    }
}
