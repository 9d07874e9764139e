//! The part of the results that describes what was explained, apart from the options.

use apportion::Ensemble;
use apportion::trees::Link;
use serde_json::{Value, json};

use crate::parse::args::{Explain, Game, Space};
use crate::parse::rounds;
use crate::read::background;
use crate::read::input::Input;

/// Returns the explained output if it is not the margin, the boosting rounds if not all are used, and the
/// background if the options do not determine it.
pub(crate) fn about(args: &Explain, game: Game, input: &Input) -> Vec<(&'static str, Value)> {
    let model = input.model.trees();
    let link = || ("output", json!(model.and_then(Ensemble::link).map(Link::name)));
    let output = match &args.space {
        Space::Margin => None,
        Space::Probability => Some(link()),
        Space::LogLoss(_) => Some(("output", json!(args.space.to_string()))),
    };
    let rounds = model.and_then(rounds::in_words).map(|rounds| ("rounds", json!(rounds)));
    let background = background::in_words(args, game, input).map(|words| ("background", json!(words)));
    output.into_iter().chain(rounds).chain(background).collect()
}

/// Returns the facts for the heading of results, in the order of the file.
pub(crate) fn facts(
    same_as: Option<String>,
    budget: Option<usize>,
    accuracy: Option<String>,
    seed: u64,
    about: Vec<(&'static str, Value)>,
) -> Vec<(String, Value)> {
    let mut facts = Vec::from_iter(same_as.map(|same_as| ("same_as", json!(same_as))));
    facts.push(("budget", json!(budget)));
    facts.extend(accuracy.map(|accuracy| ("accuracy", json!(accuracy))));
    facts.push(("seed", json!(seed)));
    named(facts.into_iter().chain(about))
}

/// Converts the names of facts to owned strings.
pub(crate) fn named(facts: impl IntoIterator<Item = (&'static str, Value)>) -> Vec<(String, Value)> {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
