//! Random orders of the players in which the players of every group of a hierarchy are contiguous.
//!
//! # Source
//!
//! Winter, *A value for cooperative games with levels structure of cooperation*, 1989: the value over a
//! hierarchy is the mean marginal contribution over these orders, which are equally likely.

use apportion_games::Hierarchy;
use rand_chacha::ChaCha8Rng;

use crate::draw::random::shuffle;

/// An order of the members of every group. It defines an order of all players in which every group is
/// contiguous.
///
/// ```
/// use apportion_games::{Hierarchy, Purpose, stream};
/// use apportion_samplers::HierarchicalOrder;
///
/// // ((0, 1), 2), 3
/// let hierarchy =
///     Hierarchy::from_parents(4, &[Some(4), Some(4), Some(5), Some(6), Some(5), Some(6), None])?;
/// let mut order = HierarchicalOrder::new(&hierarchy);
/// order.shuffle(&mut stream(7, Purpose::NestedPermutations, 0));
/// let players: Vec<usize> = order.players().collect();
/// assert!(players[0] == 3 || players[3] == 3);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchicalOrder {
    players: usize,
    /// For each group, its members in order.
    members: Vec<Vec<usize>>,
}

impl HierarchicalOrder {
    /// Creates the order in which the players are listed in `hierarchy`.
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let members = hierarchy.groups().map(|group| hierarchy.children(group).to_vec());
        Self { players: hierarchy.players(), members: members.collect() }
    }

    /// Replaces the order with a uniformly random one, independent of the previous order. Takes O(n) time.
    pub fn shuffle(&mut self, rng: &mut ChaCha8Rng) {
        self.members.iter_mut().for_each(|members| shuffle(members, rng));
    }

    /// Returns an iterator over the players in order.
    pub fn players(&self) -> impl Iterator<Item = usize> {
        let mut open = vec![self.players];
        std::iter::from_fn(move || {
            loop {
                let node = open.pop()?;
                match node.checked_sub(self.players) {
                    None => return Some(node),
                    Some(group) => open.extend(self.members[group].iter().rev()),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_alike;
    use apportion_games::{Member, Purpose, stream};

    #[test]
    fn orders_are_uniform() {
        // For ((3, 0), 2), 1, 4 there are 3! · 2! · 2! = 24 orders, each expected 500 times. The chi-square
        // statistic with 23 degrees of freedom exceeds 60 with probability 3.6e-5.
        let two = Member::Group(vec![Member::Player(3), Member::Player(0)]);
        let three = Member::Group(vec![two, Member::Player(2)]);
        let hierarchy = Hierarchy::new(5, vec![three, Member::Player(1), Member::Player(4)]).unwrap();
        let mut order = HierarchicalOrder::new(&hierarchy);
        assert_eq!(order.players().collect::<Vec<_>>(), [3, 0, 2, 1, 4]);
        let mut rng = stream(11, Purpose::NestedPermutations, 0);
        let draw = |_| {
            order.shuffle(&mut rng);
            order.players().collect::<Vec<_>>()
        };
        assert_alike((0..12_000).map(draw), 24, 60.0, "orders");
    }

    // Stored results record their seed: if this order changes, so do all stored results.
    #[test]
    fn the_first_order_is_fixed() {
        let hierarchy = Hierarchy::new(0, Vec::new()).unwrap();
        assert_eq!(HierarchicalOrder::new(&hierarchy).players().count(), 0);
        let group = |players: [usize; 3]| Member::Group(players.map(Member::Player).to_vec());
        let inner = Member::Group(vec![group([0, 1, 2]), group([3, 4, 5])]);
        let hierarchy = Hierarchy::new(7, vec![inner, Member::Player(6)]).unwrap();
        let mut order = HierarchicalOrder::new(&hierarchy);
        order.shuffle(&mut stream(42, Purpose::NestedPermutations, 0));
        assert_eq!(order.players().collect::<Vec<_>>(), [6, 0, 2, 1, 5, 4, 3]);
    }
}
