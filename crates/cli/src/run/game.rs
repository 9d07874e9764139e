//! The choice of the game, if the options do not specify it.

use crate::messages;
use crate::parse::args::{Explain, Game};
use crate::read::background;
use crate::read::input::Input;
use crate::read::model::AnyModel;

/// Returns the game that the options specify, or `None` if it depends on the model.
///
/// Background rows and outputs after the link function imply the marginal game.
pub(crate) fn requested_game(args: &Explain) -> Option<Game> {
    let names_background =
        args.background.is_some() || args.background_select.is_some() || args.background_compiled.is_some();
    let is_marginal = names_background || args.space.is_behind_link();
    args.game.or(is_marginal.then_some(Game::Marginal))
}

/// Returns the game to use. The default is the path-dependent game, as in the libraries of tree ensembles, if
/// the model stores the cover of its training data, and the marginal game otherwise.
pub(crate) fn chosen(args: &Explain, model: &AnyModel) -> Game {
    let has_covers = || model.trees().is_some_and(|trees| trees.check_covers().is_ok());
    let by_the_model = || if has_covers() { Game::PathDependent } else { Game::Marginal };
    requested_game(args).unwrap_or_else(by_the_model)
}

/// Prints a note about the default that was chosen: the game, or the background.
pub(crate) fn note_what_was_chosen(args: &Explain, game: Game, input: &Input) {
    match (requested_game(args), game) {
        (None, Game::PathDependent) => messages::note(
            "using the path-dependent game (training cover); pass --background FILE or --game marginal for \
             the marginal game",
        ),
        (_, Game::Marginal) => {
            if let Some(words) = background::in_words(args, game, input) {
                messages::note(format_args!(
                    "using {words} as the background; pass --background FILE for a different one"
                ));
            }
        }
        _ => {}
    }
}
