//! Uniformly random subsets of a given size, written directly into words.
//!
//! The algorithm starts from random bits, each set with the same probability. Then it adds random
//! non-members, or removes random members, until the size is right. It treats all players equally, so the
//! result is uniform among the subsets of that size. If the initial size is close to the target size, few
//! changes are needed. But 64 bits of density 1/8 take three random words, whereas 64 bits of density 1/2
//! take only one. [`UniformSubset::new`] chooses the cheapest initial density.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use apportion_games::words_for;

use crate::draw::random::UniformBelow;

/// A generator of uniformly random subsets with `size` of `players` elements.
///
/// Takes about `min(s, n − s, n/16 + √n/2)` single draws and up to `3⌈n/64⌉` random words per subset. Does
/// not allocate.
#[derive(Debug, Clone)]
pub(crate) struct UniformSubset {
    /// Number of bits that are in use.
    players: usize,
    /// The smaller of `size` and `players − size`. This number of elements is drawn, and the words are
    /// inverted if `is_flipped`.
    target: u32,
    is_flipped: bool,
    /// The density of the initial random bits, in eighths: 0 to 4.
    eighths: u32,
    player: UniformBelow,
}

/// The cost of a random word relative to a single draw of a player. Values from 1 to 4 lead to similar
/// choices.
const WORD_COST: f64 = 2.5;

impl UniformSubset {
    /// Creates a generator of subsets with `size` of `players` elements.
    ///
    /// # Panics
    ///
    /// If `players` does not fit in 32 bits.
    pub(crate) fn new(players: usize, size: usize) -> Self {
        debug_assert!(size <= players);
        assert!(u32::try_from(players).is_ok(), "{players} players do not fit in 32 bits");
        let target = size.min(players - size);
        Self {
            players,
            target: target as u32,
            is_flipped: size > target,
            eighths: cheapest_start(players, target),
            player: UniformBelow::new(players.max(1) as u32),
        }
    }

    /// Overwrites `words` with a random subset; bits beyond the last player are zero.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng, words: &mut [u64]) {
        debug_assert_eq!(words.len(), words_for(self.players));
        let mut size = self.fill_at_random(rng, words);
        while size < self.target {
            let player = self.player.draw(rng);
            let (word, bit) = (&mut words[player as usize / 64], 1 << (player % 64));
            size += u32::from(*word & bit == 0);
            *word |= bit;
        }
        while size > self.target {
            let player = self.player.draw(rng);
            let (word, bit) = (&mut words[player as usize / 64], 1 << (player % 64));
            size -= u32::from(*word & bit != 0);
            *word &= !bit;
        }
        if self.is_flipped {
            words.iter_mut().for_each(|word| *word = !*word);
            self.clear_beyond(words);
        }
    }

    /// Sets every bit independently with probability `eighths / 8`, and returns the number of set bits.
    fn fill_at_random(&self, rng: &mut ChaCha8Rng, words: &mut [u64]) -> u32 {
        match self.eighths {
            0 => {
                words.fill(0);
                return 0;
            }
            1 => words.iter_mut().for_each(|word| *word = rng.next_u64() & rng.next_u64() & rng.next_u64()),
            2 => words.iter_mut().for_each(|word| *word = rng.next_u64() & rng.next_u64()),
            3 => words.iter_mut().for_each(|word| *word = (rng.next_u64() | rng.next_u64()) & rng.next_u64()),
            _ => words.iter_mut().for_each(|word| *word = rng.next_u64()),
        }
        self.clear_beyond(words);
        words.iter().map(|word| word.count_ones()).sum()
    }

    fn clear_beyond(&self, words: &mut [u64]) {
        let used = self.players % 64;
        if used > 0
            && let Some(last) = words.last_mut()
        {
            *last &= (1 << used) - 1;
        }
    }
}

/// Returns the initial density, in eighths, that minimizes the cost of reaching `target` ≤ n/2 members.
fn cheapest_start(players: usize, target: usize) -> u32 {
    let (n, wanted) = (players as f64, target as f64);
    let cost = |eighths: u32| {
        let density = f64::from(eighths) / 8.0;
        let words_per_word = [0.0, 3.0, 2.0, 3.0, 1.0][eighths as usize];
        let gap = wanted - n * density;
        // The number of changes combines the gap and the spread of the random start. Each change takes
        // several draws, because some draws hit players that are already members.
        let changes = (gap * gap + n * density * (1.0 - density)).sqrt();
        let hits = if gap >= 0.0 { 1.0 - wanted.max(1.0) / n } else { wanted.max(1.0) / n };
        WORD_COST * words_per_word * words_for(players) as f64 + changes / hits
    };
    (1..=4).fold(0, |best, eighths| if cost(eighths) < cost(best) { eighths } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose;
    use crate::testing::{assert_alike, assert_count};
    use apportion_games::{Purpose, stream};

    #[test]
    fn the_start_is_the_cheapest_density() {
        let starts = |players: usize| {
            [1, players / 16, players / 8, players / 4, players * 3 / 8, players / 2]
                .map(|size| cheapest_start(players, size))
        };
        assert_eq!(starts(10), [0, 0, 0, 0, 0, 4]);
        assert_eq!(starts(100), [0, 0, 0, 2, 3, 4]);
        assert_eq!(starts(1000), [0, 0, 1, 2, 3, 4]);
        assert_eq!(starts(10_000), [0, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn subsets_are_uniform_from_every_start() {
        // Each subset is expected 200 times. The bound on chi-square is 6 standard deviations above its mean,
        // which is the number of subsets minus one.
        for (players, size) in [(5, 0), (5, 1), (6, 3), (7, 2), (7, 5), (8, 4), (4, 4)] {
            let subsets = choose(players, size).unwrap() as usize;
            for eighths in 0..=4 {
                let subset = UniformSubset { eighths, ..UniformSubset::new(players, size) };
                let mut rng = stream(9, Purpose::Coalitions, u64::from(eighths));
                let draw = |_| {
                    let mut words = [u64::MAX];
                    subset.draw(&mut rng, &mut words);
                    assert_eq!(words[0].count_ones() as usize, size);
                    words[0]
                };
                let freedom = subsets as f64 - 1.0;
                let bound = freedom + 6.0 * (2.0 * freedom).sqrt();
                assert_alike(
                    (0..200 * subsets).map(draw),
                    subsets,
                    bound,
                    &format!("{players}, {size}, {eighths}/8"),
                );
            }
        }
    }

    #[test]
    fn players_across_words_are_equally_frequent_alone_and_in_twos() {
        const DRAWS: usize = 4000;
        for players in [63, 64, 65, 127, 128, 129, 200] {
            for size in [1, 5, players / 8, players / 4, players / 3, players / 2, players - 2] {
                let subset = UniformSubset::new(players, size);
                let mut rng = stream(10, Purpose::Coalitions, size as u64);
                let mut words = vec![0; words_for(players)];
                let (mut alone, mut in_twos) = (vec![0usize; players], vec![0usize; players]);
                for _ in 0..DRAWS {
                    subset.draw(&mut rng, &mut words);
                    let is_member = |player: usize| words[player / 64] >> (player % 64) & 1 == 1;
                    assert_eq!(words.iter().map(|word| word.count_ones() as usize).sum::<usize>(), size);
                    for player in (0..players).filter(|&player| is_member(player)) {
                        alone[player] += 1;
                        in_twos[player] += usize::from(is_member((player * 5 + 64) % players));
                    }
                }
                let share = size as f64 / players as f64;
                let share_of_twos = share * (size as f64 - 1.0) / (players as f64 - 1.0);
                for player in 0..players {
                    // The bound is five and a half standard errors, because there are about 11,000
                    // comparisons, plus one count for the rarest subsets.
                    let check = |count: usize, share: f64| {
                        let what = format!("n = {players}, s = {size}, player {player}");
                        assert_count(count as f64, DRAWS as f64, share, (5.5, 1.0), &what);
                    };
                    check(alone[player], share);
                    if (player * 5 + 64) % players != player {
                        check(in_twos[player], share_of_twos);
                    }
                }
            }
        }
    }
}
