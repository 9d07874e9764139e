//! From the options to an explainer.

use std::sync::Arc;

use anyhow::Result;
use apportion::Explainer;

use crate::args::{Explain, Game, Space};
use crate::background::{background, compiled, data};
use crate::conditional;
use crate::input::Input;

/// The explainer of the model in the game that the options ask for.
pub(crate) fn explainer<'a>(args: &Explain, input: &'a Input) -> Result<Explainer<'a>> {
    let model = &input.model;
    let law = conditional::law(args, input.table.columns, || data(args, input))?;
    let outputs = match args.space {
        Space::Margin => None,
        Space::Probability => Some(model.linked()?),
    };
    let explainer = match (args.game, law, outputs, &args.background_compiled) {
        (Game::PathDependent, ..) => Explainer::path_dependent(model),
        (_, Some(law), Some(outputs), _) => Explainer::conditional(Arc::new(outputs), law),
        (_, Some(law), None, _) => Explainer::conditional(model, law),
        (_, None, Some(_), _) => Explainer::of_outputs(model, background(args, input)?)?,
        (_, None, None, Some(path)) => Explainer::of_compiled(model, compiled(path, model)?),
        (_, None, None, None) => Explainer::of_trees(model, background(args, input)?),
    };
    Ok(explainer.settings(args.engine.settings()))
}
