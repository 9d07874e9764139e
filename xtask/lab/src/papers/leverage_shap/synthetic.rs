//! Synthetic games with a given γ (appendix F), constructed as in the authors' code: b combines a vector in
//! the column span of A with a vector orthogonal to it, and v is computed from b.

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

/// Version of the games. It is increased when the games change, so that old checkpoints are not reused.
const PROTOCOL: u32 = 2;

/// A game with its Shapley values.
pub(crate) struct Synthetic {
    pub(crate) game: TabulatedGame,
    /// The exact Shapley values φ.
    pub(crate) truth: Vec<f64>,
    /// Minimum of the objective, `‖Aφ − b‖²`.
    pub(crate) residual: f64,
}

impl Synthetic {
    /// Creates a game as the authors do: `b = (1 − α) a/‖a‖ + α r/‖r‖`, where a is the first column of A, and
    /// r a normal vector minus its projection on the span of A; then `v(z) = b_z / √w(|z|) + |z|/n`, v(0) = 0
    /// and v(1) = 1. `γ = ‖Aφ − b‖² / ‖Aφ‖² = (α / (1 − α))²`.
    ///
    /// As r, the authors use the last column of Q in the QR decomposition of A, whose rank is n − 1. This is
    /// a unit vector orthogonal to the span. It is the same in all runs, and its direction depends on
    /// rounding errors. Here, r is drawn at random.
    pub(crate) fn new(players: usize, alpha: f64, seed: u64) -> Result<Self> {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let all = 1 << players;
        let mut h: Vec<f64> = (0..all).map(|_| normal()).collect();
        h[0] = 0.0;
        h[all - 1] = 0.0;
        let outside: Vec<f64> = h.iter().zip(span_part(&h, players)).map(|(h, part)| h - part).collect();
        let first: Vec<f64> = (0..players).map(|player| f64::from(u8::from(player == 0))).collect();
        let inside = times(&first);
        let along = (1.0 - alpha) / squared_norm(&inside).sqrt();
        let across = alpha / squared_norm(&outside).sqrt();
        let weights = kernel_weights(players);
        let share = 1.0 / players as f64;
        let values = (0..all).map(|mask: usize| {
            let size = mask.count_ones() as usize;
            let b = along * inside[mask] + across * outside[mask];
            let part = if weights[size] == 0.0 { 0.0 } else { b / weights[size].sqrt() };
            part + size as f64 * share
        });
        Ok(Self {
            game: TabulatedGame::new(values.collect(), 1)?,
            truth: first.iter().map(|one| along * (one - share) + share).collect(),
            residual: alpha * alpha,
        })
    }
}

/// Checkpoint key of an estimate on one synthetic game.
#[derive(Serialize)]
struct SyntheticKey {
    players: usize,
    alpha: f64,
    estimator: &'static str,
    budget: usize,
    run: usize,
}

/// A game shared by all contenders, and its digests.
struct SharedGame {
    synthetic: Synthetic,
    played: Digest,
    truth: Digest,
}

impl SharedGame {
    /// Creates the game of a run, and computes its digests.
    fn new(players: usize, alpha: f64, run: usize, seed: u64) -> Result<Self> {
        let synthetic = Synthetic::new(players, alpha, derive_seed(&("synthetic", players, run, seed))?)?;
        Ok(Self {
            played: Digest::of_game(&synthetic.game)?,
            truth: Digest::from_numbers(synthetic.truth.iter().copied().chain([synthetic.residual])),
            synthetic,
        })
    }
}

/// Errors of an estimate.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Errors {
    /// Squared error relative to the truth, `‖φ̃ − φ‖² / ‖φ‖²`.
    pub(crate) error: f64,
    /// Relative excess of the objective, `‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1`.
    pub(crate) excess: f64,
}

/// Returns the errors of `contenders` with `budget` evaluations, on games with `players` players, for each α
/// in `alphas`. They are indexed by contender, then by α, then by run.
pub(crate) fn errors(
    session: &Session,
    contenders: &[Contender],
    players: usize,
    alphas: &[f64],
    budget: usize,
) -> Result<Vec<Vec<Vec<Errors>>>> {
    let digests = digests::<Contender>()?;
    let mut by_contender = vec![Vec::new(); contenders.len()];
    // Process one level at a time: the tables of all games would take hundreds of megabytes.
    for &alpha in alphas {
        let drawn: Vec<SharedGame> =
            parallel::try_map(0..session.runs, |run| SharedGame::new(players, alpha, run, session.seed))?;
        let mut cells = Vec::new();
        for contender in contenders {
            cells.extend(drawn.iter().enumerate().map(|(run, drawn)| Cell {
                key: SyntheticKey { players, alpha, estimator: contender.title(), budget, run },
                made_of: {
                    let method = &digests[contender];
                    Ingredients::new("synthetic", PROTOCOL, session.seed, &drawn.played, method)
                        .against(&drawn.truth)
                },
                with: (*contender, &drawn.synthetic),
            }));
        }
        let results = session.results(&cells, |cell| {
            let SyntheticKey { estimator, alpha, .. } = cell.key;
            measure(cell)
                .with_context(|| format!("cannot run {estimator} on a synthetic game with α = {alpha}"))
        })?;
        let mut rest = results.into_iter();
        for levels in &mut by_contender {
            levels.push(rest.by_ref().take(session.runs).collect());
        }
    }
    Ok(by_contender)
}

fn measure(cell: &Cell<SyntheticKey, (Contender, &Synthetic)>) -> Result<Errors> {
    let SyntheticKey { players, alpha, estimator, budget, run } = cell.key;
    let (contender, synthetic) = cell.with;
    let seed = ("synthetic estimate", estimator, players, alpha, budget, run, cell.made_of.seed);
    let explanation = contender.estimator().estimate(&synthetic.game, budget, derive_seed(&seed)?)?;
    let distance = squared_distance(&explanation.values, &synthetic.truth);
    // Σφ̃ = Σφ = 1, so φ̃ − φ equals its projection P(φ̃ − φ).
    Ok(Errors {
        error: distance / squared_norm(&synthetic.truth),
        excess: distance / (players as f64 * synthetic.residual),
    })
}

#[cfg(test)]
mod tests {
    use super::super::authors::span_norm;
    use super::super::linear::objective;
    use super::*;
    use apportion::Semivalue;
    use apportion::estimators::exact;

    #[test]
    fn the_game_has_the_shapley_values_and_the_gamma_it_was_made_for() {
        for (players, alpha) in [(3, 0.5), (5, 0.2), (8, 0.5), (10, 0.8)] {
            let synthetic = Synthetic::new(players, alpha, 7).unwrap();
            let phi = exact(&synthetic.game, Semivalue::Shapley).unwrap().values;
            let norm = squared_norm(&synthetic.truth);
            assert!(
                squared_distance(&phi, &synthetic.truth) < 1e-20 * norm,
                "{players} players, α = {alpha}"
            );
            let residual = objective(synthetic.game.values_in_order(), &phi);
            assert!((residual - synthetic.residual).abs() < 1e-10 * residual);
            let span = squared_norm(&times(&phi));
            let gamma = (alpha / (1.0 - alpha)).powi(2);
            assert!((residual / span - gamma).abs() < 1e-8 * gamma, "{}", residual / span);
            let all = synthetic.game.values_in_order().last().copied().unwrap();
            assert!((all - 1.0).abs() < 1e-12 && (phi.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let want = span_norm(players, alpha) + 1.0 / players as f64;
            assert!((norm - want).abs() < 1e-10 * want, "{norm} != {want}");
        }
    }
}
