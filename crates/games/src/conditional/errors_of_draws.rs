//! The errors that the draws of a conditional game leave in its values, as a game.

use rand::distr::Distribution;
use rand_distr::StandardNormal;

use super::{ConditionalGame, ConditionalLaw};
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::{Game, check_finite};
use crate::model::Model;
use crate::stream::{Purpose, coalition_unit, stream};

/// Nothing but noise, of the standard error that the values of a conditional game have: `ζ_r(S) ~ N(0, σ(S)²)`, independent for each
/// coalition, output and replicate r.
///
/// Attributions are linear in the values of coalitions. So what the errors of v(S) make of an attribution is told by the same
/// attribution of this game: the standard deviation of its replicates. Output j of the conditional game has the outputs `j·R .. (j+1)·R`.
///
/// ```
/// use apportion_games::{Coalitions, ConditionalGame, ErrorsOfDraws, Game, GaussianLaw};
///
/// let law = GaussianLaw::new(&[0.0], &[4.0], 100, 7)?;
/// let model = |row: &[f64]| row[0];
/// let game = ConditionalGame::new(&model, &[1.0], &law)?;
/// let errors = ErrorsOfDraws::new(&game, 1000, 7);
/// let mut noise = vec![0.0; 1000];
/// errors.values(&Coalitions::from_masks(1, [0]), &mut noise)?;
/// // 100 draws of standard deviation 2.
/// let deviation = (noise.iter().map(|z| z * z).sum::<f64>() / 1000.0).sqrt();
/// assert!((deviation - 0.2).abs() < 0.04);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
pub struct ErrorsOfDraws<'a, M: ?Sized, L: ?Sized> {
    game: &'a ConditionalGame<'a, M, L>,
    replicates: usize,
    seed: u64,
}

impl<'a, M: Model + ?Sized, L: ConditionalLaw + ?Sized> ErrorsOfDraws<'a, M, L> {
    /// `replicates` games of noise, drawn with `seed`.
    pub fn new(game: &'a ConditionalGame<'a, M, L>, replicates: usize, seed: u64) -> Self {
        Self { game, replicates, seed }
    }
}

impl<M: ?Sized, L: ?Sized> std::fmt::Debug for ErrorsOfDraws<'_, M, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErrorsOfDraws")
            .field("game", self.game)
            .field("replicates", &self.replicates)
            .field("seed", &self.seed)
            .finish()
    }
}

impl<M: Model + ?Sized, L: ConditionalLaw + ?Sized> Game for ErrorsOfDraws<'_, M, L> {
    fn players(&self) -> usize {
        self.game.players()
    }

    fn outputs(&self) -> usize {
        self.game.outputs() * self.replicates
    }

    fn rows_per_coalition(&self) -> usize {
        self.game.rows_per_coalition()
    }

    fn parallel(&self) -> bool {
        self.game.parallel()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let (outputs, width) = (self.game.outputs(), self.outputs());
        let mut errors = vec![0.0; batch.len() * outputs];
        self.game.standard_errors(batch, &mut errors)?;
        for ((row, errors), out) in
            batch.iter().zip(errors.chunks_exact(outputs)).zip(out.chunks_exact_mut(width))
        {
            let mut rng = stream(self.seed, Purpose::Noise, coalition_unit(row));
            for (error, noise) in errors.iter().zip(out.chunks_exact_mut(self.replicates)) {
                for noise in noise {
                    let standard: f64 = StandardNormal.sample(&mut rng);
                    *noise = error * standard;
                }
            }
        }
        check_finite(batch, width, out)
    }
}
