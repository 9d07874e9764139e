//! What results say of what was explained, beside what was asked for.

use apportion::Ensemble;
use apportion::trees::Link;
use serde_json::{Value, json};

use crate::args::{Explain, Game, Space};
use crate::background;
use crate::input::Input;
use crate::rounds;

/// What is divided, where that is not the margin of the whole model, and against what, where the options do not say.
pub(crate) fn about(args: &Explain, game: Game, input: &Input) -> Vec<(&'static str, Value)> {
    let model = input.model.trees();
    let link = || ("output", json!(model.and_then(Ensemble::link).map(Link::name)));
    let output = match &args.space {
        Space::Margin => None,
        Space::Probability => Some(link()),
        Space::LogLoss(_) => Some(("output", json!(args.space.name()))),
    };
    let rounds = model.and_then(rounds::in_words).map(|rounds| ("rounds", json!(rounds)));
    let background = background::in_words(args, game, input).map(|words| ("background", json!(words)));
    output.into_iter().chain(rounds).chain(background).collect()
}
