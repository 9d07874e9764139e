//! Draws from arbitrary distributions on finitely many outcomes, in constant time.
//!
//! # Source
//!
//! Walker, *An efficient method for generating discrete random variables with general distributions*, 1977;
//! the tables are built in linear time as in Vose, *A linear algorithm for generating random numbers with a
//! given distribution*, 1991.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::error::SamplerError;

/// A distribution on the outcomes `0..len`, sampled with the alias method.
///
/// A draw takes one 64-bit word and O(1) time for any distribution, or no word if there is a single outcome.
/// The absolute error of each probability is about 1e-16 · len, due to rounding. An outcome of weight zero is
/// never drawn.
///
/// ```
/// use apportion_games::{Purpose, stream};
/// use apportion_samplers::Discrete;
///
/// let distribution = Discrete::new(&[3.0, 0.0, 1.0])?;
/// let mut rng = stream(7, Purpose::Experiment, 0);
/// let mut counts = [0; 3];
/// (0..4000).for_each(|_| counts[distribution.draw(&mut rng)] += 1);
/// assert!((counts[0] - 3000i32).abs() < 150 && counts[1] == 0);
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Discrete {
    cells: Vec<Cell>,
}

/// One of `len` equally likely cells. A position below `own` yields the outcome with the cell's index; any
/// other position yields the outcome `alias`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    own: f64,
    alias: u32,
}

impl Discrete {
    /// Creates the distribution proportional to `weights`.
    ///
    /// # Errors
    ///
    /// [`SamplerError::OutcomeWeight`] for a weight that is negative or not finite;
    /// [`SamplerError::NoOutcome`] if there are no weights, all are zero, or the number of weights does not
    /// fit in 32 bits.
    pub fn new(weights: &[f64]) -> Result<Self, SamplerError> {
        let largest = largest_weight(weights)?;
        if u32::try_from(weights.len()).is_err() {
            return Err(SamplerError::NoOutcome { outcomes: weights.len() });
        }
        // Divide by the largest weight first, so that no sum overflows.
        let mean = weights.iter().map(|weight| weight / largest).sum::<f64>() / weights.len() as f64;
        let mut rest: Vec<f64> = weights.iter().map(|weight| weight / largest / mean).collect();
        // Cells that remain because of rounding keep their own outcome, because their remaining weight is 1
        // up to rounding.
        let mut cells: Vec<Cell> =
            (0..rest.len()).map(|outcome| Cell { own: 1.0, alias: outcome as u32 }).collect();
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) =
            (0..rest.len()).partition(|&outcome| rest[outcome] < 1.0);
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            cells[taker] = Cell { own: rest[taker], alias: giver as u32 };
            rest[giver] -= 1.0 - rest[taker];
            if rest[giver] < 1.0 {
                rich.pop();
                poor.push(giver);
            }
        }
        Ok(Self { cells })
    }

    /// Creates the uniform distribution on `outcomes` outcomes.
    ///
    /// # Errors
    ///
    /// [`SamplerError::NoOutcome`] for zero outcomes, or if the number of outcomes does not fit in 32 bits.
    pub fn uniform(outcomes: usize) -> Result<Self, SamplerError> {
        if outcomes == 0 || u32::try_from(outcomes).is_err() {
            return Err(SamplerError::NoOutcome { outcomes });
        }
        Ok(Self { cells: (0..outcomes as u32).map(|alias| Cell { own: 1.0, alias }).collect() })
    }

    /// Returns the number of outcomes, including impossible ones.
    #[allow(clippy::len_without_is_empty, reason = "a distribution has at least one outcome")]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Draws an outcome.
    #[inline]
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        if self.cells.len() == 1 {
            return 0;
        }
        // Scale the word to [0, len): the integer part selects the cell, the fractional part is the position
        // in it.
        let place = u128::from(rng.next_u64()) * self.cells.len() as u128;
        let (cell, fraction) = ((place >> 64) as usize, (place as u64) as f64 * TWO_POW_MINUS_64);
        let Cell { own, alias } = self.cells[cell];
        if fraction < own { cell } else { alias as usize }
    }
}

/// Checks the weights of a distribution and returns the largest weight.
pub(crate) fn largest_weight(weights: &[f64]) -> Result<f64, SamplerError> {
    if let Some(outcome) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        return Err(SamplerError::OutcomeWeight { outcome, weight: weights[outcome] });
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 { Err(SamplerError::NoOutcome { outcomes: weights.len() }) } else { Ok(largest) }
}

const TWO_POW_MINUS_64: f64 = 1.0 / (1u128 << 64) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Purpose, stream};

    /// Returns the probability of each outcome, computed from the cells.
    fn distribution_of(discrete: &Discrete) -> Vec<f64> {
        let mut distribution = vec![0.0; discrete.len()];
        for (outcome, cell) in discrete.cells.iter().enumerate() {
            distribution[outcome] += cell.own / discrete.len() as f64;
            distribution[cell.alias as usize] += (1.0 - cell.own) / discrete.len() as f64;
        }
        distribution
    }

    #[test]
    fn cells_spell_the_law() {
        let mut rng = stream(3, Purpose::Experiment, 0);
        for outcomes in [1, 2, 3, 7, 64, 1000] {
            for power in [0, 1, 8, 60] {
                // High powers yield a few likely outcomes among many nearly impossible ones. Every fifth
                // outcome is impossible.
                let mut weights: Vec<f64> = (0..outcomes)
                    .map(|_| (rng.next_u64() as f64 * TWO_POW_MINUS_64).powi(power) * 1e300)
                    .collect();
                weights.iter_mut().skip(1).step_by(5).for_each(|weight| *weight = 0.0);
                let total: f64 = weights.iter().map(|weight| weight / 1e300).sum();
                let distribution = distribution_of(&Discrete::new(&weights).unwrap());
                for (got, weight) in distribution.iter().zip(&weights) {
                    let wanted = weight / 1e300 / total;
                    assert!((got - wanted).abs() < 1e-14, "{outcomes}, {power}: {got} for {wanted}");
                    assert!(wanted > 0.0 || *got == 0.0, "an impossible outcome");
                }
            }
        }
        assert_eq!(distribution_of(&Discrete::uniform(4).unwrap()), [0.25; 4]);
    }

    #[test]
    fn outcomes_are_as_frequent_as_the_law_says() {
        let weights: Vec<f64> = (0..12).map(|outcome| f64::from(outcome * outcome)).collect();
        let distribution = Discrete::new(&weights).unwrap();
        let mut rng = stream(4, Purpose::Experiment, 0);
        let mut counts = [0.0; 12];
        (0..100_000).for_each(|_| counts[distribution.draw(&mut rng)] += 1.0);
        assert_eq!(counts[0], 0.0);
        // The chi-square statistic with 10 degrees of freedom exceeds 40 with probability 1.7e-5.
        let term = |(count, weight): (&f64, &f64)| {
            let expected = weight / 506.0 * 100_000.0;
            (count - expected).powi(2) / expected
        };
        let chi_square: f64 = counts.iter().zip(&weights).skip(1).map(term).sum();
        assert!(chi_square < 40.0, "{counts:?}: {chi_square}");
    }

    #[test]
    fn what_is_no_law_is_refused() {
        for (weights, outcome) in [(&[0.5, -0.1][..], 1), (&[f64::NAN], 0), (&[1.0, 2.0, f64::INFINITY], 2)] {
            let refused = Discrete::new(weights).unwrap_err();
            assert!(matches!(refused, SamplerError::OutcomeWeight { outcome: at, .. } if at == outcome));
        }
        assert_eq!(Discrete::new(&[]).unwrap_err(), SamplerError::NoOutcome { outcomes: 0 });
        assert_eq!(Discrete::new(&[0.0; 3]).unwrap_err(), SamplerError::NoOutcome { outcomes: 3 });
        assert_eq!(Discrete::uniform(0).unwrap_err(), SamplerError::NoOutcome { outcomes: 0 });
    }

    // Stored results record their seed: if these outcomes change, so do all stored results.
    #[test]
    fn first_draws_are_fixed() {
        let distribution = Discrete::new(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        let mut rng = stream(42, Purpose::Coalitions, 0);
        let draws: Vec<usize> = (0..10).map(|_| distribution.draw(&mut rng)).collect();
        assert_eq!(draws, [2, 3, 3, 3, 0, 3, 3, 0, 3, 2]);
    }
}
