//! Sets, represented as the bits of a word.

/// The maximum number of bits of a table index.
pub(crate) const MAX_BITS: usize = 12;

/// Returns the set of the first `count` elements.
#[inline]
pub(crate) fn all_of(count: usize) -> u64 {
    if count == 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Returns the number of elements of a set.
#[inline(always)]
pub(crate) fn count(set: u64) -> usize {
    set.count_ones() as usize
}

/// Iterates over the indices of the bits that are set.
#[inline(always)]
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

/// Iterates over all subsets of a set, from the set itself to the empty one.
#[inline(always)]
pub(crate) fn subsets(set: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(set);
    std::iter::from_fn(move || {
        let subset = next?;
        next = (subset != 0).then(|| (subset - 1) & set);
        Some(subset)
    })
}
