//! Independent draws of coalitions, as in Kernel SHAP.

use apportion_games::{Coalitions, Purpose, stream, words_for};
use rand_chacha::ChaCha8Rng;

use crate::designs::sample::{Sample, Sampler, SizeStratum, check_rows};
use crate::draw::subset::UniformSubset;
use crate::error::SamplerError;
use crate::size::choose::ln_choose;
use crate::size::pairing::Pairing;
use crate::size::size_distribution::SizeDistribution;

/// Independent draws of coalitions from a size distribution. The same coalition may be drawn more than once.
///
/// Unpaired samples have `evaluations` rows. Paired samples consist of ⌊`evaluations` / 2⌋ draws, each
/// followed by its complement, regardless of its size. With m rows, the expected number of rows of size `s`
/// is `m P(s)`, or `m (P(s) + P(n − s)) / 2` for pairs.
///
/// Rows are in the order of drawing and independent; pairs are independent of each other. The first rows of a
/// larger sample with the same seed are therefore the smaller sample. Takes at most `O(m n)` time.
///
/// ```
/// use apportion_samplers::{Pairing, Sampler, SizeDistribution, WithReplacement};
///
/// let sampler = WithReplacement { distribution: SizeDistribution::kernel(10)?, pairing: Pairing::Paired };
/// let sample = sampler.sample(100, 7)?;
/// assert_eq!(sample.coalitions().len(), 100);
/// assert_eq!(sample.coalitions().row(3), sample.coalitions().row(2).complement().view());
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WithReplacement {
    /// The distribution of the size of a drawn coalition.
    pub distribution: SizeDistribution,
    /// Whether each draw is followed by its complement.
    pub pairing: Pairing,
}

impl Sampler for WithReplacement {
    fn players(&self) -> usize {
        self.distribution.players()
    }

    fn sample(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError> {
        let players = self.players();
        let draws = check_rows(players, evaluations)? / self.pairing.rows_per_unit();
        let mut size_stream = stream(seed, Purpose::Counts, 0);
        let sizes: Vec<usize> = (0..draws).map_while(|_| self.distribution.draw(&mut size_stream)).collect();

        // Use one stream per size, created when the size is first drawn.
        let mut classes: Vec<Option<(UniformSubset, ChaCha8Rng)>> = vec![None; players + 1];
        let mut coalitions = Coalitions::with_capacity(players, evaluations.min(2 * sizes.len()));
        let mut words = vec![0; words_for(players)];
        let mut drawn = vec![0; players + 1];
        for &size in &sizes {
            let (subset, rng) = classes[size].get_or_insert_with(|| {
                (UniformSubset::new(players, size), stream(seed, Purpose::Coalitions, size as u64))
            });
            subset.draw(rng, &mut words);
            self.pairing.push(&words, &mut coalitions);
            drawn[size] += 1;
            if self.pairing == Pairing::Paired {
                drawn[players - size] += 1;
            }
        }
        let strata = (0..=players)
            .map(|size| SizeStratum {
                ln_population: ln_choose(players, size),
                expected: match self.pairing {
                    Pairing::Unpaired => draws as f64 * self.distribution.probability(size),
                    Pairing::Paired => {
                        draws as f64
                            * (self.distribution.probability(size)
                                + self.distribution.probability(players - size))
                    }
                },
                drawn: drawn[size],
                exhausted: false,
            })
            .collect();
        Ok(Sample { coalitions, pairing: self.pairing, strata, multiplicities: None })
    }
}
