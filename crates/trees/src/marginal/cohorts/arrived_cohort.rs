//! A cohort of background rows that arrived at a leaf.

use super::MAX_DEPTH;
use super::sets::{Numbers, Set, both, is_empty, room};
use crate::engine::bits::ones;

/// A cohort at a leaf, and the players on the path to the leaf.
pub(crate) struct ArrivedCohort<'a, const W: usize> {
    pub(crate) value: f64,
    pub(crate) cohort: Set<W>,
    /// The levels of players without a failed test of the explicand, one bit each.
    pub(crate) live: u64,
    /// The levels of the players in R, one bit each.
    pub(crate) rest: u64,
    /// For each level, the rows that fail a test of its player.
    pub(crate) failing: &'a [Set<W>],
    /// The player of each level.
    pub(crate) players: &'a [u32],
}

impl<const W: usize> ArrivedCohort<'_, W> {
    /// Returns the number of players in R.
    #[inline(always)]
    pub(crate) fn others(&self) -> usize {
        self.rest.count_ones() as usize
    }

    /// Returns the players of R.
    #[inline(always)]
    pub(crate) fn rest(&self) -> impl Iterator<Item = u32> {
        ones(self.rest).map(|level| self.players[level])
    }
}

/// The players with a test that some row of a cohort fails, and the sets of these rows.
pub(crate) struct Failed {
    words: Vec<u64>,
    owners: [u32; MAX_DEPTH],
}

impl Default for Failed {
    fn default() -> Self {
        Self { words: Vec::new(), owners: [0; MAX_DEPTH] }
    }
}

impl Failed {
    /// Returns, for each player i with a test that some row of the cohort fails, the set G_i of the rows that
    /// fail a test of i. Also returns these players. The sets are also added to `numbers`.
    #[inline(always)]
    pub(crate) fn for_players<const W: usize>(
        &mut self,
        arrived: &ArrivedCohort<'_, W>,
        numbers: &mut Numbers<W>,
    ) -> (&[Set<W>], &[u32]) {
        let sets = room::<W, MAX_DEPTH>(&mut self.words);
        let mut count = 0;
        for level in ones(arrived.live) {
            let own = both(arrived.failing[level], arrived.cohort);
            if !is_empty(own) {
                numbers.add(own);
                sets[count] = own;
                self.owners[count] = arrived.players[level];
                count += 1;
            }
        }
        (&sets[..count], &self.owners[..count])
    }
}
