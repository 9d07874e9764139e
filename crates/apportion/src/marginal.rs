//! The marginal game of a row.

use apportion_games::{Background, Coalition, Game, MarginalGame, Model};

use crate::error::ExplainError;

/// Returns the marginal game of one explicand and its null players.
pub(crate) fn marginal<'g>(
    model: &'g dyn Model,
    explicand: &[f64],
    background: &'g Background,
) -> Result<(Box<dyn Game + 'g>, Coalition), ExplainError> {
    let game = MarginalGame::new(model, explicand, background)?;
    let null_players = game.null_players();
    Ok((Box::new(game), null_players))
}
