//! Games with a given γ (appendix F): b is mixed from a vector in the column span of A and one orthogonal to it, and v is read off b.

use anyhow::{Context, Result};
use apportion::games::{Purpose, TabulatedGame, parallel, stream};
use rand::distr::Distribution;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::contender::Contender;
use super::linear::{kernel_weights, span_part, times};
use crate::comparison::{Compete, digests, squared_distance, squared_norm};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Raised when the games change.
const PROTOCOL: u32 = 1;

/// A game with its Shapley values.
pub(crate) struct Synthetic {
    pub(crate) game: TabulatedGame,
    /// φ = x, as Δ = 0.
    pub(crate) truth: Vec<f64>,
    /// `‖Aφ − b‖²`.
    pub(crate) residual: f64,
}

impl Synthetic {
    /// The game of `players` players with `γ = ‖Aφ − b‖² / ‖Aφ‖²`, `‖b‖ = 1` and v(0) = v(1) = 0, drawn with `seed`.
    ///
    /// `b = α Ax/‖Ax‖ + β r/‖r‖`, x a normal vector with Σx = 0, r a normal vector less its part in the span, `α² = 1/(1+γ)`,
    /// `β² = γ/(1+γ)`; then `v(z) = b_z / √w(|z|)`.
    pub(crate) fn new(players: usize, gamma: f64, seed: u64) -> Result<Self> {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let x: Vec<f64> = (0..players).map(|_| normal()).collect();
        let mean = x.iter().sum::<f64>() / players as f64;
        let x: Vec<f64> = x.iter().map(|xi| xi - mean).collect();
        let all = 1 << players;
        let mut h: Vec<f64> = (0..all).map(|_| normal()).collect();
        h[0] = 0.0;
        h[all - 1] = 0.0;
        let outside: Vec<f64> = h.iter().zip(span_part(&h, players)).map(|(h, part)| h - part).collect();
        let inside = times(&x);
        let along = (1.0 / (1.0 + gamma) / squared_norm(&inside)).sqrt();
        let across = (gamma / (1.0 + gamma) / squared_norm(&outside)).sqrt();
        let weights = kernel_weights(players);
        let values = (0..all).map(|mask: usize| {
            let weight = weights[mask.count_ones() as usize];
            if weight == 0.0 { 0.0 } else { (along * inside[mask] + across * outside[mask]) / weight.sqrt() }
        });
        Ok(Self {
            game: TabulatedGame::new(values.collect(), 1)?,
            truth: x.iter().map(|xi| along * xi).collect(),
            residual: gamma / (1.0 + gamma),
        })
    }
}

/// What tells an estimate on one synthetic game from others.
#[derive(Serialize)]
struct SyntheticKey {
    players: usize,
    gamma: f64,
    estimator: &'static str,
    budget: usize,
    run: usize,
}

/// A game that is the same for all contenders, and what tells it from others.
struct Drawn {
    synthetic: Synthetic,
    played: Digest,
    truth: Digest,
}

impl Drawn {
    /// The game is a function of players, γ, run and seed.
    fn new(players: usize, gamma: f64, run: usize, seed: u64) -> Result<Self> {
        let synthetic = Synthetic::new(players, gamma, derive_seed(&("synthetic", players, run, seed))?)?;
        Ok(Self {
            played: Digest::of_game(&synthetic.game)?,
            truth: Digest::of(synthetic.truth.iter().copied().chain([synthetic.residual])),
            synthetic,
        })
    }
}

/// How far it was off.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Errors {
    /// `‖φ̃ − φ‖² / ‖φ‖²`.
    pub(crate) error: f64,
    /// `‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1`.
    pub(crate) excess: f64,
}

/// The errors of `contenders` on games of `players` players at the levels `gammas`, m = `multiple`·n: by contender, level, run.
pub(crate) fn errors(
    session: &Session,
    contenders: &[Contender],
    players: usize,
    gammas: &[f64],
    multiple: usize,
) -> Result<Vec<Vec<Vec<Errors>>>> {
    let digests = digests::<Contender>()?;
    let drawn: Vec<Vec<Drawn>> = gammas
        .iter()
        .map(|&gamma| parallel::try_map(0..session.runs, |run| Drawn::new(players, gamma, run, session.seed)))
        .collect::<Result<_>>()?;
    let mut cells = Vec::new();
    for contender in contenders {
        for (&gamma, drawn) in gammas.iter().zip(&drawn) {
            cells.extend(drawn.iter().enumerate().map(|(run, drawn)| Cell {
                key: SyntheticKey {
                    players,
                    gamma,
                    estimator: contender.title(),
                    budget: multiple * players,
                    run,
                },
                made_of: {
                    let method = &digests[contender];
                    Ingredients::new("synthetic", PROTOCOL, session.seed, &drawn.played, method)
                        .against(&drawn.truth)
                },
                with: (*contender, &drawn.synthetic),
            }));
        }
    }
    let results = session.results(&cells, |cell| {
        let SyntheticKey { estimator, gamma, .. } = cell.key;
        measure(cell).with_context(|| format!("{estimator} on a synthetic game, γ = {gamma}"))
    })?;
    let mut rest = results.into_iter();
    let mut level = || rest.by_ref().take(session.runs).collect::<Vec<_>>();
    Ok(contenders.iter().map(|_| gammas.iter().map(|_| level()).collect()).collect())
}

fn measure(cell: &Cell<SyntheticKey, (Contender, &Synthetic)>) -> Result<Errors> {
    let SyntheticKey { players, gamma, estimator, budget, run } = cell.key;
    let (contender, synthetic) = cell.with;
    let seed = ("synthetic estimate", estimator, players, gamma, budget, run, cell.made_of.seed);
    let explanation = contender.estimator().estimate(&synthetic.game, budget, derive_seed(&seed)?)?;
    let distance = squared_distance(&explanation.values, &synthetic.truth);
    // Σφ̃ = Σφ = 0, so the distance is its own projection.
    Ok(Errors {
        error: distance / squared_norm(&synthetic.truth),
        excess: distance / (players as f64 * synthetic.residual),
    })
}

#[cfg(test)]
mod tests {
    use super::super::linear::objective;
    use super::*;
    use apportion::Semivalue;
    use apportion::estimators::exact;

    #[test]
    fn the_game_has_the_shapley_values_and_the_gamma_it_was_made_for() {
        for (players, gamma) in [(2, 0.5), (5, 0.01), (8, 1.0), (10, 100.0)] {
            let synthetic = Synthetic::new(players, gamma, 7).unwrap();
            let phi = exact(&synthetic.game, Semivalue::Shapley).unwrap().values;
            let norm = squared_norm(&synthetic.truth);
            assert!(
                squared_distance(&phi, &synthetic.truth) < 1e-20 * norm,
                "{players} players, γ = {gamma}"
            );
            let residual = objective(synthetic.game.values_in_order(), &phi);
            assert!((residual - synthetic.residual).abs() < 1e-10 * residual || players == 2);
            let span = squared_norm(&times(&phi));
            assert!((residual / span - gamma).abs() < 1e-8 * gamma || players == 2, "{}", residual / span);
        }
    }
}
