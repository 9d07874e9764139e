//! Games rescaled to units in which squares neither overflow nor underflow.
//!
//! Variances are squares, and statistics of variances are fourth powers. Squares of values near 1e154
//! overflow, and squares of values below 1e-160 are zero. Before an estimator evaluates a game, each output
//! is therefore multiplied by a power of two that makes its values about 1, and the result is scaled back.
//! Multiplying by a power of two is exact. Ordinary games, whose factor is 1, are not changed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use apportion_games::{Coalitions, Game, GameError};

use super::explanation::Explanation;
use crate::error::{EstimatorError, Result};

/// The largest absolute value that is not rescaled; its inverse is the smallest. Sums of fourth powers of
/// such values are finite.
const FAR: f64 = 1e60;

/// Runs `estimate` on `game`, rescaled so that squares are finite, and returns the result in the units of the
/// game.
///
/// The scale of an output is set by the first batch in which it is not all zero. If values in a later batch
/// are far above this scale, the whole estimate is repeated.
pub(crate) fn in_own_units(
    game: &dyn Game,
    estimate: impl Fn(&dyn Game) -> Result<Explanation>,
) -> Result<Explanation> {
    let many = many_in_own_units(game, |game| Ok(vec![estimate(game)?]))?;
    many.into_iter().next().ok_or(EstimatorError::NoPlayers)
}

/// Runs `estimate` like [`in_own_units`], for several results on one game.
pub(crate) fn many_in_own_units(
    game: &dyn Game,
    estimate: impl Fn(&dyn Game) -> Result<Vec<Explanation>>,
) -> Result<Vec<Explanation>> {
    let scaled = Scaled::new(game);
    let first = estimate(&scaled);
    let (answers, inverses) = if scaled.is_far() {
        let again = scaled.rescaled();
        (estimate(&again)?, again.inverses())
    } else {
        (first?, scaled.inverses())
    };
    answers.into_iter().map(|answer| finite(answer.times(&inverses))).collect()
}

/// Returns an error if the explanation contains a value that is not finite.
fn finite(answer: Explanation) -> Result<Explanation> {
    let outputs = answer.outputs().max(1);
    match answer.values.iter().position(|value| !value.is_finite()) {
        None => Ok(answer),
        Some(at) => Err(EstimatorError::NotFinite {
            method: answer.method,
            player: at / outputs,
            output: at % outputs,
            value: answer.values[at],
        }),
    }
}

/// Returns a power of two that scales a number of this size to about 1; returns 1 if the number is zero or in
/// the ordinary range.
pub(crate) fn unit(size: f64) -> f64 {
    if size == 0.0 || (FAR.recip()..=FAR).contains(&size) {
        return 1.0;
    }
    // The largest exponent of a finite number is 1023, and 2^-1024 has no finite inverse.
    2f64.powi(-(size.log2().floor() as i32).clamp(-1021, 1021))
}

/// A game whose outputs are multiplied by powers of two.
struct Scaled<'g> {
    game: &'g dyn Game,
    /// The factor of each output; set when it becomes known.
    units: Vec<OnceLock<f64>>,
    /// The bits of the largest absolute value of each output, in the units of the game. Non-negative floats
    /// are ordered like their bits.
    largest: Vec<AtomicU64>,
}

impl<'g> Scaled<'g> {
    fn new(game: &'g dyn Game) -> Self {
        let outputs = game.outputs();
        let largest = (0..outputs).map(|_| AtomicU64::new(0)).collect();
        Self { game, units: vec![OnceLock::new(); outputs], largest }
    }

    /// Returns the largest absolute value of an output so far.
    fn largest(&self, output: usize) -> f64 {
        f64::from_bits(self.largest[output].load(Ordering::Relaxed))
    }

    /// Returns the factor of an output; 1 if all values of the output were zero.
    fn unit(&self, output: usize) -> f64 {
        self.units[output].get().copied().unwrap_or(1.0)
    }

    /// Returns whether some output exceeds [`FAR`] after multiplication by its factor.
    fn is_far(&self) -> bool {
        (0..self.units.len()).any(|output| self.largest(output) * self.unit(output) > FAR)
    }

    /// Returns the same game, with factors for the largest values so far.
    fn rescaled(&self) -> Self {
        let units = (0..self.units.len()).map(|output| OnceLock::from(unit(self.largest(output)))).collect();
        Self { units, ..Self::new(self.game) }
    }

    fn inverses(&self) -> Vec<f64> {
        (0..self.units.len()).map(|output| self.unit(output).recip()).collect()
    }

    /// Records the sizes of values and multiplies them by the factors.
    fn scale(&self, values: &mut [f64]) {
        let outputs = self.units.len();
        for (output, (slot, largest)) in self.units.iter().zip(&self.largest).enumerate() {
            let own = || values.iter().skip(output).step_by(outputs);
            let size = own().fold(0.0, |most: f64, value| most.max(value.abs()));
            if size == 0.0 {
                continue;
            }
            largest.fetch_max(size.to_bits(), Ordering::Relaxed);
            let unit = *slot.get_or_init(|| unit(size));
            if unit != 1.0 {
                values.iter_mut().skip(output).step_by(outputs).for_each(|value| *value *= unit);
            }
        }
    }
}

impl Game for Scaled<'_> {
    fn players(&self) -> usize {
        self.game.players()
    }
    fn outputs(&self) -> usize {
        self.game.outputs()
    }
    fn rows_per_coalition(&self) -> usize {
        self.game.rows_per_coalition()
    }
    fn parallel(&self) -> bool {
        self.game.parallel()
    }
    /// Returns the table only if all values are in the ordinary range, so that they need no scaling.
    fn table(&self) -> Option<&[f64]> {
        let table = self.game.table()?;
        let is_ordinary = |value: &f64| unit(value.abs()) == 1.0;
        let is_in_units =
            table.iter().all(is_ordinary) && self.units.iter().all(|slot| *slot.get_or_init(|| 1.0) == 1.0);
        is_in_units.then_some(table)
    }
    fn scenarios(&self) -> usize {
        self.game.scenarios()
    }
    fn scenario_weights(&self) -> Option<&[f64]> {
        self.game.scenario_weights()
    }
    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.game.values_in_scenarios(batch, scenarios, out)?;
        self.scale(out);
        Ok(())
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.game.values(batch, out)?;
        self.scale(out);
        Ok(())
    }
}

impl Explanation {
    /// Returns the explanation for the game with outputs multiplied by `factors`.
    pub(crate) fn times(mut self, factors: &[f64]) -> Self {
        if factors.iter().all(|&factor| factor == 1.0) {
            return self;
        }
        let multiply = |numbers: &mut [f64]| {
            numbers.iter_mut().zip(factors.iter().cycle()).for_each(|(number, factor)| *number *= factor);
        };
        multiply(&mut self.values);
        multiply(&mut self.base);
        multiply(&mut self.prediction);
        self.std_errors.iter_mut().for_each(|errors| multiply(errors));
        self.diagnostics.error_distribution.iter_mut().for_each(|distribution| {
            multiply(&mut distribution.one_draw);
            multiply(&mut distribution.shown_by_ends);
        });
        // Discard all standard errors if one of them overflows.
        self.std_errors = self.std_errors.filter(|errors| errors.iter().all(|error| error.is_finite()));
        self.diagnostics.residual_sum_of_squares =
            self.diagnostics.residual_sum_of_squares.take().and_then(|sums| {
                let squares: Vec<f64> =
                    sums.iter().zip(factors).map(|(sum, factor)| sum * factor * factor).collect();
                squares.iter().all(|square| square.is_finite()).then_some(squares)
            });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_bring_every_size_near_one() {
        for size in [5e-324, 1e-310, 1e-300, 1e-61, 1e61, 1e200, f64::MAX] {
            let near = size * unit(size);
            assert!((1e-20..16.0).contains(&near), "{size}: {near}");
            assert!(unit(size).recip().is_finite() && unit(size).recip() > 0.0);
        }
        assert_eq!([0.0, 1e-59, 1.0, 1e59].map(unit), [1.0; 4]);
    }
}
