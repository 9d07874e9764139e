//! Predictions of trees for pairs of hybrids.
//!
//! The mask of a hybrid is the intersection of masks of the explicand and of a background row, which are
//! looked up once for each tree, not for each hybrid.

use super::masks::LeafMasks;

/// The number of features is padded to a multiple of this, so that this many masks are intersected at a time.
const LANES: usize = 4;

/// Pairs of hybrids (x_S, z_{N∖S}) and (z_S, x_{N∖S}) of an explicand x, each with a background row z.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// The number of features, padded.
    width: usize,
    /// For each pair and feature, all ones if the feature is in S, otherwise 0: pairs × width.
    members: Vec<u32>,
    /// For each pair, the index of its background row in `rows`.
    row_of: Vec<u32>,
    /// The background rows that occur in a pair.
    rows: Vec<u32>,
}

impl Pairs {
    /// Creates pairs with these background rows and empty S.
    pub(crate) fn new(features: usize, background: &[u32]) -> Self {
        let width = features.next_multiple_of(LANES);
        let mut rows = background.to_vec();
        rows.sort_unstable();
        rows.dedup();
        let number = |row: &u32| rows.partition_point(|other| other < row) as u32;
        let row_of = background.iter().map(number).collect();
        Self { width, members: vec![0; background.len() * width], row_of, rows }
    }

    /// Adds a feature to S of a pair.
    pub(crate) fn add_member(&mut self, pair: usize, feature: usize) {
        self.members[pair * self.width + feature] = u32::MAX;
    }

    /// Returns the background rows that occur.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }
}

/// Memory for the masks of a tree.
#[derive(Debug, Default)]
pub(crate) struct PairMasks {
    own: Vec<u32>,
    /// The masks of the background rows that occur: rows × width.
    others: Vec<u32>,
}

impl PairMasks {
    /// Looks up the masks of a tree for the bins of the explicand and of the background rows that occur
    /// (rows × features).
    pub(crate) fn look_up(&mut self, masks: &LeafMasks, pairs: &Pairs, own: &[u8], others: &[u8]) {
        let width = pairs.width;
        for (numbers, rows) in [(&mut self.own, own), (&mut self.others, others)] {
            numbers.clear();
            numbers.resize(rows.len() / own.len() * width, u32::MAX);
            for (numbers, row) in numbers.chunks_exact_mut(width).zip(rows.chunks_exact(own.len())) {
                masks.of_row(row, numbers);
            }
        }
    }

    /// Returns the indices of the values of the leaves that the two hybrids of a pair reach.
    pub(crate) fn leaves(&self, pairs: &Pairs, pair: usize) -> [usize; 2] {
        let width = self.own.len();
        let row = pairs.row_of[pair] as usize;
        let members = &pairs.members[pair * width..][..width];
        let others = &self.others[row * width..][..width];
        let mut first = [u32::MAX; LANES];
        let mut second = [u32::MAX; LANES];
        let lanes = self.own.as_chunks().0.iter().zip(others.as_chunks().0).zip(members.as_chunks().0);
        for ((own, other), members) in lanes {
            let (own, other, members): (&[u32; LANES], &[u32; LANES], &[u32; LANES]) = (own, other, members);
            for lane in 0..LANES {
                let exchanged = (own[lane] ^ other[lane]) & members[lane];
                first[lane] &= other[lane] ^ exchanged;
                second[lane] &= own[lane] ^ exchanged;
            }
        }
        [first, second]
            .map(|lanes| lanes.iter().fold(u32::MAX, |mask, lane| mask & lane).trailing_zeros() as usize)
    }
}
