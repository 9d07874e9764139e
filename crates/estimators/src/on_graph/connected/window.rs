//! Sets with the same first member, merged from the lists of all players that need them.

use super::bits::{Bits, PositionMap};

/// The sets with a given first member, from the lists of all players, with duplicates.
pub(crate) struct Window<B> {
    /// The nodes that may occur in the sets, in ascending order.
    room: Vec<usize>,
    sets: Vec<B>,
    /// The player that needs each set, and the coefficient of the set for this player.
    uses: Vec<(u32, f64)>,
}

/// The sets of a window without duplicates.
pub(crate) struct DistinctSets<B> {
    sets: Vec<B>,
    /// For each set, the end index (exclusive) of its entries in `uses`.
    ends: Vec<usize>,
    uses: Vec<(u32, f64)>,
    /// The map from the room to the nodes of the graph.
    moves: PositionMap,
}

impl<B: Bits> Window<B> {
    /// Creates a window without sets, for nodes of `room`.
    pub(crate) fn new(room: Vec<usize>) -> Self {
        Self { room, sets: Vec::new(), uses: Vec::new() }
    }

    /// Adds sets for `player`, whose members are numbered in the player's neighbourhood. `nodes` maps these
    /// numbers to nodes, in ascending order.
    pub(crate) fn push<'s>(
        &mut self,
        player: usize,
        nodes: impl Iterator<Item = (usize, usize)>,
        sets: impl ExactSizeIterator<Item = &'s [u64]>,
        coefficients: &[f64],
    ) {
        let mut at = 0;
        let moves = PositionMap::new(nodes.filter_map(|(own, node)| {
            at += self.room[at..].iter().position(|&other| other >= node)?;
            (self.room[at] == node).then_some((own, at))
        }));
        let nodes = self.room.len();
        self.sets.reserve(sets.len());
        self.sets.extend(sets.map(|set| {
            let mut moved = B::empty(nodes);
            moves.apply(set, moved.words_mut());
            moved
        }));
        self.uses.extend(coefficients.iter().map(|&coefficient| (player as u32, coefficient)));
    }

    /// Returns the number of distinct sets.
    pub(crate) fn distinct(mut self) -> usize {
        self.sets.sort_unstable();
        self.sets.chunk_by(|a, b| a == b).count()
    }

    /// Merges equal sets. The uses of each set keep their order.
    pub(crate) fn joined(self) -> DistinctSets<B> {
        let mut order: Vec<(B, u32)> = self.sets.into_iter().zip(0..).collect();
        order.sort_unstable();
        let uses = order.iter().map(|&(_, at)| self.uses[at as usize]).collect();
        let (mut sets, mut ends): (Vec<B>, Vec<usize>) = Default::default();
        for (end, (set, _)) in (1..).zip(order) {
            if sets.last() == Some(&set) {
                ends.pop();
            } else {
                sets.push(set);
            }
            ends.push(end);
        }
        let moves = PositionMap::new(self.room.iter().copied().enumerate());
        DistinctSets { sets, ends, uses, moves }
    }
}

impl<B: Bits> DistinctSets<B> {
    /// Calls `each` with every set and its uses. The set is written to `buffer` as 64-bit words, in the
    /// numbering of the graph's nodes.
    pub(crate) fn try_for_each<E>(
        &self,
        buffer: &mut [u64],
        mut each: impl FnMut(&mut [u64], &[(u32, f64)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut start = 0;
        for (set, &end) in self.sets.iter().zip(&self.ends) {
            buffer.fill(0);
            self.moves.apply(set.words(), buffer);
            each(buffer, &self.uses[start..end])?;
            start = end;
        }
        Ok(())
    }
}
