//! The coalitions for the gradient steps, drawn block by block.

use apportion_games::{Coalitions, Purpose, stream, words_for};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::distribution::SizeFactors;

/// The number of draws in a block. Each block has a separate random stream.
pub(super) const BLOCK: usize = 1 << 10;

/// The maximum number of draws. It is limited by the numbering of random streams.
pub(super) const MAX_DRAWS: usize = 1 << 48;

/// Overwrites `batch` with the first `draws` coalitions of a block. If paired, each is followed by its
/// complement.
pub(super) fn draw_block(
    batch: &mut Coalitions,
    factors: &SizeFactors,
    is_paired: bool,
    (seed, block, draws): (u64, u64, usize),
) {
    let mut rng = stream(seed, Purpose::Gradients, block);
    let players = batch.players();
    let mut words = vec![0; words_for(players)];
    batch.clear();
    for _ in 0..draws {
        let size = factors.sizes.draw(&mut rng) + 1;
        draw_subset(&mut rng, players, size, &mut words);
        batch.push_words(&words);
        if is_paired {
            batch.push_complement(batch.len() - 1);
        }
    }
}

/// Overwrites `words` with a uniformly random subset of `size` players. Draws either the members or the other
/// players, whichever are fewer, by rejection sampling.
fn draw_subset(rng: &mut ChaCha8Rng, players: usize, size: usize, words: &mut [u64]) {
    let fewer = size.min(players - size);
    words.fill(0);
    let mut drawn = 0;
    while drawn < fewer {
        let player = rng.random_range(0..players as u64) as usize;
        let (word, bit) = (&mut words[player / 64], 1 << (player % 64));
        drawn += usize::from(*word & bit == 0);
        *word |= bit;
    }
    if fewer < size {
        words.iter_mut().for_each(|word| *word = !*word);
        let used = players % 64;
        if used > 0
            && let Some(last) = words.last_mut()
        {
            *last &= (1 << used) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projected_gradient::GradientDistribution;
    use std::collections::BTreeMap;

    #[test]
    fn all_coalitions_of_a_size_are_alike_and_sizes_follow_their_weights() {
        let weights = GradientDistribution::Importance.size_weights(6, 2.0, 1.0);
        let total: f64 = weights.iter().sum();
        let factors = SizeFactors::new(weights.clone(), false).unwrap();
        let (mut batch, mut counts) = (Coalitions::new(6), BTreeMap::<u64, f64>::new());
        for block in 0..60 {
            draw_block(&mut batch, &factors, false, (3, block, BLOCK));
            batch.words().iter().for_each(|&mask| *counts.entry(mask).or_default() += 1.0);
        }
        assert_eq!(counts.len(), 62);
        let (draws, coalitions) = (60.0 * BLOCK as f64, [6.0, 15.0, 20.0, 15.0, 6.0]);
        let term = |(mask, count): (&u64, &f64)| {
            let size = mask.count_ones() as usize;
            let expected = draws * weights[size - 1] / total / coalitions[size - 1];
            (count - expected).powi(2) / expected
        };
        // The bound on chi-square with 61 degrees of freedom is 6 standard deviations above the mean.
        let chi_square: f64 = counts.iter().map(term).sum();
        assert!(chi_square < 61.0 + 6.0 * (122f64).sqrt(), "{chi_square}");
    }

    #[test]
    fn a_short_block_is_the_beginning_of_a_long_one() {
        for players in [2, 64, 65, 130] {
            let weights = GradientDistribution::Centred.size_weights(players, 2.0, 1.0);
            let factors = SizeFactors::new(weights, true).unwrap();
            let (mut short, mut long) = (Coalitions::new(players), Coalitions::new(players));
            draw_block(&mut short, &factors, true, (1, 7, 10));
            draw_block(&mut long, &factors, true, (1, 7, BLOCK));
            assert_eq!(short, long.slice(0..20));
            assert!(long.sizes().iter().all(|&size| size > 0 && (size as usize) < players));
        }
    }

    // Samples are determined by their seeds: if these coalitions change, so does every stored result.
    #[test]
    fn first_draws_are_fixed() {
        let factors =
            SizeFactors::new(GradientDistribution::Centred.size_weights(10, 3.0, 1.0), false).unwrap();
        let mut batch = Coalitions::new(10);
        draw_block(&mut batch, &factors, false, (42, 0, 6));
        assert_eq!(batch.words(), FIRST);
    }

    const FIRST: [u64; 6] = [712, 1022, 105, 888, 172, 1005];
}
