//! `apportion explain --interactions`: interactions of pairs of features.

use std::time::Instant;

use anyhow::Result;
use apportion::options::Options;
use apportion::{Method, Rows, SolutionConcept, Value};
use apportion_files::Destination;
use apportion_results::{self as results, Form, Heading, Interactions};

use super::about::{about, named};
use super::class::{self, Classes};
use super::explainer::{ConfiguredExplainer, explainer};
use super::game;
use super::stream;
use super::threads;
use crate::failure::Usage;
use crate::parse::args::{self, Explain, Game};
use crate::parse::groups::Groups;
use crate::read::background::{self, BackgroundDescription};
use crate::read::groups::names_of_groups;
use crate::read::input::{Batch, Batches, Input};
use crate::write::pictures::PictureRequest;
use crate::write::timings::Timings;

/// Returns an error for options that cannot be combined, before anything is read.
pub(crate) fn check(args: &Explain) -> Result<()> {
    let refuse = |says: &str| Err(Usage(format!("--interactions {says}")).into());
    let samples = args.accuracy.until.is_some() || args.budget.is_some();
    let follows = args.checkpoint.is_some() || args.resume.is_some();
    match () {
        () if !matches!(args.method, Method::Auto | Method::Tree) => refuse(
            "requires --method tree; remove --method, or use an index: --interactions=shapley --order 2",
        ),
        () if !matches!(args.game, None | Some(Game::Marginal | Game::PathDependent)) => {
            refuse("requires --game marginal or path-dependent; remove --game")
        }
        () if args.space.is_behind_link() => refuse("only supports --output margin; remove --output"),
        () if args.summary || args.top.is_some() => refuse(
            "cannot be combined with --summary or --top; use an index to select the strongest with --top: \
                 --interactions=shapley --order 2",
        ),
        () if samples || follows => refuse("is exact; remove --budget, --until, --checkpoint and --resume"),
        () => match args.value {
            SolutionConcept::Semivalue(_) | SolutionConcept::Quotient(_) => Ok(()),
            _ => Err(not_of_pairs().into()),
        },
    }
}

fn not_of_pairs() -> Usage {
    Usage(
        "--interactions requires a semivalue of features (shapley, banzhaf, …) or groups (quotient-shapley, \
         …)"
        .to_owned(),
    )
}

/// Explains the selected rows and writes the matrices.
pub(crate) fn run(
    (args, options, form): (&Explain, &Options, &args::Interactions),
    input: &Input,
    batches: &mut Batches,
    started: Instant,
    (destination, mut wanted): (&Destination, PictureRequest<'_>),
) -> Result<()> {
    let loaded = Instant::now();
    let features = &input.features;
    let data = || background::data_for_groups(args, input);
    let find = |groups: &Groups| groups.partition(features, &args.clustering, data);
    let partition = args.groups.as_ref().map(find).transpose()?;
    let value = match (&args.value, &partition) {
        (SolutionConcept::Quotient(value), Some(partition)) => {
            Value::quotient(value.clone(), partition.clone())
        }
        (SolutionConcept::Semivalue(value), _) => value.clone().into(),
        _ => return Err(not_of_pairs().into()),
    };
    value.check(input.columns).map_err(|error| Usage(format!("--value {}: {error}", args.value)))?;
    let outputs = input.model.outputs();
    let classes = input.model.classes();
    let class = Classes::new(&input.model).output(args.class.as_deref())?;
    let game = game::chosen(args, &input.model);
    input.model.ensemble("--interactions")?;
    let ConfiguredExplainer { explainer, background } = explainer(args, options, game, input)?;
    let explainer = explainer.value(value);
    game::note_what_was_chosen(args, game, input);
    let pool = threads::pool(&args.threads)?;
    let results = |first: &results::Batch| -> Result<Interactions> {
        let mut about = about(args, game, input);
        about.extend(background.iter().flat_map(BackgroundDescription::about));
        about.extend(class.map(|class| ("class", class::shown(class, classes.as_deref()))));
        let players = match (&partition, &args.value) {
            (Some(partition), SolutionConcept::Quotient(_)) => names_of_groups(partition.groups(), features),
            _ => features.clone(),
        };
        Ok(Interactions {
            heading: Heading {
                value: args.value.to_string(),
                game: game.name().to_owned(),
                method: Method::Tree.name().to_owned(),
                is_efficient: args.value.is_efficient(),
                facts: named(about),
                outputs: match class {
                    Some(_) => vec![String::new()],
                    None => classes.clone().unwrap_or_else(|| vec![String::new(); outputs]),
                },
                interactions: Some(match form {
                    args::Interactions::Remainder => Form::Remainder,
                    _ => Form::Index,
                }),
                ..Heading::for_features(players)
            },
            has_ids: first.ids.is_some(),
        })
    };
    let are_written = wanted.are_results_written();
    let compute = |batch: Batch| -> Result<results::Batch> {
        let rows = Rows::new(&batch.values, input.columns);
        let found = pool.install(|| explainer.interactions(form.diagonal(), rows))?;
        let mut block = results::Batch {
            base: found.base.repeat(rows.len()),
            predictions: found.predictions,
            values: found.values,
            rows: batch.rows,
            ids: batch.ids,
            ..results::Batch::default()
        };
        if let Some(class) = class {
            block = block.of_output(class, outputs);
        }
        wanted.add(&block, || results(&block).map(|results| results.heading))?;
        Ok(block)
    };
    let target = (destination, args.output.format);
    let explained = match are_written {
        true => stream::write(&pool, target, batches, results, compute)?,
        false => stream::each(batches, compute)?,
    };
    wanted.draw(destination, explained - loaded)?;
    if args.timings {
        Timings::since(started, loaded, explained).print()?;
    }
    Ok(())
}
