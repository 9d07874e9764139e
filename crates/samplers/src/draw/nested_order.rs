//! Random orders of groups, with a random order of the members within each group.
//!
//! # Source
//!
//! Owen, *Values of games with a priori unions*, 1977: the Owen value is the mean marginal contribution over
//! the orders in which the members of each group are contiguous. All these orders are equally likely.

use apportion_games::Partition;
use rand_chacha::ChaCha8Rng;

use crate::draw::random::shuffle;

/// An order of the groups, and of the members within each group: one of the `m! Π |S_j|!` orders in which
/// every group is contiguous.
///
/// ```
/// use apportion_games::{Partition, Purpose, stream};
/// use apportion_samplers::NestedOrder;
///
/// let partition = Partition::new(4, vec![vec![0, 1, 2], vec![3]])?;
/// let mut order = NestedOrder::new(&partition);
/// order.shuffle(&mut stream(7, Purpose::NestedPermutations, 0));
/// let place = order.groups().iter().position(|&group| group == 1);
/// assert!(place.is_some() && order.members(1) == [3] && order.members(0).len() == 3);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedOrder {
    groups: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl NestedOrder {
    /// Creates the order in which the groups and their members are listed in `partition`.
    pub fn new(partition: &Partition) -> Self {
        Self { groups: (0..partition.len()).collect(), members: partition.groups().to_vec() }
    }

    /// Replaces the order with a uniformly random one, independent of the previous order. Takes O(n) time.
    pub fn shuffle(&mut self, rng: &mut ChaCha8Rng) {
        shuffle(&mut self.groups, rng);
        self.members.iter_mut().for_each(|members| shuffle(members, rng));
    }

    /// Returns the groups in order.
    pub fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// Returns the members of one group in order.
    ///
    /// # Panics
    ///
    /// If the group does not exist.
    pub fn members(&self, group: usize) -> &[usize] {
        &self.members[group]
    }

    /// Reverses the order of the groups, and of the members within each group.
    pub fn reverse(&mut self) {
        self.groups.reverse();
        self.members.iter_mut().for_each(|members| members.reverse());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_alike;
    use apportion_games::{Purpose, stream};

    fn flat(order: &NestedOrder) -> Vec<usize> {
        order.groups().iter().flat_map(|&group| order.members(group).to_vec()).collect()
    }

    #[test]
    fn nested_orders_are_uniform() {
        // There are 2! · 3! · 2! = 24 orders, each expected 500 times. The chi-square statistic with 23
        // degrees of freedom exceeds 60 with probability 3.6e-5.
        let partition = Partition::new(5, vec![vec![4, 0, 2], vec![1, 3]]).unwrap();
        let mut rng = stream(11, Purpose::NestedPermutations, 0);
        let mut order = NestedOrder::new(&partition);
        let draw = |_| {
            order.shuffle(&mut rng);
            flat(&order)
        };
        assert_alike((0..12_000).map(draw), 24, 60.0, "orders");
    }

    #[test]
    fn a_reverse_turns_the_whole_order_over() {
        let partition =
            Partition::new(70, vec![(0..30).collect(), (30..66).collect(), (66..70).collect()]).unwrap();
        let mut order = NestedOrder::new(&partition);
        order.shuffle(&mut stream(12, Purpose::NestedPermutations, 0));
        let forward = flat(&order);
        order.reverse();
        assert!(flat(&order).iter().eq(forward.iter().rev()));
    }

    // Stored results record their seed: if this order changes, so do all stored results.
    #[test]
    fn the_first_order_is_fixed() {
        let partition = Partition::new(7, vec![vec![0, 1, 2], vec![3], vec![4, 5, 6]]).unwrap();
        let mut order = NestedOrder::new(&partition);
        order.shuffle(&mut stream(42, Purpose::NestedPermutations, 0));
        assert_eq!(flat(&order), [6, 5, 4, 3, 0, 2, 1]);
    }
}
