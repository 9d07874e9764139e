//! Propagation of sampling errors of the draws through a conditional game.

use rand::RngExt;

use super::{ConditionalDistribution, ConditionalGame};
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::{Game, check_finite};
use crate::model::Model;
use crate::stream::{Purpose, coalition_unit, stream};

/// A conditional game with additional outputs, in which the values are perturbed by the sampling errors of
/// the draws.
///
/// Each output of the conditional game becomes `1 + 2R` outputs here: the value itself, and R pairs of copies
/// that are symmetric around it,
///
/// ```text
/// v(S),   v(S) + ζ_1(S),   v(S) − ζ_1(S),   …,   v(S) + ζ_R(S),   v(S) − ζ_R(S)
/// ```
///
/// where ζ_r(S) is the standard error σ(S) of v(S) with a random sign, independent for each coalition, output
/// and r. Each coalition has its own draws. Therefore the perturbations are independent as well, with mean 0
/// and variance σ(S)².
///
/// A method applied to this game shows how these errors propagate to its results. Attributions are linear in
/// the values, so half the difference between the two copies of a pair is a sample of an attribution's error.
/// There are R such samples. Squared standard errors are quadratic in the values: their mean over a pair is
/// the squared standard error for v plus the contribution of the draws' errors.
///
/// ```
/// use apportion_games::{Coalitions, ConditionalGame, ErrorsOfDraws, Game, GaussianDistribution};
///
/// let distribution = GaussianDistribution::new(&[0.0], &[4.0], 100, 7)?;
/// let model = |row: &[f64]| row[0];
/// let game = ConditionalGame::new(&model, &[1.0], &distribution)?;
/// let perturbed = ErrorsOfDraws::new(&game, 1, 7);
/// let mut values = [0.0; 3];
/// perturbed.values(&Coalitions::from_masks(1, [0]), &mut values)?;
/// let [value, above, below] = values;
/// assert!((above + below - 2.0 * value).abs() < 1e-12);
/// // The standard error of the mean of 100 draws with standard deviation 2 is 0.2.
/// assert!(((above - value).abs() - 0.2).abs() < 0.05);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
pub struct ErrorsOfDraws<'a, M: ?Sized, L: ?Sized> {
    game: &'a ConditionalGame<'a, M, L>,
    pairs: usize,
    seed: u64,
}

impl<'a, M: Model + ?Sized, L: ConditionalDistribution + ?Sized> ErrorsOfDraws<'a, M, L> {
    /// Creates the game with `pairs` pairs of copies, whose signs are drawn with `seed`.
    pub fn new(game: &'a ConditionalGame<'a, M, L>, pairs: usize, seed: u64) -> Self {
        Self { game, pairs, seed }
    }
}

impl<M: ?Sized, L: ?Sized> std::fmt::Debug for ErrorsOfDraws<'_, M, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErrorsOfDraws")
            .field("game", self.game)
            .field("pairs", &self.pairs)
            .field("seed", &self.seed)
            .finish()
    }
}

impl<M: Model + ?Sized, L: ConditionalDistribution + ?Sized> Game for ErrorsOfDraws<'_, M, L> {
    fn players(&self) -> usize {
        self.game.players()
    }

    fn outputs(&self) -> usize {
        self.game.outputs() * (1 + 2 * self.pairs)
    }

    fn rows_per_coalition(&self) -> usize {
        self.game.rows_per_coalition()
    }

    fn parallel(&self) -> bool {
        self.game.parallel()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let (outputs, width) = (self.game.outputs(), self.outputs());
        let mut both = vec![0.0; 2 * batch.len() * outputs];
        self.game.values_and_errors(batch, &mut both)?;
        for ((row, both), out) in
            batch.iter().zip(both.chunks_exact(2 * outputs)).zip(out.chunks_exact_mut(width))
        {
            let mut rng = stream(self.seed, Purpose::Noise, coalition_unit(row));
            let (values, errors) = both.split_at(outputs);
            for ((value, error), out) in
                values.iter().zip(errors).zip(out.chunks_exact_mut(1 + 2 * self.pairs))
            {
                out[0] = *value;
                for pair in out[1..].chunks_exact_mut(2) {
                    let error = if rng.random() { *error } else { -error };
                    pair.copy_from_slice(&[value + error, value - error]);
                }
            }
        }
        check_finite(batch, width, out)
    }
}
