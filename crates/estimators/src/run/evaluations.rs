//! Evaluation of games that counts the evaluations.

use apportion_games::{Cancellation, Coalitions, Game};

use super::estimator::Estimator;
use crate::error::{EstimatorError, Result};
use crate::report::{Diagnostics, Explanation};

/// A game with known v(∅) and v(N), and a count of its evaluations.
#[derive(Clone)]
pub(crate) struct Evaluations<'g> {
    pub(crate) game: &'g dyn Game,
    /// v(∅) for each of the k outputs.
    pub(crate) empty: Vec<f64>,
    /// v(N) for each of the k outputs.
    pub(crate) full: Vec<f64>,
    /// The number of evaluations so far.
    pub(crate) count: usize,
}

impl<'g> Evaluations<'g> {
    /// Begins the evaluations of a game with the empty and the grand coalition.
    pub(crate) fn begin(game: &'g dyn Game) -> Result<Self> {
        let mut batch = Coalitions::with_capacity(game.players(), 2);
        batch.push_empty();
        batch.push_full();
        let mut empty = vec![0.0; 2 * game.outputs()];
        game.values(&batch, &mut empty)?;
        let full = empty.split_off(game.outputs());
        Ok(Self { game, empty, full, count: 2 })
    }

    /// Returns v(S) − v(∅) for each row of `batch`: m × k numbers for m rows and k outputs. Every row counts
    /// as an evaluation, whether it is repeated or not.
    pub(crate) fn gains(&mut self, batch: &Coalitions) -> Result<Vec<f64>> {
        Cancellation::check();
        let mut values = vec![0.0; batch.len() * self.game.outputs()];
        self.game.values(batch, &mut values)?;
        Cancellation::check();
        for row in values.chunks_exact_mut(self.game.outputs()) {
            for (value, empty) in row.iter_mut().zip(&self.empty) {
                *value -= empty;
            }
        }
        self.count += batch.len();
        Ok(values)
    }

    /// Returns v(S) for each row of `batch`: m × k numbers for m rows and k outputs. The empty and the grand
    /// coalition are not evaluated again. Every other row counts as an evaluation.
    pub(crate) fn values(&mut self, batch: &Coalitions) -> Result<Vec<f64>> {
        Cancellation::check();
        let (players, outputs) = (batch.players(), self.game.outputs());
        let is_known = |size: u32| size == 0 || size as usize == players;
        if !batch.sizes().iter().any(|&size| is_known(size)) {
            // Avoid copying coalitions of thousands of players.
            let mut values = vec![0.0; batch.len() * outputs];
            self.game.values(batch, &mut values)?;
            self.count += batch.len();
            return Ok(values);
        }
        let mut asked = Coalitions::with_capacity(players, batch.len());
        batch
            .iter()
            .zip(batch.sizes())
            .filter(|(_, size)| !is_known(**size))
            .for_each(|(row, _)| asked.push(row));
        let mut answers = vec![0.0; asked.len() * outputs];
        self.game.values(&asked, &mut answers)?;
        self.count += asked.len();
        let mut answers = answers.chunks_exact(outputs);
        let mut values = Vec::with_capacity(batch.len() * outputs);
        for &size in batch.sizes() {
            let known = if size == 0 { &self.empty } else { &self.full };
            values.extend(if is_known(size) { known } else { answers.next().unwrap_or(known) });
        }
        Ok(values)
    }

    /// Returns v(N) − v(∅) for each of the k outputs.
    pub(crate) fn total(&self) -> Vec<f64> {
        self.full.iter().zip(&self.empty).map(|(full, empty)| full - empty).collect()
    }

    /// Returns the explanation of `estimator` from these evaluations, which must all be of distinct
    /// coalitions.
    pub(crate) fn explain(
        self,
        estimator: &dyn Estimator,
        values: Vec<f64>,
        std_errors: Option<Vec<f64>>,
        seed: u64,
        diagnostics: Diagnostics,
    ) -> Explanation {
        Explanation {
            value: estimator.value(),
            method: estimator.name().to_owned(),
            values,
            std_errors,
            evaluations: self.count,
            distinct_coalitions: self.count,
            model_rows: self.model_rows(),
            seed: Some(seed),
            diagnostics,
            certificate: None,
            base: self.empty,
            prediction: self.full,
        }
    }

    /// Returns the number of rows that the model predicted so far.
    pub(crate) fn model_rows(&self) -> usize {
        self.count * self.game.rows_per_coalition()
    }
}

/// Returns an error for a game without players, or for a budget below the minimum of `estimator`.
pub(crate) fn check_budget(estimator: &dyn Estimator, game: &dyn Game, budget: usize) -> Result<()> {
    let players = game.players();
    if players == 0 {
        return Err(EstimatorError::NoPlayers);
    }
    let least = estimator.minimum_budget(players);
    if budget < least {
        return Err(EstimatorError::Budget { method: estimator.name(), actual: budget, min: least, players });
    }
    Ok(())
}

/// Returns an error if the number of draws is below `least` or above `most`.
pub(crate) fn check_draws(given: usize, least: usize, most: usize) -> Result<()> {
    if (least..=most).contains(&given) {
        return Ok(());
    }
    Err(EstimatorError::Draws { actual: given, min: least, max: most })
}

/// Returns `min(wanted, 2^players)`, because no method needs more evaluations than there are coalitions.
pub(crate) fn at_most_all(wanted: usize, players: usize) -> usize {
    1usize
        .checked_shl(players as u32)
        .filter(|_| players < usize::BITS as usize)
        .map_or(wanted, |all| wanted.min(all))
}
