//! Selection of the rows to keep: a sample determined by a seed, and the extremes.

/// Returns the priority of the row at position `place`: SplitMix64 of seed and position. The rows with the
/// smallest priorities are kept, so the sample depends on neither batches nor threads. Source: Steele, Lea
/// and Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014.
pub(crate) fn priority(seed: u64, place: u64) -> u64 {
    let mut mixed = seed ^ place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The first row with the minimum of a quantity, and the first row with its maximum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    min: (f64, u64),
    max: (f64, u64),
}

impl Ends {
    pub(super) const NONE: Self = Self { min: (f64::INFINITY, u64::MAX), max: (f64::NEG_INFINITY, u64::MAX) };

    pub(super) fn add(&mut self, number: f64, place: u64) {
        if number < self.min.0 {
            self.min = (number, place);
        }
        if number > self.max.0 {
            self.max = (number, place);
        }
    }

    /// Iterates over the positions of the rows with the minimum and the maximum, if there are any rows.
    pub(super) fn places(&self) -> impl Iterator<Item = u64> {
        [self.min.1, self.max.1].into_iter().filter(|&place| place != u64::MAX)
    }
}
