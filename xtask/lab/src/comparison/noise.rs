//! Noise on the value function.

use anyhow::Result;
use apportion::Game;
use apportion::games::Coalitions;
use serde::Serialize;

use super::noisy::{Noisy, Times};

/// Unit of the standard deviation of the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Scale {
    /// The noise has the unit of the game itself.
    Absolute,
    /// The noise is relative to the coalition value to which it is added.
    Relative,
    /// The noise is relative to the value of the coalition of all players.
    Prediction,
    /// The noise is relative to the difference between the value of all players and the value of no players.
    Gain,
}

/// The time at which the noise of a coalition is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum NoiseTiming {
    /// Once per run: every estimator observes the same noisy game.
    OnceInARun,
    /// Again at each evaluation, as in the authors' code.
    AtEachEvaluation,
}

/// Normal noise on every value of a game.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Noise {
    /// Standard deviation σ, in the chosen unit.
    pub(crate) sigma: f64,
    scale: Scale,
    /// Not serialized for noise that is drawn once, so that checkpoint keys from before this field was added
    /// remain valid.
    #[serde(skip_serializing_if = "NoiseTiming::is_once")]
    drawn: NoiseTiming,
}

impl NoiseTiming {
    fn is_once(&self) -> bool {
        *self == Self::OnceInARun
    }
}

impl Noise {
    pub(crate) const NONE: Self = Self::absolute(0.0);

    /// Returns the noise of the game `v(S) + σ ζ(S)`, ζ(S) ~ N(0, 1).
    pub(crate) const fn absolute(sigma: f64) -> Self {
        Self { sigma, scale: Scale::Absolute, drawn: NoiseTiming::OnceInARun }
    }

    /// Returns the noise of the game `v(S) + σ v(S) ζ(S)`, ζ(S) ~ N(0, 1).
    pub(crate) const fn relative(sigma: f64) -> Self {
        Self { sigma, scale: Scale::Relative, drawn: NoiseTiming::OnceInARun }
    }

    /// Returns the noise of the game `v(S) + σ |v(N)| ζ(S)`, ζ(S) ~ N(0, 1).
    pub(crate) const fn of_prediction(sigma: f64) -> Self {
        Self { sigma, scale: Scale::Prediction, drawn: NoiseTiming::OnceInARun }
    }

    /// Returns the noise of the game `v(S) + σ |v(N) − v(∅)| ζ(S)`, ζ(S) ~ N(0, 1).
    pub(crate) const fn of_gain(sigma: f64) -> Self {
        Self { sigma, scale: Scale::Gain, drawn: NoiseTiming::OnceInARun }
    }

    /// Sets the noise to be drawn again at each evaluation.
    pub(crate) fn at_each_evaluation(self) -> Self {
        Self { drawn: NoiseTiming::AtEachEvaluation, ..self }
    }

    /// Returns whether the noise is drawn again at each evaluation.
    pub(crate) fn is_at_each_evaluation(self) -> bool {
        self.drawn == NoiseTiming::AtEachEvaluation
    }

    /// Returns the game with this noise, where ζ is a function of `seed` and the coalition.
    ///
    /// If `times` states that a coalition is evaluated k times, its value is the mean of k evaluations with
    /// independent noise.
    pub(crate) fn on<'a>(
        self,
        game: Box<dyn Game + 'a>,
        seed: u64,
        times: Times,
    ) -> Result<Box<dyn Game + 'a>> {
        if self.sigma == 0.0 {
            return Ok(game);
        }
        let (sigma, is_relative) = match self.scale {
            Scale::Absolute => (self.sigma, false),
            Scale::Relative => (self.sigma, true),
            Scale::Prediction => (self.sigma * ends(&*game)?[1].abs(), false),
            Scale::Gain => {
                let [empty, full] = ends(&*game)?;
                (self.sigma * (full - empty).abs(), false)
            }
        };
        Ok(Box::new(Noisy::new(game, sigma, is_relative, seed)?.with_times(times)))
    }
}

/// Returns v(∅) and v(N) of a game with one output.
fn ends(game: &dyn Game) -> Result<[f64; 2]> {
    let mut coalitions = Coalitions::new(game.players());
    coalitions.push_empty();
    coalitions.push_full();
    let mut values = [0.0; 2];
    game.values(&coalitions, &mut values)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::games::TabulatedGame;

    fn values(game: &dyn Game) -> Vec<f64> {
        let mut values = vec![0.0; 16];
        game.values(&Coalitions::from_masks(4, 0..16), &mut values).unwrap();
        values
    }

    /// A function that maps a coalition's value to the factor of its noise.
    type Factor = fn(f64) -> f64;

    /// The test uses a game with v(∅) = −3 and v(N) = 12.
    #[test]
    fn relative_noise_is_absolute_noise_times_the_value_and_others_are_times_the_ends() {
        let table: Vec<f64> = (0..16).map(|mask| f64::from(mask) - 3.0).collect();
        let game = || Box::new(TabulatedGame::new(table.clone(), 1).unwrap());
        let absolute = values(&Noise::absolute(0.5).on(game(), 7, Times::new()).unwrap());
        let cases: [(Noise, Factor); 3] = [
            (Noise::relative(0.5), |value| value),
            (Noise::of_prediction(0.5), |_| 12.0),
            (Noise::of_gain(0.5), |_| 15.0),
        ];
        for (noise, times) in cases {
            let got = values(&noise.on(game(), 7, Times::new()).unwrap());
            for ((value, absolute), got) in table.iter().zip(&absolute).zip(got) {
                assert_ne!(absolute, value, "there is noise");
                assert!((got - value - times(*value) * (absolute - value)).abs() < 1e-12, "{noise:?}");
            }
        }
        assert_eq!(values(&Noise::relative(0.0).on(game(), 7, Times::new()).unwrap()), table);
    }
}
