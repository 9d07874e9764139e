//! What LIME draws: coalitions near the one of all players.

use std::collections::HashMap;

use apportion_games::{Coalitions, Purpose, stream};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// How coalitions near the one of all players are drawn. The first is always the one of all players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LimeSampling {
    /// For words: how many players are removed is uniform in 1..=n, and which ones is uniform among as many.
    #[default]
    UniformRemovals,
    /// For superpixels: every player is present with probability ½.
    FairCoins,
}

impl LimeSampling {
    /// The different coalitions among `draws`, in the order in which they came, and how often each was drawn. The first is that of all
    /// players.
    pub(super) fn draw(self, players: usize, draws: usize, seed: u64) -> (Coalitions, Vec<u32>) {
        let mut rng = stream(seed, Purpose::Surrogates, 0);
        let mut coalitions = Coalitions::new(players);
        coalitions.push_full();
        let all = coalitions.words().to_vec();
        let mut row = all.clone();
        let mut order: Vec<usize> = (0..players).collect();
        let mut positions = HashMap::from([(all.clone(), 0)]);
        let mut times = vec![1_u32];
        for _ in 1..draws {
            match self {
                Self::UniformRemovals => {
                    row.copy_from_slice(&all);
                    let removed = rng.random_range(1..=players as u64) as usize;
                    // The first steps of a shuffle, from whatever order the last draw left.
                    for step in 0..removed {
                        order.swap(step, rng.random_range(step as u64..players as u64) as usize);
                        row[order[step] / 64] &= !(1 << (order[step] % 64));
                    }
                }
                Self::FairCoins => {
                    row.iter_mut().zip(&all).for_each(|(word, all)| *word = rng.next_u64() & all);
                }
            }
            match positions.get(&row) {
                Some(&position) => times[position] += 1,
                None => {
                    positions.insert(row.clone(), times.len());
                    coalitions.push_words(&row);
                    times.push(1);
                }
            }
        }
        (coalitions, times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [LimeSampling; 2] = [LimeSampling::UniformRemovals, LimeSampling::FairCoins];

    #[test]
    fn draws_follow_their_law() {
        // 40 000 draws: frequencies are within 5 standard errors of their probabilities.
        const DRAWS: usize = 40_000;
        for players in [1, 2, 5, 6, 70, 131] {
            for sampling in BOTH {
                let (coalitions, times) = sampling.draw(players, DRAWS + 1, 9);
                assert_eq!(coalitions.sizes()[0] as usize, players);
                assert_eq!(times.iter().sum::<u32>() as usize, DRAWS + 1);
                let (mut sizes, mut held) = (vec![0.0; players + 1], vec![0.0; players]);
                for (index, row) in coalitions.iter().enumerate() {
                    let drawn = f64::from(times[index] - u32::from(index == 0));
                    sizes[row.size()] += drawn;
                    row.members().for_each(|player| held[player] += drawn);
                }
                let n = players as f64;
                let probability = |size: usize| match sampling {
                    LimeSampling::UniformRemovals => f64::from(u8::from(size < players)) / n,
                    LimeSampling::FairCoins => {
                        (apportion_samplers::ln_choose(players, size) - n * 2.0_f64.ln()).exp()
                    }
                };
                let presence = match sampling {
                    LimeSampling::UniformRemovals => (n - 1.0) / (2.0 * n),
                    LimeSampling::FairCoins => 0.5,
                };
                let wanted = (0..=players).map(probability).chain((0..players).map(|_| presence));
                for (count, p) in sizes.iter().chain(&held).zip(wanted) {
                    let error = (p * (1.0 - p) / DRAWS as f64).sqrt() + 1e-4 * f64::from(u8::from(p > 0.0));
                    let got = count / DRAWS as f64;
                    assert!(
                        (got - p).abs() <= 5.0 * error,
                        "{players} players, {sampling:?}: {got}, not {p}"
                    );
                }
            }
        }
    }

    #[test]
    fn removals_of_one_size_are_all_as_likely() {
        // Five players, sizes uniform: each of the 31 coalitions without all players has probability 1 / (5 C(5, s)).
        const DRAWS: usize = 50_000;
        let (coalitions, times) = LimeSampling::default().draw(5, DRAWS + 1, 2);
        assert_eq!(coalitions.len(), 32);
        for (row, times) in coalitions.iter().zip(times).skip(1) {
            let choices = [1.0, 5.0, 10.0, 10.0, 5.0][row.size()];
            let p = 1.0 / (5.0 * choices);
            let error = (p * (1.0 - p) / DRAWS as f64).sqrt();
            assert!((f64::from(times) / DRAWS as f64 - p).abs() < 5.0 * error, "{row:?}: {times}");
        }
    }

    // Stored results name their seed: if these change, every one of those results stops being reproducible.
    #[test]
    fn first_draws_are_fixed() {
        let rows = |sampling: LimeSampling, players| {
            sampling.draw(players, 5, 42).0.words()[players.div_ceil(64)..].to_vec()
        };
        assert_eq!(rows(LimeSampling::UniformRemovals, 10), [1015, 1019, 860, 642]);
        assert_eq!(rows(LimeSampling::FairCoins, 10), [501, 926, 950, 105]);
        assert_eq!(
            rows(LimeSampling::UniformRemovals, 70),
            [
                18446744073642442735,
                63,
                18438808897685028311,
                62,
                2416575731665078493,
                34,
                17726168132751196159,
                55
            ]
        );
        assert_eq!(
            rows(LimeSampling::FairCoins, 70),
            [
                361151758556941813,
                30,
                1045184719774306230,
                41,
                5616981264068595548,
                21,
                5185522762431166729,
                5
            ]
        );
    }
}
