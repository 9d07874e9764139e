//! Sets of nodes stored as bits, and their conversion from one numbering of the nodes to another.

use std::fmt::Debug;

/// A set of nodes, stored as 64-bit words. Small sets have a fixed width.
pub(crate) trait Bits: Clone + Ord + Send + Sync + Debug {
    /// Returns the empty set of `nodes` nodes.
    fn empty(nodes: usize) -> Self;
    fn words(&self) -> &[u64];
    fn words_mut(&mut self) -> &mut [u64];
}

impl<const WIDTH: usize> Bits for [u64; WIDTH] {
    fn empty(nodes: usize) -> Self {
        debug_assert!(nodes <= 64 * WIDTH);
        [0; WIDTH]
    }
    fn words(&self) -> &[u64] {
        self
    }
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }
}

impl Bits for Vec<u64> {
    fn empty(nodes: usize) -> Self {
        vec![0; nodes.div_ceil(64)]
    }
    fn words(&self) -> &[u64] {
        self
    }
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }
}

/// An order-preserving map between positions, stored as blocks: consecutive positions that stay consecutive.
///
/// For lines, there is one block; for grids, there is one block per row. A set is therefore converted in a
/// few word operations.
#[derive(Debug, Default)]
pub(crate) struct PositionMap(Vec<Block>);

#[derive(Debug)]
struct Block {
    from: usize,
    to: usize,
    /// The number of positions in the block, at most 64.
    length: usize,
}

impl PositionMap {
    /// Creates the map from pairs `(from, to)`, in which both positions are ascending.
    pub(crate) fn new(pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        for (from, to) in pairs {
            match blocks.last_mut() {
                Some(last)
                    if last.from + last.length == from && last.to + last.length == to && last.length < 64 =>
                {
                    last.length += 1;
                }
                _ => blocks.push(Block { from, to, length: 1 }),
            }
        }
        Self(blocks)
    }

    /// Adds the images of the members of `from` to `to`.
    #[inline]
    pub(crate) fn apply(&self, from: &[u64], to: &mut [u64]) {
        for block in &self.0 {
            let (word, shift) = (block.from / 64, block.from % 64);
            let mut bits = from[word] >> shift;
            if shift + block.length > 64 {
                bits |= from[word + 1] << (64 - shift);
            }
            bits &= u64::MAX >> (64 - block.length);
            let (word, shift) = (block.to / 64, block.to % 64);
            to[word] |= bits << shift;
            if shift + block.length > 64 {
                to[word + 1] |= bits >> (64 - shift);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Coalition, Purpose, stream};
    use rand::RngExt;

    #[test]
    fn sets_move_member_by_member() {
        let mut rng = stream(3, Purpose::Experiment, 0);
        for (nodes, room) in [(1, 1), (5, 9), (64, 64), (64, 65), (130, 200), (200, 500)] {
            for density in [0.1, 0.5, 0.95] {
                let mut to = 0;
                let pairs: Vec<(usize, usize)> = (0..nodes)
                    .map(|from| {
                        // Insert gaps occasionally, as long as the remaining positions still fit.
                        let spare = room - to - (nodes - from);
                        to += if spare > 0 && rng.random_bool(0.1) { rng.random_range(1..=spare) } else { 0 };
                        to += 1;
                        (from, to - 1)
                    })
                    .collect();
                let moves = PositionMap::new(pairs.iter().copied());
                let members: Vec<usize> = (0..nodes).filter(|_| rng.random_bool(density)).collect();
                let set = Coalition::from_members(nodes, members.iter().copied());
                let expected = Coalition::from_members(room, members.iter().map(|&member| pairs[member].1));
                let mut got = vec![0; room.div_ceil(64)];
                moves.apply(set.view().words(), &mut got);
                assert_eq!(got, expected.view().words());
            }
        }
    }

    #[test]
    fn what_has_no_move_is_left_behind() {
        let moves = PositionMap::new([(1, 0), (3, 1), (4, 2)]);
        let mut got = [0];
        moves.apply(&[0b10111], &mut got);
        assert_eq!(got, [0b101]);
    }
}
