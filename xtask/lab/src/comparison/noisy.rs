//! A game with normal noise.

use std::collections::HashMap;

use apportion::Game;
use apportion::games::{Coalitions, GameError, Purpose, coalition_unit, stream};
use rand::distr::Distribution;
use rand_distr::StandardNormal;

/// Number of evaluations of each coalition, keyed by the 64-bit words of its bit set; coalitions that are not
/// in the map are evaluated once.
pub(crate) type Times = HashMap<Vec<u64>, u32>;

/// The game `v(S) + ζ(S)`, ζ(S) ~ N(0, σ²) independent for each coalition and output (Leverage SHAP, appendix
/// D); or `v(S) + v(S) ζ(S)`.
///
/// The noise of a coalition is a function of the seed and the coalition, so that the noisy game is
/// deterministic. The empty and the full coalition are noisy like all others. Random streams are identified
/// by 48 bits of a hash: among a million coalitions, two share their noise with probability 0.002.
#[derive(Debug, Clone)]
pub(super) struct Noisy<G> {
    game: G,
    sigma: f64,
    /// Whether the noise is multiplied by the value that it is added to.
    is_relative: bool,
    seed: u64,
    times: Times,
}

impl<G: Game> Noisy<G> {
    /// Creates the game with noise. `sigma` is the standard deviation of the noise, in the units of the game
    /// or relative to each coalition value.
    ///
    /// # Errors
    ///
    /// [`GameError::Parameter`] if `sigma` is negative or not finite.
    pub(super) fn new(game: G, sigma: f64, is_relative: bool, seed: u64) -> Result<Self, GameError> {
        if !(sigma.is_finite() && sigma >= 0.0) {
            return Err(GameError::Parameter {
                what: format!("invalid standard deviation {sigma} of the noise; expected a number ≥ 0"),
            });
        }
        Ok(Self { game, sigma, is_relative, seed, times: Times::new() })
    }

    /// Sets the number of evaluations of each coalition. The noise of a coalition that is evaluated k times
    /// is the mean of k draws, with variance σ²/k.
    pub(super) fn with_times(self, times: Times) -> Self {
        Self { times, ..self }
    }
}

impl<G: Game> Game for Noisy<G> {
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

    fn scenarios(&self) -> usize {
        self.game.scenarios()
    }

    fn scenario_weights(&self) -> Option<&[f64]> {
        self.game.scenario_weights()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.game.values(batch, out)?;
        self.add_noise(batch, out);
        Ok(())
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.game.values_in_scenarios(batch, scenarios, out)?;
        self.add_noise(batch, out);
        Ok(())
    }
}

impl<G: Game> Noisy<G> {
    fn add_noise(&self, batch: &Coalitions, out: &mut [f64]) {
        if self.sigma == 0.0 {
            return;
        }
        let outputs = self.outputs();
        for (row, out) in batch.iter().zip(out.chunks_exact_mut(outputs)) {
            let mut rng = stream(self.seed, Purpose::Noise, coalition_unit(row));
            let times =
                if self.times.is_empty() { 1 } else { self.times.get(row.words()).copied().unwrap_or(1) };
            for value in out {
                let draws = (0..times).map(|_| -> f64 { StandardNormal.sample(&mut rng) });
                let noise = self.sigma * (draws.sum::<f64>() / f64::from(times));
                *value += if self.is_relative { *value * noise } else { noise };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::games::TabulatedGame;

    fn noise(seed: u64, players: usize, masks: impl IntoIterator<Item = u64>) -> Vec<f64> {
        let game = Noisy::new(TabulatedGame::from_fn(players, |_| 0.0).unwrap(), 2.0, false, seed).unwrap();
        let batch = Coalitions::from_masks(players, masks);
        let mut values = vec![0.0; batch.len()];
        game.values(&batch, &mut values).unwrap();
        values
    }

    // Stored results contain their seed, so these numbers must not change.
    #[test]
    fn first_noise_is_fixed() {
        assert_eq!(noise(42, 3, [0, 1, 7]), [1.2375729694079396, 0.9248337705460115, 0.08507519397065165]);
    }

    #[test]
    fn noise_depends_on_seed_and_coalition_alone() {
        let forward = noise(1, 10, 0..1024);
        let mut backward = noise(1, 10, (0..1024).rev());
        backward.reverse();
        assert_eq!(forward, backward);
        assert!(forward.iter().zip(&noise(2, 10, 0..1024)).all(|(a, b)| a != b));
    }

    /// With 2^14 draws, the standard errors are σ/128 for the mean and σ² √2/128 for the variance; deviations
    /// of up to four standard errors are allowed.
    #[test]
    fn noise_has_mean_zero_and_the_variance_asked_for() {
        let draws = noise(7, 14, 0..1 << 14);
        let count = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / count;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / count;
        assert!(mean.abs() < 4.0 * 2.0 / 128.0, "{mean}");
        assert!((variance - 4.0).abs() < 4.0 * 4.0 * 2f64.sqrt() / 128.0, "{variance}");
    }

    /// Each of 2^14 coalitions is evaluated four times: the mean of four draws has a quarter of the variance.
    #[test]
    fn coalitions_that_are_evaluated_again_have_the_mean_of_their_noise() {
        let batch = Coalitions::from_masks(14, 0..1 << 14);
        let times: Times = batch.iter().step_by(2).map(|row| (row.words().to_vec(), 4)).collect();
        let game = || Noisy::new(TabulatedGame::from_fn(14, |_| 0.0).unwrap(), 2.0, false, 7).unwrap();
        let (mut once, mut often) = (vec![0.0; batch.len()], vec![0.0; batch.len()]);
        game().values(&batch, &mut once).unwrap();
        game().with_times(times).values(&batch, &mut often).unwrap();
        assert!(once.iter().zip(&often).skip(1).step_by(2).all(|(one, other)| one == other));
        let means: Vec<f64> = often.into_iter().step_by(2).collect();
        let variance = means.iter().map(|x| x * x).sum::<f64>() / means.len() as f64;
        assert!((variance - 1.0).abs() < 4.0 * 2f64.sqrt() / 90.0, "{variance}");
    }

    #[test]
    fn outputs_have_noise_of_their_own() {
        let game = Noisy::new(TabulatedGame::new(vec![0.0; 8], 2).unwrap(), 1.0, false, 3).unwrap();
        let mut values = [0.0; 2];
        game.values(&Coalitions::from_masks(2, [1]), &mut values).unwrap();
        assert_ne!(values[0], values[1]);
    }

    #[test]
    fn a_standard_deviation_that_is_none_is_refused() {
        for sigma in [-1.0, f64::NAN, f64::INFINITY] {
            let game = TabulatedGame::from_fn(1, |_| 0.0).unwrap();
            assert!(matches!(Noisy::new(game, sigma, false, 0), Err(GameError::Parameter { .. })), "{sigma}");
        }
    }
}
