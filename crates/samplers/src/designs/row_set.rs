//! A hash set for rows of words, which stores the position of each row in a batch.

/// A set of rows for detecting repeated rows. It only stores positions: the caller stores the rows and
/// compares them.
///
/// The hash table uses open addressing with linear probing and is at most half full. It takes 8 to 16 bytes
/// per row.
pub(crate) struct RowSet {
    /// The position of a row plus 1, or 0 if the slot is empty.
    slots: Vec<u32>,
    mask: usize,
}

impl RowSet {
    /// Creates an empty set for up to `rows` rows.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        let slots = (2 * rows).next_power_of_two().max(2);
        Self { slots: vec![0; slots], mask: slots - 1 }
    }

    /// Inserts the row with this hash at `position`. If `is_same` reports that an earlier position contains
    /// the same row, returns that position instead.
    ///
    /// # Panics
    ///
    /// If `position + 1` does not fit in 32 bits. Never returns if the set is full.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        position: usize,
        is_same: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let entry = u32::try_from(position + 1).expect("samples have at most 2^27 rows");
        let mut slot = hash as usize & self.mask;
        loop {
            match self.slots[slot] {
                0 => {
                    self.slots[slot] = entry;
                    return None;
                }
                earlier if is_same(earlier as usize - 1) => return Some(earlier as usize - 1),
                _ => slot = (slot + 1) & self.mask,
            }
        }
    }
}

/// Hashes words with one 64 × 64 → 128 bit product per word, folded to 64 bits. Not suitable for adversarial
/// input.
#[inline]
pub(crate) fn hash_words(words: impl IntoIterator<Item = u64>) -> u64 {
    // These odd constants have well-mixed bits: the fractional parts of the golden ratio and of √2.
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    const FACTOR: u64 = 0x6a09_e667_f3bc_c909;
    words.into_iter().fold(SEED, |hash, word| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        (product as u64) ^ (product >> 64) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_again_and_only_then() {
        let rows: Vec<[u64; 2]> = (0..200).map(|k| [k % 150, (k % 150) << 60]).collect();
        let mut set = RowSet::with_capacity(rows.len());
        for (position, row) in rows.iter().enumerate() {
            let earlier = set.insert(hash_words(*row), position, |other| rows[other] == *row);
            assert_eq!(earlier, (position >= 150).then(|| position - 150), "row {position}");
        }
    }

    #[test]
    fn rows_that_differ_in_one_bit_have_different_hashes() {
        let mut hashes: Vec<u64> = (0..256)
            .map(|bit| hash_words((0..4).map(|word| u64::from(bit / 64 == word) << (bit % 64))))
            .collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 256);
        // The low bits choose the slot. The hashes of 256 single bits spread over 512 slots like random
        // numbers (about 201 slots).
        let mut slots: Vec<u64> = hashes.iter().map(|hash| hash % 512).collect();
        slots.sort_unstable();
        slots.dedup();
        assert!(slots.len() > 160, "{} slots", slots.len());
    }
}
