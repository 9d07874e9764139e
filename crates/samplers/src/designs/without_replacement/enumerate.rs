//! Draws units by enumerating all coalitions of a class.
//!
//! # Source
//!
//! Selection sampling: if `wanted` units are still to be drawn, the next of the `left` remaining units is
//! kept with probability `wanted / left` (Fan, Muller and Rezucha, 1962; Knuth, *The Art of Computer
//! Programming* 2, algorithm S). Units are visited in lexicographic order of their members, i.e. in order of
//! rank.

use apportion_games::{Coalitions, words_for};
use rand_chacha::ChaCha8Rng;

use crate::draw::random::below;
use crate::size::size_class::SizeClass;

/// Appends the rows of `wanted` distinct units. Takes O(population) time and O(s) memory. If all units are
/// requested, no random numbers are drawn.
pub(super) fn draw(class: &SizeClass, wanted: usize, rng: &mut ChaCha8Rng, coalitions: &mut Coalitions) {
    let (players, size) = class.subsets();
    let mut words = vec![0; words_for(class.players)];
    if class.is_middle() {
        set(&mut words, class.players - 1);
    }
    let mut members: Vec<usize> = (0..size).collect();
    members.iter().for_each(|&member| set(&mut words, member));

    let (mut left, mut wanted) = (class.population as u64, wanted as u64);
    loop {
        if wanted == left || below(rng, left) < wanted {
            class.pairing.push(&words, coalitions);
            wanted -= 1;
        }
        left -= 1;
        if wanted == 0 {
            return;
        }
        advance(players, &mut members, &mut words);
    }
}

/// Advances to the next subset of the same size, which must exist.
fn advance(players: usize, members: &mut [usize], words: &mut [u64]) {
    let size = members.len();
    // Find the last member that can move up. All later members are at the end, without a gap.
    let mut position = size - 1;
    while members[position] == players - size + position {
        clear(words, members[position]);
        position -= 1;
    }
    clear(words, members[position]);
    let first = members[position] + 1;
    for (member, next) in members[position..].iter_mut().zip(first..) {
        *member = next;
        set(words, next);
    }
}

fn set(words: &mut [u64], player: usize) {
    words[player / 64] |= 1 << (player % 64);
}

fn clear(words: &mut [u64], player: usize) {
    words[player / 64] &= !(1 << (player % 64));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::without_replacement::tests::class;
    use crate::size::pairing::Pairing;
    use crate::{choose, rank};
    use apportion_games::{Purpose, stream};

    #[test]
    fn a_whole_class_comes_in_the_order_of_ranks() {
        for (players, size) in [(1, 0), (1, 1), (5, 0), (5, 2), (5, 5), (9, 4), (66, 2), (130, 1)] {
            let count = choose(players, size).unwrap();
            let class = class(players, size, Pairing::Unpaired);
            let mut rows = Coalitions::new(players);
            draw(&class, count as usize, &mut stream(1, Purpose::Coalitions, 0), &mut rows);
            assert!(rows.iter().map(|row| rank(row).unwrap()).eq(0..count), "n = {players}, s = {size}");
        }
    }
}
