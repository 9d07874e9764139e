//! Random streams: every draw of the workspace is determined by (seed, purpose, unit).
//!
//! Each unit of work (a size class, a permutation, a coalition) has a separate stream, so that results do not
//! depend on the number of threads or on their scheduling. ChaCha8 is chosen explicitly because its values
//! are stable across releases.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::coalition::CoalitionView;

/// The purpose of a stream. Stored results depend on these numbers, so never reuse or change one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Purpose {
    /// Draws of coalitions; the unit is the size class, or 0.
    Coalitions = 1,
    /// Draws of permutations; the unit is the permutation.
    Permutations = 2,
    /// Noise added to a game; the unit is a hash of the coalition.
    Noise = 3,
    /// Counts per size class; the unit is 0.
    Counts = 4,
    /// Experiments: explicands, synthetic targets; the unit is the run.
    Experiment = 5,
    /// Random order of tied values in a column of data; the unit is the column.
    Ties = 6,
    /// Joint draws of coalitions and scenarios; the unit combines the player, shifted by 28 bits, with the
    /// block of draws.
    ProductSpace = 7,
    /// Joint draws of permutations and scenarios; the unit is the block of draws, or the draw.
    NestedPermutations = 8,
    /// Draws of absent features given the present ones; the unit is a hash of the coalition.
    Conditional = 9,
    /// Seeds of the parts of a computation that have separate streams; the unit is the part.
    Parts = 10,
    /// Draws of coalitions for stochastic gradients; the unit is the block of steps.
    Gradients = 11,
    /// Draws of marginal contributions in strata of players and sizes; the unit identifies the stratum and
    /// one of two halves of its draws.
    Strata = 12,
    /// Order in which a growing sample adds coalitions; the unit is the size class.
    Growth = 13,
    /// Random directions for measuring errors; the unit is the direction.
    Directions = 14,
    /// Draws of coalitions in the neighbourhood of a player; the unit is the player.
    Neighbourhoods = 15,
    /// Random assignment of sampled coalitions to the folds of a cross-validation; the unit is 1.
    Surrogates = 16,
    /// Draws of background rows; the unit is 0.
    Background = 17,
    /// Choices of which coalition of each pair to evaluate; the unit is 0.
    Halves = 18,
    /// Draws of pairs of coalitions with background rows; the unit is the part of the sample.
    Hybrids = 19,
    /// Draws of rows and features for boosted trees; the unit is the tree.
    Boosting = 20,
}

/// Number of bits in a unit.
const UNIT_BITS: u32 = 48;

/// Returns the generator for unit `unit` of `purpose` with `seed`.
///
/// ```
/// use apportion_games::{Purpose, stream};
/// use rand::Rng;
///
/// let word = || stream(42, Purpose::Coalitions, 7).next_u64();
/// assert_eq!(word(), word());
/// ```
///
/// # Panics
///
/// If `unit` needs more than 48 bits.
pub fn stream(seed: u64, purpose: Purpose, unit: u64) -> ChaCha8Rng {
    assert!(unit < 1 << UNIT_BITS, "unit {unit} does not fit in {UNIT_BITS} bits");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((purpose as u64) << UNIT_BITS | unit);
    rng
}

/// Returns the unit for the stream of a coalition: a 48-bit hash that mixes in each word with the finalizer
/// of SplitMix64 (Steele, Lea and Flood, 2014). For a million coalitions, the probability that any two share
/// a stream is 0.002.
///
/// Draws from this stream are determined by the seed and the coalition. A game that adds them to its values
/// is therefore still deterministic.
pub fn coalition_unit(coalition: CoalitionView<'_>) -> u64 {
    let mixed = coalition.words().iter().fold(0, |state: u64, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    });
    mixed >> (u64::BITS - UNIT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    // Stored results record their seed; if these words changed, none of the results could be reproduced.
    #[test]
    fn first_words_are_fixed() {
        let word = |purpose, unit| stream(42, purpose, unit).next_u64();
        assert_eq!(
            [word(Purpose::Coalitions, 0), word(Purpose::Coalitions, 1), word(Purpose::Permutations, 0)],
            [11027680626051900178, 18178751841779265898, 12624730811273540124]
        );
    }
}
