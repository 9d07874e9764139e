//! From the options to an explainer.

use std::sync::Arc;

use anyhow::Result;
use apportion::Explainer;

use crate::args::{Explain, Game, Space};
use crate::background::{background, compiled, counted, data};
use crate::conditional;
use crate::input::Input;

/// The explainer of the model in the game that the options ask for.
pub(crate) fn explainer<'a>(args: &Explain, game: Game, input: &'a Input) -> Result<Explainer<'a>> {
    let model = &input.model;
    let law = conditional::law(args, game, input.table.columns, || data(args, game, input))?;
    let outputs = match args.space {
        Space::Margin => None,
        Space::Probability => Some(model.linked()?),
    };
    let explainer = match (game, law, outputs, &args.background_compiled) {
        (Game::PathDependent, ..) => match counted(args, input)? {
            Some(counted) => Explainer::path_dependent(Arc::new(counted)),
            None => Explainer::path_dependent(model),
        },
        (_, Some(law), Some(outputs), _) => Explainer::conditional(Arc::new(outputs), law),
        (_, Some(law), None, _) => Explainer::conditional(model, law),
        (_, None, Some(_), _) => Explainer::of_outputs(model, background(args, input)?)?,
        (_, None, None, Some(path)) => Explainer::of_compiled(model, compiled(path, model)?),
        (_, None, None, None) => Explainer::of_trees(model, background(args, input)?),
    };
    Ok(explainer.settings(args.engine.settings()))
}
