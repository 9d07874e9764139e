//! Samples: coalitions together with their sampling probabilities.

use apportion_games::{Coalitions, memory, words_for};

use crate::designs::row_set::{RowSet, hash_words};
use crate::error::SamplerError;
use crate::size::pairing::Pairing;

/// The sampling information for one coalition size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeStratum {
    /// `ln C(n, s)`, the logarithm of the number of coalitions of this size.
    pub ln_population: f64,
    /// Expected number of rows of this size, including repetitions. If a design first fixes the number of
    /// rows of each size, this is the expectation given these numbers.
    pub expected: f64,
    /// Number of rows of this size, including repetitions.
    pub drawn: usize,
    /// Whether the design includes all coalitions of this size; stored because logarithms are not exact.
    pub(crate) exhausted: bool,
}

impl SizeStratum {
    /// Returns `expected / C(n, s)`. Without replacement, this is the probability that a given coalition of
    /// this size is in the sample; with replacement, the expected number of times that it is drawn.
    /// Underflows to zero for large `n`; see [`ln_inclusion`](Self::ln_inclusion).
    pub fn inclusion_probability(&self) -> f64 {
        self.ln_inclusion().exp()
    }

    /// Returns the logarithm of [`inclusion_probability`](Self::inclusion_probability), or −∞ if the size is
    /// never drawn.
    pub fn ln_inclusion(&self) -> f64 {
        if self.exhausted { 0.0 } else { self.expected.ln() - self.ln_population }
    }

    /// Returns whether every coalition of this size is certainly in the sample, because all of them are drawn
    /// without replacement.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }
}

/// Coalitions drawn by a [`Sampler`].
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub(crate) coalitions: Coalitions,
    pub(crate) pairing: Pairing,
    pub(crate) strata: Vec<SizeStratum>,
    pub(crate) multiplicities: Option<Vec<u32>>,
}

impl Sample {
    /// Returns the coalitions, m × n. In a paired sample, rows 2k and 2k + 1 are complements of each other.
    pub fn coalitions(&self) -> &Coalitions {
        &self.coalitions
    }

    /// Returns the pairing: [`Pairing::Paired`] if every row comes with its complement.
    pub fn pairing(&self) -> Pairing {
        self.pairing
    }

    /// Returns the sampling information for each size: `n + 1` entries, where entry `s` is for size `s`.
    /// Merging duplicates does not affect these numbers.
    pub fn strata(&self) -> &[SizeStratum] {
        &self.strata
    }

    /// Returns the number of times each row was drawn, after [`merge_duplicates`](Self::merge_duplicates);
    /// `None` before.
    ///
    /// In a paired sample, both rows of a pair have the same multiplicity: the number of times that either
    /// row was drawn.
    pub fn multiplicities(&self) -> Option<&[u32]> {
        self.multiplicities.as_deref()
    }

    /// Returns the weight of each row, or of each pair in a paired sample, in the regression for Shapley
    /// values (Musco and Witter 2025, Algorithm 1, line 7):
    ///
    /// ```text
    /// w(s) / π_s,   w(s) = 1 / (C(n,s) s (n−s)),   π_s = expected_s / C(n,s)
    /// ```
    ///
    /// which equals `1 / (s (n−s) expected_s)`: the binomial coefficients cancel, so nothing overflows for
    /// large n. The weight of a row is multiplied by the number of times it was drawn.
    pub fn shapley_weights(&self) -> Vec<f64> {
        let players = self.coalitions.players();
        let by_size: Vec<f64> = self
            .strata
            .iter()
            .enumerate()
            .map(|(size, stratum)| 1.0 / ((size * (players - size)) as f64 * stratum.expected))
            .collect();
        (0..self.coalitions.len())
            .step_by(self.pairing.rows_per_unit())
            .map(|row| {
                let times = self.multiplicities.as_ref().map_or(1, |times| times[row]);
                by_size[self.coalitions.sizes()[row] as usize] * f64::from(times)
            })
            .collect()
    }

    /// Keeps the first occurrence of each coalition, in order, and counts the later ones.
    ///
    /// Pairs stay together. The same pair {S, N∖S} may be drawn once as S and once as N∖S; the first form is
    /// kept. A sample without repetitions keeps all of its rows. Takes `O(m n / 64)` time.
    pub fn merge_duplicates(self) -> Self {
        let rows_per_unit = self.pairing.rows_per_unit();
        let units = self.coalitions.len() / rows_per_unit;
        let mut kept = Coalitions::with_capacity(self.coalitions.players(), self.coalitions.len());
        let mut times: Vec<u32> = Vec::with_capacity(self.coalitions.len());
        let mut met = RowSet::with_capacity(units);
        for unit in 0..units {
            let rows = unit * rows_per_unit..(unit + 1) * rows_per_unit;
            let drawn = self.multiplicities.as_ref().map_or(1, |multiplicities| multiplicities[rows.start]);
            let row = self.representative(rows.start);
            let position = kept.len() / rows_per_unit;
            let is_same = |earlier: usize| {
                // The row without player 0 may be either row of the pair that was stored earlier.
                (earlier * rows_per_unit..(earlier + 1) * rows_per_unit)
                    .any(|other| kept.row(other) == self.coalitions.row(row))
            };
            match met.insert(hash_words(self.coalitions.row(row).words().iter().copied()), position, is_same)
            {
                Some(earlier) => times[earlier * rows_per_unit..(earlier + 1) * rows_per_unit]
                    .iter_mut()
                    .for_each(|times| *times += drawn),
                None => {
                    for row in rows {
                        kept.push(self.coalitions.row(row));
                        times.push(drawn);
                    }
                }
            }
        }
        Self { coalitions: kept, multiplicities: Some(times), ..self }
    }

    /// Returns the row that represents the pair starting at `first`: the row without player 0. It is the same
    /// for both orders of the pair.
    fn representative(&self, first: usize) -> usize {
        match self.pairing {
            Pairing::Paired if self.coalitions.row(first).contains(0) => first + 1,
            _ => first,
        }
    }

    /// Converts the sample to its coalitions.
    pub fn into_coalitions(self) -> Coalitions {
        self.coalitions
    }
}

/// Whether a larger sample contains the smaller samples drawn with the same seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Samples for different numbers of evaluations are unrelated. This is the default.
    #[default]
    Fixed,
    /// Samples grow: a sample for more evaluations contains all coalitions of a smaller sample. The
    /// coalitions (or pairs) of each size have a random order, and a sample contains the first ones.
    Nested,
}

/// A method of drawing coalitions with known probabilities.
///
/// A sample is determined by the sampler, the number of evaluations and the seed.
pub trait Sampler {
    /// Returns the number of players `n`.
    fn players(&self) -> usize;

    /// Draws at most `evaluations` coalitions, except in designs with independent inclusion, which draw
    /// `evaluations` coalitions on average.
    ///
    /// The empty and the grand coalition are neither drawn nor counted unless they have a positive
    /// probability, because callers evaluate them anyway.
    ///
    /// # Errors
    ///
    /// [`SamplerError::TooManyRows`] above [`max_rows`].
    fn sample(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError>;
}

/// Returns the maximum number of rows in a sample of coalitions of `players` players. The limit is 1 GiB of
/// bits, and positions that fit in 32 bits.
///
/// ```
/// assert_eq!(apportion_samplers::max_rows(60), 1 << 27);
/// assert_eq!(apportion_samplers::max_rows(1000), (1 << 27) / 16);
/// ```
pub const fn max_rows(players: usize) -> usize {
    const WORDS: usize = 1 << 27;
    match WORDS.checked_div(words_for(players)) {
        Some(rows) => rows,
        None => WORDS,
    }
}

/// Returns `rows`, or an error if a sample cannot have this number of rows.
pub(crate) fn check_rows(players: usize, rows: usize) -> Result<usize, SamplerError> {
    let most = max_rows(players);
    if rows > most {
        return Err(SamplerError::TooManyRows { actual: rows, max: most });
    }
    // While samples are sorted, the bits are stored twice, next to the size and the weight of each row.
    let bytes = memory::product([rows, 2 * words_for(players) + 3, 8]);
    let what = || format!("a sample of {rows} coalitions of {players} players");
    memory::check(bytes, what, "lower the budget")?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_refused_beyond_the_most_words() {
        let all = 1 << 27;
        for (players, most) in [(0, all), (1, all), (64, all), (65, all / 2), (1000, all / 16)] {
            assert_eq!(max_rows(players), most, "{players} players");
            assert_eq!(check_rows(players, most), Ok(most));
            let refused = check_rows(players, most + 1);
            assert_eq!(refused, Err(SamplerError::TooManyRows { actual: most + 1, max: most }));
        }
    }
}
