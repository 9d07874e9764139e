//! A sample of rows that does not depend on their order: the rows with the smallest digests.

/// The maximum number of rows of a sample.
pub(super) const MAX_ROWS: usize = 1000;

/// Distinct rows with the smallest digests, in the order of their digests.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    /// The number of numbers in a row.
    width: usize,
    digests: Vec<u64>,
    /// The numbers of the rows: rows × width.
    rows: Vec<f64>,
}

impl Sample {
    /// Adds rows: rows × width, row-major. Only rows with a digest among the smallest `max_rows` are kept.
    pub(super) fn add(&mut self, rows: &[f64], width: usize, max_rows: usize) {
        self.keep(rows.chunks_exact(width).map(|row| (digest(row), row)), max_rows);
    }

    /// Adds the rows of another sample.
    pub(super) fn merge(&mut self, other: &Self, max_rows: usize) {
        self.keep(other.digests.iter().copied().zip(other.rows()), max_rows);
    }

    /// Adds rows with their digests.
    fn keep<'r>(&mut self, rows: impl Iterator<Item = (u64, &'r [f64])>, max_rows: usize) {
        let limit = self.digests.get(max_rows.wrapping_sub(1)).copied();
        let new: Vec<_> = rows.filter(|&(digest, _)| limit.is_none_or(|limit| digest < limit)).collect();
        let Some(&(_, first)) = new.first() else { return };
        let width = first.len();
        let mut all: Vec<(u64, &[f64])> = self.digests.iter().copied().zip(self.rows()).chain(new).collect();
        // Rows with the same digest are equal, unless their digests are equal by chance. In that case, their
        // numbers determine the order; they are compared from the last to the first, as in earlier versions.
        let backwards = |row: &[f64]| row.iter().rev().map(|number| number.to_bits()).collect::<Vec<_>>();
        all.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| backwards(a.1).cmp(&backwards(b.1))));
        all.dedup_by_key(|row| row.0);
        all.truncate(max_rows);
        let rows = all.iter().flat_map(|row| row.1).copied().collect();
        (self.digests, self.rows, self.width) = (all.iter().map(|row| row.0).collect(), rows, width);
    }

    /// Creates a sample from its rows. Returns `None` unless there are at most [`MAX_ROWS`] rows, their
    /// digests are correct, and the digests are strictly ascending.
    pub(super) fn from_rows(digests: Vec<u64>, rows: Vec<f64>, width: usize) -> Option<Self> {
        let has_rows = rows.len() == digests.len() * width && digests.len() <= MAX_ROWS;
        if !has_rows || !digests.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let sample = Self { width, digests, rows };
        let are_right = sample.rows().zip(&sample.digests).all(|(row, &given)| digest(row) == given);
        are_right.then_some(sample)
    }

    /// Returns the digest of each row.
    pub(super) fn digests(&self) -> &[u64] {
        &self.digests
    }

    /// Iterates over the rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks_exact(self.width.max(1))
    }
}

impl PartialEq for Sample {
    /// Compares the bits of the numbers, because missing inputs are NaN.
    fn eq(&self, other: &Self) -> bool {
        let bits = |sample: &Self| sample.rows.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        self.digests == other.digests && bits(self) == bits(other)
    }
}

/// Returns a digest of the numbers of a row: SplitMix64 (Steele, Lea and Flood 2014), number by number.
pub(super) fn digest(row: &[f64]) -> u64 {
    row.iter().fold(0, |digest: u64, number| {
        let mut digest = (digest ^ number.to_bits()).wrapping_add(0x9e37_79b9_7f4a_7c15);
        digest = (digest ^ (digest >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        digest = (digest ^ (digest >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        digest ^ (digest >> 31)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn digests_are_those_of_splitmix() {
        // The expected numbers are the published first outputs of the generator with the seed 0.
        assert_eq!(digest(&[0.0]), 0xe220_a839_7b1d_cdaf);
        assert_eq!(digest(&[f64::from_bits(0x9e37_79b9_7f4a_7c15)]), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(digest(&[]), 0);
        assert_ne!(digest(&[1.0, 2.0]), digest(&[2.0, 1.0]));
    }

    #[test]
    fn rows_with_the_same_digest_are_ordered_by_their_last_numbers() {
        let (first, second): (&[f64], &[f64]) = (&[2.0, 1.0], &[1.0, 2.0]);
        for rows in [[first, second], [second, first]] {
            let mut sample = Sample::default();
            sample.keep(rows.into_iter().map(|row| (7, row)), 3);
            assert_eq!(sample.rows().collect::<Vec<_>>(), [first]);
        }
    }

    proptest! {
        /// Compares the sample with a slow counterpart: a map of all rows by digest.
        #[test]
        fn the_sample_contains_the_smallest_digests_of_any_parts(
            numbers in prop::collection::vec(-20_i32..20, 0..200),
            cut in 1_usize..50,
            max_rows in 1_usize..30,
        ) {
            let rows: Vec<[f64; 2]> = numbers.iter().map(|&x| [x.into(), f64::from(x) * 0.5]).collect();
            let all: BTreeMap<u64, [f64; 2]> = rows.iter().map(|row| (digest(row), *row)).collect();
            let mut sample = Sample::default();
            for part in rows.chunks(cut).rev() {
                let mut alone = Sample::default();
                alone.add(part.as_flattened(), 2, max_rows);
                sample.merge(&alone, max_rows);
            }
            let expected: Vec<[f64; 2]> = all.into_values().take(max_rows).collect();
            prop_assert_eq!(sample.rows().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
        }
    }
}
