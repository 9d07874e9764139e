//! Builds an explainer from the options.

use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::models::LinkedEnsemble;
use apportion::options::Options;
use apportion::{Ensemble, Explainer, Method, Rows, Shared};

use super::class::Classes;
use crate::failure::Usage;
use crate::option_error::usage;
use crate::parse::args::{Explain, Game, Space};
use crate::read::background::{BackgroundDescription, background, compiled, counted, data, refuse_texts};
use crate::read::input::{Input, check_for_game, check_for_model};
use crate::read::model::AnyModel;

/// The configured explainer, and a description of its background, if it has one.
pub(crate) struct ConfiguredExplainer<'a> {
    pub(crate) explainer: Explainer<'a>,
    pub(crate) background: Option<BackgroundDescription>,
}

/// Builds the explainer of the model in this game.
pub(crate) fn explainer<'a>(
    args: &Explain,
    options: &Options,
    game: Game,
    input: &'a Input,
) -> Result<ConfiguredExplainer<'a>> {
    let mut described = None;
    let trees = input.model.trees().map(Shared::from);
    let trees = match (trees, &args.space) {
        (Some(model), Space::LogLoss(_)) => Some(Arc::new(with_loss(&model, args, input)?).into()),
        (trees, _) => trees,
    };
    let outputs = match &trees {
        Some(model) if args.space.is_behind_link() => Some(Arc::new(LinkedEnsemble::new(model.clone())?)),
        _ => None,
    };
    let explained = || match &outputs {
        Some(outputs) => Arc::clone(outputs).into(),
        None => Shared::from(input.model.as_model()),
    };
    if matches!(game, Game::Gaussian | Game::Copula | Game::Empirical) {
        refuse_texts(
            &format!("--game {}", game.name()),
            "--game marginal or --game frequency, which accept strings",
            input,
        )?;
    }
    options.distribution.check(game).map_err(usage)?;
    let distribution = if game.is_conditional() {
        let data = data(args, game, input)?;
        let (rows, weights) = (Rows::new(&data.values, input.columns), data.weights.as_deref());
        check_for_game(input, game, rows, |row| format!("row {row} of the data"))?;
        described = Some(match input.model.texts() {
            Some(texts) => BackgroundDescription::of_texts(rows, weights, texts),
            None => BackgroundDescription::of_rows(rows, weights),
        });
        options.distribution.fit(game, rows, weights, options.seed, Some(explained)).map_err(usage)?
    } else {
        None
    };
    let mut background = || -> Result<_> {
        let background = background(args, input)?;
        check_for_model(input, background.as_rows(), |row| format!("background row {row}"))?;
        let weights = args.input.columns.weights.is_some().then(|| background.weights());
        described = Some(match input.model.texts() {
            Some(texts) => BackgroundDescription::of_texts(background.as_rows(), weights, texts),
            None => BackgroundDescription::of_rows(background.as_rows(), weights),
        });
        Ok(background)
    };
    let Some(model) = trees else {
        refuse_what_is_of_trees(args, options, game, input)?;
        let model = input.model.as_model();
        let explainer = match (distribution, &*input.model) {
            (Some(distribution), _) => Explainer::conditional(model, distribution),
            (None, AnyModel::KernelMachine(file)) => {
                Explainer::for_kernel_machine(&file.machine, background()?)
            }
            (None, _) => Explainer::new(model, background()?),
        };
        return Ok(ConfiguredExplainer { explainer, background: described });
    };
    let explainer = match (game, distribution, outputs, &args.background_compiled) {
        (Game::PathDependent, ..) => match counted(args, input)? {
            Some((counted, rows)) => {
                described = Some(rows);
                Explainer::path_dependent(Arc::new(counted))
            }
            None => Explainer::path_dependent(model),
        },
        (_, Some(distribution), Some(outputs), _) => Explainer::conditional(outputs, distribution),
        (_, Some(distribution), None, _) => Explainer::conditional(input.model.as_model(), distribution),
        (_, None, Some(_), _) => Explainer::for_outputs(model, background()?)?,
        (_, None, None, Some(path)) => {
            if args.input.columns.weights.is_some() {
                let says = "--weights cannot be combined with --background-compiled; pass it to \
                    compile-background instead";
                return Err(Usage(says.to_owned()).into());
            }
            described = Some(BackgroundDescription::of_file(path)?);
            let compiled = compiled(path, &model)?;
            Explainer::for_compiled(model, compiled)
        }
        (_, None, None, None) => Explainer::for_trees(model, background()?),
    };
    Ok(ConfiguredExplainer {
        explainer: explainer.settings(options.engine.settings()),
        background: described,
    })
}

/// Returns the model whose output is its loss for rows of one class.
fn with_loss(model: &Ensemble, args: &Explain, input: &Input) -> Result<Ensemble> {
    let place = Classes::new(&input.model).of_rows(&args.space)?.unwrap_or_default();
    model.clone().with_loss(place as f64).with_context(|| format!("--output {}", args.space))
}

/// Returns an error for options that only apply to trees.
fn refuse_what_is_of_trees(args: &Explain, options: &Options, game: Game, input: &Input) -> Result<()> {
    let given = [
        (game == Game::PathDependent, "--game path-dependent"),
        (args.space.is_behind_link(), &*format!("--output {}", args.space)),
        (args.background_compiled.is_some(), "--background-compiled"),
        (options.engine.is_given(), "--kernel or --precision"),
        (args.method == Method::Tree, "--method tree"),
    ];
    given
        .into_iter()
        .filter(|&(is_given, _)| is_given)
        .try_for_each(|(_, what)| input.model.ensemble(what).map(drop))
}
