//! From the options to an explainer.

use std::sync::Arc;

use anyhow::Result;
use apportion::{Explainer, Rows};

use crate::args::{Explain, Game, Space};
use crate::background::{Described, background, compiled, counted, data};
use crate::conditional;
use crate::input::Input;

/// The explainer that the options ask for, and the rows that absent features come from, where there are any.
pub(crate) struct Asked<'a> {
    pub(crate) explainer: Explainer<'a>,
    pub(crate) background: Option<Described>,
}

/// The explainer of the model in the game that the options ask for.
pub(crate) fn explainer<'a>(args: &Explain, game: Game, input: &'a Input) -> Result<Asked<'a>> {
    let mut described = None;
    let law = conditional::law(args, game, input.columns, || {
        let data = data(args, game, input)?;
        described = Some(Described::of_rows(Rows::new(&data, input.columns)));
        Ok(data)
    })?;
    let mut background = || -> Result<_> {
        let background = background(args, input)?;
        described = Some(Described::of_rows(background.as_rows()));
        Ok(background)
    };
    let Some(model) = input.model.trees() else {
        let model = input.model.as_model();
        let explainer = match law {
            Some(law) => Explainer::conditional(model, law),
            None => Explainer::new(model, background()?),
        };
        return Ok(Asked { explainer, background: described });
    };
    let outputs = match args.space {
        Space::Margin => None,
        Space::Probability => Some(model.linked()?),
    };
    let explainer = match (game, law, outputs, &args.background_compiled) {
        (Game::PathDependent, ..) => match counted(args, input)? {
            Some((counted, rows)) => {
                described = Some(rows);
                Explainer::path_dependent(Arc::new(counted))
            }
            None => Explainer::path_dependent(model),
        },
        (_, Some(law), Some(outputs), _) => Explainer::conditional(Arc::new(outputs), law),
        (_, Some(law), None, _) => Explainer::conditional(model, law),
        (_, None, Some(_), _) => Explainer::of_outputs(model, background()?)?,
        (_, None, None, Some(path)) => {
            described = Some(Described::of_file(path)?);
            Explainer::of_compiled(model, compiled(path, model)?)
        }
        (_, None, None, None) => Explainer::of_trees(model, background()?),
    };
    Ok(Asked { explainer: explainer.settings(args.engine.settings()), background: described })
}
