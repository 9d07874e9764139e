//! Draws units one by one, drawing again if a unit was drawn before.
//!
//! Given the units drawn so far, the next one is uniform among the remaining units. Therefore, all sets of
//! the same number of units are equally likely, for classes of any size.

use apportion_games::{Coalitions, words_for};
use rand_chacha::ChaCha8Rng;

use crate::designs::row_set::{RowSet, hash_words};
use crate::draw::subset::UniformSubset;
use crate::size::pairing::Pairing;
use crate::size::size_class::SizeClass;

/// Appends the rows of `wanted` distinct units. For a class of N units, this takes `N ln(N / (N − wanted))`
/// expected subset draws (at most 1.15 per unit if at most a quarter of the class is requested). It takes 8
/// to 16 bytes of memory per unit in addition to the rows.
pub(super) fn draw(class: &SizeClass, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
    let (players, size) = class.subsets();
    let subset = UniformSubset::new(players, size);
    distinct_units((class.players, class.pairing), wanted, rng, coalitions, |rng, words| {
        subset.draw(rng, &mut words[..words_for(players)]);
        if class.is_middle() {
            words[players / 64] |= 1 << (players % 64);
        }
    });
}

/// Appends the rows of `wanted` distinct units. `draw` overwrites the given words with the first row of a
/// random unit.
pub(crate) fn distinct_units(
    (players, pairing): (usize, Pairing),
    wanted: usize,
    rng: &mut ChaCha8Rng,
    coalitions: &mut Coalitions,
    mut draw: impl FnMut(&mut ChaCha8Rng, &mut [u64]),
) {
    let mut words = vec![0; words_for(players)];
    let (width, stride) = (words.len(), pairing.rows_per_unit() * words.len());
    let first = coalitions.words().len();
    let mut met = RowSet::with_capacity(wanted);
    let mut kept = 0;
    while kept < wanted {
        draw(rng, &mut words);
        let is_same = |earlier: usize| {
            let start = first + earlier * stride;
            coalitions.words()[start..start + width] == words[..]
        };
        if met.insert(hash_words(words.iter().copied()), kept, is_same).is_none() {
            pairing.push(&words, coalitions);
            kept += 1;
        }
    }
}
